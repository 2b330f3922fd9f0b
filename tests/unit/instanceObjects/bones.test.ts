import 'skinned-instanced-mesh/objects';
import {
  type AnimationClip,
  AnimationMixer,
  Bone,
  type BufferAttribute,
  Euler,
  Group,
  Mesh,
  Object3D,
  Quaternion,
  Scene,
  SkeletonHelper,
  Vector3,
} from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { expect, test, vi } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { NodePoses } from '../../../lib/queries/NodePoses.js';
import { placeError, uniqueNames } from '../../support/boneErrors.js';
import { describeCharacters, loadCharacter } from '../../support/characters.js';
import { BoneTexture, SkinnedInstancedMesh } from '../../support/library.js';
import { characterHeight } from '../../support/reference.js';

/** A scene with a crowd of one, and a clone that does the same. */
function createPair(encoding: 'tracks' | 'quaternion' = 'tracks') {
  const { root, clips } = createCharacter();
  const walk = clips.find(({ name }) => name === 'Walk') as AnimationClip;
  const crowd = SkinnedInstancedMesh.from(root, [walk], 0, { encoding });
  const scene = new Scene().add(crowd);
  const knight = crowd.createInstance();
  const clone = SkeletonUtils.clone(root) as Object3D;
  const mixer = new AnimationMixer(clone);
  mixer.clipAction(walk).play();
  crowd.play(knight.instanceId, walk);
  const update = (delta: number) => {
    crowd.update(delta);
    mixer.update(delta);
    scene.updateMatrixWorld();
    clone.updateMatrixWorld(true);
  };
  update(0.4);
  return { root, walk, crowd, scene, knight, clone, update, height: characterHeight(root) };
}

/** Radians: keys are float32, and the cosine of a small angle tells it half as well. */
const ANGLE = 1e-3;

const worldOf = (object: Object3D | undefined) => (object as Object3D).getWorldPosition(new Vector3());

test('bones are made when something asks for them, and hang below as in the character', () => {
  for (const ask of [
    (knight: Object3D) => knight.getObjectByName('LeftHand'),
    (knight: Object3D) => new SkeletonHelper(knight).bones[0],
    (knight: Object3D) => (knight as ReturnType<typeof createPair>['knight']).bones[0],
  ]) {
    const { knight, clone } = createPair();
    expect(knight.children).toEqual([]);
    expect(knight.getObjectByName('Sword')).toBe(undefined);
    expect(knight.getObjectByProperty('isMesh', true)).toBe(undefined);
    expect(knight.children).toEqual([]);
    const found = ask(knight) as Bone;
    expect(found).toBeInstanceOf(Bone);
    expect(found.isBone).toBe(true);
    expect(knight.isBone).toBe(false);
    expect(ask(knight)).toBe(found);
    for (const bone of knight.bones) {
      const twin = clone.getObjectByName(bone.name) as Object3D;
      const parent = twin.parent as Object3D;
      expect(bone.parent?.name).toBe(parent === clone ? knight.name : parent.name);
    }
    const names: string[] = [];
    knight.traverse(({ name, isBone }: Object3D & { isBone?: boolean }) => isBone && names.push(name));
    expect(names).toEqual(knight.bones.map(({ name }) => name));
  }
});

describeCharacters((name) => {
  test('SkeletonHelper shows the lines that it shows of a clone', async () => {
    const { root, clips } = await loadCharacter(name);
    const height = characterHeight(root);
    const clip = clips.find(({ duration }) => duration > 0) as AnimationClip;
    const crowd = SkinnedInstancedMesh.from(root, clips, 0, { encoding: 'tracks' });
    const knight = crowd.createInstance();
    const clone = SkeletonUtils.clone(root) as Object3D;
    for (const one of [knight, clone]) {
      one.position.set(1, 2, 3);
      one.rotation.set(0, 1, 0);
      one.scale.setScalar(2);
    }
    crowd.play(knight.instanceId, clip, { time: 0.3 });
    crowd.update(0);
    const mixer = new AnimationMixer(clone);
    mixer.clipAction(clip).play();
    mixer.setTime(0.3);
    const scenes = [new Scene().add(crowd), new Scene().add(clone)];
    const [ours, theirs] = [knight, clone].map((one, i) => {
      const helper = new SkeletonHelper(one);
      // Before what it shows, which three.js does not mind.
      scenes[i].children.unshift(helper);
      helper.parent = scenes[i];
      scenes[i].updateMatrixWorld();
      scenes[i].updateMatrixWorld();
      const lines = helper.geometry.getAttribute('position') as BufferAttribute;
      const ends = Array.from({ length: lines.count }, (_, k) => new Vector3().fromBufferAttribute(lines, k));
      return ends.map((end) => end.applyMatrix4(helper.matrixWorld));
    });
    // Joints that no vertex follows are no bones of the crowd.
    expect(ours.length).toBeLessThanOrEqual(theirs.length + 40);
    expect(theirs.length === 0 || ours.length > 0).toBe(true);
    const names = uniqueNames(clone);
    for (const bone of knight.bones) {
      const twin = clone.getObjectByName(bone.name) as Object3D & { isBone?: boolean };
      if (!names.has(bone.name) || !twin.isBone || !(twin.parent as Bone).isBone) continue;
      const [from, to] = [worldOf(twin), worldOf(twin.parent as Object3D)];
      const shown = ours.some((end, i) => {
        if (i % 2 === 1) return false;
        return Math.max(end.distanceTo(from), ours[i + 1].distanceTo(to)) < 2e-5 * height;
      });
      expect(shown, bone.name).toBe(true);
    }
  });
});

