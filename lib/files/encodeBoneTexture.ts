import type { BoneTextureData } from '../animation/BoneTextureData.js';
import type { PoseTracks } from '../animation/PoseTracks.js';
import { AFFINE_SIZE } from '../constants.js';
import { type AnyArray, toBytes, typeOf } from './ArrayReader.js';
import type {
  ArrayJSON,
  ArrayOrder,
  BoneTextureJSON,
  ClipJSON,
  Encoded,
  TrackClipJSON,
} from './bakedJSON.js';
import { checksumOf } from './checksum.js';
import { type Blocks, blocksOfFrames, blocksOfKeys, fitsIn, reorder } from './columns.js';

/**
 * A bone texture's data as JSON and arrays of bytes, from which `decodeBoneTexture` makes equal data, bit for bit. Texels of tracks
 * are left out: they are made of the tracks.
 *
 * @category Save
 */
export function encodeBoneTexture(data: BoneTextureData): Encoded<BoneTextureJSON> {
  const { encoding, precision, layout, frames, clips, jointNames, jointParents, morphNames, flips, tracks } =
    data;
  const arrays = new ArrayList();
  arrays.add('bounds', Float64Array.from([data.restBounds, ...clips.map(({ bounds }) => bounds)].flat()), 48);
  arrays.add('jointBoxes', data.jointBoxes, 24);
  arrays.add('jointBinds', bindsOf(data), AFFINE_SIZE * 8);
  const motions = clips.flatMap(({ rootMotion }) => (rootMotion === null ? [] : [rootMotion]));
  if (motions.length > 0) arrays.add('rootMotion', joined(motions), 16);

  const { width, height, stride } = layout;
  const json: BoneTextureJSON = {
    encoding,
    precision,
    layout: { width, height, stride },
    frames,
    clips: clips.map(
      ({ name, start, count, duration, fps, rootMotion, markers }): ClipJSON => ({
        name,
        start,
        count,
        duration,
        fps,
        rootMotion: rootMotion !== null,
        markers: markers.map(({ time, name: marker }) => ({ time, name: marker })),
      }),
    ),
    jointNames: [...jointNames],
    ...(jointParents && { jointParents: [...jointParents] }),
    morphNames: [...morphNames],
    flips: flips.map(({ part, group, mirrored }) => ({ part, group, mirrored })),
    arrays: arrays.json,
    checksum: 0,
  };
  if (encoding === 'tracks' && tracks !== null) {
    json.tracks = { names: [...tracks.names], clips: trackClips(data, tracks) };
    addTracks(arrays, tracks);
  } else {
    arrays.add('texels', data.texels, data.texels.BYTES_PER_ELEMENT * 4, blocksOfFrames(data));
  }
  json.checksum = checksumOf(json, arrays.views);
  return { json, views: arrays.views };
}

/** The arrays of an encoding, as they are added. */
class ArrayList {
  readonly json: Record<string, ArrayJSON> = {};
  readonly views: Uint8Array[] = [];

  /** @param where The rows of texels in it, which are stored as columns. */
  add(name: string, array: AnyArray, stride: number, where?: Blocks): void {
    // Views of glTF have at least one byte.
    if (array.length === 0) return;
    const order = where === undefined || !fitsIn(where, array.length / 4) ? 'rows' : orderOf(array);
    const stored =
      order === 'rows' ? array : reorder(array as Uint16Array | Float32Array, order, where as Blocks);
    const view = this.views.push(toBytes(stored)) - 1;
    this.json[name] = { view, type: typeOf(array), length: array.length, stride, order };
  }
}

/** Differences of the bits of 16-bit numbers are small, those of floats are not. */
const orderOf = (array: AnyArray): ArrayOrder => (array instanceof Uint16Array ? 'differences' : 'columns');

function addTracks(arrays: ArrayList, tracks: PoseTracks): void {
  const { parents, rest, fixed, before, jointNodes, inverses, morphRest, keys, shorts, table, clips } =
    tracks;
  arrays.add('parents', parents, 4);
  arrays.add('rest', rest, 80);
  arrays.add('fixed', fixed, AFFINE_SIZE * 8);
  arrays.add('before', before, AFFINE_SIZE * 8);
  arrays.add('jointNodes', jointNodes, 4);
  arrays.add('inverses', inverses, AFFINE_SIZE * 8);
  arrays.add('morphRest', morphRest, 32);
  arrays.add('table', table, 16);
  arrays.add('slots', joined(clips.flatMap(({ slots }) => slots ?? [])), 4);
  arrays.add('keys', keys, 16, shorts === null ? blocksOfKeys(clips, keys.length / 4, true) : undefined);
  if (shorts !== null) arrays.add('shorts', shorts, 8, blocksOfKeys(clips, shorts.length / 4, false));
}

/** What the clips of tracks have besides those of the bone texture, whose names and times are nearly always the same. */
function trackClips({ clips }: BoneTextureData, tracks: PoseTracks): TrackClipJSON[] {
  return tracks.clips.map(({ name, duration, fps, stride, frames, slots, error, additive }, i) => {
    const json: TrackClipJSON = { stride, error, additive };
    if (name !== clips[i].name) json.name = name;
    if (duration !== clips[i].duration) json.duration = duration;
    if (fps !== clips[i].fps) json.fps = fps;
    if (slots !== null) Object.assign(json, { frames, slots: slots.length });
    return json;
  });
}

/** Bind matrices behind each other; not numbers for joints that have none. */
function bindsOf({ jointBinds }: BoneTextureData): Float64Array {
  const binds = new Float64Array(jointBinds.length * AFFINE_SIZE).fill(Number.NaN);
  jointBinds.forEach((bind, joint) => {
    if (bind !== null) binds.set(bind, joint * AFFINE_SIZE);
  });
  return binds;
}

/** Arrays behind each other. */
function joined(arrays: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(arrays.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const array of arrays) {
    all.set(array, at);
    at += array.length;
  }
  return all;
}
