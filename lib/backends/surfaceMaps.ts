import type { Material, Texture } from 'three';

/** A texture, of whichever kind. */
interface AnyTexture extends Texture {
  isDataArrayTexture?: boolean;
  isCompressedArrayTexture?: boolean;
}

/** Materials with the maps that are asked for here. */
interface Mapped {
  map?: AnyTexture | null;
  roughnessMap?: Texture | null;
}

/** Whether a material's `map` has several layers, of which shaders choose one. */
export function hasArrayMap(material: Material): boolean {
  const { map } = material as Mapped;
  return map?.isDataArrayTexture === true || map?.isCompressedArrayTexture === true;
}

/** Notes that a texture holds the constants of merged materials, so that what takes their place is not multiplied by it. */
export function markPalette(texture: Texture): void {
  texture.userData.isPalette = true;
}

/** Whether roughness and metalness of a material are in such a palette. */
export const hasPalette = (material: Material): boolean =>
  (material as Mapped).roughnessMap?.userData.isPalette === true;
