import type { BoneTextureData } from '../animation/BoneTextureData.js';
import { type BakedClip, MOTION_SIZE } from '../animation/ClipTable.js';
import type { BoxArray } from '../animation/jointBoxes.js';
import {
  NODE_ENTRIES,
  type PoseTracks,
  RANGES,
  SLOT_HEAD,
  TRACK_ABSENT,
  TRACK_CONSTANT,
  TRACK_TEXEL,
} from '../animation/PoseTracks.js';
import { TRS_SIZE } from '../animation/Rig.js';
import {
  MAX_TRACK_TEXELS,
  SHORTS_PER_ROW,
  TRACK_ROW,
  trackSize,
  trackTexels,
} from '../animation/trackTexels.js';
import { AFFINE_SIZE, MATRIX_TEXELS, REST_FRAME } from '../constants.js';
import { ArrayReader } from './ArrayReader.js';
import { checkChecksum } from './checksum.js';
import { blocksOfFrames, blocksOfKeys } from './columns.js';
import { countOf, expectField, numberOf, objectOf, objectsOf, stringsOf } from './fileErrors.js';

const FIELD = 'boneTexture';

/**
 * The data that `encodeBoneTexture` has made JSON and bytes of. Everything is looked at before memory is taken: there is none but what
 * the views take, and for tracks the texels made of them.
 *
 * What damages a file is found by its checksum. Beyond that it is looked at what would not be found while a crowd plays: what names more
 * than there is, or goes in a circle.
 *
 * @throws If anything is not as it has to be; the message names the field.
 *
 * @category Save
 */
export function decodeBoneTexture(json: unknown, views: readonly Uint8Array[]): BoneTextureData {
  const object = objectOf(json, FIELD);
  const arrays = new ArrayReader(object.arrays, views, `${FIELD}.arrays`);
  checkChecksum(object, views, FIELD);
  const { encoding, precision } = object;
  const isTracks = encoding === 'tracks';
  expectField(isTracks || encoding === 'frames', `${FIELD}.encoding`, encoding, '"frames" or "tracks"');
  const isHalf = precision === 'half';
  expectField(isHalf || precision === 'float', `${FIELD}.precision`, precision, '"float" or "half"');
  const jointNames = namesIn(object, 'jointNames');
  const morphNames = namesIn(object, 'morphNames');
  expectField(jointNames.length > 0, `${FIELD}.jointNames`, jointNames, 'a name for each joint');
  const list = objectsOf(object.clips, `${FIELD}.clips`);
  const bounds = arrays.read('bounds', 'float64', (list.length + 1) * 6);
  expectField(!bounds.some(Number.isNaN), `${FIELD}.arrays.bounds`, bounds, 'numbers');
  const clips = readClips(list, bounds, arrays);
  const data: BoneTextureData = {
    texels: new Float32Array(0),
    layout: { width: TRACK_ROW, height: 0, stride: TRACK_ROW },
    frames: countOf(object.frames, `${FIELD}.frames`),
    encoding,
    precision,
    clips,
    jointNames,
    jointBinds: readBinds(arrays.read('jointBinds', 'float64', jointNames.length * AFFINE_SIZE)),
    flips: objectsOf(object.flips, `${FIELD}.flips`).map(({ part, group, mirrored }, i) => ({
      part: countOf(part, `${FIELD}.flips[${i}].part`),
      group: countOf(group, `${FIELD}.flips[${i}].group`),
      mirrored: mirrored === true,
    })),
    morphNames,
    restBounds: [...bounds.subarray(0, 6)] as BoxArray,
    jointBoxes: arrays.read('jointBoxes', 'float32', jointNames.length * 6),
    tracks: null,
  };
  const { jointParents } = object;
  if (jointParents !== undefined) {
    const isJoint = (joint: unknown) =>
      joint === -1 || (Number.isInteger(joint) && (joint as number) in jointNames);
    const areParents = Array.isArray(jointParents) && jointParents.every(isJoint);
    expectField(areParents, `${FIELD}.jointParents`, jointParents, 'numbers of joints, or -1');
    data.jointParents = jointParents;
  }
  if (isTracks) {
    data.tracks = readTracks(object, list, arrays, data);
    const { texels, height } = trackTexels(data.tracks);
    data.texels = texels;
    data.layout.height = height;
  } else readFrames(object, arrays, data);
  checkFrames(data);
  return data;
}

const namesIn = (json: Record<string, unknown>, key: string, field = FIELD): string[] =>
  stringsOf(json[key], `${field}.${key}`);

