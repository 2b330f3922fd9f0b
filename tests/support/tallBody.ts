import { type AnimationClip, type Object3D, Quaternion, Skeleton, type SkinnedMesh, Vector3 } from 'three';
import { createCoarseCharacter } from './coarseCharacter.js';

/** Somebody with the same joints of other lengths, bound in another pose, and clips whose translations are as much longer. */
export function createTall({ root, clips } = createCoarseCharacter()) {
  const bones: Object3D[] = [];
  root.getObjectByName('Hips')?.traverse((bone) => bones.push(bone));
  const longer = new Map<string, number>();
  for (const [i, bone] of bones.entries()) {
    longer.set(bone.name, 1 + ((i * 7) % 5) / 10);
    bone.position.multiplyScalar(longer.get(bone.name)!);
  }
  const mesh = root.getObjectByName('Body') as SkinnedMesh;
  const turned = new Quaternion().setFromAxisAngle(new Vector3(0.3, 1, 0.2).normalize(), 0.4);
  const arm = bones.find(({ name }) => name === 'LeftArm') ?? bones[5];
  const rest = arm.quaternion.clone();
  arm.quaternion.multiply(turned);
  root.updateMatrixWorld(true);
  mesh.bind(new Skeleton(mesh.skeleton.bones));
  arm.quaternion.copy(rest);
  root.updateMatrixWorld(true);
  const fitted = clips.map((clip) => {
    const copy: AnimationClip = clip.clone();
    for (const track of copy.tracks) {
      const [name, property] = track.name.split('.');
      if (property === 'position')
        track.values = track.values.map((value) => value * (longer.get(name) ?? 1));
    }
    return copy;
  });
  return { root, clips: fitted };
}
