import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { PATIENCE } from '../../support/patience.js';
import {
  CLICKED,
  expectLinkToSource,
  expectMoving,
  figuresOf,
  glb,
  look,
  nextFrames,
  open,
  shotOf,
  visit,
} from './site.js';

test('the first page draws a battle, draws it with SkinnedMeshes, and takes a file', async () => {
  const page = await open('index.html?count=20&shadows=0');
  const number = async (name: string) =>
    Number((await page.textContent(`dd[data-${name}]`))?.replace(/,/g, ''));
  await expect.poll(() => number('soldiers'), { timeout: PATIENCE }).toBe(20);
  expect(await page.textContent('h1'), 'what a GPU draws, whatever is drawn here').toMatch(/^20,000 /);
  const calls = await number('calls');
  expect(calls).toBeLessThan(30);
  await look(page, 'first', 'webgl');
  await page.click('.switch');
  // All twenty join at once, on any machine.
  await expect.poll(() => number('calls'), { timeout: PATIENCE }).toBeGreaterThan(calls + 20);
  await look(page, 'first-skinned', 'webgl');
  await page.setInputFiles('[name=file]', 'demos/art/villager.glb');
  const said = () => page.textContent('[data-verdict]');
  await expect.poll(said, { timeout: PATIENCE }).toBe('villager.glb: 5 clips, from the file.');
  await expect.poll(() => number('calls'), { timeout: PATIENCE }).toBeLessThan(30);
  expect(await page.textContent('h1')).toMatch(/^20 of yours/);
  await look(page, 'first-guests', 'webgl');
  await page.setInputFiles('[name=file]', glb('notes.glb', 'no model'));
  await page.waitForFunction(() => document.body.dataset.error?.includes('notes.glb is no glTF file'));
});

test.each(CLICKED)('the comparison opens under %s, moves, and takes or refuses a file', async (renderer) => {
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
});

test('the playback page plays what is asked of the chosen character', async () => {
  const page = await visit('playback', 'count=2&changes=5&shadows=0', 'webgl');
  await look(page, 'playback', 'webgl');
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
  await page.waitForFunction(() => document.querySelector('[data-selected]')?.textContent?.includes('still'));
  await page.click('button[name=once]');
  await page.click('button[data-clip=Jump]');
  await logged('finished Jump');
});

/** Moves sliders of a page, by their names. */
async function slide(page: Page, values: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(values)) await page.fill(`[name=${name}]`, value);
}

/** How far vertices of the crowd are from three.js's, as the page measures it. */
async function expectExact(page: Page): Promise<void> {
  const off = Number(await page.textContent('[data-off]'));
  expect(off).toBeLessThan(1e-5);
  expect(off).toBeGreaterThan(0);
}

test('the mixing page mixes clips as the mixer beside it does', async () => {
  const page = await visit('mixing', 'count=3&shadows=0', 'webgl');
  await slide(page, { Run: '0.5', Wave: '0.25', Walk: '0.1' });
  await nextFrames(page, 12);
  expect(await page.textContent('[name=Walk] + output')).toBe('0.10');
  await expectExact(page);
  await look(page, 'mixing', 'webgl');
});

test('the page of bones has those of an instance where a SkinnedMesh has its own', async () => {
  const page = await visit('bones', 'shadows=0', 'webgl');
  await slide(page, { look: '1.2', head: '1.6', arms: '1.2' });
  await nextFrames(page, 3);
  await expectExact(page);
  await look(page, 'bones', 'webgl');
  await page.click('button[name=skeletons]');
  await page.click('button[name=swords]');
  await nextFrames(page, 2);
});

test('the page of layers does what a mixer and code do to the character beside', async () => {
  const page = await visit('layers', 'count=12&shadows=0&puppets=1', 'webgl');
  await slide(page, { arms: '0.7', lean: '0.9', look: '0.6', run: '0.4' });
  await page.click('button[name=heads]');
  await page.mouse.move(600, 100);
  await nextFrames(page, 12);
  await expectExact(page);
  await look(page, 'layers', 'webgl');
  await page.click('button[name=puppets]');
  await nextFrames(page, 2);
});

test.each(CLICKED)('the battlefield says how many soldiers are seen at which level, %s', async (renderer) => {
  const page = await visit('battlefield', 'count=100&shadows=0', renderer);
  const seen = async () =>
    Object.entries(await figuresOf(page))
      .filter(([label]) => /Seen|At level/.test(label))
      .map(([, [value]]) => Number(value));
  await expect.poll(async () => (await seen()).length, { timeout: PATIENCE }).toBe(5);
  const [visible, ...levels] = await seen();
  expect(visible).toBeLessThanOrEqual(100);
  expect(levels.reduce((sum, level) => sum + level, 0)).toBe(visible);
  await look(page, 'battlefield', renderer);
  await page.click('button[name=fly]');
  await page.click('button[name=march]');
  await page.click('button[name=cull]');
  await expect.poll(async () => (await seen())[0], { timeout: PATIENCE }).toBe(100);
  await page.click('button[name=impostors]');
  await page.click('button[name=levels]');
  await expect.poll(seen, { timeout: PATIENCE }).toEqual([100, 100, 0, 0, 0]);
});

