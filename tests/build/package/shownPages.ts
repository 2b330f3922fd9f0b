import type { Page } from 'playwright';
import { expect } from 'vitest';
import type { OpenedApp } from '../../support/PackedApp.js';
import { PATIENCE } from '../../support/patience.js';

/** @param known A warning that is not ours. */
export async function expectMoving({ page, problems }: OpenedApp, known?: RegExp): Promise<void> {
  await page.waitForSelector('canvas');
  const first = await page.screenshot();
  await expect.poll(async () => (await page.screenshot()).equals(first), { timeout: PATIENCE }).toBe(false);
  expect(problems.filter((problem) => !known?.test(problem))).toEqual([]);
}

/** The colour of the background. */
export async function cornerOf(page: Page): Promise<number[]> {
  const png = (await page.screenshot()).toString('base64');
  return page.evaluate(async (data) => {
    const blob = await (await fetch(`data:image/png;base64,${data}`)).blob();
    const context = new OffscreenCanvas(1, 1).getContext('2d')!;
    // from the upper left, within the margin that the page has
    context.drawImage(await createImageBitmap(blob), -20, -20);
    return [...context.getImageData(0, 0, 1, 1).data];
  }, png);
}
