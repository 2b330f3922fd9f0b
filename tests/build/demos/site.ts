import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright';
import { build, type PreviewServer, preview } from 'vite';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { browserFlags } from '../../setup/browserFlags.mjs';
import { drawSeldom } from '../../support/drawSeldom.js';
import { PATIENCE } from '../../support/patience.js';
import { THOROUGH } from '../../support/thorough.js';

let server: PreviewServer;
let folder: string;
let browser: Browser;
/** One for all pages: to make a window takes as long as to open a small page. */
let context: BrowserContext;
/** What pages have complained of in this test. */
const problems: string[] = [];
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Where pictures of all pages are left, to be looked at. */
export const SCREENSHOTS = join(ROOT, '.screenshots');

/** A path that the site knows nothing of. */
const BASE = '/some/where/';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sim-site-'));
  await build({
    configFile: join(ROOT, 'vite.config.ts'),
    mode: 'site',
    logLevel: 'error',
    build: { outDir: folder },
  });
  server = await preview({
    configFile: false,
    root: folder,
    base: BASE,
    logLevel: 'error',
    build: { outDir: '.' },
    preview: { port: 0 },
  });
  const executablePath = process.env.SIM_BROWSER;
  browser = await chromium.launch({ executablePath, args: browserFlags, timeout: PATIENCE });
  context = await browser.newContext({ deviceScaleFactor: SCALE });
});
// Also after a test that failed: a page that goes on drawing slows all others.
afterEach(async () => {
  for (const page of context.pages()) await page.close();
  await context.clearPermissions();
  // One text, of which a report shows more than of a list.
  expect(problems.splice(0).join('\n'), 'what pages complained of').toBe('');
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Small, for a software renderer's sake; so is the share of the figure's triangles. */
export const WINDOW = { width: 700, height: 420 };
const DETAIL = 0.4;
/** Pixels of pictures to each of the window's, on a side. */
export const SCALE = THOROUGH ? 1 : 0.5;
/** Pages are opened under both where everything is tested; the one that WebGPU draws otherwise, always. */
export const RENDERERS = THOROUGH ? ['webgl', 'webgpu'] : ['webgl'];

/** @param measures Whether the page measures frames, or counts them, and has to draw as quickly as it can. */
export async function open(path: string, viewport = WINDOW, measures = false): Promise<Page> {
  const page = await context.newPage();
  await page.setViewportSize(viewport);
  if (!measures) await drawSeldom(page);
  page.setDefaultTimeout(PATIENCE);
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    const text = message.text();
    // react-three-fiber makes a clock, of which three.js warns.
    const isKnown = /GL Driver Message|THREE\.Clock/.test(text);
    if (['error', 'warning'].includes(message.type()) && !isKnown) problems.push(text);
  });
  const { port } = server.httpServer!.address() as { port: number };
  const coarse = path.includes('?') ? `${path}&detail=${DETAIL}` : path;
  await page.goto(`http://localhost:${port}${BASE}${coarse}`);
  await page.waitForFunction(() => document.body.dataset.ready === '1');
  return page;
}

/** Opens a page of the gallery, which moves and links to its source. */
export async function visit(name: string, query: string, renderer: string): Promise<Page> {
  const page = await open(`${name}/index.html?${query}&renderer=${renderer}`);
  await expectMoving(page);
  await expectLinkToSource(page, name);
  return page;
}

/** Pages that were seen to fit on a phone. */
const fitting = new WeakSet<Page>();

/** Keeps pictures of a page, wide and, once, on a phone, where everything must fit. */
export async function look(page: Page, name: string, renderer = 'webgl'): Promise<void> {
  const shot = (size: string) =>
    page.screenshot({ path: join(SCREENSHOTS, `${name}-${renderer}-${size}.png`) });
  await shot('wide');
  // Panels are the same under either renderer, and at any time.
  if (renderer !== 'webgl' || fitting.has(page)) return;
  fitting.add(page);
  const wide = page.viewportSize()!;
  await resize(page, 375, 700);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width, `${name} fits on a phone`).toBe(375);
  await shot('phone');
  await resize(page, wide.width, wide.height);
}

