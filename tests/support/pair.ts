import { type Box3, type BufferGeometry, type Material, Matrix4, type Object3D } from 'three';
import { BUILT_IN, loadCharacter } from './characters.js';
import {
  assembleCharacter,
  type BoneTexture,
  bakeBoneTexture,
  type EncodingName,
  encodingOf,
  LoopOnceOptions,
  SkinnedInstancedMesh,
} from './library.js';
import type { Model } from './models.js';
import { shaded } from './pictures.js';
import { boundsOf, Reference } from './reference.js';

const baked = new WeakMap<Object3D, BoneTexture>();

export interface Pair {
  reference: Reference;
  crowd: SkinnedInstancedMesh;
  bounds: Box3;
}

/** The time of the baked frame of a clip that is nearest to `time`: there a crowd is exact. */
export function nearestFrame(boneTexture: BoneTexture, clip: string | number, time: number): number {
  const index = typeof clip === 'number' ? clip : boneTexture.clipIndex(clip);
  const { duration, count } = boneTexture.clips[index];
  return count < 2 ? 0 : (Math.round((time / duration) * (count - 1)) / (count - 1)) * duration;
}

/**
 * The same character at the same time of the same clip, once as three.js draws it and once as one instance of ours. On a
 * baked frame, but with tracks at any time.
 */
export function createPair(
  { root, clips }: Model,
  clipIndex: number,
  share: number,
  matrix = new Matrix4(),
  encoding: EncodingName = 'tracks',
): Pair {
  shaded(root);
  const known = encoding === 'tracks' ? baked.get(root) : undefined;
  const boneTexture = known ?? bakeBoneTexture(root, clips, { encoding: encodingOf(encoding) });
  if (encoding === 'tracks') baked.set(root, boneTexture);
  const clip = clips[clipIndex];
  const wanted = share * clip.duration;
  const time = boneTexture.encoding === 'tracks' ? wanted : nearestFrame(boneTexture, clipIndex, wanted);

  const reference = new Reference(root, matrix).pose(clip, time);
  const crowd = new SkinnedInstancedMesh(assembleCharacter(root, boneTexture), 1);
  crowd.setMatrixAt(0, matrix);
  crowd.play(0, clipIndex, { ...LoopOnceOptions, time });
  crowd.update(0);
  return { reference, crowd, bounds: boundsOf(reference) };
}

/**
 * The built-in character as crowds with fewer influences in shadows: `lit` beside the character as it is, `shadow` beside
 * one all of whose vertices follow only their strongest joints.
 */
export async function createShadowPair(
  shadowInfluences: 1 | 2,
  encoding: EncodingName,
): Promise<{ lit: Pair; shadow: Pair }> {
  const [lit, shadow] = await Promise.all(
    [false, true].map(async (fewer) => {
      const model = await loadCharacter(BUILT_IN);
      const pair = createPair(model, 2, 0.5, undefined, encoding);
      const { boneTexture } = pair.crowd;
      const character = assembleCharacter(model.root, boneTexture);
      const crowd = new SkinnedInstancedMesh(character, 1, {
        shadowInfluences,
      });
      crowd.play(0, 2, { ...LoopOnceOptions, time: pair.crowd.getTimeAt(0) });
      if (fewer) {
        for (const mesh of pair.reference.meshes)
          mesh.geometry = keepStrongest(mesh.geometry, shadowInfluences);
      }
      return { ...pair, crowd };
    }),
  );
  return { lit, shadow };
}

/** A copy in which each vertex follows its strongest joints only, with weights that add up to 1. */
function keepStrongest(source: BufferGeometry, count: number): BufferGeometry {
  const geometry = source.clone();
  const { skinWeight } = geometry.attributes;
  for (let i = 0; i < skinWeight.count; i++) {
    const weights = [0, 1, 2, 3].map((k) => skinWeight.getComponent(i, k));
    const least = [...weights].sort((a, b) => b - a)[count - 1];
    let left = count;
    const kept = weights.map((weight) => (weight >= least && left-- > 0 ? weight : 0));
    const sum = kept.reduce((a, b) => a + b);
    kept.forEach((weight, k) => skinWeight.setComponent(i, k, weight / sum));
  }
  return geometry;
}

/** Gives both the same new material. */
export function useMaterial({ reference, crowd }: Pair, create: () => Material): void {
  for (const mesh of reference.meshes) mesh.material = create();
  crowd.material = Array.isArray(crowd.material) ? crowd.material.map(create) : create();
}
