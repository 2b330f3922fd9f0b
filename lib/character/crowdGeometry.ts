import type { Color } from 'three';
import {
  BufferAttribute,
  BufferGeometry,
  InterleavedBuffer,
  InterleavedBufferAttribute,
  type TypedArray,
} from 'three';
import type { BoneTexture } from '../animation/BoneTexture.js';
import { createPoseMix } from '../animation/mixPose.js';
import { columnsOf } from '../animation/trackTexels.js';
import { AFFINE_SIZE, type Influences, PALETTE_COLUMNS, SHADING_COLUMN } from '../constants.js';
import { drawnVertices, inFloats, morphOffsets, type NumberArray, plainArray } from '../utils/geometries.js';

/** A part of a character: one of its meshes. */
export interface CharacterPart {
  /** What it is known by: the name of the mesh, then those of the nodes above it, below the root. */
  names: readonly string[];
  /** Whether instances do not show it to begin with. */
  hidden: boolean;
  /** What the mesh is drawn with; of a material that was merged, its name and colour as they were. */
  materials: readonly {
    /** As three.js has it. */
    readonly name: string;
    /** Undefined if it has none. */
    readonly color?: Color;
  }[];
}

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

/** Integers per vertex: joints, part and material. */
const STRIDE = 6;

/** Weights that are so near to a whole number of 8 or 16 bits are one: a float has not much more precision. */
const NEAR = 1e-7;

/**
 * Weights whose sum is off by more than this are normalised. Less is what 8-bit weights round to, and three.js draws it
 * as it is.
 */
const SUM_TOLERANCE = 0.01;

/**
 * GLTFLoader's names for joints and weights beyond a vertex's first four: `joints_1`, `weights_1`, and so on. three.js's
 * `SkinnedMesh` does not read them, so a crowd looks the same without, and they would only take memory and vertex buffers.
 */
export const FURTHER_INFLUENCES = /^(joints|weights)_\d+$/;

/** What poses geometries, and how many columns of its palettes are joints: up to the last that something has followed so far. */
type Poser = { readonly boneTexture: BoneTexture; columns: number };

/** What poses each geometry that a crowd draws, or that was made of one. */
export const posers = /*@__PURE__*/ new WeakMap<BufferGeometry, Poser>();

/**
 * The geometry that a crowd draws: a copy of `given` with sorted skin weights.
 * A copy, because one geometry holds the instanced attributes of one mesh, and `given` may be drawn by others.
 *
 * @throws If `given` cannot be skinned by the bone texture; the message names the vertex.
 */
export function createCrowdGeometry(
  given: BufferGeometry,
  poser: Poser,
  influences: Influences,
): BufferGeometry {
  const { boneTexture } = poser;
  const source = inFloats(given);
  const { binding } = boneTexture;
  for (const name of binding === null ? ['position', 'skinIndex', 'skinWeight'] : ['position']) {
    if (source.getAttribute(name) === undefined) {
      throw new Error(
        `The geometry "${source.name}" has no attribute "${name}"; pass the geometry of a SkinnedMesh, or use bakeCharacter(root, clips).`,
      );
    }
  }

  const geometry = new BufferGeometry().copy(source);
  for (const name in geometry.attributes) if (FURTHER_INFLUENCES.test(name)) geometry.deleteAttribute(name);
  if (binding === null) setSkin(geometry, ...sortSkin(source, boneTexture, influences));
  else binding.bind(geometry, source);
  fitColumns(geometry, poser);
  makeMorphsRelative(geometry);
  posers.set(geometry, poser);
  return geometry;
}

/**
 * Writes which columns of a palette the vertices of a crowd geometry follow, if they follow joints, and has the crowd's rows hold those and
 * all before them.
 */
export function fitColumns(geometry: BufferGeometry, crowd: Poser): void {
  const { skinIndex, shadingJoint } = geometry.attributes;
  const { binding, data } = crowd.boneTexture;
  if (binding !== null) return;
  const columns = columnsOf(data.tracks, data.jointBoxes);
  for (const joint of jointsOf(geometry)) crowd.columns = Math.max(crowd.columns, columns[joint] + 1);
  const followed = Uint16Array.from(plainArray(skinIndex, 4), (joint) => columns[joint]);
  // Renderers free those of before.
  geometry.dispose();
  geometry.setAttribute(PALETTE_COLUMNS, new BufferAttribute(followed, 4));
  geometry.deleteAttribute(SHADING_COLUMN);
  if (!shadingJoint) return;
  crowd.columns = columns.length;
  const shading = Float32Array.from(shadingJoint.array, (one) => one && columns[one - 1] + 1);
  geometry.setAttribute(SHADING_COLUMN, new BufferAttribute(shading, 1));
}

