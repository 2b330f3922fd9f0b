import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright';
import { createServer, type ViteDevServer } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { browserFlags } from '../setup/browserFlags.mjs';

let server: ViteDevServer;
let browser: Browser;
const problems: string[] = [];

beforeAll(async () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  server = await createServer({ root, logLevel: 'error', server: { port: 0, hmr: false, watch: null } });
  await server.listen();
  browser = await chromium.launch({ executablePath: process.env.SIM_BROWSER, args: browserFlags });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

async function open(path: string, width = 800): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height: 500 } });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    const text = message.text();
    if (['error', 'warning'].includes(message.type()) && !/GL Driver Message/.test(text)) problems.push(text);
  });
  const { port } = server.httpServer!.address() as { port: number };
  await page.goto(`http://localhost:${port}${path}`);
  return page;
}

test('the gallery links to pages that are there', async () => {
  const page = await open('/demos/index.html');
  const links = await page.$$eval('main a', (all) => all.map((a) => (a as HTMLAnchorElement).href));
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) expect((await page.request.get(link)).status()).toBe(200);
  expect(problems).toEqual([]);
  await page.close();
});

test.each(['webgl', 'webgpu'])(
  'the comparison opens under %s, moves, and takes or refuses a file',
  async (renderer) => {
    const page = await open(`/demos/comparison/index.html?count=10&renderer=${renderer}`, 375);
    await page.waitForFunction(() => document.body.dataset.ready === '1');
    const first = await page.screenshot();
    await page.waitForTimeout(700);
    expect(first.equals(await page.screenshot())).toBe(false);

    await page.setInputFiles('input[type=file]', {
      name: 'notes.glb',
      mimeType: '',
      buffer: Buffer.from('no model'),
    });
    await page.waitForFunction(() => document.body.dataset.error !== undefined);
    expect(await page.textContent('.message span')).toContain('notes.glb is no glTF file');
    expect(problems).toEqual([]);
    await page.close();
  },
);

test.each(['webgl', 'webgpu'])(
  'the playback page plays what is asked of the chosen character under %s',
  async (renderer) => {
    const page = await open(`/demos/playback/index.html?count=4&changes=5&shadows=0&renderer=${renderer}`);
    await page.waitForFunction(() => document.body.dataset.ready === '1');
    await page.click('button[name=rootMotion]');
    await page.click('button[data-clip=Walk]');
    await page.waitForFunction(() => document.querySelector('.log')?.textContent?.includes('mark Walk'));
    expect(await page.textContent('[data-selected]')).toBe('Character 0: Walk');
    expect(await page.textContent('.log')).toContain('play Walk, fade 0.3 s');

    await page.click('button[name=pause]');
    await page.waitForFunction(() =>
      document.querySelector('[data-selected]')?.textContent?.includes('still'),
    );
    await page.click('button[name=once]');
    await page.click('button[data-clip=Jump]');
    await page.waitForFunction(
      () => document.querySelector('.log')?.textContent?.includes('finished Jump'),
      null,
      { timeout: 60_000 },
    );
    expect(problems).toEqual([]);
    await page.close();
  },
  90_000,
);

test.each(['webgl', 'webgpu'])(
  'the dressing room dresses the chosen character under %s',
  async (renderer) => {
    const page = await open(`/demos/dressing/index.html?count=6&shadows=0&renderer=${renderer}`);
    await page.waitForFunction(() => document.body.dataset.ready === '1');
    const worn = async (part: string) => page.getAttribute(`[data-part="${part}"]`, 'aria-pressed');
    const before = await worn('Shield');
    await page.click('[data-part="Shield"]');
    expect(await worn('Shield')).toBe(before === 'true' ? 'false' : 'true');
    await page.click('[data-part="Top hat"]');
    if ((await worn('Top hat')) === 'false') await page.click('[data-part="Top hat"]');
    expect(await worn('Cap'), 'one hat at a time').toBe('false');
    expect(await page.textContent('[data-selected]')).toMatch(/^Character 0 wears .*Top hat/);
    await page.click('button[name=torches]');
    await page.waitForTimeout(500);
    await page.click('button[name=torches]');
    await page.mouse.move(430, 260);
    await page.waitForTimeout(500);
    expect(problems).toEqual([]);
    await page.close();
  },
);

test.each(['webgl', 'webgpu'])('the bone texture page shows what was baked under %s', async (renderer) => {
  const page = await open(`/demos/texture/index.html?shadows=0&renderer=${renderer}`);
  await page.waitForFunction(() => document.body.dataset.ready === '1');
  expect(await page.textContent('[data-facts]')).toMatch(
    /^6 clips, \d+ frames of 21 joints as quaternion in float/,
  );
  expect(await page.locator('tbody tr').count()).toBe(6);
  expect(await page.locator('tbody tr').first().textContent()).toMatch(/e-\d/);
  await page.click('button[name=half]');
  expect(await page.textContent('[data-facts]')).toContain('in half');
  await page.selectOption('[name=clip]', { label: 'Jump' });
  await page.fill('[name=frame]', '12');
  expect(await page.getAttribute('button[name=play]', 'aria-pressed')).toBe('false');
  await page.waitForFunction(() =>
    document.querySelector('[name=frame]')?.nextElementSibling?.textContent?.startsWith('12.0 of 45'),
  );
  expect(problems).toEqual([]);
  await page.close();
});

test.each(['webgl', 'webgpu'])('the crowd of ten thousand grows and shrinks under %s', async (renderer) => {
  const page = await open(`/demos/crowd/index.html?count=1&shadows=0&renderer=${renderer}`);
  await page.waitForFunction(() => document.body.dataset.ready === '1');
  const until = (text: string) =>
    page.waitForFunction((wanted) => document.querySelector('[data-count]')?.textContent === wanted, text);
  await until('1 character');
  await page.mouse.click(700, 470);
  await until('2 characters');
  // whoever stands where one was just put jumps, and is gone
  await page.mouse.click(700, 455);
  await until('1 character');
  await page.evaluate(() => document.querySelector<HTMLElement>('button[name=fewer]')?.click());
  await until('0 characters');
  expect(problems).toEqual([]);
  await page.close();
});