function readClips(
  list: readonly Record<string, unknown>[],
  bounds: Float64Array,
  arrays: ArrayReader,
): BakedClip[] {
  const moving = list.some(({ rootMotion }) => rootMotion === true);
  const motions = moving ? arrays.read('rootMotion', 'float32') : new Float32Array(0);
  let motionAt = 0;
  return list.map((clip, i) => {
    const field = `${FIELD}.clips[${i}]`;
    const { name } = clip;
    expectField(typeof name === 'string', `${field}.name`, name, 'a string');
    const count = countOf(clip.count, `${field}.count`);
    expectField(count > 0, `${field}.count`, count, 'a number of frames');
    const duration = numberOf(clip.duration, `${field}.duration`);
    expectField(duration >= 0, `${field}.duration`, duration, 'a number of seconds');
    const fps = numberOf(clip.fps, `${field}.fps`);
    const rate = duration > 0 ? (count - 1) / duration : 0;
    expectField(Math.abs(fps - rate) <= 1e-6 * rate, `${field}.fps`, fps, `${rate}, for ${count} frames`);
    let rootMotion: Float32Array | null = null;
    if (clip.rootMotion === true) {
      const end = motionAt + count * MOTION_SIZE;
      const expected = `at most ${(motions.length - motionAt) / MOTION_SIZE}, for which there is root motion`;
      expectField(end <= motions.length, `${field}.count`, count, expected);
      rootMotion = motions.slice(motionAt, end);
      motionAt = end;
    }
    let before = 0;
    return {
      name,
      start: countOf(clip.start, `${field}.start`),
      count,
      duration,
      fps,
      bounds: [...bounds.subarray((i + 1) * 6, (i + 2) * 6)] as BoxArray,
      rootMotion,
      markers: objectsOf(clip.markers, `${field}.markers`).map((marker, k) => {
        const at = `${field}.markers[${k}]`;
        expectField(typeof marker.name === 'string', `${at}.name`, marker.name, 'a string');
        const time = numberOf(marker.time, `${at}.time`);
        const expected = `from ${before}, the one before, to ${duration}`;
        expectField(time >= before && time <= duration, `${at}.time`, time, expected);
        before = time;
        return { time, name: marker.name };
      }),
    };
  });
}

/** Frames of clips lie behind each other; clips of tracks are numbered, and their frames lie among the tracks. */
function checkFrames({ tracks, clips, frames }: BoneTextureData): void {
  let next = REST_FRAME + 1;
  clips.forEach(({ start, count }, i) => {
    const field = `${FIELD}.clips[${i}]`;
    expectField(
      tracks ? start === i + 1 : start >= next,
      `${field}.start`,
      start,
      `${tracks ? i + 1 : `from ${next}`}`,
    );
    const most = tracks ? Infinity : frames - start;
    expectField(count <= most, `${field}.count`, count, `at most ${most}`);
    next = start + count;
  });
}

function readBinds(binds: Float64Array): (number[] | null)[] {
  return Array.from({ length: binds.length / AFFINE_SIZE }, (_, joint) => {
    const bind = [...binds.subarray(joint * AFFINE_SIZE, (joint + 1) * AFFINE_SIZE)];
    return Number.isNaN(bind[0]) ? null : bind;
  });
}

/** Sets the texels of skinning matrices, and their layout. */
function readFrames(object: Record<string, unknown>, arrays: ArrayReader, data: BoneTextureData): void {
  const { jointNames, morphNames, frames, precision } = data;
  const layout = objectOf(object.layout, `${FIELD}.layout`);
  const width = countOf(layout.width, `${FIELD}.layout.width`);
  const height = countOf(layout.height, `${FIELD}.layout.height`);
  const stride = jointNames.length * MATRIX_TEXELS + Math.ceil(morphNames.length / 4);
  expectField(layout.stride === stride, `${FIELD}.layout.stride`, layout.stride, `${stride}, for the joints`);
  expectField(width % stride === 0, `${FIELD}.layout.width`, width, `a multiple of ${stride}`);
  const room = (width / stride) * height;
  expectField(frames > 0 && frames <= room, `${FIELD}.frames`, frames, `from 1 to ${room}, which have room`);
  data.layout = { width, height, stride };
  const type = precision === 'half' ? 'uint16' : 'float32';
  data.texels = arrays.readTexels('texels', type, () => blocksOfFrames(data));
  const { length } = data.texels;
  const size = width * height * 4;
  expectField(
    length === size,
    `${FIELD}.arrays.texels.length`,
    length,
    `${size}, for ${width} × ${height} texels`,
  );
}

