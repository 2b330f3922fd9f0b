import { expect, test } from 'vitest';
import { expectLinkToSource, expectMoving, expectPicture, open } from './demos/site.js';

/** What each page draws of the least that it can. */
const PAGES = {
  'index.html': 'count=20',
  'comparison/index.html': 'count=2',
  'playback/index.html': 'count=1&changes=0',
  'mixing/index.html': 'count=1',
  'bones/index.html': '',
  'layers/index.html': 'count=2',
  'battlefield/index.html': 'count=20',
  'city/index.html': 'count=20&stroll=0',
  'meadow/index.html': 'count=2',
  'dressing/index.html': 'count=1',
  'texture/index.html': '',
  'shoal/index.html': 'count=2',
  'crowd/index.html': 'count=1',
  'file/index.html': 'count=1',
  'village/index.html': 'count=4',
  'stadium/index.html': 'count=30&fly=0',
  'swarm/index.html': 'count=10',
  'game/index.html': 'count=2',
  'react/index.html': 'count=1',
};

/** 160 × 100 pixels. */
const SMALL = { width: 320, height: 200 };

/** Under WebGPURenderer: tests of each page open it under WebGLRenderer. */
const CASES = Object.entries(PAGES).map(([path, query]) => [path, 'webgpu', query]);

test.each(CASES)('%s opens under %s, and moves', async (path, renderer, query) => {
  const page = await open(`${path}?${query}&shadows=0&renderer=${renderer}`, SMALL);
  await expectPicture(page);
  await expectMoving(page);
  if (path !== 'index.html') return expectLinkToSource(page, path.split('/')[0]);
  // The documentation is made by a command of its own, which checks its links.
  const links = await page.$$eval('main a', (all) => all.map((a) => (a as HTMLAnchorElement).href));
  expect(links.length).toBeGreaterThan(20);
  for (const link of links.filter((one) => !/#|\/docs\//.test(one)))
    expect((await page.request.get(link)).status(), link).toBe(200);
});
