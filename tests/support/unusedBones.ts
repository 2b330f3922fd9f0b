import { Bone, Skeleton, type SkinnedMesh } from 'three';
import { createCoarseCharacter } from './coarseCharacter.js';

/**
 * The figure with two bones that no vertex follows: `Middle` between arm and hand, which all clips turn, and `Slot` in the hand.
 */
export function withUnusedBones() {
  const { root, clips } = createCoarseCharacter();
  const mesh = root.getObjectByName('Body') as SkinnedMesh;
  root.updateMatrixWorld(true);
  const hand = root.getObjectByName('RightHand')!;
  const middle = Object.assign(new Bone(), { name: 'Middle' });
  const slot = Object.assign(new Bone(), { name: 'Slot' });
  hand.parent?.add(middle);
  middle.add(hand);
  slot.position.set(0, -0.3, 0.1);
  hand.add(slot);
  for (const { tracks } of clips) {
    const turn = tracks.find(({ name }) => name.endsWith('.quaternion'));
    if (turn) tracks.push(Object.assign(turn.clone(), { name: 'Middle.quaternion' }));
  }
  // The first bone is one of them, so that the numbers of all others change where it is left out.
  const { skinIndex } = mesh.geometry.attributes;
  for (let i = 0; i < skinIndex.count; i++) {
    for (let k = 0; k < 4; k++) skinIndex.setComponent(i, k, skinIndex.getComponent(i, k) + 1);
  }
  mesh.bind(new Skeleton([middle, ...mesh.skeleton.bones, slot]), mesh.bindMatrix);
  return { root, clips };
}
