import { BufferAttribute, BufferGeometry, type InterleavedBufferAttribute, type TypedArray } from 'three';
import { isOfVertices } from './surfaces.js';

/** A geometry of some vertices of another, with all their attributes and morph targets; without index and groups. */
export function pickVertices(source: BufferGeometry, vertices: readonly number[]): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.name = source.name;
  for (const [name, attribute] of Object.entries(source.attributes)) {
    if (isOfVertices(attribute)) geometry.setAttribute(name, picked(attribute, vertices));
  }
  for (const [name, targets] of Object.entries(source.morphAttributes)) {
    geometry.morphAttributes[name as 'position'] = targets.map((target) => picked(target, vertices));
  }
  geometry.morphTargetsRelative = source.morphTargetsRelative;
  return geometry;
}

/** The values that an attribute has for some vertices, in numbers of the same kind. */
export function picked(
  source: BufferAttribute | InterleavedBufferAttribute,
  vertices: readonly number[],
): BufferAttribute {
  const { itemSize, normalized } = source;
  const { array } = (source as InterleavedBufferAttribute).data ?? source;
  const Numbers = array.constructor as new (length: number) => TypedArray;
  const target = new BufferAttribute(new Numbers(vertices.length * itemSize), itemSize, normalized);
  target.name = source.name;
  vertices.forEach((vertex, place) => {
    for (let i = 0; i < itemSize; i++) target.setComponent(place, i, source.getComponent(vertex, i));
  });
  return target;
}
