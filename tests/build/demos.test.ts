import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright';
import { build, type PreviewServer, preview } from 'vite';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { browserFlags } from '../setup/browserFlags.mjs';
import { pyramid, solidKtx2 } from '../support/compressedFiles.js';
import { drawSeldom } from '../support/drawSeldom.js';
import { PATIENCE } from '../support/patience.js';
import { THOROUGH } from '../support/thorough.js';

let server: PreviewServer;
let folder: string;
let browser: Browser;
/** One for all pages: to make a window takes as long as to open a small page. */
let context: BrowserContext;
const problems: string[] = [];
const GALLERY = 'index.html';
/** Where pictures of all pages are left, to be looked at. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCREENSHOTS = join(ROOT, '.screenshots');

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
  context = await browser.newContext();
});
// Also after a test that failed: a page that goes on drawing slows all others.
afterEach(async () => {
  problems.length = 0;
  for (const page of context.pages()) await page.close();
  await context.clearPermissions();
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Small, for a software renderer's sake; so is the share of the figure's triangles. */
const WINDOW = { width: 700, height: 420 };
const DETAIL = 0.4;
/** Pages are opened under both where everything is tested; the main one, and the one that WebGPU draws otherwise, always. */
const RENDERERS = THOROUGH ? ['webgl', 'webgpu'] : ['webgl'];

/** @param measures Whether the page measures frames, or counts them, and has to draw as quickly as it can. */
async function open(path: string, viewport = WINDOW, measures = false): Promise<Page> {
  const page = await context.newPage();
  await page.setViewportSize(viewport);
  if (!measures) await drawSeldom(page);
  page.setDefaultTimeout(PATIENCE);
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    const text = message.text();
    if (['error', 'warning'].includes(message.type()) && !/GL Driver Message/.test(text)) problems.push(text);
  });
  const { port } = server.httpServer!.address() as { port: number };
  const coarse = path.includes('?') ? `${path}&detail=${DETAIL}` : path;
  await page.goto(`http://localhost:${port}${BASE}${coarse}`);
  if (path !== GALLERY) await page.waitForFunction(() => document.body.dataset.ready === '1');
  return page;
}

/** Keeps pictures of a page, wide and, once, on a phone, where everything must fit. */
async function look(page: Page, name: string, renderer = 'webgl'): Promise<void> {
  const shot = (size: string) =>
    page.screenshot({ path: join(SCREENSHOTS, `${name}-${renderer}-${size}.png`) });
  await shot('wide');
  // Panels are the same under either renderer.
  if (renderer !== 'webgl') return;
  const wide = page.viewportSize()!;
  await resize(page, 375, 700);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width, `${name} fits on a phone`).toBe(375);
  await shot('phone');
  await resize(page, wide.width, wide.height);
}

