import type { ClipMarker } from '../animation/ClipTable.js';
import type { BoxArray } from '../animation/jointBoxes.js';
import { REST_FRAME } from '../constants.js';
import { describe } from '../utils/messages.js';
import {
  layoutVertices,
  storedFrames,
  type VertexErrors,
  type VertexPart,
  type VertexTextureData,
  WORDS,
} from './VertexTextureData.js';

/** The version that is written and read. */
const VERSION = 1;

/** A clip in a file. */
export interface VertexClipJSON {
  /** As `play` takes it. */
  name: string;
  /** Frames. They follow one another, behind the rest pose. */
  count: number;
  /** Seconds. */
  duration: number;
  /** Around all its frames. */
  bounds: BoxArray;
  /** Named times. */
  markers: ClipMarker[];
}

/** What a file says of a vertex texture. Numbers of views are indices into `EncodedVertices.views`. */
export interface VertexTextureJSON {
  /** Of the format. */
  version: number;
  /** The meshes that were baked. */
  parts: VertexPart[];
  /** Kind of number. */
  precision: 'half' | 'float';
  /** Whether there are normals. */
  normals: boolean;
  /** Frames, the rest pose first. */
  frameCount: number;
  /** Frames that are stored: those that are alike once. */
  storedCount: number;
  /** In the order of their frames. */
  clips: VertexClipJSON[];
  /** Of the rest pose. */
  restBounds: BoxArray;
  /** One for each clip. */
  errors: VertexErrors[];
  /** View of `frameCount` unsigned integers of 32 bits. */
  frames: number;
  /** View of six floats for each stored frame. */
  boxes: number;
  /** View of two or four unsigned integers for each vertex of each stored frame. */
  texels: number;
}

/** A vertex texture as a file keeps it: JSON, and bytes, little-endian. */
export interface EncodedVertices {
  /** All but the numbers. */
  json: VertexTextureJSON;
  /** Bytes of each array, little-endian. */
  views: Uint8Array[];
}

/** Writes data; the views share memory with them. */
export function encodeVertices(data: Readonly<VertexTextureData>): EncodedVertices {
  const { parts, vertices, precision, normals, frames, boxes, texels, clips, restBounds, errors } = data;
  const stored = storedFrames(data);
  const used = texels.subarray(0, stored * vertices * WORDS[precision]);
  return {
    json: {
      version: VERSION,
      parts: parts.map((part) => ({ ...part })),
      precision,
      normals,
      frameCount: frames.length,
      storedCount: stored,
      clips: clips.map(({ name, count, duration, bounds, markers }) => ({
        name,
        count,
        duration,
        bounds: [...bounds],
        markers: markers.map((marker) => ({ ...marker })),
      })),
      restBounds: [...restBounds],
      errors: errors.map((error) => ({ ...error })),
      frames: 0,
      boxes: 1,
      texels: 2,
    },
    views: [frames, boxes, used].map(
      (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength),
    ),
  };
}

/**
 * Reads what `encodeVertices` wrote, and checks all of it. Nothing larger than the views is allocated before these were found to
 * be of the right sizes.
 *
 * @param maxTextureSize Largest width and height of the texture. Devices take at least 2,048, nearly all 4,096.
 * @throws If something does not fit; the message names the field.
 */
