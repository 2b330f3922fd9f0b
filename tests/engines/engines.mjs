import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { defineBrowserProvider } from '@vitest/browser';
import { playwright } from '@vitest/browser-playwright';
import { browserFlags } from '../setup/browserFlags.mjs';
import { startOnScreen } from './processes.mjs';

/**
 * A browser, or a driver, that draws otherwise than the Chromium of `npm test`, without WebGPU.
 *
 * @typedef {object} Engine
 * @property {string} name One word.
 * @property {string[]} packages What Debian calls what it takes.
 * @property {() => boolean} isThere
 * @property {'chromium' | 'firefox' | 'webkit'} browser
 * @property {() => import('vitest/node').BrowserProviderOption} provider What opens the page of Vitest.
 */

/** @type {Engine[]} */
export const ENGINES = [
  {
    name: 'llvmpipe',
    browser: 'chromium',
    packages: ['libgl1-mesa-dri'],
    isThere: () => find(/^(swrast_dri\.so|libgallium.*)$/) !== undefined,
    provider: () =>
      playwright({
        launchOptions: {
          executablePath: process.env.SIM_BROWSER,
          // Mesa, which draws by llvmpipe where there is no GPU.
          args: [
            ...browserFlags.filter((flag) => !/swiftshader|vulkan|webgpu/i.test(flag)),
            '--use-gl=angle',
            '--use-angle=gl-egl',
            '--ignore-gpu-blocklist',
            '--disable-gpu-sandbox',
          ],
          env: { ...process.env, LIBGL_ALWAYS_SOFTWARE: '1' },
        },
      }),
  },
  {
    name: 'firefox',
    browser: 'firefox',
    packages: ['firefox-esr', 'xvfb', 'libgl1-mesa-dri'],
    isThere: () => findFirefox() !== undefined && find(/^Xvfb$/) !== undefined,
    provider: () =>
      onScreen('firefox', (home, url) => [findFirefox(), '--no-remote', '--profile', profile(home), url]),
  },
  {
    name: 'webkit',
    browser: 'webkit',
    packages: ['webkit2gtk-driver', 'xvfb', 'libgl1-mesa-dri'],
    isThere: () => find(/^MiniBrowser$/) !== undefined && find(/^Xvfb$/) !== undefined,
    provider: () => onScreen('webkit', (_, url) => [find(/^MiniBrowser$/), '--private', url]),
  },
];

/** What opens the page of Vitest, which runs by itself, in a browser that no one drives. */
function onScreen(name, command) {
  const closing = [];
  return defineBrowserProvider({
    name,
    supportedBrowser: [name],
    providerFactory: () => ({
      name,
      supportsParallelism: false,
      getCommandsContext: () => ({}),
      openPage: async (_, url) => closing.push(await startOnScreen((home) => command(home, url))),
      close: () => Promise.all(closing.splice(0).map((close) => close())),
    }),
  });
}

/** Path of a program in the PATH, or of a file in the folders in which distributions keep libraries; or undefined. */
function find(name) {
  const machines = list('/usr/lib').filter((folder) => folder.endsWith('-linux-gnu'));
  const libraries = ['/usr/lib64', '/usr/libexec', ...machines.map((folder) => join('/usr/lib', folder))];
  const inside = libraries.flatMap((folder) =>
    list(folder)
      .filter((one) => /^(dri|webkit2?gtk-[\d.]+)$/.test(one))
      .map((one) => join(folder, one)),
  );
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...libraries, ...inside];
  const [found] = folders.flatMap((folder) =>
    list(folder)
      .filter((one) => name.test(one))
      .map((one) => join(folder, one)),
  );
  return found;
}

/** What `FIREFOX_PATH` names, or an installed one. */
const findFirefox = () => process.env.FIREFOX_PATH || find(/^firefox(-esr)?$/);

const list = (folder) => (existsSync(folder) ? readdirSync(folder) : []);

/** A Firefox profile that draws in software and calls no one. */
function profile(home) {
  const settings = {
    'webgl.force-enabled': true,
    // No page of its own before that of the tests, nor a timer of what lies behind another window.
    'browser.aboutwelcome.enabled': false,
    'browser.shell.checkDefaultBrowser': false,
    'browser.startup.homepage_override.mstone': 'ignore',
    'datareporting.policy.dataSubmissionEnabled': false,
    'app.update.enabled': false,
    'app.normandy.enabled': false,
    'services.settings.server': 'data:,#',
    'toolkit.telemetry.server': 'data:,',
  };
  const lines = Object.entries(settings).map(
    ([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});`,
  );
  writeFileSync(join(home, 'user.js'), lines.join('\n'));
  return home;
}
