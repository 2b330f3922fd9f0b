import type { DataTexture, InstancedBufferAttribute } from 'three';
import type { CharacterParts } from '../instances/CharacterParts.js';
import type { CharacterUniforms } from '../instances/CharacterUniforms.js';
import type { ColorTexels } from '../instances/ColorTexels.js';
import type { InstanceMatrices } from '../instances/InstanceMatrices.js';
import type { CrowdMotions } from '../motion/CrowdMotions.js';

/** What a mesh keeps of how instances look. */
export interface LookedMesh {
  readonly geometry: { morphAttributes: { position?: readonly unknown[] } };
  readonly wardrobe: CharacterParts;
  readonly uniforms: CharacterUniforms;
  instanceColor: InstancedBufferAttribute | null;
  morphTexture: DataTexture | null;
  morphTargetInfluences?: number[];
  morphTargetDictionary?: { [name: string]: number };
  matrices: InstanceMatrices | null;
  colorTexels: ColorTexels | null;
  previousMatrices: InstanceMatrices | null;
  motions: CrowdMotions | null;
  frustumCulled: boolean;
}

/**
 * Lets the instances of a mesh look as those of another: whoever reads or sets their colours, parts, uniforms or morph
 * influences reads and sets those of the owner.
 *
 * @param ownerOf The owner; null while there is none, when the mesh has what it was made with.
 */
export function shareLooks(mesh: LookedMesh, ownerOf: () => LookedMesh | null): void {
  share(mesh, 'wardrobe', ownerOf);
  share(mesh, 'uniforms', ownerOf);
  share(mesh, 'instanceColor', ownerOf);
  share(mesh, 'matrices', ownerOf);
  share(mesh, 'colorTexels', ownerOf);
  share(mesh, 'previousMatrices', ownerOf);
  share(mesh, 'motions', ownerOf);
  // Whoever says of the owner that bounds do not hold says it of all.
  share(mesh, 'frustumCulled', ownerOf);
  // three.js takes whoever has any of these for a mesh with morph targets.
  const morphing = () => ((mesh.geometry.morphAttributes.position?.length ?? 0) > 0 ? ownerOf() : null);
  share(mesh, 'morphTexture', morphing);
  share(mesh, 'morphTargetInfluences', morphing);
  share(mesh, 'morphTargetDictionary', morphing);
}

function share<K extends keyof LookedMesh>(mesh: LookedMesh, key: K, ownerOf: () => LookedMesh | null): void {
  let own = mesh[key];
  Object.defineProperty(mesh, key, {
    configurable: true,
    enumerable: true,
    get: () => {
      const owner = ownerOf();
      return owner === null ? own : owner[key];
    },
    set: (value: LookedMesh[K]) => {
      const owner = ownerOf();
      if (owner === null) own = value;
      else owner[key] = value;
    },
  });
}
