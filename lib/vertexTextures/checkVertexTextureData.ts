import { REST_FRAME } from '../constants.js';
import type { BoxArray } from '../poses/jointBoxes.js';
import { describe } from '../utils/messages.js';
import { storedFrames, type VertexTextureData, WORDS } from './VertexTextureData.js';

/**
 * Throws unless a field of a vertex texture's data is as it has to be.
 *
 * @param wanted What the field has to be, for the message.
 */
export function checkThat(holds: boolean, field: string, value: unknown, wanted: string): asserts holds {
  if (holds) return;
  throw new Error(`VertexTexture: ${field} is ${describe(value)}, but has to be ${wanted}.`);
}

/** Texels of which baking has found that all positions are finite: looking at them again would be the longest wait of all. */
const FINITE = /*@__PURE__*/ new WeakSet<Uint32Array>();

/** Says that all positions of data are finite. */
export function markFinite({ texels }: VertexTextureData): void {
  FINITE.add(texels);
}

/** Whether a vertex may be at a number: sums of much larger ones are not finite any more. Baking refuses the same. */
const isPlace = (value: number): boolean => Math.abs(value) < 1e30;

/**
 * Checks that data are those of a vertex texture and fit together.
 *
 * @throws If not; the message names the field.
 */
export function checkVertexTextureData(data: VertexTextureData): void {
  if (!(data?.texels instanceof Uint32Array)) {
    throw new Error(
      `VertexTexture: data is ${describe(data)}; use bakeVertexTexture(object, motion), or the vertexData of another.`,
    );
  }
  const { parts, vertices, precision, normals, frames, boxes, texels, width, height } = data;
  const { clips, restBounds, errors } = data;
  checkThat(precision === 'half' || precision === 'float', 'precision', precision, '"half" or "float"');
  checkThat(typeof normals === 'boolean', 'normals', normals, 'true or false');
  const isPart = ({ name, vertices: count, positions }: VertexTextureData['parts'][number]) =>
    typeof name === 'string' &&
    Number.isInteger(count) &&
    count >= 0 &&
    (positions === undefined ||
      (Array.isArray(positions) && positions.length === 3 && positions.every(Number.isFinite)));
  checkThat(
    Array.isArray(parts) && parts.length > 0 && parts.every(isPart),
    'parts',
    parts,
    'names and numbers of vertices',
  );
  const sum = parts.reduce((count, part) => count + part.vertices, 0);
  checkThat(vertices === sum && sum > 0 && sum < 2 ** 24, 'vertices', vertices, `${sum}, those of all parts`);
  checkThat(boxes instanceof Float32Array && boxes.length % 6 === 0, 'boxes', boxes, 'six floats a frame');
  checkThat(boxes.every(isPlace), 'boxes', boxes, 'numbers where vertices may be');
  const stored = storedFrames(data);
  const areFrames = frames instanceof Uint32Array && frames.length > 0;
  checkThat(areFrames, 'frames', frames, 'a Uint32Array');
  const beyond = frames.find((frame) => frame >= stored);
  checkThat(beyond === undefined, 'frames', beyond, `below ${stored}, the number of stored frames`);
  checkThat(width > 0 && Number.isInteger(Math.log2(width)), 'width', width, 'a power of two');
  const room = width * height;
  checkThat(
    room >= stored * vertices,
    'height',
    height,
    `enough for ${stored} frames of ${vertices} vertices`,
  );
  const words = room * WORDS[precision];
  checkThat(texels.length === words, 'texels.length', texels.length, `${words}, for ${width} × ${height}`);
  if (precision === 'float' && !FINITE.has(texels)) {
    const floats = new Float32Array(texels.buffer, texels.byteOffset, texels.length);
    let bad = -1;
    for (let i = 0; i < floats.length && bad < 0; i++) if (i % 4 < 3 && !isPlace(floats[i])) bad = i;
    checkThat(bad < 0, 'texels', floats[bad], 'positions where vertices may be');
  }
  const areErrors =
    Array.isArray(errors) &&
    errors.every(
      ({ clip, stored: on, between }) =>
        typeof clip === 'string' && on >= 0 && (between === null || between >= 0),
    );
  checkThat(areErrors, 'errors', errors, 'the errors of each clip');
  checkBox(restBounds, 'restBounds');
  checkThat(Array.isArray(clips), 'clips', clips, 'an array');
  let next = REST_FRAME + 1;
  clips.forEach((clip, i) => {
    const field = `clips[${i}]`;
    checkThat(clip !== null && typeof clip === 'object', field, clip, 'a clip');
    const { name, start, count, duration, fps, bounds: box, markers } = clip;
    checkThat(typeof name === 'string', `${field}.name`, name, 'a string');
    checkThat(Number.isInteger(start) && start >= next, `${field}.start`, start, `a frame from ${next}`);
    const room = frames.length - start;
    const isCount = Number.isInteger(count) && count > 0 && count <= room;
    checkThat(isCount, `${field}.count`, count, `from 1 to ${room}, as far as frames go`);
    next = start + count;
    checkThat(duration >= 0 && duration < Infinity, `${field}.duration`, duration, 'a number of seconds');
    checkThat(Number.isFinite(fps), `${field}.fps`, fps, 'a number');
    checkBox(box, `${field}.bounds`);
    const areMarkers =
      Array.isArray(markers) &&
      markers.every(({ time, name: marker }, k) => {
        const after = k === 0 ? 0 : markers[k - 1].time;
        return typeof marker === 'string' && time >= after && time <= duration;
      });
    checkThat(areMarkers, `${field}.markers`, markers, `names, and times from 0 to ${duration} in order`);
  });
}

function checkBox(box: BoxArray, field: string): void {
  const isNumber = (value: unknown) => typeof value === 'number' && !Number.isNaN(value);
  const isBox = Array.isArray(box) && box.length === 6 && box.every(isNumber);
  checkThat(isBox, field, box, 'six numbers: least x, y, z, then greatest');
}
