// `npm run test:engines`: compares crowds with three.js's meshes as `npm test` does, in other browsers and with another driver.
//
//   npm run test:engines                              in all that are there
//   npm run test:engines -- --install                 installs what is missing, on Debian as root
//   npm run test:engines -- firefox tests/parity/a    in one, some files; other arguments are Vitest's
//
// CHROME_PATH and FIREFOX_PATH may name the browsers.
import { spawnSync } from 'node:child_process';
import { apt } from '../setup/apt.mjs';
import { ENGINES } from './engines.mjs';

const args = process.argv.slice(2);
const chosen = ENGINES.filter(({ name }) => args.includes(name));
const engines = chosen.length > 0 ? chosen : ENGINES;
const others = args.filter((arg) => arg !== '--install' && !ENGINES.some(({ name }) => name === arg));
if (args.includes('--install') && apt('update', '-qq')) {
  // Each by itself, so that one that this system does not know stands in no other's way.
  for (const { packages } of engines)
    apt('install', '-y', '-qq', '--no-install-recommends', '--no-upgrade', ...packages);
}

let ran = 0;
for (const { name, packages, isThere } of engines) {
  if (!isThere()) {
    console.log(
      `${name} is not there. On Debian: apt-get install ${packages.join(' ')}; or add --install, as root`,
    );
    continue;
  }
  ran++;
  console.log(`\n== ${name}`);
  const files = others.some((arg) => arg.startsWith('tests/')) ? [] : ['tests/parity'];
  const { status } = spawnSync(
    process.execPath,
    ['tests/setup/run.mjs', '--project=browser*', '--exclude=**/webgpu-*', ...files, ...others],
    { stdio: 'inherit', env: { ...process.env, SIM_ENGINE: name } },
  );
  if (status !== 0) process.exitCode = 1;
}
if (ran === 0) process.exitCode = 1;
