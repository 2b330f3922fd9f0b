import { SkinnedInstance } from 'skinned-instanced-mesh';
import {
  AnimationMixer,
  Box3,
  BoxGeometry,
  Group,
  Mesh,
  MeshStandardMaterial,
  type Object3D,
  SkeletonHelper,
  Vector3,
} from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { describe, expect, test } from 'vitest';
import { TWINS } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { expectSameDrawn } from '../support/comparePair.js';
import { useDrawing } from '../support/drawings.js';
import { editsOf } from '../support/features.js';
import { bakeCharacter, SkinnedInstancedMesh } from '../support/library.js';
import { changedPixels, createStage } from '../support/pictures.js';

/** Share of the pixels that may differ: lines end at places that are rounded otherwise. Measured: none. */
const BOUND = 0.002;

/** What a program does with a character, whichever sort it is: a sword in the hand, a head that is turned. */
function equip(character: Object3D): void {
  const sword = new Mesh(new BoxGeometry(0.08, 0.9, 0.08), new MeshStandardMaterial({ color: 0xff8800 }));
  sword.position.set(0, -0.1, 0.3);
  sword.castShadow = true;
  character.getObjectByName('RightHand')?.add(sword);
  const head = character.getObjectByName('Head')!;
  head.rotation.y += 0.7;
  head.scale.setScalar(1.5);
  character.getObjectByName('LeftUpperArm')?.rotateZ(0.8);
  character.position.set(0.2, 0, -0.1);
  character.rotation.y = 0.4;
}

describe.each(TWINS)('%s', (twin) => {
  const drawing = useDrawing(twin);

  test.each(['what hangs on a bone', 'SkeletonHelper'])('%s is drawn as on a clone', async (what) => {
    const { root, clips } = createCoarseCharacter();
    root.traverse((node) => (node.castShadow = true));
    const [walk] = clips.filter(({ name }) => name === 'Walk');
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, [walk]), 0);
    crowd.castShadow = true;
    editsOf(crowd);
    const knight = new SkinnedInstance(crowd);
    const clone = SkeletonUtils.clone(root) as Object3D;
    const mixer = new AnimationMixer(clone);
    mixer.clipAction(walk).play();
    crowd.play(knight.instanceId, walk);
    const [ours, theirs] = [new Group().add(crowd), new Group().add(clone)];
    for (const delta of [0.2, 0.17]) {
      crowd.update(delta);
      mixer.update(delta);
    }
    for (const character of [knight, clone]) equip(character);
    if (what === 'SkeletonHelper') {
      ours.add(new SkeletonHelper(knight));
      theirs.add(new SkeletonHelper(clone));
    }
    const bounds = new Box3(new Vector3(-0.8, 0, -0.8), new Vector3(0.8, 1.9, 0.8));
    const stage = createStage(bounds);
    const { scene, camera } = stage;
    const shown = await expectSameDrawn(`${what}, ${twin}`, drawing.draw, stage, theirs, ours, BOUND);
    if (what === 'SkeletonHelper') {
      const [helper] = ours.children.slice(1);
      helper.visible = false;
      expect(changedPixels(shown, await drawing.draw(scene, camera, ours))).toBeGreaterThan(100);
      helper.visible = true;
    }
    // Both go on: what was written ends where the clip moves the joint, and what hangs on bones goes along.
    for (const one of [crowd, mixer]) one.update(0.3);
    await expectSameDrawn(`${what}, ${twin}, later`, drawing.draw, stage, theirs, ours, BOUND);
    crowd.dispose();
  });
});
