import {
  Bone,
  type Box3,
  BoxGeometry,
  type BufferAttribute,
  Group,
  Matrix4,
  type Mesh,
  MeshBasicMaterial,
  type Object3D,
  Quaternion,
  Raycaster,
  type SkinnedMesh,
  type Sphere,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { EditedMixers, editableJoints } from '../../support/EditedMixers.js';
import { runBlock } from '../../support/guides.js';
import { BoneTexture, SkinnedInstancedMesh } from '../../support/library.js';
import { random } from '../../support/random.js';
import { characterHeight, drawnMeshes } from '../../support/reference.js';
import { createStick } from '../../support/stick.js';

const EXACT = 1e-5;
const TURN = new Quaternion().setFromAxisAngle(new Vector3(0, 0, 1), 1);

function edited(count: number) {
  const { root, clips } = createCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, count, { encoding: 'tracks' });
  const pair = new EditedMixers(crowd, root, clips);
  return { root, clips, crowd, pair, joints: editableJoints(crowd, root), height: characterHeight(root) };
}

/** How far vertices are from where three.js has them, as a share of the height. */
function off({ crowd, pair, height }: Pick<ReturnType<typeof edited>, 'crowd' | 'pair' | 'height'>): number {
  const where = (index: number, vertex: number, target: Vector3) =>
    crowd.getVertexPositionAt(index, vertex, target);
  return pair.worst(where, 7) / height;
}

test('seed 4: rays, sockets and attachments follow edited joints and live poses', () => {
  const all = edited(3);
  const { crowd, pair, joints, height, root, clips } = all;
  const next = random(4);
  for (let i = 0; i < 3; i++) {
    pair.place(i, new Matrix4().makeRotationY(i).setPosition(4 * i * height, 0, 0));
    pair.play(i, i % clips.length, 1, 0, next());
    for (let k = 0; k < 3; k++) pair.editSome(i, joints[Math.floor(next() * joints.length)], next, 0.3);
  }
  const doll = new EditedMixers(
    SkinnedInstancedMesh.from(root, clips, 1, { encoding: 'tracks' }),
    root,
    clips,
  );
  doll.play(0, 1, 1, 0, 0.4);
  doll.update(0.1);
  pair.live(2, doll.clones[0], 0);
  const hat = crowd.attachToJoint(joints[2], new BoxGeometry(0.1, 0.1, 0.1), new MeshBasicMaterial());
  pair.update(0.2);
  crowd.updateMatrixWorld(true);
  const matrix = new Matrix4();
  const corner = new Vector3();
  let hits = 0;
  pair.forEachPosed((clone, index) => {
    for (const name of joints) {
      const bone = clone.getObjectByName(name) as Object3D;
      crowd.getSocketMatrixAt(index, name, matrix);
      const worst = Math.max(
        ...matrix.elements.map((value, i) => Math.abs(value - bone.matrixWorld.elements[i])),
      );
      expect(worst / height, `${name} of ${index}`).toBeLessThan(EXACT);
    }
    hat.getVertexPositionAt(index, 0, corner);
    const bone = clone.getObjectByName(joints[2]) as Object3D;
    const expected = new Vector3(0.05, 0.05, 0.05).applyMatrix4(bone.matrixWorld);
    expect(corner.distanceTo(expected) / height).toBeLessThan(EXACT);

    for (let i = 0; i < 30; i++) {
      const from = new Vector3(next() - 0.5, next(), next() - 0.5).multiplyScalar(4 * height);
      from.applyMatrix4(pair.places[index]);
      const [mesh] = drawnMeshes(clone) as SkinnedMesh[];
      // At the middle of a triangle: whether a ray hits an edge is a matter of rounding.
      const triangle = Math.floor((next() * (mesh.geometry.index as BufferAttribute).count) / 3);
      const to = new Vector3();
      for (let i = 0; i < 3; i++) {
        const vertex = (mesh.geometry.index as BufferAttribute).getX(triangle * 3 + i);
        to.addScaledVector(mesh.getVertexPosition(vertex, corner), 1 / 3);
      }
      to.applyMatrix4(mesh.matrixWorld);
      const ray = new Raycaster(from, to.sub(from).normalize());
      for (const one of drawnMeshes(clone) as SkinnedMesh[]) one.computeBoundingSphere();
      for (const one of drawnMeshes(clone) as SkinnedMesh[]) one.computeBoundingBox();
      const [three] = ray.intersectObject(clone);
      const ours = ray.intersectObject(crowd, false).filter(({ instanceId }) => instanceId === index);
      if (three === undefined) continue;
      hits++;
      expect(Math.abs(ours[0].distance - three.distance) / height).toBeLessThan(EXACT);
    }
  });
  expect(hits).toBeGreaterThan(30);
});

