import type { ClipMarker } from '../poses/ClipTable.js';
import type { BoxArray } from '../poses/jointBoxes.js';
import { checkThat } from './checkVertexTextureData.js';
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
  const { version, precision, normals, frameCount, storedCount } = json;
  checkThat(version === VERSION, 'version', version, `${VERSION}`);
  checkThat(precision === 'half' || precision === 'float', 'precision', precision, '"half" or "float"');
  checkCount(frameCount, 'frameCount');
  checkCount(storedCount, 'storedCount');
  const parts = listOf<VertexPart>(json.parts, 'parts').map(({ name, vertices, positions }, i) => {
    checkThat(typeof name === 'string', `parts[${i}].name`, name, 'a string');
    checkCount(vertices, `parts[${i}].vertices`);
    return { name, vertices, ...(positions !== undefined && { positions }) };
  });
  const vertices = parts.reduce((sum, part) => sum + part.vertices, 0);
  const words = WORDS[precision];

  const bytesOf = (field: 'frames' | 'boxes' | 'texels', length: number): ArrayBuffer => {
    const view = views?.[json[field]];
    checkThat(view instanceof Uint8Array, field, json[field], `the number of a view`);
    checkThat(view.byteLength === length, `${field} (bytes)`, view.byteLength, `${length}`);
    // A copy: views of files need not lie at a multiple of four bytes.
    return view.slice().buffer;
  };
  const frames = new Uint32Array(bytesOf('frames', frameCount * 4));
  const boxes = new Float32Array(bytesOf('boxes', storedCount * 24));
  const used = new Uint32Array(bytesOf('texels', storedCount * vertices * words * 4));
  const layout = layoutVertices(storedCount * vertices, maxTextureSize, 'VertexTexture.decode');
  const texels = new Uint32Array(layout.width * layout.height * words);
  texels.set(used);

  let start = 1;
  const clips = listOf<VertexClipJSON>(json.clips, 'clips').map((clip, i) => {
    const { name, count, duration, bounds } = clip;
    checkCount(count, `clips[${i}].count`);
    const markers = listOf<ClipMarker>(clip.markers, `clips[${i}].markers`).map(({ time, name: marker }) => ({
      time,
      name: marker,
    }));
    const fps = (count - 1) / (duration || 1);
    const baked = { name, start, count, duration, fps, bounds, rootMotion: null, markers };
    start += count;
    return baked;
  });
  const errors = listOf<VertexErrors>(json.errors, 'errors').map(({ clip, stored, between }) => ({
    clip,
    stored,
    between,
  }));
  const { restBounds } = json;
  return { parts, vertices, precision, normals, frames, boxes, texels, ...layout, clips, restBounds, errors };
}

function checkCount(value: number, field: string): void {
  checkThat(Number.isSafeInteger(value) && value > 0, field, value, 'a positive whole number');
}

function listOf<T extends object>(value: readonly T[], field: string): readonly T[] {
  const isList = Array.isArray(value) && value.every((one) => one !== null && typeof one === 'object');
  checkThat(isList, field, value, 'an array of objects');
  return value;
}
