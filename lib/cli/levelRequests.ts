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
 * @throws If one is no such level, or some go by distance and others by size.
 */
export function levelRequests(texts: readonly string[]): LevelRequest[] {
  const requests = listed(texts).map(levelRequest);
  const byDistance = requests.filter(({ distance }) => distance !== null).length;
  if (byDistance !== 0 && byDistance !== requests.length) {
    throw usageError(
      `bake: --levels "${texts.join(',')}" has levels that begin at a distance and levels that do not; write a distance for all or for none`,
    );
  }
  for (const [i, { ratio }] of requests.entries()) {
    if (i === 0 || ratio < requests[i - 1].ratio) continue;
    throw usageError(
      `bake: --levels "${texts.join(',')}" must have ever fewer triangles: ${ratio} follows ${requests[i - 1].ratio}`,
    );
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
