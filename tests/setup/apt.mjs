import { spawnSync } from 'node:child_process';

/** How often something is tried that may fail by chance, as downloads do. */
const TRIES = 3;
/** Milliseconds between two tries. */
const PAUSE = 10_000;
/** Milliseconds that one may take. To break off what installs packages leaves them half installed. */
const PATIENCE = 1_200_000;

const OPTIONS = ['-o', 'Acquire::Retries=3', '-o', 'DPkg::Lock::Timeout=300'];
const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };

/** What another try would not mend. */
const FOR_GOOD = /Unable to locate package|no installation candidate/;

/**
 * Does something until it has worked, three times at most.
 *
 * @param {() => boolean} attempt Says whether it has worked.
 * @returns {boolean} Whether it has in the end.
 */
export function tryAgain(attempt) {
  for (let tries = 1; ; tries++) {
    if (attempt()) return true;
    if (tries === TRIES) return false;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE);
  }
}

/**
 * Runs apt-get, more than once where it fails; what it says is shown only then.
 *
 * @param {...string} args
 * @returns {boolean} Whether it has worked in the end.
 */
export function apt(...args) {
  let said = '';
  const worked = tryAgain(() => {
    const options = { env, encoding: 'utf8', timeout: PATIENCE };
    const { status, stdout, stderr } = spawnSync('apt-get', [...OPTIONS, ...args], options);
    said = `${stdout}\n${stderr}`;
    return status === 0 || FOR_GOOD.test(said);
  });
  if (worked && !FOR_GOOD.test(said)) return true;
  console.log(`apt-get ${args.join(' ')} failed:\n${said.trim().split('\n').slice(-5).join('\n')}`);
  return false;
}
