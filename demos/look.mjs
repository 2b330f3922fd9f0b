/**
 * Opens every page of the built site as a visitor does, takes its picture, and prints what it took until its first frame,
 * and what it said in the console. `npm run build` first.
 *
 *   node demos/look.mjs            all, pictures in .screenshots/look
 *   node demos/look.mjs city file  some
 */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright';
import { preview } from 'vite';
import { browserFlags } from '../tests/setup/browserFlags.mjs';
import { findBrowser } from '../tests/setup/findBrowser.mjs';

const SIZES = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
/** Milliseconds from the first frame to the picture, and the longest that a page may take. */
const SETTLE = 2500;
const PATIENCE = 60_000;

const root = fileURLToPath(new URL('../dist-site', import.meta.url));
const pictures = fileURLToPath(new URL('../.screenshots/look', import.meta.url));
const chosen = process.argv.slice(2);
const pages = readdirSync(root, { recursive: true })
  .filter((file) => /(^|\/)index\.html$/.test(file) && !/^(docs|source|benchmark\/run)\//.test(file))
  .filter(
    (file) =>
      chosen.length === 0 ||
      chosen.some((name) => file === `${name}/index.html` || (name === 'first' && file === 'index.html')),
  );
const server = await preview({
  configFile: false,
  root,
  logLevel: 'error',
  build: { outDir: '.' },
  preview: { port: 0 },
});
const browser = await chromium.launch({ executablePath: await findBrowser(), args: browserFlags });

async function visit(file, renderer, size) {
  const page = await browser.newPage({ viewport: SIZES[size] });
  const said = [];
  page.on('pageerror', (error) => said.push(String(error)));
  page.on('console', (message) => {
    if (!/GL Driver Message/.test(message.text())) said.push(`${message.type()}: ${message.text()}`);
  });
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (document.body?.dataset.ready !== '1') return;
      observer.disconnect();
      // what comes two frames later is drawn when the first is on the screen
      requestAnimationFrame(() =>
        requestAnimationFrame((now) => {
          window.firstFrame = now;
        }),
      );
    }).observe(document, { subtree: true, childList: true, attributeFilter: ['data-ready'] });
  });
  await page.goto(`http://localhost:${server.httpServer.address().port}/${file}?renderer=${renderer}`);
  const first = await page
    .waitForFunction(() => window.firstFrame, null, { timeout: PATIENCE })
    .then((handle) => handle.jsonValue())
    .catch(() => NaN);
  await page.waitForTimeout(SETTLE);
  const name = file.replace(/\/?index\.html$/, '').replaceAll('/', '-') || 'first';
  await page.screenshot({ path: `${pictures}/${name}-${renderer}-${size}.png`, timeout: PATIENCE });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (wide > 0) said.push(`${wide} px wider than the window`);
  await page.close();
  console.log(
    [name.padEnd(14), renderer.padEnd(6), size.padEnd(5), `${(first / 1000).toFixed(1)} s`, ...said].join(
      '  ',
    ),
  );
}

try {
  for (const file of pages)
    for (const renderer of ['webgl', 'webgpu'])
      for (const size of Object.keys(SIZES)) await visit(file, renderer, size);
} finally {
  await browser.close();
  await server.close();
}
