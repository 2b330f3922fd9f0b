// `npm test`: finds or installs a browser, then runs Vitest in it. Arguments go on to Vitest; `--all`
// tests more seeds and combinations, the package and the pages of the demos, as CI does.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBrowser } from './findBrowser.mjs';
import { modelFiles, modelsFolder } from './models.mjs';

let browser;
try {
  browser = await findBrowser();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
console.log(`Browser: ${browser}`);

const folder = modelsFolder();
console.log(
  modelFiles().length > 0
    ? `Real models: ${modelFiles().join(', ')} in ${folder}`
    : `Real models: none in ${folder}, so the tests with them are skipped; set SIM_MODELS to a folder of .glb files.`,
);

const all = process.argv.includes('--all');
console.log(
  all
    ? 'Tests: all of them.'
    : 'Tests: the usual ones; with --all, as in CI, more seeds and combinations, the package and the pages of the demos.',
);

const require = createRequire(import.meta.url);
const { version } = JSON.parse(readFileSync(join(require.resolve('three'), '../../package.json')));
console.log(`three.js: ${version}`);

const args = process.argv.slice(2).filter((arg) => arg !== '--all');
// What is skipped is said at the end, whatever else reports.
if (!args.some((arg) => arg.startsWith('--reporter'))) args.push('--reporter=default');
args.push(`--reporter=${fileURLToPath(new URL('./missingModels.mjs', import.meta.url))}`);
const vitest = join(require.resolve('vitest/package.json'), '..', 'vitest.mjs');
const child = spawn(process.execPath, [vitest, 'run', ...args], {
  stdio: 'inherit',
  env: { ...process.env, SIM_BROWSER: browser, SIM_ALL: all ? '1' : '' },
});
child.on('exit', (code) => process.exit(code ?? 1));