test('what hangs on a bone is where it hangs on a clone, under parents that are moved and scaled', () => {
  const { crowd, scene, knight, clone, update, height } = createPair();
  const [ours, theirs] = [new Group(), new Group()];
  scene.add(ours);
  const swords = [knight, clone].map((one, i) => {
    [ours, theirs][i].add(one);
    one.position.set(1, 0, 2);
    const sword = new Mesh();
    sword.position.set(0, 0.2, 0.1);
    one.getObjectByName('RightHand')?.add(sword);
    return sword;
  });
  const inside = new Object3D();
  swords[0].add(inside);
  for (const delta of [0.1, 0.13, 0.3]) {
    for (const one of [ours, theirs]) {
      one.position.x += 3;
      one.rotation.y += 1;
      one.scale.multiplyScalar(1.2);
    }
    theirs.updateMatrixWorld();
    update(delta);
    expect(placeError(swords[0].matrixWorld, swords[1].matrixWorld, height)).toBeLessThan(1e-5);
    expect(inside.matrixWorld.equals(swords[0].matrixWorld)).toBe(true);
    crowd.update(0.05);
    // Asked for in between, it is where it will be drawn.
    expect(worldOf(inside).distanceTo(worldOf(swords[1]))).toBeGreaterThan(1e-4);
    crowd.update(-0.05);
  }
  expect(swords[0].parent?.visible).toBe(true);
  expect(knight.getObjectByName('LeftHand')?.visible).toBe(false);
  swords[0].removeFromParent();
  expect(knight.bones.some(({ visible }) => visible)).toBe(false);
});

test('bones on which nothing hangs cost nothing in a frame, and others only those above', () => {
  const { crowd, scene, knight, update } = createPair();
  const home = knight.parent as Object3D;
  expect(knight.bones.length).toBeGreaterThan(10);
  expect(home.children).toEqual([]);
  const reads = vi.spyOn(crowd.crowd.edits, 'place');
  const visited = (root: Object3D) => {
    let count = 0;
    root.traverseVisible(() => {
      count++;
    });
    return count;
  };
  update(0.1);
  expect([reads.mock.calls.length, visited(scene)]).toEqual([0, visited(home) + 2]);

  const hat = new Object3D();
  knight.getObjectByName('Head')?.add(hat);
  expect(home.children).toEqual([knight]);
  const before = hat.matrixWorld.clone();
  update(0.1);
  expect(hat.matrixWorld.equals(before)).toBe(false);
  const depth = ['Head', 'Neck', 'Chest', 'Spine', 'Hips'].length;
  expect(visited(knight)).toBe(1 + depth + 1);
  hat.removeFromParent();
  expect(home.children).toEqual([]);
  const plate = new Object3D();
  knight.add(plate);
  expect(home.children).toEqual([knight]);
});

test('what is written stays as long as clips do not move the joint, adds up, and ends by clearEdits', () => {
  const { crowd, knight, walk } = createPair();
  const bone = knight.getObjectByName('LeftUpperArm') as (typeof knight.bones)[number];
  crowd.stop(knight.instanceId);
  const rest = bone.rotation.y;
  for (let i = 0; i < 40; i++) {
    crowd.update(0.1);
    // Beyond a quarter of a turn, where angles that are read from a quaternion would go back.
    bone.rotation.y += 0.1;
  }
  expect(bone.rotation.y).toBeCloseTo(rest + 4, 10);
  expect(crowd.crowd.edits.version).toBeGreaterThan(0);
  const turned = bone.getWorldQuaternion(bone.quaternion.clone());
  bone.clearEdits();
  expect(bone.rotation.y).toBeCloseTo(rest, 5);
  expect(bone.getWorldQuaternion(bone.quaternion.clone()).angleTo(turned)).toBeGreaterThan(0.5);

  bone.scale.setScalar(2);
  crowd.setJointScaleAt(knight.instanceId, 'LeftUpperArm', new Vector3(3, 3, 3));
  expect(bone.scale.x).toBe(3);
  crowd.play(knight.instanceId, walk).update(0.2);
  expect(bone.scale.x).toBe(3);
  bone.scale.setScalar(2);
  bone.rotation.y = 1;
  crowd.update(0.1);
  // The clip turns the arm, and has no track for its scale.
  expect([bone.scale.x, bone.rotation.y]).not.toContain(1);
  expect(bone.scale.x).toBe(2);
  knight.clearEdits();
  expect(bone.scale.x).toBe(1);
});