/** Enough that a few are always seen between the houses. */
const PEOPLE = 200;

/** Opens the city, and returns how to ask how many of its people were drawn. */
async function openCity(renderer: string) {
  const page = await open(`city/index.html?count=${PEOPLE}&shadows=0&stroll=0&renderer=${renderer}`);
  await expectLinkToSource(page, 'city');
  const drawn = async () => Number((await figuresOf(page))['Drawn for the camera']?.[0] ?? 0);
  // None before the first picture is drawn.
  await expect.poll(drawn, { timeout: PATIENCE }).toBeGreaterThan(0);
  return { page, drawn };
}

test('fewer people are drawn of the city while houses hide them', async () => {
  const { page, drawn } = await openCity('webgpu');
  await expect.poll(drawn, { timeout: PATIENCE }).toBeLessThan(PEOPLE / 7);
  await look(page, 'city', 'webgpu');
  await page.click('button[name=occlusion]');
  await expect.poll(drawn, { timeout: PATIENCE }).toBeGreaterThan(PEOPLE / 5);
});

test('the city is drawn under WebGL, where houses hide no one and the page says so', async () => {
  const { page } = await openCity('webgl');
  expect(await page.isDisabled('button[name=occlusion]')).toBe(true);
  expect(await page.isVisible('[data-webgl]')).toBe(true);
  await look(page, 'city', 'webgl');
});

test('the meadow moves while its clock runs, and not otherwise', async () => {
  const page = await visit('meadow', 'count=20&shadows=0', 'webgl');
  await slide(page, { strength: '0.5', speed: '3', gusts: '1', direction: '-90' });
  await nextFrames(page, 2);
  await look(page, 'meadow', 'webgl');
  await page.click('button[name=clock]');
  await nextFrames(page, 3);
  const before = await shotOf(page);
  await nextFrames(page, 3);
  expect((await shotOf(page)).equals(before)).toBe(true);
});

test('the dressing room dresses the chosen character', async () => {
  const page = await visit('dressing', 'count=2&shadows=0', 'webgl');
  await look(page, 'dressing', 'webgl');
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
  await look(page, 'dressing-hit', 'webgl');
  await page.click('button[name=fade]');
  expect(await page.getAttribute('button[name=fade]', 'aria-pressed')).toBe('true');
  await look(page, 'dressing-fading', 'webgl');
  await page.mouse.move(430, 220);
  await nextFrames(page, 2);
});

test('the bone texture page shows what was baked', async () => {
  const page = await visit('texture', 'shadows=0', 'webgl');
  await look(page, 'texture', 'webgl');
  expect(await page.textContent('[data-facts]')).toMatch(
    /^6 clips, \d+ frames of 21 joints as frames in float/,
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
});

test('the shoal opens, swims, and can be frightened', async () => {
  const page = await visit('shoal', 'count=30&shadows=0', 'webgl');
  await page.click('button[name=frighten]');
  await nextFrames(page, 2);
  expect(await page.textContent('[data-baked]')).toMatch(/3 clips, \d+ kB, at most [\d.]+ %/);
  await look(page, 'shoal', 'webgl');
});

test('the crowd of ten thousand grows and shrinks', async () => {
  const page = await visit('crowd', 'count=1&shadows=0', 'webgl');
  await look(page, 'crowd', 'webgl');
  const until = (text: string) =>
    page.waitForFunction((wanted) => document.querySelector('[data-count]')?.textContent === wanted, text);
  await until('1 character');
  const drawn = async () => (await figuresOf(page))['Draw calls, crowd'];
  // one for each level of detail
  await expect.poll(async () => Number((await drawn())?.[0]), { timeout: PATIENCE }).toBeLessThanOrEqual(3);
  expect((await figuresOf(page))['Draw calls, shadows'], 'without shadows').toEqual(['0']);
  await page.mouse.click(600, 395);
  await until('2 characters');
  // whoever stands where one was just put jumps, and is gone
  await page.mouse.click(600, 345);
  await until('1 character');
  await page.evaluate(() => document.querySelector<HTMLElement>('button[name=fewer]')?.click());
  await nextFrames(page, 2);
  await until('1 character'); // the last hundred stay
});

test('a source has links to what it imports', async () => {
  const page = await open('source/index.html?of=crowd/main.ts');
  expect(await page.textContent('.source')).toContain('new Crowd(bakeCharacter(root, clips)');
  await look(page, 'source');
  await page.click('.source a >> text=../lib/Picker');
  await page.waitForFunction(() => document.body.dataset.ready === '1');
  expect(await page.textContent('h1')).toBe('lib/Picker.ts');
});
