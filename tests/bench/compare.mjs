// `npm run bench -- compare COMMIT [KIND…] [--rounds=5]`: runs the same benchmarks of another commit and of the sources here in turns.
// For each number that they print, how many times that of the commit it is here: median (least, most).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { modelsFolder } from '../setup/models.mjs';

const NUMBER = /\d[\d,]*(\.\d+)?/g;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

function run(command, args, cwd) {
  const env = { ...process.env, SIM_MODELS: modelsFolder() };
  const { status, stdout } = spawnSync(command, args, {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} in ${cwd} ended with ${status}.`);
  return stdout;
}

/** The numbers of each line, by the title above it and what else it says. */
function numbersIn(text) {
  const lines = new Map();
  let title = '';
  for (const line of text.split('\n')) {
    const numbers = (line.match(NUMBER) ?? []).map((one) => Number(one.replaceAll(',', '')));
    if (line === '') title = '';
    else if (title === '') title = line.replace(/;.*/, '');
    else if (numbers.length > 0)
      lines.set(`${title}\n${line.replace(NUMBER, '#').replace(/\s+/g, ' ')}`, numbers);
  }
  return lines;
}

/** @param argv What follows `compare`. */
export function compare(argv) {
  const [commit, ...kinds] = argv.filter((arg) => !arg.startsWith('--'));
  if (commit === undefined) throw new Error('npm run bench -- compare COMMIT [KIND…]: there is no commit.');
  const rounds = Number(argv.find((arg) => arg.startsWith('--rounds='))?.slice('--rounds='.length) ?? 5);
  const other = join(mkdtempSync(join(tmpdir(), 'sim-bench-')), 'other');
  run('git', ['worktree', 'add', '--detach', '--quiet', other, commit], ROOT);
  try {
    symlinkSync(join(ROOT, 'node_modules'), join(other, 'node_modules'), 'junction');
    const results = Array.from({ length: rounds }, () =>
      [other, ROOT].map((cwd) => numbersIn(run(process.execPath, ['tests/bench/run.mjs', ...kinds], cwd))),
    );
    let said = '';
    for (const line of results[0][1].keys()) {
      const [title, label] = line.split('\n');
      const columns = results[0][1].get(line).map((_, i) => {
        const pairs = results.map((sides) => sides.map((side) => side.get(line)?.[i]));
        // Numbers that never differ are names.
        if (pairs.every(([a, b]) => a === pairs[0][1] && b === a)) return null;
        const ratios = pairs.map(([a, b]) => b / a).sort((a, b) => a - b);
        const [middle, least, most] = [ratios[rounds >> 1], ratios[0], ratios[rounds - 1]].map((one) =>
          one.toFixed(2),
        );
        return `${pairs[0][1]}: ${middle} (${least}, ${most})`;
      });
      if (columns.every((one) => one === null)) continue;
      if (title !== said) console.log(`\n${title}`);
      said = title;
      console.log(`${label}: ${columns.filter(Boolean).join(', ')}`);
    }
  } finally {
    run('git', ['worktree', 'remove', '--force', other], ROOT);
  }
}
