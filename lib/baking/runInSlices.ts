import type { Steps } from '../utils/steps.js';
import type { BakeAsyncOptions } from './BakeOptions.js';

/**
 * Milliseconds after which baking in slices takes a break. The step that is being done then is finished first, so that the page
 * waits for four at most.
 */
const SLICE = 2;

/**
 * Does work with breaks in which the page can draw and answer. It begins and ends with one, so that what the caller does before
 * and after does not count among the slices. However it ends, the work's own `finally` blocks have run by then.
 *
 * @throws What the work throws, and the signal's reason when it aborts.
 */
export async function runInSlices<T>(
  steps: Steps<T>,
  options: Pick<BakeAsyncOptions, 'onProgress' | 'signal'>,
): Promise<T> {
  const { onProgress, signal } = options;
  let share = 0;
  try {
    for (;;) {
      await nextTask();
      signal?.throwIfAborted();
      const end = performance.now() + SLICE;
      let step: IteratorResult<number, T>;
      do {
        step = steps.next();
        share = step.done ? 1 : Math.max(share, step.value);
      } while (!step.done && performance.now() < end);
      onProgress?.(share);
      if (!step.done) continue;
      await nextTask();
      return step.value;
    }
  } finally {
    // After an abort, or an error of onProgress, the work is half done: only this runs the blocks that put things back.
    steps.return(undefined as never);
  }
}

/** Lets the page draw and answer. */
export function nextTask(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
