import { AFFINE_SIZE } from '../constants.js';
import type { BoneTextureData, EncodingName, Precision } from '../encodings/BoneTextureData.js';
import type { BoxArray } from '../poses/BoxArray.js';
import type { BakedClip } from '../poses/ClipTable.js';
import type { PartFlip } from '../poses/PartFlip.js';
import { MOTION_SIZE } from '../poses/RootMotion.js';
import type { PoseTracks } from '../tracks/PoseTracks.js';
import { trackTexels } from '../tracks/trackTexels.js';
import { ArrayReader } from './ArrayReader.js';
import { blocksOfFrames, blocksOfKeys } from './blocks.js';
import { checkBoneTextureData } from './checkBoneTextureData.js';
import { checkChecksum } from './checksum.js';
import { checkTracks } from './checkTracks.js';
import { countOf, expectField, fileError, numberOf, objectOf, objectsOf, stringsOf } from './fileErrors.js';

const FIELD = 'boneTexture';

/**
 * The data that `encodeBoneTexture` has made JSON and bytes of. Everything is looked at before memory is taken: there is none but what
 * the views take, and for tracks the texels made of them.
 *
 * @throws If anything is not as it has to be; the message names the field.
 */
export function decodeBoneTexture(json: unknown, views: readonly Uint8Array[]): BoneTextureData {
  const object = objectOf(json, FIELD);
  const arrays = new ArrayReader(object.arrays, views, `${FIELD}.arrays`);
  checkChecksum(object, views, FIELD);
  const { encoding, precision } = object as { encoding: EncodingName; precision: Precision };
  const isTracks = encoding === 'tracks';
  const layout = objectOf(object.layout, `${FIELD}.layout`);
  const [width, height, stride] = ['width', 'height', 'stride'].map((key) =>
    countOf(layout[key], `${FIELD}.layout.${key}`),
  );
  const jointNames = stringsOf(object.jointNames, `${FIELD}.jointNames`);
  const bounds = arrays.read('bounds', 'float64');
  const data: BoneTextureData = {
    texels: new Float32Array(0),
    layout: { width, height, stride },
    frames: countOf(object.frames, `${FIELD}.frames`),
    encoding,
    precision,
    clips: readClips(object.clips, bounds, arrays),
    jointNames,
    jointBinds: readBinds(arrays.read('jointBinds', 'float64', jointNames.length * AFFINE_SIZE)),
    flips: readFlips(object.flips),
    morphNames: stringsOf(object.morphNames, `${FIELD}.morphNames`),
    restBounds: [...bounds.subarray(0, 6)] as BoxArray,
    jointBoxes: arrays.read('jointBoxes', 'float32'),
    tracks: isTracks ? readTracks(object, arrays) : null,
  };
  if (object.jointParents !== undefined) {
    const field = `${FIELD}.jointParents`;
    expectField(Array.isArray(object.jointParents), field, object.jointParents, 'an array of numbers');
    data.jointParents = object.jointParents;
  }
  try {
    if (data.tracks !== null) {
      checkTracks(data);
      data.texels = trackTexels(data.tracks).texels;
    } else {
      const type = precision === 'half' ? 'uint16' : 'float32';
      data.texels = arrays.readTexels('texels', type, () => blocksOfFrames(data));
    }
    checkBoneTextureData(data, data.tracks !== null);
  } catch (error) {
    throw fileError(`the file is damaged: ${(error as Error).message}`, error);
  }
  return data;
}

