/** Two pixels are the same where no channel differs by more, of 255: rasterizers round. */
const TOLERANCE = 8;

/**
 * Share of the pixels in which two pictures of one size differ, 0 to 1.
 *
 * @param target Shows those in red on black.
 */
export function comparePictures(first: ImageData, second: ImageData, target?: ImageData): number {
  const a = first.data;
  const b = second.data;
  let off = 0;
  for (let at = 0; at < a.length; at += 4) {
    const differs =
      Math.abs(a[at] - b[at]) > TOLERANCE ||
      Math.abs(a[at + 1] - b[at + 1]) > TOLERANCE ||
      Math.abs(a[at + 2] - b[at + 2]) > TOLERANCE;
    if (differs) off++;
    if (target === undefined) continue;
    target.data.fill(0, at, at + 3);
    if (differs) target.data[at] = 255;
    target.data[at + 3] = 255;
  }
  return off / (a.length / 4);
}
