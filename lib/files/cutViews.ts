/** A buffer view, or what an extension of one says of the place of its bytes. */
interface Place {
  buffer?: number;
  byteOffset?: number;
  byteLength?: number;
}

/** A buffer view as it stands in a glTF document. */
export interface View extends Place {
  extensions?: Record<string, Place>;
}

/** Bytes of the first buffer from `start` to `end`, that one not included. */
interface Range {
  start: number;
  end: number;
  used: boolean;
}

/**
 * Bytes are moved by multiples of this, so that numbers of any kind lie as they did. A gap that is shorter is padding, and goes with
 * the view before it.
 */
export const ALIGNMENT = 8;

/**
 * Takes the bytes of views out of the first buffer, and moves those that lie behind them. Bytes that the other views share with them
 * stay, and so do bytes that no view names. Those move with the rest, however, and only places that views and their extensions name are
 * corrected: an extension that names bytes in another way than by a view, which glTF does not provide for, finds others there.
 *
 * @param views All buffer views; the places of those that are not cut out are changed where their bytes move.
 * @param unused Indices of the views whose bytes are cut out.
 * @returns What is left of the buffer.
 */
export function cutViews(
  views: readonly View[],
  unused: ReadonlySet<number>,
  buffer: Uint8Array,
): Uint8Array {
  const ranges = views.flatMap((view, i) =>
    placesOf(view).map(({ byteOffset = 0, byteLength = 0 }) => {
      return { start: byteOffset, end: byteOffset + byteLength, used: !unused.has(i) };
    }),
  );
  const cuts = cutsOf(ranges, buffer.length);
  const left = new Uint8Array(cuts.reduce((length, { start, end }) => length - (end - start), buffer.length));
  let from = 0;
  let to = 0;
  for (const { start, end } of [...cuts, { start: buffer.length, end: buffer.length }]) {
    left.set(buffer.subarray(from, start), to);
    to += start - from;
    from = end;
  }
  const removed = removedBefore(cuts);
  for (const place of views.flatMap(placesOf)) {
    const { byteOffset: at = 0 } = place;
    const bytes = removed(at);
    if (bytes > 0) place.byteOffset = at - bytes;
  }
  return left;
}

/** Tells how many bytes are cut out in front of a place. */
function removedBefore(cuts: readonly Range[]): (at: number) => number {
  // The bytes of the first cut, of the first two, and so on.
  const sums = [0];
  for (const { start, end } of cuts) sums.push(sums[sums.length - 1] + end - start);
  return (at) => {
    let low = 0;
    let high = cuts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cuts[middle].start < at) low = middle + 1;
      else high = middle;
    }
    return sums[low];
  };
}

/** The places in the first buffer that a view names: views that are compressed have that of their bytes in an extension. */
function placesOf(view: View): Place[] {
  return [view, ...Object.values(view.extensions ?? {})].filter((place) => place?.buffer === 0);
}

/** The runs of bytes that are in unused ranges alone, in their order. */
function cutsOf(ranges: Range[], length: number): Range[] {
  const cuts: Range[] = [];
  ranges.sort((a, b) => a.start - b.start);
  // Where the used ranges so far end, and the run of unused ones behind them.
  let usedEnd = 0;
  let run: Range | null = null;
  const finish = (next: number, atEnd: boolean) => {
    if (run === null) return;
    const start = Math.max(run.start, usedEnd);
    const end = next - run.end < ALIGNMENT ? next : Math.min(next, run.end);
    // Whole multiples are cut, so that what comes behind keeps its alignment; the few bytes over that stay in front of it as padding.
    // At the end of the buffer nothing comes behind, and all is cut.
    const rest = atEnd ? 0 : (end - start) % ALIGNMENT;
    if (end - rest > start) cuts.push({ start: start + rest, end, used: false });
    run = null;
  };
  for (const range of ranges) {
    const isNext: boolean = run !== null && !range.used && range.start - run.end < ALIGNMENT;
    if (isNext && run !== null) {
      run.end = Math.max(run.end, range.end);
      continue;
    }
    finish(range.start, false);
    if (range.used) usedEnd = Math.max(usedEnd, range.end);
    else run = { ...range };
  }
  finish(length, true);
  return cuts;
}
