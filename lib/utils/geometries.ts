import type { Matrix4, TypedArray } from 'three';
import {
  BufferAttribute,
  BufferGeometry,
  InterleavedBuffer,
  InterleavedBufferAttribute,
  Vector3,
} from 'three';
import { inRuns, type Steps } from './slices.js';

/** An attribute of a geometry. */
export type Attribute = BufferAttribute | InterleavedBufferAttribute;

/** A class of arrays of numbers. */
export type NumberArray = new (length: number) => TypedArray;

/** Arrays of half floats hold their bits, and so does what `getComponent` gives. */
const isHalf = (attribute: Attribute): boolean => 'isFloat16BufferAttribute' in attribute;

/**
 * The values of an attribute one after another, or those of some items; its own array, or a view of it, if they are stored that
 * way.
 */
export function plainArray(
  attribute: Attribute,
  size: number,
  from = 0,
  to = attribute.count,
): ArrayLike<number> {
  const { count, itemSize, normalized } = attribute;
  const half = isHalf(attribute);
  const interleaved = (attribute as InterleavedBufferAttribute).isInterleavedBufferAttribute === true;
  if (!interleaved && !normalized && !half && itemSize === size) {
    const { array } = attribute as BufferAttribute;
    return from === 0 && to === count ? array : array.subarray(from * size, to * size);
  }
  const array = new Float32Array((to - from) * size);
  const item = [attribute.getX, attribute.getY, attribute.getZ, attribute.getW];
  for (let i = from; i < to; i++) {
    for (let j = 0; j < Math.min(size, itemSize); j++) {
      array[(i - from) * size + j] = half ? item[j].call(attribute, i) : attribute.getComponent(i, j);
    }
  }
  return array;
}

/** The attribute itself if it is an array of floats, else a copy in floats. */
export function floatsOf(attribute: Attribute): BufferAttribute {
  if (attribute instanceof BufferAttribute && attribute.array instanceof Float32Array) return attribute;
  const { itemSize, name } = attribute;
  const floats = new BufferAttribute(Float32Array.from(plainArray(attribute, itemSize)), itemSize);
  floats.name = name;
  return floats;
}

/** The geometry itself; or if it has a `Float16BufferAttribute`, one that has those in floats and shares all others. */
export function inFloats(source: BufferGeometry): BufferGeometry {
  const targets: Attribute[] = Object.values(source.morphAttributes).flat();
  if (![...Object.values(source.attributes), ...targets].some(isHalf)) return source;
  const geometry = sharingCopy(source);
  const read = (attribute: Attribute) => (isHalf(attribute) ? floatsOf(attribute) : attribute);
  for (const [name, attribute] of Object.entries(source.attributes))
    geometry.setAttribute(name, read(attribute));
  for (const [name, morphs] of Object.entries(source.morphAttributes))
    geometry.morphAttributes[name as 'position'] = morphs.map(read) as BufferAttribute[];
  return geometry;
}

/** A geometry of its own that shares attributes, index and groups with another. */
export function sharingCopy(source: BufferGeometry): BufferGeometry {
  const { name, attributes, index, groups, drawRange, morphAttributes, morphTargetsRelative, userData } =
    source;
  const shared = { name, index, groups, drawRange, morphTargetsRelative, userData };
  const own = { attributes: { ...attributes }, morphAttributes: { ...morphAttributes } };
  return Object.assign(new BufferGeometry(), shared, own);
}

/** Lets all vertices of a geometry follow one joint. */
export function followJoint(geometry: BufferGeometry, joint: number): BufferGeometry {
  const { count } = geometry.attributes.position;
  const joints = new Uint16Array(count * 4).fill(joint);
  const weights = Float32Array.from(joints, (_, i) => +(i % 4 === 0));
  geometry.setAttribute('skinIndex', new BufferAttribute(joints, 4));
  return geometry.setAttribute('skinWeight', new BufferAttribute(weights, 4));
}

/** A geometry of some corners of another, with all attributes and morph targets that vertices there have; without groups. */
export function pickCorners(
  source: BufferGeometry,
  corners: readonly number[],
): { geometry: BufferGeometry; vertices: number[] } {
  const vertices = [...new Set(corners)];
  const places = new Map(vertices.map((vertex, place) => [vertex, place]));
  const geometry = new BufferGeometry();
  geometry.name = source.name;
  for (const [name, attribute] of Object.entries(source.attributes)) {
    if (isOfVertices(attribute)) geometry.setAttribute(name, picked(attribute, vertices));
  }
  for (const [name, targets] of Object.entries(source.morphAttributes)) {
    geometry.morphAttributes[name as 'position'] = targets.map((target) => picked(target, vertices));
  }
  geometry.morphTargetsRelative = source.morphTargetsRelative;
  geometry.userData = source.userData;
  geometry.setIndex(corners.map((vertex) => places.get(vertex) as number));
  return { geometry, vertices };
}

