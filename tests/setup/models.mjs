import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of the real characters that tests and benchmarks look at when it is there. */
export function modelsFolder() {
  return resolve(process.env.SIM_MODELS ?? fileURLToPath(new URL('../../../shared/models', import.meta.url)));
}

/** Names of the `.glb` files in that folder, sorted; none where it is missing. */
export function modelFiles() {
  const folder = modelsFolder();
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith('.glb'))
    .sort();
}

/** Bytes of one of them. */
export function readModel(file) {
  return new Uint8Array(readFileSync(resolve(modelsFolder(), file))).buffer;
}

/** Vite plugin: serves those files, and their names as `index.json`, under `/__models__/`. */
export function serveModels() {
  return {
    name: 'serve-models',
    configureServer(server) {
      server.middlewares.use('/__models__/', (request, response) => {
        const files = modelFiles();
        const name = basename(decodeURIComponent((request.url ?? '').split('?')[0]));
        if (name === 'index.json') {
          response.setHeader('Content-Type', 'application/json');
          response.end(JSON.stringify(files));
        } else if (files.includes(name)) {
          response.end(Buffer.from(readModel(name)));
        } else {
          response.statusCode = 404;
          response.end();
        }
      });
    },
  };
}
