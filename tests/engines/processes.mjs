import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What is to be ended with this process, however it ends. */
const running = new Set();

process.on('exit', () => {
  for (const end of running) end();
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

/** A new folder for what a browser writes, and what removes it. */
function createHome() {
  const home = mkdtempSync(join(tmpdir(), 'engine-'));
  const remove = () => {
    running.delete(remove);
    // A browser that was killed may be writing still.
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
  running.add(remove);
  return { home, remove };
}

/** Starts a program as a group of its own, so that it ends with all that it started itself. */
function start(command, args, options) {
  const child = spawn(command, args, { ...options, detached: true });
  const end = () => {
    running.delete(end);
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  };
  running.add(end);
  child.on('error', end);
  return { child, end };
}

/** Opens a screen that no one sees. Needs Xvfb. */
async function openScreen() {
  // It looks for a number that is free, and writes it when it is ready.
  const args = ['-displayfd', '3', '-screen', '0', '1024x768x24', '-nolisten', 'tcp'];
  const { child, end } = start('Xvfb', args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const display = await new Promise((resolve, reject) => {
    child.stdio[3].once('data', (number) => resolve(`:${String(number).trim()}`));
    child.once('exit', () => reject(new Error('Xvfb ended at once; is there room in /tmp?')));
    child.once('error', reject);
  });
  return { display, end };
}

/**
 * Starts a browser on a screen that no one sees, with Mesa's software driver and a home of its own.
 *
 * @param {(home: string) => [command: string, ...args: string[]]} command
 * @returns What ends it.
 */
export async function startOnScreen(command) {
  const screen = await openScreen();
  const { home, remove } = createHome();
  const [program, ...args] = command(home);
  const { child, end } = start(program, args, {
    stdio: 'ignore',
    env: {
      PATH: process.env.PATH,
      LANG: 'C.UTF-8',
      HOME: home,
      XDG_RUNTIME_DIR: home,
      DISPLAY: screen.display,
      LIBGL_ALWAYS_SOFTWARE: '1',
      // It shall start no service that outlives it.
      DBUS_SESSION_BUS_ADDRESS: 'disabled:',
      NO_AT_BRIDGE: '1',
      // WebKit's sandbox does not start for root, in containers: there it is switched off. The page is our own.
      ...(process.getuid?.() === 0 && { WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1' }),
    },
  });
  const gone = new Promise((resolve) => child.once('close', resolve));
  return async () => {
    end();
    await gone;
    screen.end();
    remove();
  };
}
