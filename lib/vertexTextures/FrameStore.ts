import type { Box3 } from 'three';
import type { Precision } from '../animation/BoneTextureData.js';
import { inRuns, type Steps } from '../utils/slices.js';
import { packNormal } from './VertexReader.js';
import { WORDS } from './VertexTextureData.js';

const _floats = /*@__PURE__*/ new Float32Array(3);
const _steps = /*@__PURE__*/ new Uint32Array(3);
const _bits = /*@__PURE__*/ (() => new Uint32Array(_floats.buffer))();

/** The largest number of 16 bits. */
const STEPS = 65535;

/** Encodes frames, and keeps those that differ. */
export class FrameStore {
  /** Which of the stored frames each is. */
  readonly frames: number[] = [];
  /** Texels of each stored frame. */
  readonly stored: Uint32Array[] = [];
  /** Six numbers for each: see `VertexTextureData.boxes`. */
  readonly boxes: number[] = [];
  private readonly byHash = new Map<number, number[]>();
  private next: Uint32Array;

  constructor(
    private readonly vertices: number,
    private readonly precision: Precision,
  ) {
    this.next = new Uint32Array(vertices * WORDS[precision]);
  }

  /**
   * Adds a frame.
   *
   * @param normals Null if there are none.
   * @param around The box around all positions.
   * @returns How far the farthest position is from where it is stored.
   */
  *add(positions: Float32Array, normals: Float32Array | null, { min, max }: Box3): Steps<number> {
    const { next, stored } = this;
    const sides = max.clone().sub(min).toArray();
    const isHalf = this.precision === 'half';
    const box = isHalf
      ? [...min.toArray(), ...sides.map((side) => Math.fround(side / STEPS))]
      : [0, 0, 0, 0, 0, 0];
    const words = WORDS[this.precision];
    let error = 0;
    // FNV-1a, word by word.
    let hash = 0x811c9dc5;
    yield* inRuns(this.vertices, (start, end) => {
      error = Math.max(error, this.encode(positions, normals, box, start, end));
      for (let i = start * words; i < end * words; i++) hash = Math.imul(hash ^ next[i], 0x01000193);
    });
    const alike = this.byHash.get(hash) ?? [];
    const isSame = (other: number) =>
      box.every((value, i) => value === this.boxes[other * 6 + i]) &&
      stored[other].every((word, i) => word === next[i]);
    const known = alike.find(isSame);
    this.frames.push(known ?? stored.length);
    if (known === undefined) {
      this.byHash.set(hash, [...alike, stored.length]);
      this.boxes.push(...box);
      stored.push(next);
      yield 0;
      this.next = new Uint32Array(next.length);
    }
    yield 0;
    return error;
  }

  /** @returns The largest error. */
  private encode(
    positions: Float32Array,
    normals: Float32Array | null,
    box: readonly number[],
    start: number,
    end: number,
  ): number {
    const { next, precision } = this;
    let most = 0;
    for (let vertex = start, at = start * 3; vertex < end; vertex++, at += 3) {
      const normal =
        normals === null ? 0 : packNormal(normals[at], normals[at + 1], normals[at + 2], precision);
      if (precision === 'float') {
        for (let i = 0; i < 3; i++) _floats[i] = positions[at + i];
        next.set(_bits, vertex * 4);
        next[vertex * 4 + 3] = normal;
        continue;
      }
      let square = 0;
      for (let i = 0; i < 3; i++) {
        _steps[i] = toSteps(positions[at + i], box[i], box[i + 3]);
        square += (box[i] + box[i + 3] * _steps[i] - positions[at + i]) ** 2;
      }
      most = Math.max(most, square);
      next[vertex * 2] = _steps[0] | (_steps[1] << 16);
      next[vertex * 2 + 1] = _steps[2] | (normal << 16);
    }
    return Math.sqrt(most);
  }
}

function toSteps(value: number, least: number, step: number): number {
  return step > 0 ? Math.min(Math.max(Math.round((value - least) / step), 0), STEPS) : 0;
}
