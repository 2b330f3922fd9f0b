import { usageError } from './CommandError.js';
import { listed, numberOf } from './options.js';

/** A level of detail as the command line asks for it. */
export interface LevelRequest {
  /** Share of the triangles that shall be left. */
  ratio: number;
  /** World units from which on it is drawn; null if it goes by size. */
  distance: number | null;
  /** Share of the picture's height below which it is drawn; null if it goes by distance, or by its own error. */
  screenShare: number | null;
}

/**
 * Reads `0.5,0.2`, `0.5@20,0.2@60` (distances) and `0.5@30%,0.2@10%` (shares of the picture's height).
 *
 * @throws If one is no such level, some go by distance and others by size, or they do not go from near to far.
 */
export function levelRequests(texts: readonly string[]): LevelRequest[] {
  const requests = listed(texts).map(levelRequest);
  const byDistance = requests.filter(({ distance }) => distance !== null).length;
  if (byDistance !== 0 && byDistance !== requests.length) {
    throw usageError(
      `bake: --levels "${texts.join(',')}" has levels that begin at a distance and levels that do not; write a distance for all or for none`,
    );
  }
  const wrong = (what: string, value: string, before: string) =>
    usageError(`bake: --levels "${texts.join(',')}" must have ever ${what}: ${value} follows ${before}`);
  const inPercent = (share: number) => `${Number((share * 100).toPrecision(6))}%`;
  for (const [i, { ratio, distance, screenShare }] of requests.entries()) {
    if (i === 0) continue;
    const before = requests[i - 1];
    if (ratio >= before.ratio) throw wrong('fewer triangles', `${ratio}`, `${before.ratio}`);
    if (distance !== null && before.distance !== null && distance <= before.distance)
      throw wrong('larger distances', `${distance}`, `${before.distance}`);
    const share = requests.slice(0, i).findLast((one) => one.screenShare !== null)?.screenShare ?? null;
    if (screenShare !== null && share !== null && screenShare >= share)
      throw wrong('smaller shares of the picture', inPercent(screenShare), inPercent(share));
  }
  return requests;
}

function levelRequest(text: string): LevelRequest {
  const [share, start, ...more] = text.split('@');
  const ratio = numberOf(share);
  const inPercent = start?.endsWith('%') === true;
  const value = start === undefined ? 1 : numberOf(inPercent ? start.slice(0, -1) : start);
  if (more.length > 0 || !(ratio > 0 && ratio < 1) || !(value > 0 && value < Infinity)) {
    throw usageError(
      `bake: --levels has "${text}"; write the share of triangles that shall be left, above 0 and below 1, and if you like ` +
        'from where on: 0.5, 0.5@20 (world units) or 0.5@30% (of the height of the picture)',
    );
  }
  if (start === undefined) return { ratio, distance: null, screenShare: null };
  return { ratio, distance: inPercent ? null : value, screenShare: inPercent ? value / 100 : null };
}
