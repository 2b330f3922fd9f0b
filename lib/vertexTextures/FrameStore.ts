import type { Precision } from '../animation/BoneTextureData.js';
import { inRuns, type Steps } from '../utils/steps.js';
import { packNormal } from './VertexReader.js';
import { WORDS } from './VertexTextureData.js';

const _floats = /*@__PURE__*/ new Float32Array(3);
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
   */
  *add(positions: Float32Array, normals: Float32Array | null): Steps<void> {
    const box = this.precision === 'half' ? yield* stepsOf(positions) : [0, 0, 0, 0, 0, 0];
    yield* inRuns(this.vertices, (start, end) => this.encode(positions, normals, box, start, end));

    const hash = yield* hashOf(this.next, box);
    const alike = this.byHash.get(hash) ?? [];
    for (const stored of alike) {
      if (!this.isSame(stored, box)) continue;
      this.frames.push(stored);
      return;
    }
    const number = this.stored.length;
    this.byHash.set(hash, [...alike, number]);
    this.frames.push(number);
    this.boxes.push(...box);
    this.stored.push(this.next);
    yield 0;
    this.next = new Uint32Array(this.next.length);
    yield 0;
  }

  /** Writes the positions of the last frame as they are stored. */
  *decode(positions: Float32Array): Steps<void> {
    yield* inRuns(this.vertices, (start, end) => this.decodeRun(positions, start, end));
  }

  private decodeRun(positions: Float32Array, start: number, end: number): void {
    const { precision, boxes } = this;
    const number = this.frames[this.frames.length - 1];
    const words = this.stored[number];
    const box = number * 6;
    for (let vertex = start, at = start * 3; vertex < end; vertex++, at += 3) {
      if (precision === 'float') {
        _bits.set(words.subarray(vertex * 4, vertex * 4 + 3));
        positions.set(_floats, at);
        continue;
      }
      const xy = words[vertex * 2];
      positions[at] = boxes[box] + boxes[box + 3] * (xy & 0xffff);
      positions[at + 1] = boxes[box + 1] + boxes[box + 4] * (xy >>> 16);
      positions[at + 2] = boxes[box + 2] + boxes[box + 5] * (words[vertex * 2 + 1] & 0xffff);
    }
  }

  private encode(
    positions: Float32Array,
    normals: Float32Array | null,
    box: readonly number[],
    start: number,
    end: number,
  ): void {
    const { next, precision } = this;
    for (let vertex = start, at = start * 3; vertex < end; vertex++, at += 3) {
      const normal =
        normals === null ? 0 : packNormal(normals[at], normals[at + 1], normals[at + 2], precision);
      if (precision === 'float') {
        for (let i = 0; i < 3; i++) _floats[i] = positions[at + i];
        next.set(_bits, vertex * 4);
        next[vertex * 4 + 3] = normal;
        continue;
      }
      const x = toSteps(positions[at], box[0], box[3]);
      const y = toSteps(positions[at + 1], box[1], box[4]);
      const z = toSteps(positions[at + 2], box[2], box[5]);
      next[vertex * 2] = x | (y << 16);
      next[vertex * 2 + 1] = z | (normal << 16);
    }
  }

  private isSame(number: number, box: readonly number[]): boolean {
    for (let i = 0; i < 6; i++) if (this.boxes[number * 6 + i] !== box[i]) return false;
    const stored = this.stored[number];
    for (let i = 0; i < stored.length; i++) if (stored[i] !== this.next[i]) return false;
    return true;
  }
}

/** The least corner of the box around positions, and its sides divided into steps; as floats of 32 bits. */
function* stepsOf(positions: Float32Array): Steps<number[]> {
  const least = [Infinity, Infinity, Infinity];
  const most = [-Infinity, -Infinity, -Infinity];
  yield* inRuns(positions.length / 3, (start, end) => {
    for (let at = start * 3; at < end * 3; at += 3) {
      for (let i = 0; i < 3; i++) {
        least[i] = Math.min(least[i], positions[at + i]);
        most[i] = Math.max(most[i], positions[at + i]);
      }
    }
  });
  return [...least, ...most.map((value, i) => Math.fround((value - least[i]) / STEPS))];
}

function toSteps(value: number, least: number, step: number): number {
  return step > 0 ? Math.min(Math.max(Math.round((value - least) / step), 0), STEPS) : 0;
}

/** FNV-1a, word by word. */
function* hashOf(words: Uint32Array, box: readonly number[]): Steps<number> {
  let hash = 0x811c9dc5;
  yield* inRuns(words.length, (start, end) => {
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ words[i], 0x01000193);
  });
  for (let i = 0; i < 3; i++) _floats[i] = box[i];
  for (let i = 0; i < 3; i++) hash = Math.imul(hash ^ _bits[i], 0x01000193);
  return hash;
}
