import type { BoneTextureData } from '../encodings/BoneTextureData.js';
import type { BakeAsyncOptions } from './BakeOptions.js';

/** Milliseconds that `bakeAsync` works between two breaks: half a frame at 60 Hz. */
const SLICE = 8;

/** A baking in progress: yields the share that is done, 0 to 1, every millisecond or so, and returns the result. */
export type BakeSteps = Generator<number, BoneTextureData, void>;

/** Runs a baking in one go. */
export function runAll(steps: BakeSteps): BoneTextureData {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Runs a baking with breaks in which the page can draw and answer. */
export async function runInSlices(steps: BakeSteps, options: BakeAsyncOptions): Promise<BoneTextureData> {
  const { onProgress, signal } = options;
  const channel = new MessageChannel();
  const nextTask = () =>
    new Promise<void>((resolve) => {
      channel.port1.onmessage = () => resolve();
      channel.port2.postMessage(null);
    });

  try {
    for (;;) {
      signal?.throwIfAborted();
      const end = performance.now() + SLICE;
      let progress = 0;
      do {
        const step = steps.next();
        if (step.done) {
          onProgress?.(1);
          return step.value;
        }
        progress = step.value;
      } while (performance.now() < end);
      onProgress?.(progress);
      await nextTask();
    }
  } finally {
    channel.port1.close();
  }
}
