/** Vite plugin: the address that Vite prints leads to the gallery, for those whose browser `--open` does not reach. */
export function galleryAtRoot() {
  return {
    name: 'gallery-at-root',
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        if (request.url !== '/') return next();
        response.writeHead(302, { Location: '/demos/index.html' });
        response.end();
      });
    },
  };
}
