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
 * Takes the bytes of views out of the first buffer, and moves those that lie behind them. What the other views share with them stays,
 * and so does what no view names: extensions that nobody here knows may refer to it.
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
  for (const place of views.flatMap(placesOf)) {
    const { byteOffset: at = 0 } = place;
    const before = cuts.filter(({ start }) => start < at);
    if (before.length > 0) place.byteOffset = before.reduce((sum, { start, end }) => sum - (end - start), at);
  }
  return left;
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
    // Less than a multiple stays as padding, unless nothing comes behind it.
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