export async function expectLinkToSource(page: Page, name: string): Promise<void> {
  const [href] = await page.$$eval('a', (links) =>
    links.filter(({ textContent }) => textContent === 'source').map((link) => link.getAttribute('href')),
  );
  const up = '../'.repeat(name.split('/').length);
  expect(href).toBe(`${up}source/index.html?of=${name}/main.ts`);
}

/** Until the page has noticed, and drawn. */
async function resize(page: Page, width: number, height: number): Promise<void> {
  await page.setViewportSize({ width, height });
  await nextFrames(page, 2);
}

/** Until the page has drawn so often. */
export async function nextFrames(page: Page, count: number): Promise<void> {
  await page.evaluate(async (frames) => {
    for (let i = 0; i < frames; i++) await new Promise((resolve) => requestAnimationFrame(resolve));
  }, count);
}

/** Hides the panel, which has moving numbers of its own, while the canvas is looked at. */
async function withoutPanel(page: Page, look: () => Promise<void>): Promise<void> {
  const hide = (hidden: boolean) =>
    page.$eval('.panel', (panel, value) => panel.toggleAttribute('hidden', value), hidden);
  await hide(true);
  await look();
  await hide(false);
}

/** Waits until what the canvas shows has changed by itself. */
export const expectMoving = (page: Page): Promise<void> =>
  withoutPanel(page, async () => {
    const first = await page.screenshot();
    const isSame = async () => (await page.screenshot()).equals(first);
    await expect.poll(isSame, { timeout: PATIENCE }).toBe(false);
  });

/** Waits until what the canvas shows stays as it is for some frames. */
export const expectStill = (page: Page): Promise<void> =>
  withoutPanel(page, async () => {
    let last = await page.screenshot();
    const isSame = async () => {
      await nextFrames(page, 3);
      const before = last;
      last = await page.screenshot();
      return last.equals(before);
    };
    await expect.poll(isSame, { timeout: PATIENCE }).toBe(true);
  });

/** The figures in the panel's table, by what they are of. */
export const figuresOf = (page: Page): Promise<Record<string, string[]>> =>
  page.$$eval('tbody tr', (rows) =>
    Object.fromEntries(
      rows.map((row) => {
        const [label, ...values] = [...(row as HTMLTableRowElement).cells].map((cell) => cell.textContent);
        return [label, values];
      }),
    ),
  );

/** Where the ring around the chosen character is on the screen, by its colour; null if it is not to be seen. */
export async function ringOn(page: Page): Promise<{ x: number; y: number } | null> {
  const png = (await page.screenshot()).toString('base64');
  const { x, y, count } = await page.evaluate(async (data) => {
    const blob = await (await fetch(`data:image/png;base64,${data}`)).blob();
    const { width, height } = await createImageBitmap(blob);
    const context = new OffscreenCanvas(width, height).getContext('2d')!;
    context.drawImage(await createImageBitmap(blob), 0, 0);
    const pixels = context.getImageData(0, 0, width, height).data;
    const sum = { x: 0, y: 0, count: 0 };
    for (let i = 0; i < pixels.length; i += 4) {
      const [red, green, blue] = pixels.subarray(i, i + 3);
      if (red < 220 || green < 110 || green > 175 || blue > 80) continue;
      sum.x += (i / 4) % width;
      sum.y += Math.floor(i / 4 / width);
      sum.count++;
    }
    return sum;
  }, png);
  const area = count * SCALE;
  return count < 50 * SCALE ** 2 ? null : { x: x / area, y: y / area };
}

export const glb = (name: string, text: string) => ({ name, mimeType: '', buffer: Buffer.from(text) });
