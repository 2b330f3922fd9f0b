import type { PoseTracks } from '../../animation/PoseTracks.js';
import { listNames } from '../../utils/messages.js';

/**
 * Where a layer shows, by names of joints, or of nodes above them:
 *
 * - `['Spine']`: on these and on all that hang on them;
 * - `{ joints: ['Spine', 'Neck'], below: false }`: on these alone;
 * - `{ Spine: 0.5, Hand_R: 1 }`: by so much on each and on all that hang on it, as far as nothing else is said of them.
 */
export type LayerMask =
  | readonly string[]
  | {
      /** Names. */
      joints: readonly string[];
      /** Whether what hangs on these is meant too. @default true */
      below?: boolean;
    }
  | Readonly<Record<string, number>>;

/**
 * How much of a layer shows on each node of a character, 0 to 1, and behind the nodes on each group of morph targets.
 *
 * @param morphs How much of it shows on morph targets.
 * @throws If the mask names what is not there, or nothing at all; `caller` begins the message.
 */
export function layerMask(
  { names, parents, morphRest }: PoseTracks,
  mask: LayerMask | undefined,
  morphs: number,
): Float32Array {
  const shares = new Float32Array(parents.length + morphRest.length / 4).fill(morphs, parents.length);
  if (mask === undefined) return shares.fill(1, 0, parents.length);
  const weights = weightsOf(mask);
  if (weights.size === 0)
    throw new Error('The mask of a layer names no joint; leave it out for all of them.');
  for (const name of weights.keys()) {
    if (names.includes(name)) continue;
    throw new Error(
      `The mask of a layer names "${name}", which is no joint of the character; it has ${listNames(names, name)}.`,
    );
  }
  const below = !('joints' in mask) || mask.below !== false || !Array.isArray(mask.joints);
  // Parents come before children.
  for (let node = 0; node < parents.length; node++) {
    const inherited = below && parents[node] >= 0 ? shares[parents[node]] : 0;
    shares[node] = weights.get(names[node]) ?? inherited;
  }
  if (shares.every((share) => share === 0)) throw new Error('The mask of a layer lets it show nowhere.');
  return shares;
}

/** What a mask says of each name. */
function weightsOf(mask: LayerMask): Map<string, number> {
  const list = Array.isArray(mask) ? mask : (mask as { joints?: unknown }).joints;
  if (Array.isArray(list)) return new Map(list.map((name) => [String(name), 1]));
  return new Map(
    Object.entries(mask as Record<string, number>).map(([name, weight]) => {
      if (weight >= 0 && weight <= 1) return [name, weight];
      throw new Error(`The mask of a layer gives "${name}" a weight of ${weight}; use a number from 0 to 1.`);
    }),
  );
}
