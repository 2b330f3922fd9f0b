import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright';
import { apt, tryAgain } from './apt.mjs';

const NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
  'microsoft-edge',
];

const PLACES = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  ],
  win32: ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA']
    .map((name) => process.env[name])
    .filter(Boolean)
    .flatMap((folder) => [
      join(folder, 'Google', 'Chrome', 'Application', 'chrome.exe'),
      join(folder, 'Microsoft', 'Edge', 'Application', 'msedge.exe'),
    ]),
};

/**
 * Path of a Chromium or Chrome: what `CHROME_PATH` names, an installed one, Playwright's own; else installs one.
 *
 * @throws With one sentence that says what to install.
 */
export async function findBrowser() {
  const named = process.env.CHROME_PATH;
  if (named) {
    if (existsSync(named)) return named;
    throw new Error(`CHROME_PATH is ${named}, but there is no such file.`);
  }
  return installed() ?? playwrights() ?? install();
}

function installed() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const inPath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name + suffix)));
  return [...inPath, ...(PLACES[process.platform] ?? [])].find((path) => existsSync(path));
}

function playwrights() {
  const path = chromium.executablePath();
  return path && existsSync(path) ? path : undefined;
}

function install() {
  console.log('No Chrome or Chromium found (CHROME_PATH can name one); installing one for the tests.');
  const cli = join(createRequire(import.meta.url).resolve('playwright/package.json'), '..', 'cli.js');
  const run = (...args) =>
    spawnSync(process.execPath, [cli, ...args], { stdio: 'inherit', timeout: 600_000 }).status === 0;
  // Tries several times by itself.
  run('install', 'chromium');
  const downloaded = playwrights();
  if (downloaded) {
    if (process.platform === 'linux' && process.getuid?.() === 0) {
      tryAgain(() => run('install-deps', 'chromium'));
    }
    return downloaded;
  }

  if (process.platform === 'linux' && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    if (apt('update', '-qq')) apt('install', '-y', '-qq', 'chromium');
  }
  const found = installed();
  if (found) return found;
  throw new Error('The tests need a browser: install Google Chrome or Chromium, or set CHROME_PATH to one.');
}
