import { Color, Vector2 } from 'three';
import type { CharacterMesh } from '../objects/CharacterMesh.js';
import { itemChanged } from '../utils/itemChanged.js';

const _color = /*@__PURE__*/ new Color();
const _offset = /*@__PURE__*/ new Vector2();

/** Lets an instance look as another one of the same crowd: colours, parts, uniforms, morph influences. */
export function copyLooks(mesh: CharacterMesh, from: number, to: number): void {
  const { instanceColor, morphTexture, uniforms, parts, partNames, wardrobe } = mesh;
  if (instanceColor !== null) {
    instanceColor.setXYZ(to, instanceColor.getX(from), instanceColor.getY(from), instanceColor.getZ(from));
    itemChanged(instanceColor, to);
  }
  const names = parts === null ? [] : partNames;
  for (let part = 0; part < names.length; part++) {
    mesh.setPartVisibleAt(to, part, mesh.getPartVisibleAt(from, part));
    if (wardrobe.isColored) mesh.setPartColorAt(to, part, mesh.getPartColorAt(from, part, _color));
    mesh.setPartMapOffsetAt(to, part, mesh.getPartMapOffsetAt(from, part, _offset));
  }
  for (const place of uniforms.numbers?.layout.places.values() ?? []) {
    const { numbers, at } = uniforms.get(from, place.name, 'SkinnedInstance.copy');
    const values = Array.from({ length: place.size }, (_, i) => numbers[at + i]);
    uniforms.set(to, place, values, 'SkinnedInstance.copy');
  }
  if (morphTexture === null) return;
  const { data, width } = morphTexture.image as { data: Float32Array; width: number };
  data.copyWithin(to * width, from * width, (from + 1) * width);
  morphTexture.needsUpdate = true;
}
