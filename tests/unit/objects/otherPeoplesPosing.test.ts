import { SkinnedInstance } from 'skinned-instanced-mesh';
import {
  type AnimationClip,
  AnimationMixer,
  type Bone,
  type Object3D,
  type SkinnedMesh,
  Vector3,
} from 'three';
import { CCDIKSolver } from 'three/addons/animation/CCDIKSolver.js';
import { SkeletonUtils } from 'three-stdlib';
import { expect, test } from 'vitest';
import { createCoarseCharacter } from '../../support/coarseCharacter.js';
import { editsOf } from '../../support/features.js';
import { bakeCharacter, SkinnedInstancedMesh } from '../../support/library.js';

const { root, clips } = createCoarseCharacter();
const clipNamed = (name: string) => clips.find((clip) => clip.name === name) as AnimationClip;

/** An instance of a crowd that knows one clip, and a clone of the character with a mixer. */
function createPair(baked: string) {
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, [clipNamed(baked)]), 0);
  const clone = SkeletonUtils.clone(root) as Object3D;
  editsOf(crowd);
  return { crowd, knight: new SkinnedInstance(crowd), clone, mixer: new AnimationMixer(clone) };
}

const skinOf = (clone: Object3D) => clone.getObjectByProperty('isSkinnedMesh', true) as SkinnedMesh;
const bonesOf = (clone: Object3D) => skinOf(clone).skeleton.bones;

/** How far the joint is from the clone's that is farthest from it. */
function worstPlace(knight: Object3D, clone: Object3D): number {
  clone.updateMatrixWorld(true);
  const places = bonesOf(clone).map((bone) => [bone, knight.getObjectByName(bone.name) as Bone]);
  const [own, other] = [new Vector3(), new Vector3()];
  return Math.max(...places.map(([a, b]) => a.getWorldPosition(own).distanceTo(b.getWorldPosition(other))));
}

test('a mixer of the program’s own may pose an instance, also by clips that were not baked', () => {
  const { crowd, knight, clone, mixer } = createPair('Idle');
  const own = new AnimationMixer(knight);
  for (const one of [own, mixer]) {
    one.clipAction(clipNamed('Walk')).play();
    one.clipAction(clipNamed('Run')).setEffectiveWeight(0.5).play();
  }
  for (let frame = 0; frame < 4; frame++) {
    crowd.update(0.1);
    for (const one of [own, mixer]) one.update(0.1);
    crowd.updateMatrixWorld(true);
    expect(worstPlace(knight, clone)).toBeLessThan(1e-6);
  }
});

test('three.js’s CCDIKSolver takes an instance for a SkinnedMesh', () => {
  const { crowd, knight, clone, mixer } = createPair('Walk');
  mixer.clipAction(clipNamed('Walk')).play();
  knight.clipAction('Walk').play();
  const solverOf = (mesh: Object3D, bones: Bone[]) => {
    const at = (name: string) => bones.findIndex((bone) => bone.name === name);
    const links = [{ index: at('RightLowerArm') }, { index: at('RightUpperArm') }];
    const chain = { target: at('Head'), effector: at('RightHand'), links, iteration: 3 };
    return new CCDIKSolver(mesh as SkinnedMesh, [chain] as ConstructorParameters<typeof CCDIKSolver>[1]);
  };
  const solvers = [solverOf(skinOf(clone), bonesOf(clone)), solverOf(knight, knight.skeleton.bones)];
  const hand = () => knight.getObjectByName('RightHand')!.getWorldPosition(new Vector3());
  for (let frame = 0; frame < 3; frame++) {
    crowd.update(0.1);
    mixer.update(0.1);
    for (const object of [crowd, clone]) object.updateMatrixWorld(true);
    const before = hand();
    for (const solver of solvers) solver.update();
    crowd.updateMatrixWorld(true);
    expect(hand().distanceTo(before), 'the hand has moved').toBeGreaterThan(0.05);
    expect(worstPlace(knight, clone)).toBeLessThan(1e-5);
  }
});
