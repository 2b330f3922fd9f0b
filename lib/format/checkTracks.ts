import { AFFINE_SIZE } from '../constants.js';
import type { BoneTextureData } from '../encodings/BoneTextureData.js';
import { TRS_SIZE } from '../poses/Rig.js';
import {
  NODE_ENTRIES,
  type PoseTracks,
  RANGES,
  TRACK_ABSENT,
  TRACK_CONSTANT,
  TRACK_TEXEL,
} from '../tracks/PoseTracks.js';
import {
  MAX_TRACK_TEXELS,
  SHORTS_PER_ROW,
  TRACK_ROW,
  trackLayout,
  trackSize,
} from '../tracks/trackTexels.js';
import { check, checkArray, isCount } from './dataChecks.js';

/**
 * Checks the tracks of a bone texture and the layout of their texels.
 *
 * @throws If they do not fit together; the message names the field.
 */
export function checkTracks(data: BoneTextureData): void {
  const { layout, tracks, clips, jointNames, morphNames, precision } = data;
  check(isTracks(tracks), 'tracks', tracks, 'the tracks that were baked');
  if (!isTracks(tracks)) return;
  const { names, parents, rest, fixed, before, jointNodes, inverses, morphRest, keys, shorts, table } =
    tracks;
  const nodes = parents.length;
  const joints = jointNames.length;
  const ordered =
    nodes > 0 && parents.every((parent, node) => parent < node && parent >= (node === 0 ? -1 : 0));
  check(ordered, 'tracks.parents', parents, 'the parent of each node, parents first');
  const areNames =
    Array.isArray(names) && names.length === nodes && names.every((name) => typeof name === 'string');
  check(areNames, 'tracks.names', names, `a name for each of ${nodes} nodes, '' where there is none`);
  checkArray(rest, Float64Array, nodes * TRS_SIZE, 'tracks.rest');
  checkArray(fixed, Float64Array, nodes * AFFINE_SIZE, 'tracks.fixed');
  checkArray(before, Float64Array, AFFINE_SIZE, 'tracks.before');
  checkArray(inverses, Float64Array, joints * AFFINE_SIZE, 'tracks.inverses');
  checkArray(jointNodes, Int32Array, joints, 'tracks.jointNodes');
  const areNodes = jointNodes.every((node) => node >= 0 && node < nodes);
  check(areNodes, 'tracks.jointNodes', jointNodes, `nodes from 0 to ${nodes - 1}`);
  checkArray(morphRest, Float64Array, Math.ceil(morphNames.length / 4) * 4, 'tracks.morphRest');
  check(keys instanceof Float32Array, 'tracks.keys', keys, 'a Float32Array');
  if (precision === 'half') {
    const rows = shorts instanceof Uint16Array && shorts.length > 0 && shorts.length % SHORTS_PER_ROW === 0;
    check(rows, 'tracks.shorts', shorts, `a Uint16Array of whole rows of ${SHORTS_PER_ROW}`);
  } else {
    check(shorts === null, 'tracks.shorts', shorts, 'null, for precision "float"');
  }
  check(
    trackSize(tracks) <= MAX_TRACK_TEXELS,
    'tracks.keys',
    keys,
    `so few that ${MAX_TRACK_TEXELS} texels hold all`,
  );
  const entries = nodes + morphRest.length / 4;
  checkArray(table, Uint32Array, clips.length * entries * NODE_ENTRIES, 'tracks.table');

  check(
    tracks.clips.length === clips.length,
    'tracks.clips',
    tracks.clips,
    `one for each of ${clips.length}`,
  );
  tracks.clips.forEach(({ frames, stride }, i) => {
    const { count } = clips[i];
    check(frames === count, `tracks.clips[${i}].frames`, frames, `${count}, as clips[${i}].count says`);
    check(isCount(stride), `tracks.clips[${i}].stride`, stride, 'a whole number of texels');
    checkTable(tracks, i, entries);
  });

  check(layout.width === TRACK_ROW, 'layout.width', layout.width, `${TRACK_ROW}`);
  const height = Math.ceil((trackLayout(tracks).keys + keys.length / 4) / TRACK_ROW);
  check(layout.height === height, 'layout.height', layout.height, `${height}, for the tracks`);
}

function isTracks(tracks: PoseTracks | null): tracks is PoseTracks {
  if (tracks === null || typeof tracks !== 'object') return false;
  const { parents, jointNodes, morphRest, clips } = tracks;
  return [parents, jointNodes].every((a) => a instanceof Int32Array) && !!morphRest && Array.isArray(clips);
}

/** Every track of a clip has to lie among the keys. */
function checkTable({ table, keys, shorts, clips }: PoseTracks, clip: number, entries: number): void {
  const { frames, stride } = clips[clip];
  const size = entries * NODE_ENTRIES;
  for (let i = clip * size; i < (clip + 1) * size; i++) {
    if (table[i] === TRACK_ABSENT) continue;
    const isRange = i % NODE_ENTRIES === RANGES;
    const isFloat = shorts === null || isRange || (table[i] & TRACK_CONSTANT) !== 0;
    const texels = (isFloat ? keys : shorts).length / 4;
    const more = isRange ? 1 : table[i] & TRACK_CONSTANT ? 0 : (frames - 1) * stride;
    // The texts are made only where they are needed: there are thousands of entries.
    if ((table[i] & TRACK_TEXEL) + more >= texels) {
      const where = `tracks.${isFloat ? 'keys' : 'shorts'}`;
      check(false, `tracks.table[${i}]`, table[i], `a track among the ${texels} texels of ${where}`);
    }
  }
}
