import { afterEach, expect, test, vi } from 'vitest';
import { waitForGPU } from '../../../demos/lib/createRenderer.js';

afterEach(() => vi.unstubAllGlobals());

test('a page draws three frames ahead of the GPU, and the next once the GPU is done with one', async () => {
  let asked: FrameRequestCallback[] = [];
  const page = { requestAnimationFrame: (callback: FrameRequestCallback) => asked.push(callback) };
  vi.stubGlobal('window', page);
  const working: (() => void)[] = [];
  waitForGPU({ onSubmittedWorkDone: () => new Promise((resolve) => working.push(() => resolve(undefined))) });

  let time = 0;
  const refresh = (): void => {
    const callbacks = asked;
    asked = [];
    time++;
    for (const callback of callbacks) callback(time);
  };
  const drawn: number[] = [];
  const draw: FrameRequestCallback = (now) => {
    drawn.push(now);
    page.requestAnimationFrame(draw);
  };
  page.requestAnimationFrame(draw);
  for (let i = 0; i < 5; i++) refresh();
  expect(drawn).toEqual([1, 2, 3]);

  working.shift()?.();
  await Promise.resolve();
  await Promise.resolve();
  refresh();
  refresh();
  expect(drawn).toEqual([1, 2, 3, 6]);
});