/** Sets the attributes of a skin, see `Skin`. */
export function setSkin(geometry: BufferGeometry, joints: InterleavedBuffer, weights: TypedArray): void {
  const isNormalized = !(weights instanceof Float32Array);
  geometry.setAttribute('skinIndex', new InterleavedBufferAttribute(joints, 4, 0));
  geometry.setAttribute('skinWeight', new BufferAttribute(weights, 4, isNormalized));
  geometry.setAttribute('partIndex', new InterleavedBufferAttribute(joints, 2, SKIN_PART));
}

/** What `setSkin` wrote. */
export function skinOf(geometry: BufferGeometry): Skin {
  const { array: joints, stride } = (geometry.getAttribute('skinIndex') as InterleavedBufferAttribute).data;
  const weights = geometry.getAttribute('skinWeight');
  return { joints, stride, weights: weights.array, unit: weights.normalized ? 1 / oneIn(weights.array) : 1 };
}

/** Every joint that a vertex of a crowd geometry follows, or of one part of it. */
export function jointsOf(geometry: BufferGeometry, part?: number): Set<number> {
  const { joints, stride, weights } = skinOf(geometry);
  const found = new Set<number>();
  for (let at = 0, first = 0; at < weights.length; at += 4, first += stride) {
    if (part !== undefined && joints[first + SKIN_PART] !== part) continue;
    for (let i = 0; i < 4 && weights[at + i] > 0; i++) found.add(joints[first + i]);
  }
  return found;
}

/** Four joints that each vertex follows, and by which shares. */
export type Followed = Record<'joints' | 'shares', ArrayLike<number>>;

/** Matrices, 12 numbers each, that carry what follows a joint to where it is at rest. */
export function restMatrices({ reader, jointNames }: BoneTexture): Float64Array {
  const matrices = new Float64Array(jointNames.length * AFFINE_SIZE);
  reader.pose(createPoseMix());
  for (let joint = 0; joint < jointNames.length; joint++)
    reader.jointMatrix(joint, matrices, joint * AFFINE_SIZE);
  return matrices;
}

/** Carries points of vertices, with `w` 1, or directions, with 0, by the joints that they follow. */
export function carry(
  list: Float32Array,
  { joints, shares }: Followed,
  matrices: Float64Array,
  w: 0 | 1,
): void {
  const row = (m: number, at: number) =>
    matrices[m] * list[at] +
    matrices[m + 1] * list[at + 1] +
    matrices[m + 2] * list[at + 2] +
    matrices[m + 3] * w;
  for (let at = 0, first = 0; at < list.length; at += 3, first += 4) {
    let x = 0;
    let y = 0;
    let z = 0;
    for (let i = first; i < first + 4; i++) {
      if (!(shares[i] > 0)) continue;
      const m = joints[i] * AFFINE_SIZE;
      const a = row(m, at);
      const b = row(m + 4, at);
      const c = row(m + 8, at);
      const share = w === 1 ? shares[i] : shares[i] / (Math.sqrt(a * a + b * b + c * c) || 1);
      x += share * a;
      y += share * b;
      z += share * c;
    }
    list[at] = x;
    list[at + 1] = y;
    list[at + 2] = z;
  }
}

/**
 * Makes a function that checks four joints and skin weights of arrays, those of a vertex. It returns whether they can be used, and throws
 * if they cannot but the vertex is drawn. Where the weight is 0, there may be any joint: three.js's shader multiplies it by zero.
 *
 * @param what Names the geometry in messages.
 * @param count How many joints there are.
 */
export function skinChecker(
  geometry: BufferGeometry,
  what: string,
  count: number,
): (joints: ArrayLike<number>, weights: ArrayLike<number>, at: number, vertex: number) => boolean {
  let drawn: Uint8Array | null = null;
  return (joints, weights, at, vertex) => {
    const x = weights[at];
    const y = weights[at + 1];
    const z = weights[at + 2];
    const w = weights[at + 3];
    const sum = x + y + z + w;
    if (sum > 0 && sum < Infinity && Math.min(x, y, z, w) >= 0) {
      for (let i = at; i < at + 4; i++) {
        if (weights[i] === 0 || (Number.isInteger(joints[i]) && joints[i] >= 0 && joints[i] < count))
          continue;
        throw new Error(
          `Vertex ${vertex} of ${what} follows joint ${joints[i]}, but there are ${count}; mend skinIndex, or set the weight to 0. ` +
            'A bone texture has to be baked for the same skeleton.',
        );
      }
      return true;
    }
    drawn ??= drawnVertices(geometry);
    if (drawn[vertex] === 0) return false;
    throw new Error(
      `The skin weights of vertex ${vertex} of ${what} are ${x}, ${y}, ${z}, ${w}; ` +
        'they must not be negative and must add up to 1 (SkinnedMesh.normalizeSkinWeights mends sums).',
    );
  };
}

