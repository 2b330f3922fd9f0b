import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { ENGINES } from './tests/engines/engines.mjs';
import { browserFlags } from './tests/setup/browserFlags.mjs';
import { bundled } from './tests/setup/bundled.mjs';
import { serveModels } from './tests/setup/models.mjs';
import { shaderNodes } from './tests/setup/shaderNodes.mjs';
import { alias } from './vite.config.js';

/** See tests/support/thorough.ts. */
const all = process.env.SIM_ALL === '1';
const nightly = process.env.SIM_NIGHTLY === '1';

/** Another browser that shall run tests of browsers, see tests/engines. */
const engine = ENGINES.find(({ name }) => name === process.env.SIM_ENGINE);

const browser = engine?.browser ?? 'chromium';

const resolve = {
  alias: Object.entries(alias).map(([name, path]) => ({ find: new RegExp(`^${name}$`), replacement: path })),
  dedupe: ['three'],
};

/** What tests in Node and in browsers have in common. */
const each = {
  // Files share their modules: a spy or a global that one leaves behind would be there in the next.
  restoreMocks: true,
  unstubGlobals: true,
  // For what is stuck, on a machine several times slower that does other things too.
  testTimeout: 900_000,
  hookTimeout: 900_000,
};
const setupFiles = ['tests/setup/forgetWarnings.ts'];
const browserSetupFiles = [...setupFiles, 'tests/setup/onceOnWebGL2.ts', 'tests/setup/gpuErrors.ts'];

export default defineConfig({
  test: {
    provide: { thorough: all, nightly, hasWebGPU: engine === undefined },
    // In Node; more than there are cores, together with the two browsers, so that none waits at the end for a single file.
    maxWorkers: 2,
    // On a busy machine a browser takes its time to close.
    teardownTimeout: 120_000,
    projects: [
      {
        test: {
          name: 'build',
          include: ['tests/build/**/*.test.ts'],
          // What is made of the library, the package and the pages of the demos, is tested where everything is.
          exclude: all ? [] : ['tests/build/{demos,package}.test.ts', 'tests/build/demos/**'],
          globalSetup: ['tests/setup/site.ts'],
          environment: 'node',
          // Several waits of five minutes each, see tests/support/patience.ts.
          testTimeout: 1_200_000,
          hookTimeout: 1_200_000,
        },
      },
      {
        plugins: [bundled(), shaderNodes()],
        resolve,
        test: {
          ...each,
          name: 'unit',
          include: ['tests/unit/**/*.test.ts'],
          // Loading three.js anew for each file takes longer than most of them.
          isolate: false,
          setupFiles,
          environment: 'node',
        },
      },
      {
        plugins: [serveModels(), bundled(), shaderNodes()],
        resolve,
        optimizeDeps: {
          include: [
            'three',
            'three/webgpu',
            'three/tsl',
            'three-stdlib',
            '@three.ez/instanced-mesh',
            '@react-three/fiber',
            'react',
            'react/jsx-dev-runtime',
          ],
        },
        test: {
          ...each,
          name: 'browser',
          include: ['tests/{browser,parity}/**/*.test.ts'],
          // As above. Each file disposes its renderers: a page has room for sixteen contexts of WebGL.
          isolate: false,
          setupFiles: browserSetupFiles,
          browser: {
            enabled: true,
            // One page for each instance. Said here and not of the project, which would then wait until all others are done.
            fileParallelism: false,
            headless: true,
            screenshotFailures: false,
            connectTimeout: 300_000,
            viewport: { width: 1000, height: 700 },
            provider:
              engine?.provider() ??
              playwright({
                launchOptions: {
                  executablePath: process.env.SIM_BROWSER,
                  args: browserFlags,
                  timeout: 300_000,
                },
              }),
            // Two browsers, each of which keeps one core busy at most: most of the time goes into shaders, and a browser compiles
            // them on one thread.
            instances: [
              {
                browser,
                name: 'browser, first',
                include: ['tests/parity/**/*.test.ts'],
              },
              {
                browser,
                name: 'browser, second',
                include: ['tests/browser/**/*.test.ts'],
              },
            ],
          },
        },
      },
    ],
  },
});
