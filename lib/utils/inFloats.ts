import type { BufferAttribute, BufferGeometry, InterleavedBufferAttribute } from 'three';
import { Float32BufferAttribute } from 'three';
import { sharingCopy } from './sharingCopy.js';

type Attribute = BufferAttribute | InterleavedBufferAttribute;

const isHalf = (attribute: Attribute): boolean => 'isFloat16BufferAttribute' in attribute;

/**
 * The geometry itself; or if it has a `Float16BufferAttribute`, one that shares all attributes but those, which it has in floats: their
 * arrays hold the bits of half floats, and so does what `getComponent` gives.
 */
export function inFloats(source: BufferGeometry): BufferGeometry {
  const targets: Attribute[] = Object.values(source.morphAttributes).flat();
  if (![...Object.values(source.attributes), ...targets].some(isHalf)) return source;
  const geometry = sharingCopy(source);
  for (const [name, attribute] of Object.entries(source.attributes))
    geometry.setAttribute(name, floatsOf(attribute));
  for (const [name, morphs] of Object.entries(source.morphAttributes))
    geometry.morphAttributes[name as 'position'] = morphs.map(floatsOf) as BufferAttribute[];
  return geometry;
}

function floatsOf(attribute: Attribute): Attribute {
  if (!isHalf(attribute)) return attribute;
  const { count, itemSize, name } = attribute;
  const floats = new Float32BufferAttribute(new Float32Array(count * itemSize), itemSize);
  floats.name = name;
  for (let i = 0; i < count; i++) {
    const item = [attribute.getX, attribute.getY, attribute.getZ, attribute.getW];
    for (let k = 0; k < itemSize; k++) floats.setComponent(i, k, item[k].call(attribute, i));
  }
  return floats;
}
