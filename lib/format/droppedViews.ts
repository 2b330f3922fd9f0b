interface View {
  buffer?: number;
  byteOffset?: number;
  byteLength?: number;
  extensions?: Record<string, View>;
}

/**
 * Drops buffer views that nothing needs any more from the end of a list, and says how long the first buffer is without them. Those that
 * others stand behind stay, since all of glTF refers to views by number; so do bytes that others lie behind.
 *
 * @param unused Indices of the views.
 * @param length Of the first buffer.
 */
export function dropViews(views: View[], unused: ReadonlySet<number>, length: number): number {
  let start = length;
  while (unused.has(views.length - 1)) start = Math.min(start, views.pop()?.byteOffset ?? 0);
  // Views that are compressed have the place of their bytes in an extension.
  const places = views.flatMap((view) => [view, ...Object.values(view.extensions ?? {})]);
  const ends = places.map(({ buffer, byteOffset = 0, byteLength = 0 }) => {
    return buffer === 0 ? byteOffset + byteLength : 0;
  });
  return ends.every((end) => end <= start) ? start : length;
}
