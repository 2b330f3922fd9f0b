import type { Material } from 'three';
import type { SurfaceValue } from '../instances/UniformLayout.js';
import { warnOnce } from '../utils/messages.js';
import { hasArrayMap } from '../utils/surfaceMaps.js';

/** What is asked of a material, of whichever class. */
interface AnyMaterial extends Material {
  emissive?: unknown;
  emissiveNode?: unknown;
  roughness?: number;
  metalness?: number;
  alphaTestNode?: unknown;
  isShaderMaterial?: boolean;
}

/** For each look, whether it shows in a material, and what to do where it does not. */
const KNOWN: Readonly<Record<SurfaceValue, { shows(material: AnyMaterial): boolean; wayOut: string }>> = {
  emissive: {
    shows: ({ emissive, emissiveNode }) => emissive !== undefined || Boolean(emissiveNode),
    wayOut:
      'emits no light; use a Lambert, Phong, toon, standard or physical one, or colour instances by setColorAt',
  },
  opacity: {
    shows: ({ transparent, alphaHash, alphaTest, alphaToCoverage, alphaTestNode }) =>
      transparent || alphaHash || alphaTest > 0 || alphaToCoverage || Boolean(alphaTestNode),
    wayOut: 'is opaque; set transparent, alphaHash or alphaTest of it',
  },
  roughness: {
    shows: ({ roughness }) => roughness !== undefined,
    wayOut: 'has no roughness; use a MeshStandardMaterial or a MeshPhysicalMaterial',
  },
  metalness: {
    shows: ({ metalness }) => metalness !== undefined,
    wayOut: 'has no metalness; use a MeshStandardMaterial or a MeshPhysicalMaterial',
  },
  mapLayer: {
    shows: hasArrayMap,
    wayOut: 'has no texture array; give it a DataArrayTexture or a CompressedArrayTexture as its map',
  },
};

/** Says that what instances are given shows in none of a mesh's materials. */
export function warnWithoutLook(look: SurfaceValue, materials: Material | Material[]): void {
  const { shows, wayOut } = KNOWN[look];
  const knows = (material: AnyMaterial) => material.isShaderMaterial === true || shows(material);
  if (Array.isArray(materials)) {
    if (materials.some(knows)) return;
    warn(materials[0], wayOut);
  } else if (!knows(materials)) warn(materials, wayOut);
}

function warn(material: Material | undefined, wayOut: string): void {
  if (material === undefined) return;
  warnOnce(`It does not show, since the material ${material.type} "${material.name}" ${wayOut}.`);
}
