// `npm run mutants [-- NAME…]`: puts each of the faults of mutants.mjs into a copy of the sources, and says whether the tests fail: those
// that are likely to and, unless `--likely` is given, all others.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { modelsFolder } from '../setup/models.mjs';
import { MUTANTS } from './mutants.mjs';

/** Milliseconds after which tests that go on, as those with a fault may, are stopped. */
const LONGEST = 3_600_000;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const names = process.argv.slice(2).filter((arg) => arg !== '--likely');
const likelyOnly = process.argv.includes('--likely');

/** Where all tests are that draw or play. */
const ALL = ['unit', 'parity', 'browser'];
const unknown = names.filter((name) => !(name in MUTANTS));
if (unknown.length > 0)
  throw new Error(`There is no mutant ${unknown}; there are ${Object.keys(MUTANTS).join(', ')}`);
const mutants = Object.entries(MUTANTS).filter(([name]) => names.length === 0 || names.includes(name));

/** The sources with the fault. @throws If the text is not there, or not once. */
function faulty([name, { file, text, fault = '' }]) {
  const parts = readFileSync(join(ROOT, file), 'utf8').split(text);
  if (parts.length === 2) return parts.join(fault);
  throw new Error(
    `${name}: ${file} has the text ${parts.length - 1} times; mutants.mjs needs one that is there once:\n${text}`,
  );
}

// All of them first: what is no longer there is said at once.
const sources = mutants.map(faulty);

const copy = mkdtempSync(join(tmpdir(), 'sim-mutants-'));
const { stdout } = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
  cwd: ROOT,
  encoding: 'utf8',
});
for (const file of stdout.split('\0').filter((name) => existsSync(join(ROOT, name)) && name !== '')) {
  mkdirSync(dirname(join(copy, file)), { recursive: true });
  copyFileSync(join(ROOT, file), join(copy, file));
}
symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'junction');

/** The first test that fails of some files; null if all pass. */
function firstFailure(tests) {
  const results = join(copy, 'results.json');
  rmSync(results, { force: true });
  const args = [
    'tests/setup/run.mjs',
    '--all',
    '--bail=1',
    '--reporter=json',
    `--outputFile=${results}`,
    ...tests.map((test) => `tests/${test}`),
  ];
  const { signal, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: copy,
    encoding: 'utf8',
    timeout: LONGEST,
    env: { ...process.env, SIM_MODELS: modelsFolder() },
  });
  if (signal) return 'tests that do not end';
  try {
    const { testResults, numTotalTests } = JSON.parse(readFileSync(results, 'utf8'));
    const failed = testResults
      .flatMap((one) => one.assertionResults)
      .find(({ status }) => status === 'failed');
    if (failed) return failed.fullName;
    if (numTotalTests > 0 && testResults.every(({ status }) => status === 'passed')) return null;
  } catch {
    // Said below.
  }
  throw new Error(`The tests could not be run:\n${stdout}\n${stderr}`);
}

const survivors = [];
try {
  for (const [i, [name, { file, tests }]] of mutants.entries()) {
    const began = Date.now();
    writeFileSync(join(copy, file), sources[i]);
    let failure = firstFailure(tests);
    if (!likelyOnly) failure ??= firstFailure(ALL);
    copyFileSync(join(ROOT, file), join(copy, file));
    if (failure === null) survivors.push(name);
    const seconds = ((Date.now() - began) / 1000).toFixed(0);
    console.log(`${name}: ${failure === null ? 'NOT CAUGHT' : `caught by "${failure}"`} (${seconds} s)`);
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
console.log(`${mutants.length - survivors.length} of ${mutants.length} caught`);
if (survivors.length > 0) process.exit(1);