async function expectLinkToSource(page: Page, name: string): Promise<void> {
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
async function nextFrames(page: Page, count: number): Promise<void> {
  await page.evaluate(async (frames) => {
    for (let i = 0; i < frames; i++) await new Promise((resolve) => requestAnimationFrame(resolve));
  }, count);
}

/** Whether what the canvas shows changes by itself; panels have moving numbers of their own. */
async function expectMoving(page: Page): Promise<void> {
  const hide = (hidden: boolean) =>
    page.$eval(
      '.panel',
      (panel, value) => {
        (panel as HTMLElement).hidden = value;
      },
      hidden,
    );
  await hide(true);
  const first = await page.screenshot();
  await expect.poll(async () => (await page.screenshot()).equals(first), { timeout: PATIENCE }).toBe(false);
  await hide(false);
}

/** The figures in the panel's table, by what they are of. */
const figuresOf = (page: Page): Promise<Record<string, string[]>> =>
  page.$$eval('tbody tr', (rows) =>
    Object.fromEntries(
      rows.map((row) => {
        const [label, ...values] = [...(row as HTMLTableRowElement).cells].map((cell) => cell.textContent);
        return [label, values];
      }),
    ),
  );

/** Where the ring around the chosen character is on the screen, by its colour; null if it is not to be seen. */
async function ringOn(page: Page): Promise<{ x: number; y: number } | null> {
  const png = (await page.screenshot()).toString('base64');
  return page.evaluate(async (data) => {
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
    return sum.count < 50 ? null : { x: sum.x / sum.count, y: sum.y / sum.count };
  }, png);
}

/** Milliseconds by which pages may be told a wrong time, when it begins and when it ends. */
const CLOCK_ERROR = 0.2;

const glb = (name: string, text: string) => ({ name, mimeType: '', buffer: Buffer.from(text) });

test('the gallery links to pages that are there', async () => {
  const page = await open(GALLERY);
  const links = await page.$$eval('main a', (all) => all.map((a) => (a as HTMLAnchorElement).href));
  expect(links.length).toBeGreaterThan(0);
  // the documentation is made by a command of its own, which checks its links
  for (const link of links.filter((one) => !one.includes('/docs/')))
    expect((await page.request.get(link)).status()).toBe(200);
  await look(page, 'gallery');
  expect(problems).toEqual([]);
});

test.each(['webgl', 'webgpu'])(
  'the comparison opens under %s, moves, and takes or refuses a file',
  async (renderer) => {
    const page = await open(`comparison/index.html?count=10&shadows=1&renderer=${renderer}`);
    // Each side pays for its own shadows, and for nothing else: not for the ground, nor for the other side.
    const drawn = async () => (await figuresOf(page))['Draw calls, crowd'];
    await expect.poll(drawn, { timeout: PATIENCE }).toEqual(['10', '1']);
    expect((await figuresOf(page))['Draw calls, shadows']).toEqual(['10', '1']);
    const poses = renderer === 'webgl' ? '2' : '0';
    expect((await figuresOf(page))['Draw calls, poses']).toEqual(['0', poses]);
    // Under WebGPU the GPU alone knows how many it draws of a crowd, and says so later.
    const apart = async () => {
      const [each, crowd] = (await figuresOf(page))['Triangles, in all'].map((text) =>
        Number(text.replace(/,/g, '')),
      );
      return Math.abs(each - crowd) / each;
    };
    await expect.poll(apart, { timeout: PATIENCE }).toBeLessThan(0.01);
    await page.click('button[name=shadows]');
    await expectMoving(page);
    await look(page, 'comparison', renderer);
    await expectLinkToSource(page, 'comparison');
    await page.click('[data-mode=instanced]');
    expect(await page.isVisible('.label[data-side=skinned]')).toBe(false);
    await page.fill('[name=count]', '1.3');
    expect(await page.textContent('[name=count] + output')).toBe('20');
    await page.click('button[name=pause]');
    expect(await page.getAttribute('button[name=pause]', 'aria-pressed')).toBe('true');
    await page.setInputFiles('input[type=file]', glb('notes.glb', 'no model'));
    await page.waitForFunction(() => document.body.dataset.error !== undefined);
    expect(await page.textContent('.message span')).toContain('notes.glb is no glTF file');
    expect(problems).toEqual([]);
  },
);

test.each(RENDERERS)(
  'the playback page plays what is asked of the chosen character under %s',
  async (renderer) => {
    const page = await open(`playback/index.html?count=2&changes=5&shadows=0&renderer=${renderer}`);
    await expectMoving(page);
    await look(page, 'playback', renderer);
    await expectLinkToSource(page, 'playback');
    await page.click('button[name=rootMotion]');
    // The page itself looks at every frame: lines do not stay in the log for long.
    const logged = (text: string) =>
      page.waitForFunction((line) => document.querySelector('.log')?.textContent?.includes(line), text);
    const walks = Promise.all([logged('play Walk, fade 0.3 s'), logged('mark Walk')]);
    await page.click('button[data-clip=Walk]');
    await walks;
    expect(await page.textContent('[data-selected]')).toBe('Character 0: Walk');
    await page.keyboard.press('n');
    await page.waitForFunction(() =>
      document.querySelector('[data-selected]')?.textContent?.startsWith('Character 1:'),
    );
    await page.keyboard.press('p');

    await page.click('button[name=pause]');
    await page.waitForFunction(() =>
      document.querySelector('[data-selected]')?.textContent?.includes('still'),
    );
    await page.click('button[name=once]');
    await page.click('button[data-clip=Jump]');
    await logged('finished Jump');
    expect(problems).toEqual([]);
  },
);

test.each(RENDERERS)('the mixing page mixes clips as the mixer beside it does under %s', async (renderer) => {
  const page = await open(`mixing/index.html?count=3&shadows=0&renderer=${renderer}`);
  await expectMoving(page);
  await expectLinkToSource(page, 'mixing');
  const off = async () => Number(await page.textContent('[data-off]'));
  for (const [clip, weight] of [
    ['Run', '0.5'],
    ['Wave', '0.25'],
    ['Walk', '0.1'],
  ]) {
    await page.fill(`[name=${clip}]`, weight);
  }
  await nextFrames(page, 12);
  expect(await page.textContent('[name=Walk] + output')).toBe('0.10');
  expect(await off()).toBeLessThan(1e-5);
  expect(await off()).toBeGreaterThan(0);
  await look(page, 'mixing', renderer);
  expect(problems).toEqual([]);
});

test.each(RENDERERS)(
  'the page of bones has those of an instance where a SkinnedMesh has its own under %s',
  async (renderer) => {
    const page = await open(`bones/index.html?shadows=0&renderer=${renderer}`);
    await expectMoving(page);
    await expectLinkToSource(page, 'bones');
    for (const [name, value] of [
      ['look', '1.2'],
      ['head', '1.6'],
      ['arms', '1.2'],
    ]) {
      await page.fill(`[name=${name}]`, value);
    }
    await nextFrames(page, 3);
    const off = Number(await page.textContent('[data-off]'));
    expect(off).toBeLessThan(1e-5);
    expect(off).toBeGreaterThan(0);
    await look(page, 'bones', renderer);
    await page.click('button[name=skeletons]');
    await page.click('button[name=swords]');
    await nextFrames(page, 2);
    expect(problems).toEqual([]);
  },
);

test.each(RENDERERS)(
  'the page of layers does what a mixer and code do to the character beside under %s',
  async (renderer) => {
    const page = await open(`layers/index.html?count=12&shadows=0&puppets=1&renderer=${renderer}`);
    await expectMoving(page);
    await expectLinkToSource(page, 'layers');
    for (const [name, value] of [
      ['arms', '0.7'],
      ['lean', '0.9'],
      ['look', '0.6'],
      ['run', '0.4'],
    ]) {
      await page.fill(`[name=${name}]`, value);
    }
    await page.click('button[name=heads]');
    await page.mouse.move(600, 100);
    await nextFrames(page, 12);
    const off = Number(await page.textContent('[data-off]'));
    expect(off).toBeLessThan(1e-5);
    expect(off).toBeGreaterThan(0);
    await look(page, 'layers', renderer);
    await page.click('button[name=puppets]');
    await nextFrames(page, 2);
    expect(problems).toEqual([]);
  },
);

test.each(['webgl', 'webgpu'])(
  'the battlefield says how many of its soldiers the camera sees, at which level, under %s',
  async (renderer) => {
    const page = await open(`battlefield/index.html?count=100&shadows=0&renderer=${renderer}`);
    await expectMoving(page);
    await expectLinkToSource(page, 'battlefield');
    const seen = async () =>
      Object.entries(await figuresOf(page))
        .filter(([label]) => /Seen|At level/.test(label))
        .map(([, [value]]) => Number(value));
    await expect.poll(async () => (await seen()).length, { timeout: PATIENCE }).toBe(4);
    const [visible, ...levels] = await seen();
    expect(visible).toBeLessThanOrEqual(100);
    expect(levels.reduce((sum, level) => sum + level, 0)).toBe(visible);
    await look(page, 'battlefield', renderer);
    await page.click('button[name=fly]');
    await page.click('button[name=march]');
    await page.click('button[name=cull]');
    await expect.poll(async () => (await seen())[0], { timeout: PATIENCE }).toBe(100);
    await page.click('button[name=levels]');
    await expect.poll(seen, { timeout: PATIENCE }).toEqual([100, 100, 0, 0]);
    expect(problems).toEqual([]);
  },
);

test.each(RENDERERS)(
  'the meadow moves while its clock runs, and not otherwise, under %s',
  async (renderer) => {
    const page = await open(`meadow/index.html?count=40&shadows=0&renderer=${renderer}`);
    await expectMoving(page);
    await expectLinkToSource(page, 'meadow');
    for (const [name, value] of Object.entries({
      strength: '0.5',
      speed: '3',
      gusts: '1',
      direction: '-90',
    })) {
      await page.fill(`[name=${name}]`, value);
    }
    await nextFrames(page, 2);
    await look(page, 'meadow', renderer);
    await page.click('button[name=clock]');
    await nextFrames(page, 3);
    const canvas = () => page.locator('canvas').screenshot();
    const hide = (hidden: boolean) =>
      page.$eval('.panel', (panel, value) => panel.toggleAttribute('hidden', value), hidden);
    await hide(true);
    const first = await canvas();
    await nextFrames(page, 3);
    expect((await canvas()).equals(first), 'a clock that stands still').toBe(true);
    expect(problems).toEqual([]);
  },
);

test.each(RENDERERS)('the dressing room dresses the chosen character under %s', async (renderer) => {
  const page = await open(`dressing/index.html?count=2&shadows=0&renderer=${renderer}`);
  await expectMoving(page);
  await look(page, 'dressing', renderer);
  await expectLinkToSource(page, 'dressing');
  const worn = async (part: string) => page.getAttribute(`[data-part="${part}"]`, 'aria-pressed');
  const before = await worn('Shield');
  await page.click('[data-part="Shield"]');
  expect(await worn('Shield')).toBe(before === 'true' ? 'false' : 'true');
  await page.click('[data-part="Top hat"]');
  if ((await worn('Top hat')) === 'false') await page.click('[data-part="Top hat"]');
  expect(await worn('Cap'), 'one hat at a time').toBe('false');
  expect(await page.textContent('[data-selected]')).toMatch(/^Character 0 wears .*Top hat/);
  await page.click('button[name=torches]');
  await nextFrames(page, 2);
  await page.click('button[name=torches]');
  await page.locator('[name=mud]').fill('0.5');
  await page.click('button[name=hit]');
  await look(page, 'dressing-hit', renderer);
  await page.click('button[name=fade]');
  expect(await page.getAttribute('button[name=fade]', 'aria-pressed')).toBe('true');
  await look(page, 'dressing-fading', renderer);
  await page.mouse.move(430, 220);
  await nextFrames(page, 2);
  expect(problems).toEqual([]);
});

test.each(['playback', 'dressing'])(
  'the panel of the %s page begins closed on a phone, and covers the chosen character on no screen',
  async (name) => {
    const phone = { width: 375, height: 667 };
    for (const viewport of [phone, WINDOW]) {
      // alone in the dressing room, where others may wear the ring's colour
      const count = name === 'dressing' ? 1 : 9;
      const page = await open(`${name}/index.html?count=${count}&changes=0&shadows=0`, viewport);
      const panel = page.locator('.panel');
      expect((await panel.getAttribute('open')) === null).toBe(viewport === phone);
      if (viewport === phone) await page.click('.panel summary');
      await page.keyboard.press('p');
      const { x, y, width, height } = (await panel.boundingBox())!;
      await expect
        .poll(
          async () => {
            const ring = await ringOn(page);
            if (ring === null) return 'no ring';
            // a character stands on its ring, and is smaller than this
            const head = ring.y - viewport.height * 0.25;
            const covered = ring.x - 60 < x + width && head < y + height;
            return covered ? `covered at ${ring.x}, ${ring.y}` : 'free';
          },
          { timeout: PATIENCE },
        )
        .toBe('free');
      await page.screenshot({ path: join(SCREENSHOTS, `${name}-beside-${viewport.width}.png`) });
      await page.close();
    }
    expect(problems).toEqual([]);
  },
);

test.each(RENDERERS)('the bone texture page shows what was baked under %s', async (renderer) => {
  const page = await open(`texture/index.html?shadows=0&renderer=${renderer}`);
  await expectMoving(page);
  await look(page, 'texture', renderer);
  await expectLinkToSource(page, 'texture');
  expect(await page.textContent('[data-facts]')).toMatch(
    /^6 clips, \d+ frames of 21 joints as quaternion in float/,
  );
  expect(await page.locator('tbody tr').count()).toBe(6);
  expect(await page.locator('tbody tr').first().textContent()).toMatch(/e-\d/);
  await page.click('button[name=half]');
  expect(await page.textContent('[data-facts]')).toContain('in half');
  await page.click('button[name=compare]');
  await page.waitForSelector('[data-bakes] tr:nth-child(3)');
  const ways = await page.$$eval('[data-bakes] td:first-child', (cells) =>
    cells.map((cell) => cell.textContent),
  );
  expect(ways).toEqual(['bake', 'bakeAsync', 'bakeInWorker']);
  await page.selectOption('[name=clip]', { label: 'Jump' });
  await page.fill('[name=frame]', '12');
  expect(await page.getAttribute('button[name=play]', 'aria-pressed')).toBe('false');
  await page.waitForFunction(() =>
    document.querySelector('[name=frame]')?.nextElementSibling?.textContent?.startsWith('12.0 of 45'),
  );
  await page.setInputFiles('input[type=file]', glb('notes.glb', 'no model'));
  await page.waitForFunction(() => document.body.dataset.error?.includes('notes.glb is no glTF file'));
  expect(problems).toEqual([]);
});

test.each(RENDERERS)('the shoal opens under %s, swims, and can be frightened', async (renderer) => {
  const page = await open(`shoal/index.html?count=30&shadows=0&renderer=${renderer}`);
  await expectMoving(page);
  await page.click('button[name=frighten]');
  await nextFrames(page, 2);
  expect(await page.textContent('[data-baked]')).toMatch(/3 clips, \d+ kB, at most [\d.]+ %/);
  await look(page, 'shoal', renderer);
  await expectLinkToSource(page, 'shoal');
  expect(problems).toEqual([]);
});

test.each(RENDERERS)('the crowd of ten thousand grows and shrinks under %s', async (renderer) => {
  const page = await open(`crowd/index.html?count=1&shadows=0&renderer=${renderer}`);
  await expectMoving(page);
  await look(page, 'crowd', renderer);
  await expectLinkToSource(page, 'crowd');
  const until = (text: string) =>
    page.waitForFunction((wanted) => document.querySelector('[data-count]')?.textContent === wanted, text);
  await until('1 character');
  const drawn = async () => (await figuresOf(page))['Draw calls, crowd'];
  await expect.poll(drawn, { timeout: PATIENCE }).toEqual(['1']);
  expect((await figuresOf(page))['Draw calls, shadows'], 'without shadows').toEqual(['0']);
  await page.mouse.click(600, 395);
  await until('2 characters');
  // whoever stands where one was just put jumps, and is gone
  await page.mouse.click(600, 345);
  await until('1 character');
  await page.evaluate(() => document.querySelector<HTMLElement>('button[name=fewer]')?.click());
  await until('0 characters');
  expect(problems).toEqual([]);
});

/** What a port's page found at a moment. */
interface Moment {
  time: number;
  off: number;
  changed: number;
  draws: [plain: number, ported: number];
}

test.each(
  // Flashes, falls, fades and deaths are among these moments; who died is replaced.
  [
    ['arena', '0.6,2,3.6,5.2', 'webgl'],
    ['rts', '0.6,2,3.6,5.2', 'webgpu'],
    ['zoo', '0.6,2,3.6', 'webgl'],
  ].flatMap(([port, times, renderer]) =>
    // Each under one of them, and under both where everything is tested.
    (THOROUGH ? ['webgl', 'webgpu'] : [renderer]).map((one) => [port, times, one]),
  ),
)(
  'the port of the %s takes few lines, and looks the same at %s s under %s',
  async (name, times, renderer) => {
    const page = await open(
      `ports/${name}/index.html?times=${times}&count=12&width=320&renderer=${renderer}`,
      WINDOW,
      true,
    );
    const changedLines = Number.parseInt((await page.textContent('[data-lines]'))!, 10);
    expect(changedLines).toBeGreaterThan(0);
    expect(changedLines).toBeLessThanOrEqual(15);
    const moments: Moment[] = JSON.parse((await page.getAttribute('body', 'data-moments'))!);
    expect(moments).toHaveLength(times.split(',').length);
    for (const { time, off, changed, draws } of moments) {
      console.log(
        `${name}, ${renderer}, ${time} s: ${(off * 100).toFixed(3)} % off, ${draws.join(' → ')} draw calls`,
      );
      expect(off, `at ${time} s`).toBeLessThanOrEqual(0.001);
      expect(changed, `something has happened until ${time} s`).toBeGreaterThan(0.01);
      expect(draws[1], `draw calls at ${time} s`).toBeLessThan(draws[0]);
    }
    await look(page, `port-${name}`, renderer);
    await expectLinkToSource(page, `ports/${name}`);
    expect(problems).toEqual([]);
  },
);

test.each(RENDERERS)('the page for files takes one or refuses it under %s', async (renderer) => {
  const page = await open(`file/index.html?count=2&shadows=0&renderer=${renderer}`);
  await expectMoving(page);
  await look(page, 'file', renderer);
  await expectLinkToSource(page, 'file');
  const facts = () => page.textContent('[data-facts]');
  expect(await facts()).toMatch(/^The built-in figure: clips: 6, joints: 21, .* as tracks/);
  await page.selectOption('[name=encoding]', 'matrix');
  expect(await facts()).toContain('as matrix');
  await page.selectOption('[name=clip]', 'Wave');
  expect(await page.textContent('.code')).toContain("crowd.playAll('Wave'");
  expect(await page.textContent('.code')).toContain("encoding: 'matrix'");
  const own = renderer === 'webgpu' ? 'WebGPURenderer' : 'WebGLRenderer';
  expect(await page.textContent('.code')).toContain(`const renderer = new ${own}(`);
  await page.fill('[name=count]', '0.48');
  expect(await page.textContent('.code')).toContain('gltf.animations, 3, {');

  // What it saves, it opens, and bakes nothing then.
  await page.$$eval('details', (all) => {
    for (const one of all) one.open = true;
  });
  const saved = page.waitForEvent('download');
  await page.click('[name=save]');
  const path = await (await saved).path();
  await page.waitForFunction(() => document.querySelector('[data-saved]')?.textContent?.includes('read in'));
  await page.setInputFiles('input[type=file]', path);
  await page.waitForFunction(() =>
    document.querySelector('[data-facts]')?.textContent?.includes('as matrix, from the file'),
  );
  expect(await page.textContent('.code')).toContain('SkinnedInstancedMesh.from(gltf, 3');

  await page.setInputFiles('input[type=file]', glb('notes.glb', 'no model'));
  await page.waitForFunction(() => document.body.dataset.error?.includes('notes.glb is no glTF file'));
  await page.setInputFiles(
    'input[type=file]',
    glb('still.gltf', '{ "asset": { "version": "2.0" }, "scenes": [{}] }'),
  );
  await page.waitForFunction(() => document.body.dataset.error?.includes('still.gltf has no animations'));
  await page.click('.message button');
  expect(await page.isVisible('.message')).toBe(false);
  expect(problems).toEqual([]);
});

test('compressed files look as if they were not', async () => {
  const page = await open('file/index.html?count=1&shadows=0');
  const look = async (name: string, bytes: Uint8Array) => {
    const file = { name: `${name}.glb`, mimeType: '', buffer: Buffer.from(bytes) };
    await page.setInputFiles('input[type=file]', file);
    await page.waitForFunction(
      (begin) => document.querySelector('[data-facts]')?.textContent?.startsWith(begin),
      `${file.name}: clips: 1, joints: 2, vertices: 5,`,
    );
    await page.$eval('.panel', (panel) => panel.setAttribute('style', 'display: none'));
    // The clip stands still, and so does the camera after a moment. On the right the page says which file it is.
    const shot = async () => {
      await nextFrames(page, 4);
      return page.screenshot({ clip: { x: 0, y: 0, width: 500, height: 420 } });
    };
    let picture = await shot();
    for (let before = picture; ; before = picture) {
      picture = await shot();
      if (picture.equals(before)) break;
    }
    await page.$eval('.panel', (panel) => panel.removeAttribute('style'));
    return picture.toString('base64');
  };
  const plain = await look('plain', await pyramid('plain'));
  for (const compression of ['meshopt', 'draco'] as const) {
    expect(await look(compression, await pyramid(compression)), compression).toBe(plain);
  }
  const red = await look('red', await pyramid('plain', solidKtx2(255, 0, 0)));
  expect(red, 'a KTX2 texture').not.toBe(plain);
  expect(await look('white', await pyramid('plain', solidKtx2(255, 255, 255))), 'a white one').toBe(plain);
  expect(problems).toEqual([]);
});

test.each(RENDERERS)('the benchmark measures every way of drawing under %s', async (renderer) => {
  const page = await open(
    `benchmark/index.html?counts=2&vertices=0&budget=0&renderer=${renderer}`,
    WINDOW,
    true,
  );
  await page.click('button[name=start]');
  await page.waitForFunction(() => document.body.dataset.done === '1');
  const { rows, device } = JSON.parse((await page.textContent('[data-json]'))!);
  const peers = renderer === 'webgl' ? ['instancedMesh2'] : ['lite'];
  const ways = [
    'floor',
    'skinned',
    ...peers,
    'tracks',
    'quaternion',
    'quaternionHalf',
    'matrix',
    'matrixHalf',
    'nearest',
  ];
  const bytes = Object.fromEntries(
    rows.map((row: { contender: string; bytes: number }) => [row.contender, row.bytes]),
  );
  expect(Object.keys(bytes).sort()).toEqual([...ways].sort());
  expect(device).not.toBe('');
  expect(bytes.skinned).toBeGreaterThan(bytes.quaternion);
  for (const { contender, draws, gpu, frame } of rows) {
    expect(draws, contender).toBe(contender === 'skinned' ? 2 : 1);
    expect(gpu ?? 0, contender).toBeLessThanOrEqual(frame + CLOCK_ERROR);
  }
  expect(await page.locator('polyline').count()).toBe(ways.length);
  expect(await page.locator('tbody tr').count()).toBe(ways.length);
  await page.click('text=Whole frame');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.click('button[name=copy]');
  await page.waitForFunction(() => document.querySelector('[data-state]')?.textContent === 'Copied.');
  expect(JSON.parse(await page.evaluate(() => navigator.clipboard.readText())).rows).toEqual(rows);
  await look(page, 'benchmark', renderer);
  await expectLinkToSource(page, 'benchmark');
  expect(problems).toEqual([]);
});

test('the benchmark warms the browser up, and times JavaScript where there is next to nothing to draw', async () => {
  const page = await open('benchmark/index.html?counts=1&budget=0&only=floor,quaternion', WINDOW, true);
  const measured: string[] = [];
  page.on('framenavigated', (frame) => {
    const query = new URL(frame.url()).searchParams;
    measured.push(['contender', 'vertices', 'measure'].map((name) => query.get(name)).join(' '));
  });
  await page.click('button[name=start]');
  await page.waitForFunction(() => document.body.dataset.done === '1');
  expect(measured).toEqual([
    'floor 0 script', // whose result is not kept
    'floor 0 script',
    'floor 1 drawing',
    'quaternion 0 script',
    'quaternion 1 drawing',
  ]);
  const { rows } = JSON.parse((await page.textContent('[data-json]'))!);
  expect(rows).toHaveLength(2);
  for (const { js, frame, gpu, draws } of rows) {
    expect(js).toBeGreaterThan(0);
    expect(frame).toBeGreaterThan(0);
    expect(gpu ?? 0).toBeLessThanOrEqual(frame + CLOCK_ERROR);
    expect(draws).toBe(1);
  }
  expect(problems).toEqual([]);
});

test('a source has links to what it imports', async () => {
  const page = await open('source/index.html?of=crowd/main.ts');
  expect(await page.textContent('.source')).toContain('Crowd.from(root, clips');
  await look(page, 'source');
  await page.click('.source a >> text=../lib/Picker');
  await page.waitForFunction(() => document.body.dataset.ready === '1');
  expect(await page.textContent('h1')).toBe('lib/Picker.ts');
  expect(problems).toEqual([]);
});