test('a joint that no clip moves is looked at once after it was written to, and again when there is a live pose', () => {
  const { crowd, knight } = createPair();
  const read = vi.spyOn(NodePoses.prototype, 'readUnedited');
  const frames = () => {
    read.mockClear();
    for (let i = 0; i < 5; i++) crowd.update(0.1);
    return read.mock.calls.length;
  };
  // No clip has a track for it.
  const neck = knight.getObjectByName('Neck') as Bone;
  neck.scale.setScalar(2);
  expect(frames()).toBeLessThanOrEqual(1);
  expect(frames()).toBe(0);
  expect(neck.scale.x).toBe(2);
  const pose = new Group();
  const posed = new Bone();
  posed.name = 'Neck';
  posed.scale.setScalar(3);
  crowd.setPoseAt(knight.instanceId, pose.add(posed));
  expect(frames()).toBeGreaterThan(0);
  expect(neck.scale.x, 'the live pose has it').toBe(3);
  crowd.setPoseAt(knight.instanceId, null);
  neck.rotation.y = 1;
  expect(frames(), 'clips move it').toBeGreaterThan(0);
  read.mockRestore();
});

test('values of bones that a program holds on to are up to date, and can be written to', () => {
  const { crowd, knight, clone, update } = createPair();
  const { position, rotation, quaternion, scale } = knight.getObjectByName('LeftUpperArm') as Bone;
  const theirs = clone.getObjectByName('LeftUpperArm') as Bone;
  for (let i = 0; i < 3; i++) {
    update(0.13);
    expect(rotation.y).toBeCloseTo(theirs.rotation.y, 5);
    expect(quaternion.angleTo(theirs.quaternion)).toBeLessThan(ANGLE);
    expect(position.distanceTo(theirs.position)).toBeLessThan(1e-5);
    expect(scale.x).toBeCloseTo(1, 5);
    expect(new Quaternion().setFromEuler(rotation).angleTo(theirs.quaternion)).toBeLessThan(ANGLE);
  }
  update(0.13);
  rotation.z += 0.3;
  theirs.rotation.z += 0.3;
  expect(quaternion.angleTo(theirs.quaternion)).toBeLessThan(ANGLE);
  expect(crowd.crowd.edits.isUsed).toBe(true);
  expect(JSON.parse(JSON.stringify(scale))).toEqual({ x: 1, y: 1, z: 1 });
  expect([rotation.clone().constructor, quaternion.clone().constructor]).toEqual([Euler, Quaternion]);
});

test('writes follow the instance, and end with it', () => {
  const { crowd, knight } = createPair();
  const bone = knight.getObjectByName('Head') as Bone;
  crowd.stop(knight.instanceId);
  const other = crowd.createInstance();
  bone.scale.setScalar(2);
  crowd.swapInstances(0, 1);
  expect(knight.instanceId).toBe(1);
  expect(bone.scale.x).toBe(2);
  expect((other.getObjectByName('Head') as Bone).scale.x).toBe(1);
  bone.scale.setScalar(3);
  expect(crowd.crowd.edits.version).toBeGreaterThan(0);
  crowd.update(0.1);
  expect(bone.matrixWorld.getMaxScaleOnAxis()).toBeCloseTo(3);
  knight.dispose();
  bone.scale.setScalar(4);
  expect([bone.scale.x, crowd.createInstance().bones[4].scale.x]).toEqual([4, 1]);
  expect(bone.matrix.getMaxScaleOnAxis()).toBeCloseTo(4);
});

test('bones follow baked matrices too, and say what they need to be written to', () => {
  const { knight, clone, height, crowd } = createPair('quaternion');
  expect(crowd.boneTexture.encoding).toBe('quaternion');
  for (const bone of knight.bones) {
    const twin = clone.getObjectByName(bone.name) as Object3D;
    expect(placeError(bone.matrixWorld, twin.matrixWorld, height), bone.name).toBeLessThan(2e-3);
    const parent = twin.parent as Object3D;
    expect(bone.parent?.name).toBe(parent === clone ? knight.name : parent.name);
    expect(bone.position.distanceTo(twin.position) / height, bone.name).toBeLessThan(2e-3);
  }
  const head = knight.getObjectByName('Head') as Bone;
  const before = head.rotation.y;
  expect(() => {
    head.rotation.y = 1;
  }).toThrow(
    'SkinnedInstance: bone "Head": needs poses that are mixed before they are drawn; bake with encoding "tracks":',
  );
  expect(head.rotation.y).toBeCloseTo(before);
  expect(() => head.position.set(Number.NaN, 0, 0)).toThrow('encoding "tracks"');
});

