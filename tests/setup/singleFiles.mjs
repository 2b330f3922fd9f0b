// One minified file for each renderer, of the entry and of `./files`, for pages without a bundler. They are half of what the package
// weighs, so they lie on the site, not in the package.
//
//   node tests/setup/singleFiles.mjs [DIST [FOLDER]]
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const path = (file) => fileURLToPath(new URL(`../../${file}`, import.meta.url));
const [dist = path('dist'), folder = path('dist-site/cdn')] = process.argv.slice(2);

for (const [name, entry] of [
  ['webgl', 'index'],
  ['webgpu', 'webgpu'],
]) {
  await build({
    stdin: { contents: `export * from './${entry}.js'; export * from './files.js';`, resolveDir: dist },
    outfile: `${folder}/${name}.js`,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    external: ['three', 'three/*'],
  });
}
