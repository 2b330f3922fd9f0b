import { SkinnedInstance } from 'skinned-instanced-mesh';
import {
  AnimationMixer,
  Box3,
  BoxGeometry,
  Group,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  type Object3D,
  Vector3,
} from 'three';
import * as SkeletonUtils from 'three/addons/utils/SkeletonUtils.js';
import { describe, expect, test } from 'vitest';
import { TWINS } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { disposeLater } from '../support/disposeLater.js';
import { useDrawing } from '../support/drawings.js';
import { expectSamePicture } from '../support/expectSamePicture.js';
import { bakeCharacter, SkinnedInstancedMesh } from '../support/library.js';
import '../support/objects.js';
import { changedPixels, createStage, shaded } from '../support/pictures.js';

/** Share of the pixels that the characters cover, with their shadows, that may differ. */
const BOUND = 0.0015;

/** What hangs over a head. */
function createPlate(): Mesh {
  const plate = new Mesh(new BoxGeometry(0.8, 0.15, 0.05), new MeshStandardMaterial({ color: 0xffdd55 }));
  plate.name = 'Plate';
  plate.position.y = 2;
  return shaded(plate);
}

/** Three places, the last of which is turned and moved; and what is done to whoever stands there. */
function createTown(characters: readonly Object3D[], home: Object3D): Group {
  const town = new Group();
  const platform = new Group();
  platform.name = 'Platform';
  platform.position.set(1.2, 0.2, 0);
  platform.rotation.y = 0.7;
  const hidden = new Group();
  hidden.name = 'Hidden';
  hidden.visible = false;
  town.add(platform, home, hidden);
  characters[0].position.set(-0.9, 0, 0);
  characters[0].rotation.y = 0.4;
  platform.add(characters[1]);
  characters[1].scale.setScalar(0.7);
  hidden.add(characters[2]);
  town.add(characters[3]);
  characters[3].position.set(0, 0, -1.5);
  for (const character of characters) character.add(createPlate());
  return town;
}

/** Moves, hides and shows. */
function change(town: Group, characters: readonly Object3D[]): void {
  const [platform, hidden] = ['Platform', 'Hidden'].map((name) => town.getObjectByName(name)!);
  platform.position.set(-1, 0.4, 0.3);
  platform.rotation.y = -0.5;
  hidden.visible = true;
  hidden.position.set(0.8, 0, 0.5);
  characters[0].lookAt(new Vector3(3, 0, 3));
  characters[0].position.x = -0.2;
  characters[3].removeFromParent();
}

describe.each(TWINS)('%s', (twin) => {
  const { draw } = useDrawing(twin);

  test('instances as objects look as clones in their places do, nameplates and shadows too', async () => {
    const { root, clips } = createCoarseCharacter();
    shaded(root);
    const times = [0.1, 0.25, 0.4, 0.3];
    const clones = times.map((time, i) => {
      const clone = SkeletonUtils.clone(root);
      const mixer = new AnimationMixer(clone);
      mixer.clipAction(clips[i]).play();
      mixer.update(time);
      return clone;
    });
    const home = new Group();
    home.add(clones[0]);
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 0);
    crowd.castShadow = crowd.receiveShadow = true;
    expect(crowd.boneTexture.encoding).toBe('tracks');
    const knights = times.map((time, i) => {
      const knight = new SkinnedInstance(crowd);
      // by a clock of its own, or by the crowd's
      if (i % 2 === 0) crowd.play(knight.instanceId, i, { time });
      else knight.clipAction(clips[i]).play().getMixer().update(time);
      return knight;
    });
    // where the crowd stands, so do those at home
    for (const one of [home, crowd]) one.position.set(0.1, 0, -0.2);
    const town = createTown(clones, home);
    const objects = createTown(knights, crowd);

    const box = new Box3(new Vector3(-1.5, 0, -1), new Vector3(1.5, 2.2, 1));
    const { scene, camera } = createStage(box);
    const empty = await draw(scene, camera, new Group());
    const before = await draw(scene, camera, town);
    expectSamePicture(`objects, ${twin}`, before, await draw(scene, camera, objects), empty, BOUND);
    change(town, clones);
    change(objects, knights);
    const after = await draw(scene, camera, town);
    expectSamePicture(`moved, ${twin}`, after, await draw(scene, camera, objects), empty, BOUND);

    // On a layer that the camera does not draw; its nameplate stays.
    knights[0].layers.set(1);
    clones[0].traverse((node) => {
      if (node.name !== 'Plate') node.layers.set(1);
    });
    const without = await draw(scene, camera, town);
    expectSamePicture(`layers, ${twin}`, without, await draw(scene, camera, objects), empty, BOUND);
    expect(changedPixels(without, after)).toBeGreaterThan(500);
    disposeLater(crowd);
  });

  test.each([true, false])('of many, one that moves is drawn where it stands, culled: %s', async (culled) => {
    const { root, clips } = createCoarseCharacter();
    const character = bakeCharacter(root, clips);
    const box = new Box3().setFromObject(root);
    const { scene, camera } = createStage(box);
    const empty = await draw(scene, camera, new Group());
    const crowd = new SkinnedInstancedMesh(character, 0);
    const objects = Array.from({ length: 200 }, () => new SkinnedInstance(crowd));
    const index = crowd.addInstance();
    const place = (of: SkinnedInstancedMesh, id: number, x: number) => {
      of.setMatrixAt(id, new Matrix4().makeTranslation(x, 0, 0));
      of.instanceMatrix.needsUpdate = true;
    };
    for (const object of objects) object.position.x = 500;
    place(crowd, index, 500);
    crowd.frustumCulled = false;
    crowd.perObjectFrustumCulled = culled;
    const expectAt = async (...places: number[]) => {
      const plain = new SkinnedInstancedMesh(character, places.length);
      places.forEach((x, id) => place(plain, id, x));
      const expected = await draw(scene, camera, plain);
      expect(changedPixels(expected, empty)).toBeGreaterThan(500);
      const drawn = await draw(stage.scene, stage.camera, new Group());
      expect(changedPixels(drawn, expected, 0), `${places}`).toBe(0);
      disposeLater(plain);
    };
    // It stays in its scene: where it comes back, all are placed anew.
    const stage = createStage(box);
    stage.scene.add(crowd);
    // Twice: all that is sent first stays as a range until something changes.
    for (let frame = 0; frame < 2; frame++) {
      objects[100].position.x++;
      expect(changedPixels(await draw(stage.scene, stage.camera, new Group()), empty, 0)).toBe(0);
    }
    objects[150].position.x = 0;
    await expectAt(0);
    // Whoever is placed by code goes with what is sent of an object.
    objects[160].position.x = 0.6;
    stage.scene.updateMatrixWorld();
    place(crowd, index, -0.6);
    await expectAt(0, 0.6, -0.6);
    disposeLater(crowd);
  });
});