test('seeds 1 to 6: bounds hold whatever edits and live poses do, and shrink when all of them end', () => {
  for (let seed = 1; seed <= 6; seed++) {
    const { crowd, pair, joints, height, root, clips } = edited(4);
    const next = random(seed);
    const doll = new EditedMixers(
      SkinnedInstancedMesh.from(root, clips, 1, { encoding: 'tracks' }),
      root,
      clips,
    );
    doll.play(0, 0, 1, 0, 0);
    crowd.computeBoundingBox();
    const before = (crowd.boundingBox as Box3).getSize(new Vector3()).length();
    for (let round = 0; round < 10; round++) {
      for (let k = 0; k < 3; k++) {
        pair.editSome(Math.floor(next() * 4), joints[Math.floor(next() * joints.length)], next, height);
      }
      doll.update(0.1);
      doll.clones[0].getObjectByName(joints[0])?.position.addScalar(0.05 * height);
      if (round > 5) pair.live(3, doll.clones[0], 0.2);
      pair.update(0.1);
      crowd.updateMatrixWorld();
      crowd.computeBoundingBox();
      crowd.computeBoundingSphere();
      const box = (crowd.boundingBox as Box3).clone();
      const sphere = crowd.boundingSphere as Sphere;
      const vertex = new Vector3();
      for (let i = 0; i < 4; i++) {
        for (let v = 0; v < crowd.geometry.getAttribute('position').count; v += 13) {
          crowd.getVertexPositionAt(i, v, vertex);
          expect(box.distanceToPoint(vertex) / height, `seed ${seed}, round ${round}`).toBeLessThan(EXACT);
          expect(sphere.distanceToPoint(vertex) / height).toBeLessThan(EXACT);
        }
      }
    }
    crowd.clearJointEditsAt(crowd.all).setPoseAt(crowd.all, null).setProportionsAt(crowd.all, null);
    crowd.updateMatrixWorld();
    expect(crowd.boundingBox, 'lets go of bounds that were computed').toBe(null);
    crowd.computeBoundingBox();
    expect((crowd.boundingBox as unknown as Box3).getSize(new Vector3()).length()).toBeCloseTo(before, 6);
  }
});

test('bounds are not computed anew while a joint moves on a little in each frame', () => {
  const { crowd, joints } = edited(1);
  const way = new Vector3();
  let computed = 0;
  for (let i = 0; i < 200; i++) {
    crowd.setJointPositionAt(0, joints[1], way.set(0, i * 0.01, 0));
    crowd.updateMatrixWorld();
    if (crowd.boundingSphere !== null) continue;
    crowd.computeBoundingSphere();
    computed++;
  }
  expect(computed).toBeLessThan(15);
});

test('what looks at a target goes on doing so when its instance moves', () => {
  const all = edited(2);
  const { pair, joints, height } = all;
  const target = new Vector3(3, 2, 1).multiplyScalar(height);
  const axis = new Vector3(0, 1, 0);
  pair.edit(1, joints[3], { kind: 'lookAt', target, axis, limit: 0.5, weight: 1 });
  pair.update(0);
  for (const x of [0, 5, -8]) {
    pair.place(1, new Matrix4().makeRotationY(x).setPosition(x, 0, 1));
    expect(off(all)).toBeLessThan(EXACT);
  }
});

