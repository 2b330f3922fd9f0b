import { REST_FRAME } from '../constants.js';
import { type BoneTextureData, frameTexel, layoutTexture } from '../encodings/BoneTextureData.js';
import type { VertexTextureData } from './VertexTextureData.js';

/** Texels of a frame in the table: as many as a joint has in a bone texture of matrices, which the table passes for. */
const STRIDE = 3;

/** Texels in a row that every device takes. */
const ANY_DEVICE = 2048;

/**
 * Throws if so many frames would not fit into the table, however few of them differ: a clip whose keys are at wild times has more than
 * anybody could wait for.
 */
export function checkFrames(frames: number, maxTextureSize: number): void {
  layoutTexture(frames, STRIDE, Math.max(ANY_DEVICE, maxTextureSize));
}

/**
 * What a vertex texture has in the place of skinning matrices: for each frame two texels, how much a step of 16 bits is and which
 * stored frame it is, then the least corner of the box and the number of vertices, negative where there are no normals. The third
 * one is not used. It passes for a bone texture of one joint, which has the number of vertices for a name: two that can take the
 * place of each other have the same.
 */
export function frameTable(data: VertexTextureData): BoneTextureData {
  const { frames, boxes, vertices, normals, clips, restBounds, width, height } = data;
  const layout = layoutTexture(frames.length, STRIDE, Math.max(ANY_DEVICE, width, height));
  const texels = new Float32Array(layout.width * layout.height * 4);
  frames.forEach((stored, frame) => {
    const at = frameTexel(layout, frame) * 4;
    const box = stored * 6;
    texels.set([boxes[box + 3], boxes[box + 4], boxes[box + 5], stored], at);
    texels.set([boxes[box], boxes[box + 1], boxes[box + 2], normals ? vertices : -vertices], at + 4);
  });
  return {
    texels,
    layout,
    frames: Math.max(frames.length, REST_FRAME + 1),
    encoding: 'frames',
    precision: 'float',
    clips,
    jointNames: [`${vertices} vertices`],
    jointBinds: [null],
    flips: [],
    morphNames: [],
    restBounds,
    jointBoxes: new Float32Array(6),
    tracks: null,
  };
}