/** The values that an attribute has for some vertices, in numbers of the same kind. */
export function picked(source: Attribute, vertices: readonly number[]): BufferAttribute {
  const { itemSize, normalized } = source;
  const { array } = (source as InterleavedBufferAttribute).data ?? source;
  const Numbers = array.constructor as NumberArray;
  const target = new BufferAttribute(new Numbers(vertices.length * itemSize), itemSize, normalized);
  target.name = source.name;
  vertices.forEach((vertex, place) => {
    for (let i = 0; i < itemSize; i++) target.setComponent(place, i, source.getComponent(vertex, i));
  });
  return target;
}

/** Whether an attribute has a value for each vertex, and not for each instance. */
export function isOfVertices(attribute: Attribute): boolean {
  const { data, isInstancedBufferAttribute } = attribute as {
    data?: { isInstancedInterleavedBuffer?: boolean };
    isInstancedBufferAttribute?: boolean;
  };
  return isInstancedBufferAttribute !== true && data?.isInstancedInterleavedBuffer !== true;
}

/**
 * For each vertex the first that has the same numbers.
 *
 * @param arrays As many numbers for each vertex.
 */
export function* weld(arrays: readonly ArrayLike<number>[], count: number): Steps<Uint32Array> {
  const sizes = arrays.map(({ length }) => length / count);
  const isSame = (a: number, b: number) => {
    for (let k = 0; k < arrays.length; k++) {
      const array = arrays[k];
      const size = sizes[k];
      for (let i = 0; i < size; i++) if (array[a * size + i] !== array[b * size + i]) return false;
    }
    return true;
  };
  const first = new Uint32Array(count);
  // Those that may be the same are a chain, from the last one on.
  const last = new Map<number, number>();
  const before = new Int32Array(count);
  yield* inRuns(count, (start, end) => {
    for (let vertex = start; vertex < end; vertex++) {
      let key = 0;
      for (let k = 0; k < arrays.length; k++) {
        const array = arrays[k];
        const size = sizes[k];
        for (let i = 0; i < size; i++) key = key * 1.3 + array[vertex * size + i];
      }
      let other = last.get(key) ?? -1;
      before[vertex] = other;
      while (other >= 0 && !isSame(other, vertex)) other = before[other];
      first[vertex] = other < 0 ? vertex : first[other];
      last.set(key, vertex);
    }
  });
  return first;
}

/** 1 for each vertex that a triangle within the draw range has. */
export function drawnVertices({ index, attributes, drawRange }: BufferGeometry): Uint8Array {
  const { count } = attributes.position;
  const drawn = new Uint8Array(count);
  const from = Math.max(0, drawRange.start);
  const to = Math.min(index?.count ?? count, drawRange.start + drawRange.count);
  if (index === null) return to > from ? drawn.fill(1, from, to) : drawn;
  for (let i = from; i < to; i++) drawn[index.getX(i)] = 1;
  return drawn;
}

/**
 * What a morph target adds to each of so many components of every vertex.
 *
 * @param base What the target takes the place of; null for targets that are relative already.
 */
export function morphOffsets(target: Attribute, base: Attribute | null, size: number): Float32Array {
  const offsets = Float32Array.from(plainArray(target, size));
  if (base === null) return offsets;
  const from = plainArray(base, size);
  return offsets.map((value, i) => value - from[i]);
}

/**
 * An attribute of whole numbers that stand for shares of one, with room for so many vertices. Each begins at a multiple of four bytes,
 * as WebGPU wants it.
 */
export function shareAttribute(Shares: NumberArray, vertices: number, itemSize: number): Attribute {
  const perWord = 4 / new Shares(0).BYTES_PER_ELEMENT;
  const stride = Math.ceil(itemSize / perWord) * perWord;
  const shares = new Shares(vertices * stride);
  if (stride === itemSize) return new BufferAttribute(shares, itemSize, true);
  return new InterleavedBufferAttribute(new InterleavedBuffer(shares, stride), itemSize, 0, true);
}

/** The corners of a box of six numbers, moved by a matrix. */
export const cornersOf = (box: ArrayLike<number>, matrix: Matrix4): Vector3[] =>
  Array.from({ length: 8 }, (_, i) =>
    new Vector3(box[(i & 1) * 3], box[1 + (i & 2) * 1.5], box[2 + (i >> 2) * 3]).applyMatrix4(matrix),
  );

/** How far corners are apart, at most. */
export const farthest = (corners: readonly Vector3[], others: readonly Vector3[]): number =>
  Math.max(...corners.map((corner, i) => corner.distanceTo(others[i])));
