import type { Material, Texture } from 'three';

/** Materials with the maps that are asked for here. */
interface Mapped {
  map?: Texture | null;
  roughnessMap?: Texture | null;
}

/** Whether a material's `map` has several layers, of which shaders choose one. */
export function hasArrayMap(material: Material): boolean {
  const { isDataArrayTexture, isCompressedArrayTexture } = ((material as Mapped).map ?? {}) as {
    isDataArrayTexture?: boolean;
    isCompressedArrayTexture?: boolean;
  };
  return isDataArrayTexture === true || isCompressedArrayTexture === true;
}

/** Notes that a texture holds the constants of merged materials, so that what takes their place is not multiplied by it. */
export function markPalette(texture: Texture): void {
  texture.userData.isPalette = true;
}

/** Whether roughness and metalness of a material are in such a palette. */
export const hasPalette = (material: Material): boolean =>
  (material as Mapped).roughnessMap?.userData.isPalette === true;