/**
 * Joints of each vertex, strongest first, and its part; then the weights, as numbers of 8 or 16 bits, which compressed files have, if they
 * lose nothing by it.
 *
 * @throws If the weights are no weights, or the bone texture has no such joint; the message names the vertex.
 */
function sortSkin(source: BufferGeometry, boneTexture: BoneTexture, influences: Influences) {
  const { position, skinIndex, skinWeight, partIndex } = source.attributes;
  const integers = new Uint16Array(position.count * STRIDE);
  const floats = new Float32Array(position.count * 4);
  const followed = plainArray(skinIndex, 4);
  const weights = plainArray(skinWeight, 4);
  const order = [0, 0, 0, 0];
  const check = skinChecker(source, `geometry "${source.name}"`, boneTexture.jointNames.length);

  for (let vertex = 0; vertex < position.count; vertex++) {
    const at = vertex * 4;
    if (!check(followed, weights, at, vertex)) continue;
    const first = vertex * STRIDE;
    if (partIndex !== undefined) {
      integers[first + SKIN_PART] = partIndex.getX(vertex);
      if (partIndex.itemSize > 1) integers[first + SKIN_MATERIAL] = partIndex.getY(vertex);
    }
    // By insertion: `sort` with a function takes most of the time in which a page makes its first crowd.
    let sum = 0;
    for (let i = 0; i < 4; i++) {
      const weight = weights[at + i];
      sum += weight;
      let k = i;
      for (; k > 0 && weight > weights[order[k - 1]]; k--) order[k] = order[k - 1];
      order[k] = at + i;
    }

    let kept = 0;
    for (let i = 0; i < influences; i++) kept += weights[order[i]];
    const scale = (Math.abs(sum - 1) > SUM_TOLERANCE ? 1 : sum) / kept;

    for (let i = 0; i < influences && weights[order[i]] > 0; i++) {
      integers[first + i] = followed[order[i]];
      floats[at + i] = weights[order[i]] * scale;
    }
  }
  const shares = toShares(floats, Uint8Array) ?? toShares(floats, Uint16Array) ?? floats;
  return [new InterleavedBuffer(integers, STRIDE), shares] as const;
}

/** What stands for a weight of 1 in an array of whole numbers. */
const oneIn = ({ BYTES_PER_ELEMENT }: TypedArray): number => 2 ** (8 * BYTES_PER_ELEMENT) - 1;

/** Weights as whole numbers, or null if one would lose by it. */
function toShares(weights: Float32Array, Shares: NumberArray): TypedArray | null {
  const shares = new Shares(weights.length);
  const one = oneIn(shares);
  for (let i = 0; i < weights.length; i++) {
    const share = Math.round(weights[i] * one);
    if (share > one || Math.abs(weights[i] - share / one) > NEAR) return null;
    shares[i] = share;
  }
  return shares;
}

/** Makes morph targets offsets from the base geometry, so that influences of clips and of instances can be added up. */
export function makeMorphsRelative(geometry: BufferGeometry): void {
  if (geometry.morphTargetsRelative) return;
  for (const [name, targets] of Object.entries(geometry.morphAttributes)) {
    const base = geometry.getAttribute(name);
    if (base === undefined) continue;
    geometry.morphAttributes[name as 'position'] = targets.map((target) => {
      const { itemSize } = target;
      const offsets = new BufferAttribute(morphOffsets(target, base, itemSize), itemSize);
      offsets.name = target.name;
      return offsets;
    });
  }
  geometry.morphTargetsRelative = true;
}

/** For each part of a crowd geometry the names it goes by: its mesh's, then those of the nodes above; or its number. */
export function partPaths(
  geometry: BufferGeometry,
  parts: readonly CharacterPart[],
): readonly (readonly string[])[] {
  const numbers = geometry.getAttribute('partIndex');
  let length = Math.max(1, parts.length);
  for (let vertex = 0; vertex < numbers.count; vertex++) length = Math.max(length, numbers.getX(vertex) + 1);
  return Array.from({ length }, (_, part) => parts[part]?.names ?? [String(part)]);
}
