import { Vector3 } from 'three';
import { unpackNormal } from './octahedral.js';
import { type VertexTextureData, WORDS } from './VertexTextureData.js';

const _normal = /*@__PURE__*/ new Vector3();

/** Reads vertices of frames: the CPU twin of `storedVertex` in the shaders. */
export class VertexReader {
  private readonly words: number;
  private readonly floats: Float32Array;

  constructor(private readonly data: VertexTextureData) {
    this.words = WORDS[data.precision];
    const { buffer, byteOffset, length } = data.texels;
    this.floats = new Float32Array(buffer, byteOffset, length);
  }

  /** Adds the position of a vertex in a frame, times a weight. */
  addPosition(frame: number, vertex: number, weight: number, target: Vector3): void {
    const { data, floats } = this;
    const at = this.placeOf(frame, vertex);
    if (data.precision === 'float') {
      target.x += weight * floats[at];
      target.y += weight * floats[at + 1];
      target.z += weight * floats[at + 2];
      return;
    }
    const { texels, boxes, frames } = data;
    const box = frames[frame] * 6;
    target.x += weight * (boxes[box] + boxes[box + 3] * (texels[at] & 0xffff));
    target.y += weight * (boxes[box + 1] + boxes[box + 4] * (texels[at] >>> 16));
    target.z += weight * (boxes[box + 2] + boxes[box + 5] * (texels[at + 1] & 0xffff));
  }

  /** The same of the normal; there must be some. */
  addNormal(frame: number, vertex: number, weight: number, target: Vector3): void {
    const { texels, precision } = this.data;
    const at = this.placeOf(frame, vertex);
    const packed = precision === 'float' ? texels[at + 3] : texels[at + 1] >>> 16;
    target.addScaledVector(unpackNormal(packed, precision, _normal), weight);
  }

  private placeOf(frame: number, vertex: number): number {
    const { frames, vertices } = this.data;
    return (frames[frame] * vertices + vertex) * this.words;
  }
}
