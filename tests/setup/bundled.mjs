import { createRequire } from 'node:module';
import { build } from 'vite';

const SUFFIX = '?bundled';
const require = createRequire(import.meta.url);

/**
 * Vite plugin: `import text from './file.js?bundled'` is the text of one classic script, made of the file and all that it imports.
 *
 * @param plugins For the script.
 */
export function bundled(plugins = []) {
  return {
    name: 'bundled',
    enforce: 'pre',
    async load(id) {
      return id.endsWith(SUFFIX)
        ? `export default ${JSON.stringify(await bundle(id.slice(0, -SUFFIX.length), plugins))};`
        : null;
    },
  };
}

async function bundle(file, plugins) {
  const folder = require.resolve('three').replace(/build[\\/][^\\/]*$/, '');
  const { output } = await build({
    configFile: false,
    plugins,
    logLevel: 'warn',
    // The modules, from which single classes can be taken, in place of one file with all of them.
    resolve: { alias: [{ find: /^three$/, replacement: `${folder}src/Three.Core.js` }] },
    build: {
      write: false,
      target: 'es2022',
      modulePreload: false,
      rollupOptions: { input: file, output: { format: 'iife' } },
    },
  });
  const notice =
    '/* With parts of three.js. Copyright 2010-2026 Three.js Authors. SPDX-License-Identifier: MIT */';
  return `${notice}\n${output[0].code}`;
}
