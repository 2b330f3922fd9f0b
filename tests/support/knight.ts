import { BoxGeometry, Mesh, MeshStandardMaterial } from 'three';
import { createCoarseCharacter } from './coarseCharacter.js';

/** The character with a sword and a shield in hand, the shield of two meshes. */
export function createKnight() {
  const { root, clips } = createCoarseCharacter();
  const add = (parent: string, name: string, color: number) => {
    const mesh = new Mesh(new BoxGeometry(0.1, 0.5, 0.1), new MeshStandardMaterial({ color }));
    mesh.name = name;
    root.getObjectByName(parent)!.add(mesh);
    return mesh;
  };
  add('RightHand', 'Sword', 0xff0000);
  const shield = add('LeftHand', 'Shield', 0x00ff00);
  const boss = add('LeftHand', 'Boss', 0x0000ff);
  shield.add(boss);
  return { root, clips };
}
