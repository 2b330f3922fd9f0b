interface Range {
  start: number;
  count: number;
}

/** Ranges kept apart; each is an upload of its own. */
const MOST = 16;

/**
 * Adds a range to those that three.js will upload. One that lies within `gap` of another is joined to it, and when there
 * are many, to the nearest.
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

  if (nearest === null || (least > gap && ranges.length < MOST)) {
    ranges.push({ start, count });
    return;
  }
  const end = Math.max(nearest.start + nearest.count, start + count);
  nearest.start = Math.min(nearest.start, start);
  nearest.count = end - nearest.start;
}
