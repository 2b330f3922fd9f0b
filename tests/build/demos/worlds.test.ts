import { expect, test } from 'vitest';
import { PATIENCE } from '../../support/patience.js';
import { NIGHTLY } from '../../support/thorough.js';
import {
  CLICKED,
  expectLinkToSource,
  expectMoving,
  figuresOf,
  look,
  nextFrames,
  open,
  SCALE,
  visit,
  WINDOW,
} from './site.js';

test.each(CLICKED)(
  'villagers walk under %s, and one that is clicked says what it plays',
  async (renderer) => {
    const page = await visit('village', 'count=40&shadows=0&head', renderer);
    await look(page, 'village', renderer);
    const who = () => page.textContent('[data-who]');
    expect(await who()).toBe('Nobody is chosen.');
    const click = async () => {
      await page.evaluate(() => {
        // at once, so that nobody walks on in between
        const [clientX, clientY] = document.body.dataset.head!.split(',').map(Number);
        for (const type of ['pointerdown', 'pointerup'])
          document.querySelector('canvas')!.dispatchEvent(new PointerEvent(type, { clientX, clientY }));
      });
      await nextFrames(page, 1);
      return who();
    };
    // Again where a house was before the head.
    await expect
      .poll(click, { timeout: PATIENCE })
      .toMatch(/^Number \d+: (\d+ % (Idle|Walking_A|Running_A)(, )?)+, at [\d.]+ units a second\.$/);
    await page.click('button[name=night]');
    await nextFrames(page, 3);
    await look(page, 'village-night', renderer);
  },
);

test.each(CLICKED)('the stadium does the wave and cheers a goal under %s', async (renderer) => {
  const page = await visit('stadium', 'count=300&shadows=0&fly=0', renderer);
  const uploads = async () => Number((await figuresOf(page))['Bytes uploaded']?.[0]?.replace(/,/g, ''));
  // Levels may change as the camera settles; afterwards nothing is uploaded for a wave, but for a frame's uniforms under WebGPU.
  await expect.poll(uploads, { timeout: PATIENCE }).toBeLessThanOrEqual(renderer === 'webgl' ? 0 : 1500);
  await page.fill('[name=waves]', '4');
  await page.click('button[name=goal]');
  await nextFrames(page, 2);
  await look(page, 'stadium', renderer);
});

test.each(CLICKED)('a swarm comes to the light under %s, in WebGL by a worker', async (renderer) => {
  const page = await visit('swarm', 'count=60&shadows=0&detail=0.4', renderer);
  const near = () => page.textContent('[data-near]');
  await expect.poll(near, { timeout: PATIENCE }).toMatch(/^[1-9]\d* are near the light/);
  await look(page, 'swarm', renderer);
  const workers = page.workers();
  expect(workers.length).toBe(renderer === 'webgl' ? 1 : 0);
  // Without it nobody has gone any further, as the page says.
  for (const worker of workers) {
    await worker.evaluate(() => close());
    await expect.poll(near, { timeout: PATIENCE }).toMatch(/, as of [1-9]\d{3,} ms ago/);
  }
});

test.runIf(NIGHTLY)('the village is drawn with ambient occlusion, TRAA and depth of field', async () => {
  const small = { width: 360, height: 240 };
  const page = await open('village/index.html?count=12&shadows=0&effects=1&renderer=webgpu', small);
  // the modules of the effects come later than the first frame, and a picture of one colour packs into next to nothing
  const isFull = async () => (await page.screenshot()).length > 30_000 * SCALE ** 2;
  await nextFrames(page, 2);
  await expect.poll(isFull, { timeout: PATIENCE }).toBe(true);
  await look(page, 'village-effects', 'webgpu');
});

test.each(['webgl'])('the knight of the game runs, fells a rogue, is loaded again: %s', async (renderer) => {
  const page = await open(`game/index.html?count=6&shadows=0&renderer=${renderer}`, WINDOW, true);
  await expectLinkToSource(page, 'game');
  await page.keyboard.down('w');
  await expectMoving(page);
  await page.keyboard.up('w');
  const fallen = async () => Number(await page.textContent('[data-fallen]'));
  const fight = async () => {
    await page.keyboard.press(' ');
    return fallen();
  };
  await expect.poll(fight, { timeout: PATIENCE }).toBeGreaterThan(0);
  await look(page, 'game', renderer);
  await page.click('button[name=save]');
  const saved = await fallen();
  await expect.poll(fight, { timeout: PATIENCE }).toBeGreaterThan(saved);
  await page.click('button[name=load]');
  await nextFrames(page, 2);
  expect(await fallen()).toBe(saved);
});

test.each(['webgl'])('components of react-three-fiber are clicked, come and go, %s', async (renderer) => {
  const page = await open(`react/index.html?count=1&shadows=0&renderer=${renderer}`);
  await expectLinkToSource(page, 'react');
  // The first stands still.
  const met = async () => {
    for (let x = 560; x < 602; x += 6) await page.mouse.click(x, 216);
    return Number(await page.textContent('[data-met]'));
  };
  await expect.poll(met, { timeout: PATIENCE }).toBeGreaterThan(0);
  await page.click('button[name=more]');
  await nextFrames(page, 3);
  await look(page, 'react', renderer);
  await page.click('button[name=fewer]');
  await nextFrames(page, 3);
});
