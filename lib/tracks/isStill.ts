import { TRS_SIZE } from '../poses/Rig.js';
import { PROPERTY_OFFSETS } from './mixPose.js';
import {
  type PoseTracks,
  ROTATION,
  TRACK_ABSENT,
  TRACK_CONSTANT,
  TRACK_TEXEL,
  TRACK_TREMBLES,
  trackEntry,
} from './PoseTracks.js';

const PROPERTIES = 3;
const STILL = 1;
const MOVED = 2;

/** What was found out, for each property of each node. */
const known = /*@__PURE__*/ new WeakMap<PoseTracks, Uint8Array>();

/** Whether no clip gives a property of a node another value than it has at rest, so that it is the same whatever plays. */
export function isStill(tracks: PoseTracks, node: number, property: number): boolean {
  let found = known.get(tracks);
  if (found === undefined) {
    found = new Uint8Array(tracks.parents.length * PROPERTIES);
    known.set(tracks, found);
  }
  const at = node * PROPERTIES + property;
  if (found[at] === 0) {
    const still = tracks.clips.every((_, clip) => leavesAlone(tracks, clip, node, property));
    found[at] = still ? STILL : MOVED;
  }
  return found[at] === STILL;
}

function leavesAlone(tracks: PoseTracks, clip: number, node: number, property: number): boolean {
  const entry = trackEntry(tracks, clip, node, property);
  if (entry === TRACK_ABSENT) return true;
  // What an additive clip holds is added to the rest.
  if (tracks.clips[clip].additive || (entry & TRACK_CONSTANT) === 0 || (entry & TRACK_TREMBLES) !== 0) {
    return false;
  }
  const key = (entry & TRACK_TEXEL) * 4;
  const rest = node * TRS_SIZE + PROPERTY_OFFSETS[property];
  for (let i = 0; i < (property === ROTATION ? 4 : 3); i++) {
    if (tracks.keys[key + i] !== tracks.rest[rest + i]) return false;
  }
  return true;
}
