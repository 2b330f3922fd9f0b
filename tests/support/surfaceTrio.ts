import { Box3, Color, Group, type Material, Matrix4, type Object3D } from 'three';
import { createCoarseCharacter } from './coarseCharacter.js';
import { type CrowdOptions, crowdArguments } from './crowdArguments.js';
import { orderOf } from './features.js';
import { LoopOnceOptions, SkinnedInstancedMesh } from './library.js';
import { nearestFrame } from './pair.js';
import { shaded } from './pictures.js';
import { Reference } from './reference.js';

/** How many there are. */
export const TRIO = 3;

/** Three characters beside each other, each in a pose of its own: once as three.js draws them, and once as a crowd. */
export interface Trio {
  references: Reference[];
  /** All references. */
  clones: Group;
  crowd: SkinnedInstancedMesh;
  bounds: Box3;
}

/**
 * @param create Makes the material that all wear; it is called once for the crowd, and for each mesh of each clone.
 * @param dress Changes the material of clone `i`.
 * @param prepare Changes the character before anything is made of it.
 * @param own Whether all wear the character's own materials in place of those.
 */
export function createTrio(
  create: () => Material,
  dress: (material: Material, i: number) => void,
  options: CrowdOptions = {},
  prepare: (root: Object3D) => void = () => {},
  own = false,
): Trio {
  const { root, clips } = createCoarseCharacter();
  prepare(root);
  shaded(root);
  const crowd = new SkinnedInstancedMesh(...crowdArguments(root, clips, TRIO, options));
  if (!own) crowd.material = Array.isArray(crowd.material) ? crowd.material.map(create) : create();
  // As three.js draws objects: far ones first where they are transparent.
  orderOf(crowd).sortObjects = [crowd.material].flat()[0].transparent;
  const clones = new Group();
  const bounds = new Box3();
  const references = Array.from({ length: TRIO }, (_, i) => {
    const matrix = new Matrix4().makeTranslation((i - 1) * 1.3, 0, 0);
    const clip = (2 + i) % clips.length;
    const wanted = 0.3 * clips[clip].duration;
    // Baked matrices are exact on frames.
    const isExact = crowd.boneTexture.encoding === 'tracks';
    const time = isExact ? wanted : nearestFrame(crowd.boneTexture, clip, wanted);
    crowd.setMatrixAt(i, matrix);
    crowd.play(i, clip, { ...LoopOnceOptions, time });
    const reference = new Reference(root, matrix).pose(clips[clip], time);
    for (const mesh of own ? [] : reference.meshes) {
      mesh.material = create();
      dress(mesh.material, i);
    }
    reference.forEachVertex((_, position) => bounds.expandByPoint(position));
    clones.add(reference.root);
    return reference;
  });
  crowd.update(0);
  return { references, clones, crowd, bounds };
}

/** Colours that differ in all channels. */
export const COLORS: readonly Color[] = [0x000000, 0x802010, 0x1060a0].map((hex) => new Color(hex));
