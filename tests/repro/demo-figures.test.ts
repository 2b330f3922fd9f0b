import { expect, test } from 'vitest';
import type { GpuTimer } from '../../demos/benchmark/gpuTimer.js';
import { measureDrawing, measureScript, type Subject } from '../../demos/benchmark/measure.js';
import { rateText } from '../../demos/lib/Figures.js';
import { secondsBetween } from '../../demos/lib/page.js';

/** Keeps the processor busy. */
function work(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

const subject = (frame: () => void, timer: GpuTimer | null = null): Subject => ({
  frame,
  finish: async () => {},
  calls: {
    uploads: 0,
    bytes: 0,
    draws: 0,
    drawsFor: { characters: 0, shadows: 0, poses: 0, rest: 0 },
    purpose: 'characters',
    reset() {},
  },
  timer,
});

test('a page that takes seconds over a frame does not show 0 frames per second', () => {
  expect([0.04, 0.293, 1, 5.94, 59.7].map(rateText)).toEqual(['0.040', '0.29', '1.0', '5.9', '60']);
});

test('time does not run backwards in a first frame that began before the page was ready', () => {
  expect([secondsBetween(500, 180), secondsBetween(500, 516), secondsBetween(0, 5_000)]).toEqual([
    0, 0.016, 0.1,
  ]);
});

test('the benchmark draws for a while before it counts and times', async () => {
  const start = performance.now();
  let warmedFor = 0;
  let timed = 0;
  const measured = subject(() => {
    if (warmedFor > 0) timed++;
    work(0.2);
  });
  measured.calls.reset = () => {
    warmedFor = performance.now() - start;
  };
  const { js } = await measureScript(measured, 400);
  // JavaScript that was just loaded takes many times as long.
  expect(warmedFor).toBeGreaterThan(90);
  expect(timed).toBeGreaterThan(3);
  expect(js).toBeGreaterThan(0.19);
});

test('the GPU alone does not seem to take longer than the frame it is part of', async () => {
  let spent = 0;
  let idle = true;
  // The first frame after a pause takes long, as it does on a GPU: one frame by itself is not like one of many.
  const frame = () => {
    const milliseconds = idle ? 6 : 0.2;
    idle = false;
    work(milliseconds);
    spent += milliseconds;
  };
  const timer: GpuTimer = {
    begin() {
      spent = 0;
    },
    end() {},
    read: async () => spent,
  };
  const finish = async () => {
    idle = true;
  };
  const { frame: whole, gpu } = await measureDrawing({ ...subject(frame, timer), finish }, 100);
  expect(gpu).toBeGreaterThan(0);
  expect(gpu).toBeLessThanOrEqual(whole);
});

test('a GPU that cannot be asked, or whose times are not to be trusted, has none', async () => {
  const distrusted: GpuTimer = { begin() {}, end() {}, read: async () => Number.NaN };
  for (const timer of [null, distrusted]) {
    expect(
      (
        await measureDrawing(
          subject(() => {}, timer),
          0,
        )
      ).gpu,
    ).toBe(null);
  }
});
