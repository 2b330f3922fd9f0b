// One declaration file an entry, and one for each group of types that entries share.
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';

const path = (file) => fileURLToPath(new URL(`../../${file}`, import.meta.url));
const single = path('node_modules/.cache/declarations');

rmSync(single, { recursive: true, force: true });
const tsc = path('node_modules/typescript/bin/tsc');
// `npm run types` checks what they are made of.
const options = ['-p', path('tests/setup/tsconfig.types.json'), '--noCheck', '--outDir', single];
execFileSync(process.execPath, [tsc, ...options], { stdio: 'inherit' });
const entries = readdirSync(path('dist')).filter((name) => name.endsWith('.js') && name !== 'cli.js');
const input = Object.fromEntries(
  entries.map((name) => [basename(name, '.js'), `${single}/lib/${basename(name, '.js')}.d.ts`]),
);
const bundle = await rolldown({
  input,
  external: (id) => !id.startsWith('.') && !id.startsWith('/'),
  plugins: [dts({ dtsInput: true, sourcemap: false })],
});
await bundle.write({
  dir: path('dist'),
  entryFileNames: '[name].ts',
  chunkFileNames: 'shared/[name].ts',
});
