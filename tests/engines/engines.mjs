import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright';
import { browserFlags } from '../setup/browserFlags.mjs';
import { findBrowser } from '../setup/findBrowser.mjs';
import { PATIENCE } from './drawWith.mjs';
import { startOnScreen } from './processes.mjs';
import { BASELINE_RENDERERS, RENDERERS } from './renderers.mjs';

/**
 * An engine that draws the page. The page sends by itself what it drew, so that all a browser has to do is to open it:
 * none is driven.
 *
 * @typedef {object} Engine
 * @property {string} name
 * @property {readonly import('./renderers.mjs').RendererName[]} renderers Those to draw with.
 * @property {string[]} packages What Debian calls what it takes.
 * @property {() => string[]} missing What of it is not there.
 * @property {RegExp} device What it must say it draws on; anything else is another engine.
 * @property {(url: string, lost: (why: string) => void) => Promise<() => Promise<void>>} open Opens a page, and calls `lost`
 * if the browser goes down; returns what closes it.
 */

const onLinux = process.platform === 'linux';

/** Flags with which Chromium draws WebGL by Mesa, and without a GPU so by llvmpipe. */
const llvmpipeFlags = [
  ...browserFlags.filter((flag) => !/swiftshader|vulkan|webgpu/i.test(flag)),
  '--use-gl=angle',
  '--use-angle=gl-egl',
  '--ignore-gpu-blocklist',
  '--disable-gpu-sandbox',
];

const openChromium = (args, env) => async (url, lost) => {
  const executablePath = await findBrowser();
  const browser = await chromium.launch({
    executablePath,
    args,
    env: { ...process.env, ...env },
    timeout: PATIENCE,
  });
  const page = await browser.newPage();
  page.on('crash', () => lost('the page crashed'));
  browser.on('disconnected', () => lost('the browser ended'));
  // The page says itself what it loads and draws.
  await page.goto(url, { waitUntil: 'commit', timeout: PATIENCE });
  return () => browser.close();
};

/** Name of the one that draws by the driver that Firefox and WebKit draw by. */
export const LLVMPIPE = 'Chromium on llvmpipe';

/** What the others are compared with. @type {Engine} */
export const BASELINE = {
  name: 'Chromium on SwiftShader',
  renderers: BASELINE_RENDERERS,
  packages: ['chromium'],
  missing: () => [],
  device: /SwiftShader/,
  open: openChromium(browserFlags),
};

/** @type {Engine[]} */
export const ENGINES = [
  {
    name: LLVMPIPE,
    renderers: RENDERERS,
    packages: ['libgl1-mesa-dri'],
    missing: () => needed({ Mesa: hasMesa() }),
    device: /llvmpipe/,
    open: openChromium(llvmpipeFlags, { LIBGL_ALWAYS_SOFTWARE: '1' }),
  },
  {
    name: 'Firefox',
    renderers: RENDERERS,
    packages: ['firefox-esr', 'xvfb', 'libgl1-mesa-dri'],
    missing: () => needed({ Firefox: findFirefox(), Xvfb: find('Xvfb'), Mesa: hasMesa() }),
    device: /llvmpipe/,
    open: (url, lost) =>
      startOnScreen((home) => [findFirefox(), '--no-remote', '--profile', profile(home), url], lost),
  },
  {
    name: 'WebKit',
    renderers: RENDERERS,
    packages: ['webkit2gtk-driver', 'xvfb', 'libgl1-mesa-dri'],
    missing: () => needed({ 'WebKit’s MiniBrowser': findMiniBrowser(), Xvfb: find('Xvfb'), Mesa: hasMesa() }),
    // It calls everything an Apple GPU, so that pages cannot tell machines apart.
    device: /./,
    open: (url, lost) => startOnScreen(() => [findMiniBrowser(), '--private', url], lost, webKitEnv()),
  },
];

/** Names of what is not there. */
function needed(found) {
  if (!onLinux) return ['Linux'];
  return Object.keys(found).filter((name) => !found[name]);
}

/** Path of a program, or undefined. */
function find(...names) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}

/** What `FIREFOX_PATH` names, or an installed one. */
function findFirefox() {
  const named = process.env.FIREFOX_PATH;
  if (named && !existsSync(named)) throw new Error(`FIREFOX_PATH is ${named}, but there is no such file.`);
  return named || find('firefox-esr', 'firefox');
}

/** Folders in which distributions keep libraries. */
function libraryFolders() {
  const folders = ['/usr/lib', '/usr/lib64', '/usr/libexec'].filter((folder) => existsSync(folder));
  const machines = list('/usr/lib').filter((name) => name.endsWith('-linux-gnu'));
  return [...folders, ...machines.map((name) => join('/usr/lib', name))];
}

/** WebKitGTK's own small browser, which no one has in the PATH. */
function findMiniBrowser() {
  return libraryFolders()
    .flatMap((folder) => list(folder).map((name) => join(folder, name)))
    .filter((folder) => /webkit2?gtk-[\d.]+$/.test(folder))
    .map((folder) => join(folder, 'MiniBrowser'))
    .find((path) => existsSync(path));
}

function hasMesa() {
  return libraryFolders().some(
    (folder) =>
      existsSync(join(folder, 'dri', 'swrast_dri.so')) ||
      list(folder).some((name) => name.startsWith('libgallium')),
  );
}

function list(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** A Firefox profile that draws in software and calls no one. */
function profile(home) {
  const settings = {
    'webgl.force-enabled': true,
    'app.normandy.enabled': false,
    'app.update.auto': false,
    'app.update.enabled': false,
    'browser.aboutwelcome.enabled': false,
    'browser.newtabpage.enabled': false,
    'browser.region.network.url': '',
    'browser.safebrowsing.downloads.remote.enabled': false,
    'browser.safebrowsing.malware.enabled': false,
    'browser.safebrowsing.phishing.enabled': false,
    'browser.sessionstore.resume_from_crash': false,
    'browser.shell.checkDefaultBrowser': false,
    'browser.startup.homepage_override.mstone': 'ignore',
    'datareporting.healthreport.uploadEnabled': false,
    'datareporting.policy.dataSubmissionEnabled': false,
    'extensions.blocklist.enabled': false,
    'extensions.getAddons.cache.enabled': false,
    'extensions.update.enabled': false,
    'network.captive-portal-service.enabled': false,
    'network.connectivity-service.enabled': false,
    'services.settings.server': 'data:,#',
    'toolkit.telemetry.enabled': false,
    'toolkit.telemetry.server': 'data:,',
  };
  const lines = Object.entries(settings).map(
    ([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});`,
  );
  writeFileSync(join(home, 'user.js'), lines.join('\n'));
  return home;
}

/** Its sandbox does not start for root, in containers: there it is switched off. The page is our own. */
function webKitEnv() {
  return process.getuid?.() === 0 ? { WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1' } : {};
}
