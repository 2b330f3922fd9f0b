import {
  BufferAttribute,
  type BufferGeometry,
  InterleavedBuffer,
  InterleavedBufferAttribute,
  type TypedArray,
} from 'three';
import type { Influences } from '../../shaders/ShaderVariant.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import { weightChecker } from './checkWeights.js';

/** Which joints the vertices of a crowd geometry follow, and which part and material they belong to. */
export interface Skin {
  /** `stride` integers for each vertex: four joints, the one with the largest weight first, then at `SKIN_PART` the part, and the number of its merged material. */
  joints: TypedArray;
  stride: number;
  /** Four for each vertex; none follows on one that is zero. */
  weights: TypedArray;
  /** What a weight of 1 in the array stands for. */
  unit: number;
}

/** Where in a vertex of `Skin.joints` its part is. */
export const SKIN_PART = 4;
/** Where the number of its material is, among those that were merged with different textures. */
const SKIN_MATERIAL = 5;

/** Integers per vertex with 8 and with 16 bits each: joints and part, filled up to 4 bytes, of which WebGPU wants strides. */
const STRIDE_8 = 8;
const STRIDE_16 = 6;

/** Weights that are so near to a whole number of 8 or 16 bits are one: a float has not much more precision. */
const NEAR = 1e-7;

/**
 * Weights whose sum is off by more than this are normalised. Less is what 8-bit weights round to, and three.js draws it
 * as it is.
 */
const SUM_TOLERANCE = 0.01;

/**
 * Gives a crowd geometry the joints, weights and parts of `source`, in as few bytes as hold them without loss: 8 or 12 for
 * joints and part, and 4 or 8 for weights that are numbers of 8 or 16 bits, as compressed files have them, or else 16.
 *
 * @throws If the weights are no weights, or the bone texture has no such joint; the message names the vertex.
 */
export function setSkin(
  geometry: BufferGeometry,
  source: BufferGeometry,
  boneTexture: BoneTexture,
  influences: Influences,
): void {
  const { count } = source.getAttribute('position');
  const integers = new Uint16Array(count * STRIDE_16);
  const floats = new Float32Array(count * 4);
  sortSkin(source, boneTexture, influences, integers, floats);

  // What follows one joint alone may be moved to any other.
  const wide = integers.some((value) => value > 255) || isRigid(integers, floats);
  const skin = wide ? new InterleavedBuffer(integers, STRIDE_16) : narrowed(integers);
  const shares = toShares(floats, Uint8Array) ?? toShares(floats, Uint16Array);
  const weights = shares === null ? new BufferAttribute(floats, 4) : new BufferAttribute(shares, 4, true);
  geometry.setAttribute('skinIndex', new InterleavedBufferAttribute(skin, 4, 0));
  geometry.setAttribute('skinWeight', weights);
  geometry.setAttribute('partIndex', new InterleavedBufferAttribute(skin, 2, SKIN_PART));
}

/** What `setSkin` wrote. */
export function skinOf(geometry: BufferGeometry): Skin {
  const { array: joints, stride } = (geometry.getAttribute('skinIndex') as InterleavedBufferAttribute).data;
  const weights = geometry.getAttribute('skinWeight');
  return { joints, stride, weights: weights.array, unit: weights.normalized ? 1 / oneIn(weights.array) : 1 };
}

/** Every joint that a vertex of a crowd geometry follows. */
export function jointsOf(geometry: BufferGeometry): Set<number> {
  const { joints, stride, weights } = skinOf(geometry);
  const found = new Set<number>();
  for (let at = 0, first = 0; at < weights.length; at += 4, first += stride) {
    for (let i = 0; i < 4 && weights[at + i] > 0; i++) found.add(joints[first + i]);
  }
  return found;
}

