import type { Box3 } from 'three';
import { AFFINE_SIZE, REST_FRAME } from '../constants.js';
import type { BakedClip } from '../poses/ClipTable.js';
import { TRS_SIZE } from '../poses/Rig.js';
import { MOTION_SIZE } from '../poses/RootMotion.js';
import { NODE_ENTRIES, type PoseTracks } from '../tracks/PoseTracks.js';
import { TRACK_ROW } from '../tracks/trackTexels.js';
import type { BoneTextureData } from './BoneTextureData.js';
import { ENCODING_NAMES, encodingByName } from './index.js';

const NAME = 'BoneTexture';

/**
 * Checks that data are those of a bone texture and fit together, so that what a file or a worker has mangled is named
 * here, and not drawn. The texels themselves may be any numbers.
 *
 * @throws If not; the message names the field.
 */
export function checkBoneTextureData(data: BoneTextureData): void {
  if (data === null || typeof data !== 'object' || !(ArrayBuffer.isView(data.texels) && data.layout)) {
    throw new Error(
      `${NAME}: data is ${describe(data)}; use BoneTexture.bake(root, clips), or the data of another.`,
    );
  }
  checkKinds(data);
  checkNames(data);
  checkSizes(data);
  checkJoints(data);
  checkBox(data.restBounds, 'restBounds');
  if (data.encoding === 'tracks') {
    checkTracks(data);
    return;
  }

  let next = REST_FRAME + 1;
  data.clips.forEach((clip, i) => {
    checkClip(clip, `clips[${i}]`, next, data.frames);
    next = clip.start + clip.count;
  });
}

function checkKinds({ encoding, precision, texels }: BoneTextureData): void {
  check(ENCODING_NAMES.includes(encoding), 'encoding', encoding, `one of "${ENCODING_NAMES.join('", "')}"`);
  check(precision === 'float' || precision === 'half', 'precision', precision, '"float" or "half"');
  const Kind = precision === 'half' ? Uint16Array : Float32Array;
  check(texels instanceof Kind, 'texels', texels, `a ${Kind.name}, for precision "${precision}"`);
}

function checkNames({ jointNames, morphNames }: BoneTextureData): void {
  const areNames = (names: unknown) =>
    Array.isArray(names) && names.every((name) => typeof name === 'string');
  check(
    areNames(jointNames) && jointNames.length > 0,
    'jointNames',
    jointNames,
    'an array of names, one a joint',
  );
  check(areNames(morphNames), 'morphNames', morphNames, 'an array of names');
}

function checkSizes(data: BoneTextureData): void {
  const { texels, layout, frames, jointNames, morphNames } = data;
  const joints = jointNames.length;
  const { width, height, stride } = layout;
  if (data.encoding === 'tracks') return;
  const texelsPerFrame = joints * encodingByName(data.encoding).texels + Math.ceil(morphNames.length / 4);
  check(stride === texelsPerFrame, 'layout.stride', stride, `${texelsPerFrame}, for ${joints} joints`);
  check(isCount(height) && height > 0, 'layout.height', height, 'a positive whole number');
  check(isCount(width / stride) && width > 0, 'layout.width', width, `a multiple of the stride, ${stride}`);
  const size = width * height * 4;
  check(texels.length === size, 'texels.length', texels.length, `${size}, for ${width} × ${height} texels`);
  const most = (width / stride) * height;
  check(
    isCount(frames) && frames > 0 && frames <= most,
    'frames',
    frames,
    `from 1 to ${most}, which have room`,
  );
}

function checkJoints({ jointNames, jointBinds, jointBoxes, flips, clips }: BoneTextureData): void {
  const joints = jointNames.length;
  const areBinds =
    Array.isArray(jointBinds) && jointBinds.every((b) => b === null || b?.length === AFFINE_SIZE);
  const binds = `${AFFINE_SIZE} numbers or null for each of ${joints} joints`;
  check(areBinds && jointBinds.length === joints, 'jointBinds', jointBinds, binds);
  const areBoxes = jointBoxes instanceof Float32Array && jointBoxes.length === joints * 6;
  check(areBoxes, 'jointBoxes', jointBoxes, `a Float32Array of ${joints * 6}, for ${joints} joints`);
  const areFlips = Array.isArray(flips) && flips.every(({ part, group }) => isCount(part) && isCount(group));
  check(areFlips, 'flips', flips, 'an array, empty if no clip mirrors or flattens a part');
  check(Array.isArray(clips), 'clips', clips, 'an array, empty if there is the rest pose alone');
}

