/**
 * Work in progress: yields several times a millisecond, and returns the result. What it yields is the share that is done, 0 to 1,
 * or 0 where that is not known.
 */
export type Steps<T> = Generator<number, T, void>;

/** Vertices, or triangles, between two steps of work that goes through all of them: a fraction of a millisecond. */
const RUN = 4096;

/** Does work on runs of `count` elements, with a step after each. @param work Gets where a run begins, and where the next does. */
export function* inRuns(count: number, work: (start: number, end: number) => void, run = RUN): Steps<void> {
  for (let start = 0; start < count; start += run) {
    work(start, Math.min(start + run, count));
    yield 0;
  }
}

/** Does work in one go. */
export function runAll<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Options of work in slices. */
export interface SliceOptions {
  /** Called between two slices with the share that is done, 0 to 1. */
  onProgress?: (progress: number) => void;
  /** Stops the work; the promise then rejects with the signal's reason. */
  signal?: AbortSignal;
}

/**
 * Milliseconds after which work in slices takes a break. The step that is being done then is finished first, so that the page
 * waits for four at most.
 */
const SLICE = 2;

/**
 * Does work with breaks in which the page can draw and answer. It begins and ends with one, so that what the caller does before
 * and after does not count among the slices. However it ends, the work's own `finally` blocks have run by then.
 *
 * @throws What the work throws, and the signal's reason when it aborts.
 */
export async function runInSlices<T>(steps: Steps<T>, options: SliceOptions): Promise<T> {
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