function readClips(json: unknown, bounds: Float64Array, arrays: ArrayReader): BakedClip[] {
  const clips = objectsOf(json, `${FIELD}.clips`);
  const numbers = (clips.length + 1) * 6;
  expectField(bounds.length === numbers, `${FIELD}.arrays.bounds.length`, bounds.length, `${numbers}`);
  const moving = clips.some(({ rootMotion }) => rootMotion === true);
  const motions = moving ? arrays.read('rootMotion', 'float32') : new Float32Array(0);
  let motionAt = 0;
  return clips.map((clip, i) => {
    const field = `${FIELD}.clips[${i}]`;
    expectField(typeof clip.name === 'string', `${field}.name`, clip.name, 'a string');
    const count = countOf(clip.count, `${field}.count`);
    let rootMotion: Float32Array | null = null;
    if (clip.rootMotion === true) {
      const end = motionAt + count * MOTION_SIZE;
      const wanted = `at most ${(motions.length - motionAt) / MOTION_SIZE}, for which there is root motion`;
      expectField(end <= motions.length, `${field}.count`, count, wanted);
      rootMotion = motions.slice(motionAt, end);
      motionAt = end;
    }
    return {
      name: clip.name,
      start: countOf(clip.start, `${field}.start`),
      count,
      duration: numberOf(clip.duration, `${field}.duration`),
      fps: numberOf(clip.fps, `${field}.fps`),
      bounds: [...bounds.subarray((i + 1) * 6, (i + 2) * 6)] as BoxArray,
      rootMotion,
      markers: objectsOf(clip.markers, `${field}.markers`).map(({ time, name }, k) => {
        expectField(typeof name === 'string', `${field}.markers[${k}].name`, name, 'a string');
        return { time: numberOf(time, `${field}.markers[${k}].time`), name };
      }),
    };
  });
}

function readBinds(binds: Float64Array): (number[] | null)[] {
  return Array.from({ length: binds.length / AFFINE_SIZE }, (_, joint) => {
    const bind = [...binds.subarray(joint * AFFINE_SIZE, (joint + 1) * AFFINE_SIZE)];
    return Number.isNaN(bind[0]) ? null : bind;
  });
}

function readFlips(json: unknown): PartFlip[] {
  return objectsOf(json, `${FIELD}.flips`).map(({ part, group, mirrored }, i) => ({
    part: countOf(part, `${FIELD}.flips[${i}].part`),
    group: countOf(group, `${FIELD}.flips[${i}].group`),
    mirrored: mirrored === true,
  }));
}

function readTracks(object: Record<string, unknown>, arrays: ArrayReader): PoseTracks {
  const field = `${FIELD}.tracks`;
  const json = objectOf(object.tracks, field);
  const all = objectsOf(object.clips, `${FIELD}.clips`);
  const own = objectsOf(json.clips, `${field}.clips`);
  expectField(own.length === all.length, `${field}.clips`, own, `one for each of ${all.length} clips`);
  const clips = own.map((clip, i) => {
    const { name, duration, fps, stride, error, additive } = { ...all[i], ...clip };
    const at = `${field}.clips[${i}]`;
    expectField(typeof name === 'string', `${at}.name`, name, 'a string');
    return {
      name,
      duration: numberOf(duration, `${at}.duration`),
      fps: numberOf(fps, `${at}.fps`),
      frames: countOf(all[i].count, `${FIELD}.clips[${i}].count`),
      stride: countOf(stride, `${at}.stride`),
      error: numberOf(error, `${at}.error`),
      additive: additive === true,
    };
  });
  const isHalf = object.precision === 'half';
  const keys = arrays.readTexels('keys', 'float32', ({ length }) => blocksOfKeys(clips, length / 4, !isHalf));
  return {
    names: stringsOf(json.names, `${field}.names`),
    parents: arrays.read('parents', 'int32'),
    rest: arrays.read('rest', 'float64'),
    fixed: arrays.read('fixed', 'float64'),
    before: arrays.read('before', 'float64'),
    jointNodes: arrays.read('jointNodes', 'int32'),
    inverses: arrays.read('inverses', 'float64'),
    morphRest: arrays.read('morphRest', 'float64'),
    keys,
    shorts: isHalf
      ? arrays.readTexels('shorts', 'uint16', ({ length }) => blocksOfKeys(clips, length / 4, false))
      : null,
    table: arrays.read('table', 'uint32'),
    clips,
  };
}
