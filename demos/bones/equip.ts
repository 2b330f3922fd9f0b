import type { Object3D } from 'three';
import { BoxGeometry, CylinderGeometry, Group, Mesh, MeshStandardMaterial } from 'three';

const steel = new MeshStandardMaterial({ color: 0xc9d3dd, metalness: 0.3, roughness: 0.35 });
const leather = new MeshStandardMaterial({ color: 0x6b3f22 });
const blade = new BoxGeometry(0.05, 0.85, 0.02).translate(0, 0.55, 0);
const guard = new BoxGeometry(0.22, 0.04, 0.05).translate(0, 0.12, 0);
const hilt = new CylinderGeometry(0.02, 0.02, 0.2).translate(0, 0.02, 0);

/** A sword, its hilt at the origin. */
function createSword(): Group {
  const sword = new Group();
  sword.name = 'Sword';
  for (const [geometry, material] of [
    [blade, steel],
    [guard, steel],
    [hilt, leather],
  ] as const) {
    const part = new Mesh(geometry, material);
    part.castShadow = true;
    sword.add(part);
  }
  sword.rotation.x = Math.PI / 2;
  return sword;
}

/** Puts a sword in the hand of a character, or takes it away: the same for a `SkinnedMesh` and an instance of a crowd. */
export function setArmed(character: Object3D, armed: boolean): void {
  const hand = character.getObjectByName('RightHand') as Object3D;
  const sword = hand.getObjectByName('Sword');
  if (armed && sword === undefined) hand.add(createSword());
  else if (!armed) sword?.removeFromParent();
}

/** Moves bones by hand, after the clips have: also the same for both. */
export function moveBones(character: Object3D, time: number, look: number): void {
  const head = character.getObjectByName('Head') as Object3D;
  head.rotation.y += look * Math.sin(1.3 * time);
  const arm = character.getObjectByName('LeftUpperArm') as Object3D;
  arm.rotateZ(0.6 * look * (1 + Math.sin(2.1 * time)));
}
