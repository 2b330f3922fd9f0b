interface Range {
  start: number;
  count: number;
}

/** Most ranges that are kept apart; each is an upload of its own. */
const MAX_RANGES = 16;

/**
 * Adds a range to those that three.js will upload. If another range is no further than `gap` away, it is extended instead; so
 * is the nearest one when there are many already.
 */
export function addRange(ranges: Range[], start: number, count: number, gap: number): void {
  let nearest: Range | null = null;
  let least = Infinity;
  for (const range of ranges) {
    const distance = Math.max(range.start - (start + count), start - (range.start + range.count));
    if (distance < least) {
      least = distance;
      nearest = range;
      if (distance <= 0) break;
    }
  }

  if (nearest === null || (least > gap && ranges.length < MAX_RANGES)) {
    ranges.push({ start, count });
    return;
  }
  const end = Math.max(nearest.start + nearest.count, start + count);
  nearest.start = Math.min(nearest.start, start);
  nearest.count = end - nearest.start;
}
