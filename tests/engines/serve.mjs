import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Serves the page from the sources, on this machine only, and hands on what it sends. */
export async function serve() {
  /** By number. @type {((kind: string, message: Response) => Promise<void>)[]} */
  const listeners = [];
  const receiver = {
    name: 'receive-what-engines-drew',
    configureServer(server) {
      server.middlewares.use('/__engines__/', async (request, response) => {
        try {
          const [, to, kind] = request.url.split('/');
          if (listeners[to] === undefined) throw new Error(`No one waits for ${request.url}.`);
          await listeners[to](kind, await messageOf(request));
        } catch (error) {
          console.error(error);
          response.statusCode = 500;
        }
        response.end();
      });
    },
  };
  const server = await createServer({
    root,
    configFile: `${root}/vite.config.ts`,
    logLevel: 'error',
    // Another vite that serves the same sources would write to the same folder.
    cacheDir: `${root}/node_modules/.vite-engines`,
    plugins: [receiver],
    // A page must not be loaded anew because something more was found that is to be optimized.
    optimizeDeps: { entries: 'tests/engines/index.html' },
    server: { host: '127.0.0.1', port: 0, hmr: false, watch: null },
  });
  await server.listen();
  const { port } = server.httpServer.address();
  return {
    url: `http://127.0.0.1:${port}/tests/engines/index.html`,
    /** A module of the sources, as Node would have it. */
    load: (file) => server.ssrLoadModule(file),
    /** Hands what pages send to the number `to` on to `receive`, until `stop` is called. */
    listen(receive) {
      const to = listeners.push(receive) - 1;
      return {
        to,
        stop: () => {
          delete listeners[to];
        },
      };
    },
    close: () => server.close(),
  };
}

/** What was sent, with the methods that read forms and JSON. */
async function messageOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const headers = { 'content-type': request.headers['content-type'] ?? 'text/plain' };
  return new Response(Buffer.concat(chunks), { headers });
}
