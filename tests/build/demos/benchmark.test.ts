import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { expectLinkToSource, look, open, WINDOW } from './site.js';

test.each(['webgl'])('the benchmark measures every way of drawing under %s', async (renderer) => {
  const page = await open(
    `benchmark/index.html?counts=2&vertices=0&budget=0&renderer=${renderer}`,
    WINDOW,
    true,
  );
  await page.click('button[name=everything]');
  await page.waitForFunction(() => document.body.dataset.done === '1');
  const { rows, device } = JSON.parse((await page.textContent('[data-json]'))!);
  const peers = renderer === 'webgl' ? ['instancedMesh2'] : ['lite'];
  const ways = ['floor', 'batched', 'skinned', ...peers, 'tracks', 'frames', 'framesHalf', 'nearest'];
  const bytes = Object.fromEntries(
    rows.map((row: { contender: string; bytes: number }) => [row.contender, row.bytes]),
  );
  expect(Object.keys(bytes).sort()).toEqual([...ways].sort());
  expect(device).not.toBe('');
  expect(bytes.skinned).toBeGreaterThan(bytes.frames);
  for (const { contender, draws, gpu, frame } of rows) {
    expect(draws, contender).toBe(contender === 'skinned' ? 2 : 1);
    expect(frame, contender).toBeGreaterThan(0);
    expect(gpu, contender).toBeNull(); // there is none here
  }
  expect(await page.locator('polyline').count()).toBe(ways.length);
  expect(await page.locator('tbody tr').count()).toBe(ways.length);
  await page.click('text=Whole frame');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.click('button[name=copy]');
  await page.waitForFunction(() => document.querySelector('[data-state]')?.textContent === 'Copied.');
  expect(JSON.parse(await page.evaluate(() => navigator.clipboard.readText())).rows).toEqual(rows);
  await page.click('button[name=link]');
  await page.waitForFunction(() => document.querySelector('[data-state]')?.textContent?.includes('link'));
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('button[name=save]')]);
  const file = await download.path();
  expect(JSON.parse(readFileSync(file, 'utf8')).rows).toEqual(rows);
  const opened = await open(`benchmark/index.html${new URL(link).hash}`, WINDOW, true);
  expect(JSON.parse((await opened.textContent('[data-json]'))!).rows).toEqual(rows);

  const compare = await open('benchmark/compare/index.html', WINDOW, true);
  await compare.fill('[name=link]', link.slice(0, -20));
  await compare.press('[name=link]', 'Enter');
  await compare.waitForFunction(() =>
    document.querySelector('[data-state]')?.textContent?.includes('not whole'),
  );
  await compare.fill('[name=link]', link);
  await compare.press('[name=link]', 'Enter');
  await compare.waitForFunction(() => document.body.dataset.results === '4');
  await compare.setInputFiles('[name=files]', file);
  await compare.waitForFunction(() => document.body.dataset.results === '5');
  expect(await compare.locator('thead th').count()).toBe(6);
  expect(await compare.textContent('thead th:nth-child(2)')).toMatch(/^NVIDIA H200WebGL, /);
  const [most, times] = await compare.locator('tbody tr:has-text("characters") th').allTextContents();
  expect([most, times]).toEqual(['10,000 characters', '1,501 ×SkinnedMeshes ÷ crowd']);
  expect(await compare.textContent('[data-state]')).toContain('2 of 5 from a GPU.');
  await look(compare, 'benchmark-compare', renderer);
  await look(page, 'benchmark', renderer);
  await expectLinkToSource(page, 'benchmark');
});