test('edits and live poses come along when crowds are cloned, get more room, or show another bone texture', () => {
  const all = edited(3);
  const { crowd, pair, joints, root, clips, height } = all;
  const next = random(9);
  for (let i = 0; i < 3; i++) {
    pair.play(i, i % clips.length, 1, 0, next());
    for (let k = 0; k < 5; k++) pair.editSome(i, joints[Math.floor(next() * joints.length)], next, height);
  }
  pair.live(0, pair.clones[1], 0.5);
  pair.update(0.2);
  expect(off(all)).toBeLessThan(EXACT);

  crowd.setCapacity(50);
  expect(off(all)).toBeLessThan(EXACT);

  const clone = crowd.clone();
  const positions = (of: SkinnedInstancedMesh) =>
    [0, 1, 2].flatMap((i) =>
      [20, 60, 150, 300].flatMap((vertex) => of.getVertexPositionAt(i, vertex, new Vector3()).toArray()),
    );
  expect(positions(clone)).toEqual(positions(crowd));
  clone.clearJointEditsAt(clone.all);
  expect(positions(clone)).not.toEqual(positions(crowd));
  expect(off(all)).toBeLessThan(EXACT);

  // Fewer clips, so that nodes are the same; and with a socket, so that there is one more.
  crowd.boneTexture = BoneTexture.bake(root, clips, { encoding: 'tracks', sockets: [joints[4]] });
  expect(off(all)).toBeLessThan(EXACT);

  crowd.count = 1;
  crowd.setCapacity(1);
  crowd.setCapacity(3);
  crowd.count = 3;
  pair.edit(2, joints[1], { kind: 'rotation', value: TURN, add: false, model: false, weight: 1 });
  expect(crowd.getVertexPositionAt(1, 60, new Vector3()).toArray()).toEqual(
    crowd.stop(1).getVertexPositionAt(1, 60, new Vector3()).toArray(),
  );

  crowd.boneTexture = BoneTexture.bake(root, clips, { encoding: 'quaternion' });
  expect(() => crowd.setJointRotationAt(0, joints[1], TURN)).toThrow('bake with encoding "tracks"');
  crowd.dispose();
});

test('one call edits a range, with values by index, and nodes above joints too', () => {
  const all = edited(4);
  const { crowd, pair, joints } = all;
  const value = (i: number) => new Quaternion().setFromAxisAngle(new Vector3(1, 0, 0), 0.2 * i);
  crowd.setJointRotationAt({ start: 1, count: 3 }, joints[2], (i) => (i === 2 ? null : value(i)), {
    mode: 'add',
  });
  const same = edited(4);
  for (const i of [1, 3]) {
    same.pair.edit(i, joints[2], { kind: 'rotation', value: value(i), add: true, model: false, weight: 1 });
  }
  pair.update(0);
  same.pair.update(0);
  for (let i = 0; i < 4; i++) {
    const [a, b] = [crowd, same.crowd].map((one) => one.getVertexPositionAt(i, 40, new Vector3()).toArray());
    expect(a).toEqual(b);
  }
  expect(off(same)).toBeLessThan(EXACT);

  const { root, bones, clips } = createStick();
  const between = new Group();
  between.name = 'Between';
  root.add(between.add(bones[0]));
  const stick = SkinnedInstancedMesh.from(root, clips, 1, { encoding: 'tracks' });
  stick.setJointRotationAt(0, 'Between', TURN);
  const drawn = stick.getSocketMatrixAt(0, 'Base', new Matrix4()).elements;
  new Matrix4().makeRotationFromQuaternion(TURN).elements.forEach((value, i) => {
    expect(drawn[i]).toBeCloseTo(value, 6);
  });
});

