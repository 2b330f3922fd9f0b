import { expectClips } from '../animation/ClipTable.js';
import { expectField, expectFit, expectLength, expectShape, type Shape } from '../utils/expect.js';
import { layoutVertices, type VertexTextureData, WORDS } from './VertexTextureData.js';

/** Whether a vertex may be at a number: sums of much larger ones are not finite any more. Baking refuses the same. */
const isPlace = (value: number): boolean => Math.abs(value) < 1e30;

const SHAPE: Shape = {
  parts: [{ name: 'text', vertices: 'count' }],
  vertices: 'count',
  frames: 'words',
  boxes: 'floats',
  texels: 'words',
  restBounds: 6,
  errors: [{ clip: 'text', stored: 'number', between: '?number' }],
};

/**
 * The data of a vertex texture from a file, whose texels may end behind the last that is used. All of them are checked; nothing larger than
 * what is there is allocated before.
 *
 * @param maxTextureSize Largest width and height of the texture. Devices take at least 2,048, nearly all 4,096.
 * @throws If something does not fit; the message names the field.
 */
export function checkVertices(data: VertexTextureData, maxTextureSize: number): VertexTextureData {
  expectShape(data, SHAPE, 'vertices');
  const { parts, vertices, precision, frames, boxes, texels, clips } = data;
  const words = WORDS[precision];
  expectField(words !== undefined, 'vertices.precision', precision, '"half" or "float"');
  const sum = parts.reduce((all, part) => all + part.vertices, 0);
  const stored = boxes.length / 6;
  expectFit(sum === vertices && vertices > 0 && vertices < 2 ** 24, 'vertices.parts');
  expectFit(frames.length > 0 && frames.every((frame) => frame < stored), 'vertices.frames');
  expectFit(boxes.every(isPlace), 'vertices.boxes');
  const used = texels.subarray(0, stored * vertices * words);
  expectLength(used, stored * vertices * words, 'vertices.texels');
  const floats = new Float32Array(used.buffer, used.byteOffset, used.length);
  const arePlaces = precision === 'half' || floats.every((value, i) => i % 4 === 3 || isPlace(value));
  expectFit(arePlaces, 'vertices.texels');
  expectClips(clips, frames.length, 'vertices.clips');
  const { width, height } = layoutVertices(stored * vertices, maxTextureSize);
  const all = new Uint32Array(width * height * words);
  all.set(used);
  return { ...data, texels: all, width, height };
}
