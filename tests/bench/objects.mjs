// Prints what instances as objects cost the CPU: milliseconds of JavaScript per frame, beside the same crowd whose instances are
// placed by setMatrixAt. Without uploads and drawing; needs no browser.
//
//   node tests/bench/objects.mjs
import { mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'vite';

const folder = fileURLToPath(new URL('../../node_modules/.cache/bench-objects/', import.meta.url));
mkdirSync(folder, { recursive: true });
// Bundled, as users run it: Vite's own loading of modules makes each use of an import a call.
await build({
  configFile: false,
  logLevel: 'error',
  build: {
    lib: {
      entry: fileURLToPath(new URL('objects.ts', import.meta.url)),
      formats: ['es'],
      fileName: 'objects',
    },
    outDir: folder,
    minify: false,
    rollupOptions: { external: ['three'] },
  },
});
const { objectTimes } = await import(pathToFileURL(`${folder}objects.js`).href);
console.table(objectTimes());
rmSync(folder, { recursive: true });
