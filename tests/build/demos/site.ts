import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { browserFlags } from '../../setup/browserFlags.mjs';
import type { Site } from '../../setup/site.js';
import { drawSeldom } from '../../support/drawSeldom.js';
import { PATIENCE } from '../../support/patience.js';
import { siteBuilt } from '../../support/siteBuilt.js';
import { NIGHTLY } from '../../support/thorough.js';

let site: Site;
let browser: Browser;
/** One for all pages: to make a window takes as long as to open a small page. */
let context: BrowserContext;
/** What pages have complained of in this test. */
const problems: string[] = [];
/** Where pictures of all pages are left, to be looked at. */
const SCREENSHOTS = fileURLToPath(new URL('../../../.screenshots', import.meta.url));

beforeAll(async () => {
  site = await siteBuilt();
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
});

/** Small, for a software renderer's sake; so is the share of the figure's triangles. */
export const WINDOW = { width: 700, height: 420 };
const DETAIL = 0.2;
/** Pixels of pictures to each of the window's, on a side. */
export const SCALE = 0.5;
export const RENDERERS = ['webgl', 'webgpu'];
/** Those under which pages are clicked. */
export const CLICKED = NIGHTLY ? RENDERERS : RENDERERS.slice(0, 1);

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
  await page.goto(`${site.address}${path.includes('?') ? `${path}&detail=${DETAIL}` : path}`);
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

/** A picture of the canvas, without the panel, which has moving numbers of its own. */
export const shotOf = (page: Page): Promise<Buffer> =>
  page.screenshot({ style: '.panel, header, nav { visibility: hidden }' });

/** Waits until what the canvas shows is more than one colour, which packs into next to nothing. */
export async function expectPicture(page: Page): Promise<void> {
  const size = async () => (await shotOf(page)).length;
  await expect.poll(size, { timeout: PATIENCE }).toBeGreaterThan(2_000);
}

/** Waits until what the canvas shows has changed by itself. */
export async function expectMoving(page: Page): Promise<void> {
  const first = await shotOf(page);
  const isSame = async () => (await shotOf(page)).equals(first);
  await expect.poll(isSame, { timeout: PATIENCE }).toBe(false);
}

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

export const glb = (name: string, text: string) => ({ name, mimeType: '', buffer: Buffer.from(text) });
