import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of the real characters that tests and benchmarks look at when it is there. */
export function modelsFolder() {
  return resolve(process.env.SIM_MODELS ?? fileURLToPath(new URL('../../../shared/models', import.meta.url)));
}

/** Vite plugin: serves the `.glb` files of that folder, and their names as `index.json`, under `/__models__/`. */
export function serveModels() {
  return {
    name: 'serve-models',
    configureServer(server) {
      server.middlewares.use('/__models__/', (request, response) => {
        const folder = modelsFolder();
        const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.glb')) : [];
        const name = basename(decodeURIComponent((request.url ?? '').split('?')[0]));
        if (name === 'index.json') {
          response.setHeader('Content-Type', 'application/json');
          response.end(JSON.stringify(files.sort()));
        } else if (files.includes(name)) {
          response.end(readFileSync(resolve(folder, name)));
        } else {
          response.statusCode = 404;
          response.end();
        }
      });
    },
  };
}
