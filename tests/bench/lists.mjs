// Prints how long it takes the CPU to list what a camera sees of a crowd: milliseconds of JavaScript per frame and camera,
// without uploads and drawing. Needs no browser.
//
//   node tests/bench/lists.mjs
import { mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'vite';

const folder = fileURLToPath(new URL('../../node_modules/.cache/bench-lists/', import.meta.url));
mkdirSync(folder, { recursive: true });
// Bundled, as users run it: Vite's own loading of modules makes each use of an import a call.
await build({
  configFile: false,
  logLevel: 'error',
  build: {
    lib: { entry: fileURLToPath(new URL('lists.ts', import.meta.url)), formats: ['es'], fileName: 'lists' },
    outDir: folder,
    minify: false,
    rollupOptions: { external: ['three'] },
  },
});
const { listTimes } = await import(pathToFileURL(`${folder}lists.js`).href);
console.table([10_000, 50_000, 100_000].map(listTimes));
rmSync(folder, { recursive: true });
