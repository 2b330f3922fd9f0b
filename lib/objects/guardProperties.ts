import type { BufferGeometry, InstancedBufferAttribute, Material } from 'three';
import type { Influences } from '../../shaders/ShaderVariant.js';
import { CrowdSkeleton } from '../backends/CrowdSkeleton.js';
import { createCrowdGeometry, removePlaybackAttributes } from '../character/crowdGeometry.js';
import type { Crowd, CrowdMember } from '../crowd/Crowd.js';
import type { CharacterParts } from '../instances/CharacterParts.js';
import { whiteColors } from '../instances/InstanceColors.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import type { View } from '../views/View.js';
import { checkMaterial } from './checks.js';

const NAME = 'SkinnedInstancedMesh';

/** What the accessors read of the mesh, and what they call once something was assigned. */
interface GuardedMesh extends CrowdMember {
  geometry: BufferGeometry;
  material: Material | Material[];
  readonly capacity: number;
  readonly crowd: Crowd;
  readonly boneTexture: BoneTexture;
  readonly influences: Influences;
  readonly attachments: readonly { count: number }[];
  readonly wardrobe: CharacterParts;
  instanceColor: InstancedBufferAttribute | null;
  beginFrame(): void;
  prepareDraw(): void;
  leaveMaterials(): void;
  geometryReplaced(source: BufferGeometry): void;
}

/**
 * Makes accessors of the properties of a mesh that three.js keeps as plain fields: so that what is assigned takes effect,
 * and what would draw garbage is an error.
 */
export function guardProperties(mesh: GuardedMesh): void {
  let { geometry, material, instanceColor } = mesh;
  let count = mesh.capacity;
  const skeleton = new CrowdSkeleton(() => mesh.beginFrame());
  Object.defineProperties(mesh, {
    geometry: {
      enumerable: true,
      get: () => geometry,
      set: (value: BufferGeometry) => {
        if (value === geometry) return;
        const made = createCrowdGeometry(value, mesh.boneTexture, mesh.influences, `${NAME}.geometry`);
        // The buffer of what the instances play is not the geometry's, and must not be disposed with it.
        removePlaybackAttributes(geometry);
        geometry.dispose();
        geometry = made;
        mesh.geometryReplaced(value);
      },
    },
    material: {
      enumerable: true,
      get: () => material,
      set: (value: Material | Material[]) => {
        // Programs take it away after dispose() with null, or undefined.
        checkMaterial(value ?? null, `${NAME}.material`);
        mesh.leaveMaterials();
        material = value;
        mesh.prepareDraw();
      },
    },
    count: {
      enumerable: true,
      get: () => skeleton.drawnCount ?? count,
      set: (value: number) => {
        if (!(Number.isInteger(value) && value >= 0 && value <= mesh.capacity)) {
          throw new Error(
            `${NAME}.count: ${value} is not a whole number from 0 to the capacity of ${mesh.capacity}; make room with setCapacity(n) first.`,
          );
        }
        count = value;
        mesh.crowd.countChanged(mesh, value);
        for (const attachment of mesh.attachments) attachment.count = value;
      },
    },
    instanceMatrix: {
      enumerable: true,
      get: () => mesh.crowd.places.attribute,
      set: (value: InstancedBufferAttribute) => {
        if (value?.count !== mesh.capacity) {
          throw new Error(
            `${NAME}.instanceMatrix: it is for ${value?.count} instances, the crowd has room for ${mesh.capacity}; call setCapacity(n) first.`,
          );
        }
        mesh.crowd.places.attribute = value;
      },
    },
    instanceColor: {
      // Levels of detail share that of the crowd's own mesh.
      configurable: true,
      enumerable: true,
      get: () => instanceColor,
      set: (value: InstancedBufferAttribute | null) => {
        // Without it the colours of parts would not be drawn.
        instanceColor = value ?? (mesh.wardrobe.isColored ? whiteColors(mesh.capacity) : null);
      },
    },
    view: {
      get: () => mesh.crowd.view,
      set: (value: View | null) => {
        mesh.crowd.view = value;
      },
    },
    views: { get: () => mesh.crowd.views },
    skeleton: { enumerable: true, get: () => skeleton, set: () => {} },
  });
}