test('bad numbers are errors, and leave the bone as it is', () => {
  const { knight } = createPair();
  const head = knight.getObjectByName('Head') as Bone;
  const { x } = head.position;
  expect(() => {
    head.position.x = Number.NaN;
  }).toThrow('SkinnedInstance: bone "Head": the value is (NaN');
  expect(head.position.x).toBe(x);
});

test('bones go on with another bone texture, by their names', () => {
  const { crowd, knight, root, walk, clone, update, height } = createPair();
  const { bones } = knight;
  const encodings = ['tracks', 'quaternion', 'tracks'] as const;
  for (const encoding of encodings) {
    crowd.boneTexture = BoneTexture.bake(root, [walk], { encoding, sockets: ['LeftToes'] });
    update(0.1);
    for (const bone of bones) {
      const twin = clone.getObjectByName(bone.name) as Object3D;
      expect(placeError(bone.matrixWorld, twin.matrixWorld, height), bone.name).toBeLessThan(2e-3);
    }
  }
  expect(knight.bones).toBe(bones);
});

test('an instance has a skeleton, proportions, and clones of its bones are bones', () => {
  const { knight, clone } = createPair();
  const { skeleton } = knight;
  expect(skeleton.bones).toEqual(knight.bones);
  expect(skeleton.getBoneByName('Head')).toBe(knight.getObjectByName('Head'));
  const mesh = clone.getObjectByName('Body') as Mesh & { skeleton: typeof skeleton };
  for (const [i, bone] of mesh.skeleton.bones.entries()) {
    const at = skeleton.bones.findIndex(({ name }) => name === bone.name);
    const [ours, theirs] = [skeleton.boneInverses[at], mesh.skeleton.boneInverses[i]];
    expect(placeError(ours, theirs, 1), bone.name).toBeLessThan(1e-5);
  }
  const head = skeleton.getBoneByName('Head') as Bone;
  expect(knight.setProportions({ joints: { Head: 1.5 } })).toBe(knight);
  expect(head.scale.x).toBe(1);
  expect(head.matrixWorld.getMaxScaleOnAxis()).toBeCloseTo(1.5);
  knight.clearEdits();
  expect(head.matrix.getMaxScaleOnAxis()).toBeCloseTo(1.5);

  head.add(new Mesh());
  const twin = knight.clone();
  expect(twin.children.length).toBe(knight.children.length);
  const theirs = twin.skeleton.getBoneByName('Head') as Bone;
  expect([theirs.children.length, theirs.constructor]).toEqual([1, head.constructor]);
  expect(theirs).not.toBe(head);
  expect(theirs.matrix.getMaxScaleOnAxis()).toBeCloseTo(1.5);
  const copy = head.clone();
  expect([copy.constructor, copy.name, copy.children.length]).toEqual([Bone, 'Head', 1]);
  expect(copy.position.distanceTo(head.position)).toBe(0);
});

test('1,000 turrets that are turned in each frame, and 200 swords in hands', () => {
  const { root, clips } = createCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, 0, { encoding: 'tracks' });
  const scene = new Scene().add(crowd);
  const knights = Array.from({ length: 1000 }, () => crowd.createInstance());
  crowd.playAll('Walk', { time: (i) => i * 0.01 });
  const turrets = knights.map((knight) => knight.getObjectByName('Neck') as Bone);
  for (const knight of knights.slice(0, 200)) knight.getObjectByName('LeftHand')?.add(new Object3D());
  const took: number[][] = [];
  for (let frame = 0; frame < 15; frame++) {
    // Of this process alone: the machine may be busy with others.
    const times = [process.cpuUsage().user];
    crowd.update(1 / 60);
    times.push(process.cpuUsage().user);
    for (const turret of turrets) turret.rotation.y += 0.3;
    times.push(process.cpuUsage().user);
    scene.updateMatrixWorld();
    times.push(process.cpuUsage().user);
    took.push(times.slice(1).map((time, i) => (time - times[i]) / 1000));
  }
  const medians = [0, 1, 2].map((i) => took.map((times) => times[i]).sort((a, b) => a - b)[5]);
  console.log(
    `1,000 turrets: ending what was written ${medians[0].toFixed(2)} ms, turning ${medians[1].toFixed(2)} ms; 200 swords ${medians[2].toFixed(2)} ms`,
  );
  expect(Math.max(...medians)).toBeLessThan(60);
});