function readTracks(
  object: Record<string, unknown>,
  all: readonly Record<string, unknown>[],
  arrays: ArrayReader,
  { jointNames, morphNames, precision, clips: baked }: BoneTextureData,
): PoseTracks {
  const field = `${FIELD}.tracks`;
  const json = objectOf(object.tracks, field);
  const own = objectsOf(json.clips, `${field}.clips`);
  expectField(own.length === all.length, `${field}.clips`, own, `one for each of ${all.length} clips`);
  const allSlots = arrays.read('slots', 'float32');
  let slotsAt = 0;
  const clips = own.map((clip, i) => {
    const { name, duration, fps, stride, slots = 0, error, additive } = { ...all[i], ...clip };
    const at = `${field}.clips[${i}]`;
    expectField(typeof name === 'string', `${at}.name`, name, 'a string');
    const frames = countOf(clip.frames ?? baked[i].count, `${at}.frames`);
    const places = allSlots.subarray(slotsAt, slotsAt + countOf(slots, `${at}.slots`));
    const [, , last, isUneven] = places;
    slotsAt += places.length;
    // It says what the files of an earlier library said otherwise.
    const areFrames =
      !clip.divided &&
      !(last > (isUneven ? places.length - SLOT_HEAD : frames) - 1) &&
      places.subarray(SLOT_HEAD).every((stored) => stored >= 0 && stored <= frames - 1);
    expectField(areFrames, `${at}.slots`, places, 'numbers of stored frames; bake the file anew');
    return {
      name,
      duration: numberOf(duration, `${at}.duration`),
      fps: numberOf(fps, `${at}.fps`),
      frames,
      slots: places.length > 0 ? places.slice() : null,
      stride: countOf(stride, `${at}.stride`),
      error: numberOf(error, `${at}.error`),
      additive: additive === true,
    };
  });
  const isHalf = precision === 'half';
  const keys = arrays.readTexels('keys', 'float32', ({ length }) => blocksOfKeys(clips, length / 4, !isHalf));
  const parents = arrays.read('parents', 'int32');
  const nodes = parents.length;
  const isOrdered =
    nodes > 0 && parents.every((parent, node) => parent < node && parent >= Math.min(node, 1) - 1);
  expectField(isOrdered, `${FIELD}.arrays.parents`, parents, 'the parent of each node, parents first');
  const joints = jointNames.length;
  const jointNodes = arrays.read('jointNodes', 'int32', joints);
  const areNodes = jointNodes.every((node) => node >= 0 && node < nodes);
  expectField(areNodes, `${FIELD}.arrays.jointNodes`, jointNodes, `nodes from 0 to ${nodes - 1}`);
  const groups = Math.ceil(morphNames.length / 4);
  const tracks: PoseTracks = {
    names: namesIn(json, 'names', field),
    parents,
    rest: arrays.read('rest', 'float64', nodes * TRS_SIZE),
    fixed: arrays.read('fixed', 'float64', nodes * AFFINE_SIZE),
    before: arrays.read('before', 'float64', AFFINE_SIZE),
    jointNodes,
    inverses: arrays.read('inverses', 'float64', joints * AFFINE_SIZE),
    morphRest: arrays.read('morphRest', 'float64', groups * 4),
    keys,
    shorts: isHalf
      ? arrays.readTexels('shorts', 'uint16', ({ length }) => blocksOfKeys(clips, length / 4, false))
      : null,
    table: arrays.read('table', 'uint32', clips.length * (nodes + groups) * NODE_ENTRIES),
    clips,
  };
  checkKeys(tracks);
  return tracks;
}

/** Every track of every clip has to lie among the keys, and these within a texture. */
function checkKeys(tracks: PoseTracks): void {
  const { table, keys, shorts, clips } = tracks;
  const field = `${FIELD}.arrays`;
  const areRows = shorts === null || (shorts.length > 0 && shorts.length % SHORTS_PER_ROW === 0);
  expectField(areRows, `${field}.shorts`, shorts, `whole rows of ${SHORTS_PER_ROW} numbers`);
  const fits = trackSize(tracks) <= MAX_TRACK_TEXELS;
  expectField(fits, `${field}.keys`, keys, `so few that ${MAX_TRACK_TEXELS} texels hold all`);
  const size = table.length / clips.length;
  table.forEach((entry, i) => {
    if (entry === TRACK_ABSENT) return;
    const { frames, stride } = clips[Math.floor(i / size)];
    const isRange = i % NODE_ENTRIES === RANGES;
    const isConstant = (entry & TRACK_CONSTANT) !== 0;
    const texels = (shorts === null || isRange || isConstant ? keys : shorts).length / 4;
    const more = isRange ? 1 : isConstant ? 0 : (frames - 1) * stride;
    if ((entry & TRACK_TEXEL) + more < texels) return;
    expectField(false, `${field}.table[${i}]`, entry, `a track within ${texels} texels`);
  });
}
