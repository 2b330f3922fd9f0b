/**
 * Work in progress: yields several times a millisecond, and returns the result. What it yields is the share that is done, 0 to 1,
 * or 0 where that is not known.
 */
export type Steps<T> = Generator<number, T, void>;

/** Vertices, or triangles, between two steps of work that goes through all of them: a fraction of a millisecond. */
const RUN = 4096;

/** Does work on runs of `count` elements, with a step after each. @param work Gets where a run begins, and where the next does. */
export function* inRuns(count: number, work: (start: number, end: number) => void): Steps<void> {
  for (let start = 0; start < count; start += RUN) {
    work(start, Math.min(start + RUN, count));
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