/** Tracks are made by baking alone; what a worker or a file may have lost is looked for. */
function checkTracks({ texels, layout, tracks, clips, jointNames }: BoneTextureData): void {
  check(tracks !== null && typeof tracks === 'object', 'tracks', tracks, 'the tracks that were baked');
  const { width, height } = layout;
  check(width === TRACK_ROW, 'layout.width', width, `${TRACK_ROW}`);
  check(texels.length === width * height * 4, 'texels.length', texels.length, `${width * height * 4}`);
  const { jointNodes, inverses, parents, rest, table, keys, morphRest } = tracks as PoseTracks;
  const joints = jointNames.length;
  check(jointNodes?.length === joints, 'tracks.jointNodes', jointNodes, `${joints} numbers`);
  check(
    inverses?.length === joints * AFFINE_SIZE,
    'tracks.inverses',
    inverses,
    `${joints * AFFINE_SIZE} numbers`,
  );
  check(
    rest?.length === parents.length * TRS_SIZE,
    'tracks.rest',
    rest,
    `${parents.length * TRS_SIZE} numbers`,
  );
  const entries = clips.length * (parents.length + morphRest.length / 4) * NODE_ENTRIES;
  check(table?.length === entries, 'tracks.table', table, `${entries} numbers`);
  check(keys instanceof Float32Array, 'tracks.keys', keys, 'a Float32Array');
  check(
    (tracks as PoseTracks).clips.length === clips.length,
    'clips',
    clips,
    `${(tracks as PoseTracks).clips.length} clips`,
  );
  clips.forEach(({ name, start, count, bounds }, i) => {
    check(typeof name === 'string', `clips[${i}].name`, name, 'a string');
    check(start === i + 1, `clips[${i}].start`, start, `${i + 1}`);
    const { frames } = (tracks as PoseTracks).clips[i];
    check(count === frames, `clips[${i}].count`, count, `${frames}`);
    checkBox(bounds, `clips[${i}].bounds`);
  });
}

function checkClip(clip: BakedClip, field: string, next: number, frames: number): void {
  check(clip !== null && typeof clip === 'object', field, clip, 'a clip');
  const { name, start, count, duration, fps, bounds, rootMotion, marks } = clip;
  check(typeof name === 'string', `${field}.name`, name, 'a string');
  check(
    isCount(start) && start >= next,
    `${field}.start`,
    start,
    `a frame from ${next}, behind the clip before`,
  );
  const room = frames - start;
  check(
    isCount(count) && count > 0 && count <= room,
    `${field}.count`,
    count,
    `from 1 to ${room}, as far as frames go`,
  );
  check(duration >= 0 && duration < Infinity, `${field}.duration`, duration, 'a number of seconds');
  const rate = duration > 0 ? (count - 1) / duration : 0;
  check(
    Math.abs(fps - rate) <= 1e-6 * rate,
    `${field}.fps`,
    fps,
    `${rate}, for ${count} frames in ${duration} s`,
  );
  checkBox(bounds, `${field}.bounds`);
  const size = count * MOTION_SIZE;
  const isMotion = rootMotion === null || (rootMotion instanceof Float32Array && rootMotion.length === size);
  check(
    isMotion,
    `${field}.rootMotion`,
    rootMotion,
    `null or a Float32Array of ${size}, for ${count} frames`,
  );
  const areMarks =
    Array.isArray(marks) &&
    marks.every(({ time, name: mark }, i) => {
      const after = i === 0 ? 0 : marks[i - 1].time;
      return typeof mark === 'string' && time >= after && time <= duration;
    });
  check(areMarks, `${field}.marks`, marks, `an array of times from 0 to ${duration} in order, and names`);
}

function checkBox(box: Box3, field: string): void {
  const numbers = [box?.min?.x, box?.min?.y, box?.min?.z, box?.max?.x, box?.max?.y, box?.max?.z];
  const are = numbers.every((value) => typeof value === 'number' && !Number.isNaN(value));
  check(are, field, numbers.join(', '), 'a box of min and max');
}

const isCount = (value: number) => Number.isInteger(value) && value >= 0;

function check(holds: boolean, field: string, value: unknown, wanted: string): void {
  if (holds) return;
  throw new Error(
    `${NAME}: data.${field} is ${describe(value)}, but has to be ${wanted}; use the data of a BoneTexture as they are.`,
  );
}

function describe(value: unknown): string {
  if (typeof value === 'string') return `"${value}"`;
  if (value === null || typeof value !== 'object') return String(value);
  const { length } = value as { length?: number };
  return `${value.constructor?.name ?? 'an object'}${length === undefined ? '' : ` of ${length}`}`;
}
