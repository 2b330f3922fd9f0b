import { BufferGeometry } from 'three';

/** A geometry of its own that shares attributes, index and groups with another. */
export function sharingCopy(source: BufferGeometry): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.name = source.name;
  for (const [key, attribute] of Object.entries(source.attributes)) geometry.setAttribute(key, attribute);
  geometry.setIndex(source.index);
  geometry.groups = source.groups;
  geometry.drawRange = source.drawRange;
  geometry.morphAttributes = { ...source.morphAttributes };
  geometry.morphTargetsRelative = source.morphTargetsRelative;
  return geometry;
}