test('an instance at a target, or scaled to nothing, or a joint that is flattened, is posed without garbage', () => {
  const { crowd, joints } = edited(1);
  const at = new Vector3().setFromMatrixPosition(crowd.getSocketMatrixAt(0, joints[2], new Matrix4()));
  const before = crowd.getVertexPositionAt(0, 60, new Vector3()).toArray();
  crowd.lookAtJointAt(0, joints[2], at);
  const held = crowd.getVertexPositionAt(0, 60, new Vector3());
  expect(held.distanceTo(new Vector3().fromArray(before))).toBeLessThan(1e-2);
  crowd.setJointScaleAt(0, joints[2], new Vector3());
  crowd.setJointRotationAt(0, joints[2], TURN, { space: 'model' });
  expect(crowd.getVertexPositionAt(0, 60, new Vector3()).toArray().every(Number.isFinite)).toBe(true);
  crowd.setMatrixAt(0, new Matrix4().makeScale(0, 0, 0));
  crowd.instanceMatrix.needsUpdate = true;
  expect(crowd.getVertexPositionAt(0, 60, new Vector3()).toArray()).toEqual([0, 0, 0]);
});

test('bad input says what is wrong, and how it is right', () => {
  const { crowd, joints, root, clips } = edited(2);
  const [joint] = joints;
  const q = new Quaternion();
  const v = new Vector3();
  const nan = new Vector3(Number.NaN, 0, 0);
  expect(() => crowd.setJointRotationAt(2, joint, q)).toThrow('no instance 2');
  expect(() => crowd.setJointRotationAt(0, 'Tail', q)).toThrow('no joint "Tail"');
  expect(() => crowd.setJointRotationAt(0, 999, q)).toThrow('no joint 999');
  expect(() => crowd.setJointRotationAt(0, joint, new Quaternion(0, 0, 0, 0))).toThrow('(0, 0, 0, 0)');
  expect(() => crowd.setJointRotationAt(0, joint, v as never)).toThrow('pass a Quaternion');
  expect(() => crowd.setJointRotationAt(0, joint, undefined as never)).toThrow('is undefined');
  expect(() => crowd.setJointRotationAt(0, joint, q, { mode: 'both' as never })).toThrow('mode is "both"');
  expect(() => crowd.setJointRotationAt(0, joint, q, { space: 'world' as never })).toThrow(
    'space is "world"',
  );
  expect(() => crowd.setJointRotationAt(0, joint, q, { weight: 2 })).toThrow('weight is 2');
  expect(() => crowd.setJointRotationAt(0, joint, q, { weight: Number.NaN })).toThrow('weight is NaN');
  expect(() => crowd.setJointPositionAt(0, joint, nan)).toThrow('(NaN, 0, 0)');
  expect(() => crowd.setJointScaleAt(0, joint, nan)).toThrow('(NaN, 0, 0)');
  expect(() => crowd.setJointScaleAt(0, joint, v, { space: 'model' } as never)).toThrow('space is "model"');
  expect(() => crowd.lookAtJointAt(0, joint, nan)).toThrow('(NaN, 0, 0)');
  expect(() => crowd.lookAtJointAt(0, joint, v, { axis: v })).toThrow('axis is (0, 0, 0)');
  expect(() => crowd.lookAtJointAt(0, joint, v, { limit: -1 })).toThrow('limit is -1');
  expect(() => crowd.clearJointEditsAt(0, 'Tail')).toThrow('no joint "Tail"');
  expect(() => crowd.setPoseAt(0, new Bone())).toThrow('nothing in the pose has the name');
  expect(() => crowd.setPoseAt(0, 'Root' as never)).toThrow('pass an Object3D or a Skeleton');
  expect(() => crowd.setPoseAt(0, root, { fade: -1 })).toThrow('fade is -1');
  const broken = new Bone();
  broken.name = joint;
  broken.position.x = Number.NaN;
  expect(() => crowd.setPoseAt(0, broken)).toThrow(`"${joint}" has position NaN,0,0`);
  // Nothing of it has changed the crowd.
  expect(crowd.crowd.edits.isUsed && crowd.crowd.edits.reachVersion > 0).toBe(false);

  const baked = SkinnedInstancedMesh.from(root, clips, 1, { encoding: 'matrix' });
  for (const call of [
    () => baked.setJointRotationAt(0, joint, q),
    () => baked.lookAtJointAt(0, joint, v),
    () => baked.setPoseAt(0, root),
    () => baked.clearJointEditsAt(0, joint),
  ]) {
    expect(call).toThrow('bake with encoding "tracks"');
  }
  expect(() => baked.clearJointEditsAt(0)).not.toThrow();
});

