import { AFFINE_SIZE, MATRIX_TEXELS, REST_FRAME } from '../constants.js';
import type { BoneTextureData } from '../encodings/BoneTextureData.js';
import type { BakedClip } from '../poses/ClipTable.js';
import { MOTION_SIZE } from '../poses/RootMotion.js';
import { describe } from '../utils/describe.js';
import { checkTracks } from './checkTracks.js';
import { check, checkArray, checkBox, isCount } from './dataChecks.js';

/**
 * Checks that data are those of a bone texture and fit together, so that what a file has mangled is an error
 * here and not a wrong picture. The texels themselves may be any numbers.
 *
 * @param areTracksRight Whether `checkTracks` has been called already.
 * @throws If not; the message names the field.
 */
export function checkBoneTextureData(data: BoneTextureData, areTracksRight = false): void {
  if (data === null || typeof data !== 'object' || !(ArrayBuffer.isView(data.texels) && data.layout)) {
    throw new Error(
      `BoneTexture: data is ${describe(data)}; use bakeCharacter(root, clips), or the data of another.`,
    );
  }
  checkKinds(data);
  checkNames(data);
  checkSizes(data);
  checkJoints(data);
  checkBox(data.restBounds, 'restBounds');
  checkClips(data);
  if (data.encoding === 'tracks' && !areTracksRight) checkTracks(data);
}

function checkKinds({ encoding, precision, texels }: BoneTextureData): void {
  check(encoding === 'frames' || encoding === 'tracks', 'encoding', encoding, '"frames" or "tracks"');
  const isPrecision = precision === 'float' || precision === 'half';
  check(isPrecision, 'precision', precision, '"float" or "half"');
  const Kind = precision === 'half' && encoding !== 'tracks' ? Uint16Array : Float32Array;
  check(texels instanceof Kind, 'texels', texels, `a ${Kind.name}, for precision "${precision}"`);
}

function checkNames({ jointNames, morphNames }: BoneTextureData): void {
  const areNames = (names: unknown) =>
    Array.isArray(names) && names.every((name) => typeof name === 'string');
  const areJoints = areNames(jointNames) && jointNames.length > 0;
  check(areJoints, 'jointNames', jointNames, 'an array of names, one a joint');
  check(areNames(morphNames), 'morphNames', morphNames, 'an array of names');
}

function checkSizes(data: BoneTextureData): void {
  const { texels, layout, frames, jointNames, morphNames } = data;
  const joints = jointNames.length;
  const { width, height, stride } = layout;
  const size = width * height * 4;
  const sizeWanted = `${size}, for ${width} × ${height} texels`;
  if (data.encoding === 'tracks') {
    check(texels.length === size, 'texels.length', texels.length, sizeWanted);
    return;
  }
  const texelsPerFrame = joints * MATRIX_TEXELS + Math.ceil(morphNames.length / 4);
  check(stride === texelsPerFrame, 'layout.stride', stride, `${texelsPerFrame}, for ${joints} joints`);
  check(isCount(height) && height > 0, 'layout.height', height, 'a positive whole number');
  check(isCount(width / stride) && width > 0, 'layout.width', width, `a multiple of the stride, ${stride}`);
  check(texels.length === size, 'texels.length', texels.length, sizeWanted);
  const room = (width / stride) * height;
  const areFrames = isCount(frames) && frames > 0 && frames <= room;
  check(areFrames, 'frames', frames, `from 1 to ${room}, which have room`);
}

function checkJoints({ jointNames, jointBinds, jointParents, jointBoxes, flips }: BoneTextureData): void {
  const joints = jointNames.length;
  const areBinds =
    Array.isArray(jointBinds) && jointBinds.every((b) => b === null || b?.length === AFFINE_SIZE);
  const binds = `${AFFINE_SIZE} numbers or null for each of ${joints} joints`;
  check(areBinds && jointBinds.length === joints, 'jointBinds', jointBinds, binds);
  const isJoint = (parent: number) => Number.isInteger(parent) && parent >= -1 && parent < joints;
  const areParents =
    jointParents === undefined ||
    (Array.isArray(jointParents) && jointParents.length === joints && jointParents.every(isJoint));
  check(areParents, 'jointParents', jointParents, `a joint or -1 for each of ${joints} joints`);
  checkArray(jointBoxes, Float32Array, joints * 6, 'jointBoxes');
  const areFlips = Array.isArray(flips) && flips.every(({ part, group }) => isCount(part) && isCount(group));
  check(areFlips, 'flips', flips, 'an array, empty if no clip mirrors or flattens a part');
}

function checkClips({ encoding, clips, frames }: BoneTextureData): void {
  check(Array.isArray(clips), 'clips', clips, 'an array, empty if there is the rest pose alone');
  let next = REST_FRAME + 1;
  clips.forEach((clip, i) => {
    const field = `clips[${i}]`;
    check(clip !== null && typeof clip === 'object', field, clip, 'a clip');
    const { start, count } = clip;
    if (encoding === 'tracks') {
      // Clips of tracks are numbered; their frames lie among the tracks.
      check(start === i + 1, `${field}.start`, start, `${i + 1}`);
      check(isCount(count) && count > 0, `${field}.count`, count, 'a positive whole number');
    } else {
      const wanted = `a frame from ${next}, behind the clip before`;
      check(isCount(start) && start >= next, `${field}.start`, start, wanted);
      const room = frames - start;
      const hasRoom = isCount(count) && count > 0 && count <= room;
      check(hasRoom, `${field}.count`, count, `from 1 to ${room}, as far as frames go`);
      next = start + count;
    }
    checkClip(clip, field);
  });
}

function checkClip(
  { name, count, duration, fps, bounds, rootMotion, markers }: BakedClip,
  field: string,
): void {
  check(typeof name === 'string', `${field}.name`, name, 'a string');
  check(duration >= 0 && duration < Infinity, `${field}.duration`, duration, 'a number of seconds');
  const rate = duration > 0 ? (count - 1) / duration : 0;
  const isRate = Math.abs(fps - rate) <= 1e-6 * rate;
  check(isRate, `${field}.fps`, fps, `${rate}, for ${count} frames in ${duration} s`);
  checkBox(bounds, `${field}.bounds`);
  const size = count * MOTION_SIZE;
  const isMotion = rootMotion === null || (rootMotion instanceof Float32Array && rootMotion.length === size);
  const motion = `null or a Float32Array of ${size}, for ${count} frames`;
  check(isMotion, `${field}.rootMotion`, rootMotion, motion);
  const areMarkers =
    Array.isArray(markers) &&
    markers.every(({ time, name: marker }, i) => {
      const after = i === 0 ? 0 : markers[i - 1].time;
      return typeof marker === 'string' && time >= after && time <= duration;
    });
  check(
    areMarkers,
    `${field}.markers`,
    markers,
    `an array of times from 0 to ${duration} in order, and names`,
  );
}