export function decodeVertices(encoded: EncodedVertices, maxTextureSize: number): VertexTextureData {
  checkThat(encoded !== null && typeof encoded === 'object', 'encoded', encoded, 'what encode() returns');
  const { json, views } = encoded;
  checkThat(json !== null && typeof json === 'object', 'json', json, 'an object');
  const { version, precision, normals, frameCount, storedCount, restBounds } = json;
  checkThat(version === VERSION, 'version', version, `${VERSION}`);
  checkThat(precision === 'half' || precision === 'float', 'precision', precision, '"half" or "float"');
  checkThat(typeof normals === 'boolean', 'normals', normals, 'true or false');
  checkCount(frameCount, 'frameCount');
  checkCount(storedCount, 'storedCount');
  const parts = listOf<VertexPart>(json.parts, 'parts').map(({ name, vertices, positions }, i) => {
    checkThat(typeof name === 'string', `parts[${i}].name`, name, 'a string');
    checkCount(vertices, `parts[${i}].vertices`);
    if (positions === undefined) return { name, vertices };
    checkNumbers(positions, 3, `parts[${i}].positions`);
    return { name, vertices, positions };
  });
  const vertices = parts.reduce((sum, part) => sum + part.vertices, 0);

  const bytesOf = (field: 'frames' | 'boxes' | 'texels', length: number): ArrayBuffer => {
    const view = views?.[json[field]];
    checkThat(view instanceof Uint8Array, field, json[field], `the number of a view`);
    checkThat(view.byteLength === length, `${field} (bytes)`, view.byteLength, `${length}`);
    // A copy: views of files need not lie at a multiple of four bytes.
    return view.slice().buffer;
  };
  const frames = new Uint32Array(bytesOf('frames', frameCount * 4));
  const beyond = frames.find((frame) => frame >= storedCount);
  checkThat(beyond === undefined, 'frames', beyond, `below ${storedCount}, the number of stored frames`);
  const boxes = new Float32Array(bytesOf('boxes', storedCount * 24));
  checkThat(boxes.every(isPlace), 'boxes', boxes, 'numbers where vertices may be');
  const words = WORDS[precision];
  const used = new Uint32Array(bytesOf('texels', storedCount * vertices * words * 4));
  checkThat(vertices > 0 && vertices < 2 ** 24, 'vertices', vertices, 'from 1 to 2^24');
  if (precision === 'float') {
    const bad = new Float32Array(used.buffer).find((value, i) => i % 4 < 3 && !isPlace(value));
    checkThat(bad === undefined, 'texels', bad, 'positions where vertices may be');
  }
  const layout = layoutVertices(storedCount * vertices, maxTextureSize);
  const texels = new Uint32Array(layout.width * layout.height * words);
  texels.set(used);

  let start = REST_FRAME + 1;
  const clips = listOf<VertexClipJSON>(json.clips, 'clips').map((clip, i) => {
    const field = `clips[${i}]`;
    const { name, count, duration, bounds } = clip;
    checkThat(typeof name === 'string', `${field}.name`, name, 'a string');
    checkCount(count, `${field}.count`, frameCount - start);
    const isDuration = Number.isFinite(duration) && (count > 1 ? duration > 0 : duration >= 0);
    checkThat(isDuration, `${field}.duration`, duration, `seconds, for ${count} frames`);
    checkNumbers(bounds, 6, `${field}.bounds`);
    let before = 0;
    const markers = listOf<ClipMarker>(clip.markers, `${field}.markers`).map(({ time, name: marker }) => {
      const isMarker = typeof marker === 'string' && time >= before && time <= duration;
      checkThat(
        isMarker,
        `${field}.markers`,
        time,
        `names, and times from ${before} to ${duration} in order`,
      );
      before = time;
      return { time, name: marker };
    });
    const fps = (count - 1) / (duration || 1);
    const baked = { name, start, count, duration, fps, bounds, rootMotion: null, markers };
    start += count;
    return baked;
  });
  checkNumbers(restBounds, 6, 'restBounds');
  const errors = listOf<VertexErrors>(json.errors, 'errors').map(({ clip, stored, between }) => {
    const isError = typeof clip === 'string' && stored >= 0 && (between === null || between >= 0);
    checkThat(isError, 'errors', clip, 'the errors of each clip');
    return { clip, stored, between };
  });
  return { parts, vertices, precision, normals, frames, boxes, texels, ...layout, clips, restBounds, errors };
}

function checkThat(holds: boolean, field: string, value: unknown, expected: string): asserts holds {
  if (holds) return;
  throw new Error(`VertexTexture: ${field} is ${describe(value)}, but has to be ${expected}.`);
}

function checkCount(value: number, field: string, most = Number.MAX_SAFE_INTEGER): void {
  const isCount = Number.isInteger(value) && value > 0 && value <= most;
  checkThat(isCount, field, value, `a positive whole number, at most ${most}`);
}

function checkNumbers(values: readonly number[], length: number, field: string): void {
  const isNumber = (value: unknown) => typeof value === 'number' && !Number.isNaN(value);
  const areNumbers = Array.isArray(values) && values.length === length && values.every(isNumber);
  checkThat(areNumbers, field, values, `${length} numbers`);
}

/** Whether a vertex may be at a number: sums of much larger ones are not finite any more. Baking refuses the same. */
const isPlace = (value: number): boolean => Math.abs(value) < 1e30;

function listOf<T extends object>(value: readonly T[], field: string): readonly T[] {
  const isList = Array.isArray(value) && value.every((one) => one !== null && typeof one === 'object');
  checkThat(isList, field, value, 'an array of objects');
  return value;
}