test('poses may come from skeletons, parts of a character, and objects whose matrices are set by hand', () => {
  const all = edited(3);
  const { crowd, pair, joints, height, root } = all;
  const doll = pair.clones[2].clone();
  const [mesh] = drawnMeshes(pair.clones[1]) as SkinnedMesh[];
  mesh.skeleton.bones[3].rotation.set(0.3, 0.2, 0.1);
  crowd.setPoseAt(0, mesh.skeleton);
  const posed = crowd.getSocketMatrixAt(0, mesh.skeleton.bones[3].name, new Matrix4());
  pair.clones[1].updateMatrixWorld(true);
  const inverse = new Matrix4().copy(pair.clones[1].matrixWorld).invert();
  const expected = inverse.multiply(mesh.skeleton.bones[3].matrixWorld);
  expected.elements.forEach((value, i) => expect(posed.elements[i]).toBeCloseTo(value, 5));

  const bone = doll.getObjectByName(joints[3]) as Object3D;
  bone.rotation.set(0.5, 0, 0);
  bone.updateMatrix();
  bone.matrixAutoUpdate = false;
  bone.rotation.set(0, 0, 0);
  crowd.setPoseAt(1, bone);
  const turned = new Matrix4();
  crowd.getSocketMatrixAt(1, joints[3], turned);
  crowd.setJointRotationAt(2, joints[3], new Quaternion().setFromRotationMatrix(bone.matrix));
  const same = crowd.getSocketMatrixAt(2, joints[3], new Matrix4());
  same.elements.forEach((value, i) => expect(turned.elements[i] / height).toBeCloseTo(value / height, 5));
  expect((root.getObjectByName(joints[3]) as Object3D).matrixAutoUpdate).toBe(true);
  expect((drawnMeshes(root)[0] as Mesh).isMesh).toBe(true);
});

test('the guide’s examples run', () => {
  const { root, clips } = createCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, 3, { encoding: 'tracks' });
  const before = crowd.getSocketMatrixAt(0, 'Head', new Matrix4());
  // The character has no joints of these names.
  const spine = crowd.boneTexture.jointNames[1];
  const named = new Proxy(crowd, {
    get(target, key) {
      const value = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      return (...values: unknown[]) =>
        value.apply(
          target,
          values.map((one) => (one === 'Spine' || one === 'Turret' ? spine : one)),
        );
    },
  });
  const target = new Vector3(5, 1, 0);
  const names = { crowd: named, target, Vector3, lean: TURN, aims: [TURN, TURN, TURN] };
  runBlock('playback', 'lookAtJointAt', names, []);
  expect(crowd.getSocketMatrixAt(0, 'Head', new Matrix4()).equals(before)).toBe(false);
  runBlock('playback', 'ragdoll, { fade', { crowd, ragdoll: root }, []);
  expect(crowd.crowd.edits.version).toBeGreaterThan(0);
});

test('10,000 look-at calls a frame', () => {
  const { root, clips } = createCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, 10_000, { encoding: 'tracks' });
  crowd.playAll(0, { time: (i) => i * 0.01 });
  const target = new Vector3();
  const options = { axis: new Vector3(0, 0, 1), limit: 1 };
  const times: number[] = [];
  for (let frame = 0; frame < 20; frame++) {
    target.set(frame, 2, 3);
    crowd.update(1 / 60);
    // Of this process alone: the machine may be busy with others.
    const start = process.cpuUsage().user;
    for (let i = 0; i < 10_000; i++) crowd.lookAtJointAt(i, 'Head', target, options);
    crowd.crowd.edits.update();
    times.push((process.cpuUsage().user - start) / 1000);
  }
  const [median] = times
    .slice(5)
    .sort((a, b) => a - b)
    .slice(7);
  console.log(`10,000 lookAtJointAt calls: ${median.toFixed(2)} ms of CPU time`);
  expect(median).toBeLessThan(40);
});
