import { existsSync, readFileSync, statSync } from 'node:fs';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../dist-site/docs', import.meta.url));
const TYPES = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.svg': 'image/svg+xml' };

/** Vite plugin: shows the documentation that `npm run docs` made beside the demos, where the built site has it. */
export function serveDocs() {
  return {
    name: 'serve-docs',
    configureServer(server) {
      server.middlewares.use('/demos/docs/', (request, response) => {
        const path = decodeURIComponent((request.url ?? '/').split('?')[0]);
        const file = join(folder, normalize(path));
        if (file.startsWith(folder) && existsSync(file) && statSync(file).isFile()) {
          response.setHeader('Content-Type', TYPES[extname(file)] ?? 'application/octet-stream');
          response.end(readFileSync(file));
          return;
        }
        response.setHeader('Content-Type', 'text/html');
        response.end(
          '<p><code>npm run docs</code> makes this page; the guides are in <code>demos/guides</code>.</p>',
        );
      });
    },
  };
}