/** Writes joints and weights of each vertex, strongest first, and its part. */
function sortSkin(
  source: BufferGeometry,
  boneTexture: BoneTexture,
  influences: Influences,
  integers: Uint16Array,
  floats: Float32Array,
): void {
  const sourceIndex = source.getAttribute('skinIndex');
  const sourceWeight = source.getAttribute('skinWeight');
  const partIndex = source.getAttribute('partIndex');
  const joints = boneTexture.jointNames.length;
  const order = [0, 1, 2, 3];
  const weight = [0, 0, 0, 0];
  const checkWeights = weightChecker(source, `geometry "${source.name}"`);

  for (let vertex = 0; vertex * 4 < floats.length; vertex++) {
    let sum = 0;
    for (let i = 0; i < 4; i++) {
      weight[i] = i < sourceWeight.itemSize ? sourceWeight.getComponent(vertex, i) : 0;
      sum += weight[i];
      order[i] = i;
    }
    if (!checkWeights(weight, vertex)) continue;
    const first = vertex * STRIDE_16;
    if (partIndex !== undefined) {
      integers[first + SKIN_PART] = partIndex.getX(vertex);
      if (partIndex.itemSize > 1) integers[first + SKIN_MATERIAL] = partIndex.getY(vertex);
    }
    // By insertion: `sort` with a function takes most of the time in which a page makes its first crowd.
    for (let i = 1; i < 4; i++) {
      for (let k = i; k > 0 && weight[order[k]] > weight[order[k - 1]]; k--) {
        [order[k - 1], order[k]] = [order[k], order[k - 1]];
      }
    }

    let kept = 0;
    for (let i = 0; i < influences; i++) kept += weight[order[i]];
    const scale = (Math.abs(sum - 1) > SUM_TOLERANCE ? 1 : sum) / kept;

    for (let i = 0; i < influences && weight[order[i]] > 0; i++) {
      const joint = sourceIndex.getComponent(vertex, order[i]);
      if (!(joint >= 0 && joint < joints)) {
        throw new Error(
          `Vertex ${vertex} of geometry "${source.name}" follows joint ${joint}, but the bone texture has ${joints} joints; ` +
            'was it baked for another skeleton?',
        );
      }
      if (joint > 65535) {
        throw new Error(
          `Vertex ${vertex} of geometry "${source.name}" follows joint ${joint}, but vertices can follow the first 65536 joints only; ` +
            'split the character into several crowds.',
        );
      }
      integers[first + i] = joint;
      floats[vertex * 4 + i] = weight[order[i]] * scale;
    }
  }
}

/** Whether all vertices follow one joint. */
function isRigid(integers: Uint16Array, floats: Float32Array): boolean {
  const vertices = floats.length / 4;
  for (let vertex = 0; vertex < vertices; vertex++) {
    if (integers[vertex * STRIDE_16] !== integers[0] || floats[vertex * 4 + 1] > 0) return false;
  }
  return true;
}

function narrowed(integers: Uint16Array): InterleavedBuffer {
  const bytes = new Uint8Array((integers.length / STRIDE_16) * STRIDE_8);
  for (let from = 0, to = 0; from < integers.length; from += STRIDE_16, to += STRIDE_8) {
    for (let i = 0; i <= SKIN_MATERIAL; i++) bytes[to + i] = integers[from + i];
  }
  return new InterleavedBuffer(bytes, STRIDE_8);
}

/** What stands for a weight of 1 in an array of whole numbers. */
const oneIn = ({ BYTES_PER_ELEMENT }: TypedArray): number => 2 ** (8 * BYTES_PER_ELEMENT) - 1;

/** Weights as whole numbers, or null if one would lose by it. */
function toShares<T extends Uint8Array | Uint16Array>(
  weights: Float32Array,
  Shares: new (length: number) => T,
): T | null {
  const shares = new Shares(weights.length);
  const one = oneIn(shares);
  for (let i = 0; i < weights.length; i++) {
    const share = Math.round(weights[i] * one);
    if (share > one || Math.abs(weights[i] - share / one) > NEAR) return null;
    shares[i] = share;
  }
  return shares;
}
