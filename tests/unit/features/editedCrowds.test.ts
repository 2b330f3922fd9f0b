import {
  Bone,
  BoxGeometry,
  Matrix4,
  MeshBasicMaterial,
  Quaternion,
  Raycaster,
  type SkinnedMesh,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { EditedMixers, editableJoints } from '../../support/EditedMixers.js';
import { editsOf } from '../../support/features.js';
import {
  bakeCharacter,
  frames,
  getSocketMatrix,
  getVertexPosition,
  JointAttachment,
  JointEdits,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { random } from '../../support/random.js';
import { characterHeight, drawnMeshes } from '../../support/reference.js';

const EXACT = 1e-5;
const TURN = new Quaternion().setFromAxisAngle(new Vector3(0, 0, 1), 1);

function edited(count: number) {
  const { root, clips } = createCharacter();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), count);
  const pair = new EditedMixers(crowd, root, clips);
  return { root, clips, crowd, pair, joints: editableJoints(crowd, root), height: characterHeight(root) };
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
  const doll = new EditedMixers(new SkinnedInstancedMesh(bakeCharacter(root, clips), 1), root, clips);
  doll.play(0, 1, 1, 0, 0.4);
  doll.update(0.1);
  pair.live(2, doll.clones[0], 0);
  const hat = new JointAttachment(crowd, joints[2], new BoxGeometry(0.1, 0.1, 0.1), new MeshBasicMaterial());
  pair.update(0.2);
  crowd.updateMatrixWorld(true);
  const matrix = new Matrix4();
  const corner = new Vector3();
  let hits = 0;
  pair.forEachPosed((clone, index) => {
    for (const name of joints) {
      const bone = clone.getObjectByName(name)!;
      getSocketMatrix(crowd, index, name, matrix);
      const worst = Math.max(
        ...matrix.elements.map((value, i) => Math.abs(value - bone.matrixWorld.elements[i])),
      );
      expect(worst / height, `${name} of ${index}`).toBeLessThan(EXACT);
    }
    getVertexPosition(hat, index, 0, corner);
    const bone = clone.getObjectByName(joints[2])!;
    const expected = new Vector3(0.05, 0.05, 0.05).applyMatrix4(bone.matrixWorld);
    expect(corner.distanceTo(expected) / height).toBeLessThan(EXACT);

    for (let i = 0; i < 30; i++) {
      const from = new Vector3(next() - 0.5, next(), next() - 0.5).multiplyScalar(4 * height);
      from.applyMatrix4(pair.places[index]);
      const [mesh] = drawnMeshes(clone) as SkinnedMesh[];
      // At the middle of a triangle: whether a ray hits an edge is a matter of rounding.
      const triangle = Math.floor((next() * mesh.geometry.index!.count) / 3);
      const to = new Vector3();
      for (let i = 0; i < 3; i++) {
        const vertex = mesh.geometry.index!.getX(triangle * 3 + i);
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

test('an instance at a target, or scaled to nothing, or a joint that is flattened, is posed without garbage', () => {
  const { crowd, joints } = edited(1);
  const at = new Vector3().setFromMatrixPosition(getSocketMatrix(crowd, 0, joints[2], new Matrix4()));
  const before = getVertexPosition(crowd, 0, 60, new Vector3()).toArray();
  editsOf(crowd).lookAt(0, joints[2], at);
  const held = getVertexPosition(crowd, 0, 60, new Vector3());
  expect(held.distanceTo(new Vector3().fromArray(before))).toBeLessThan(1e-2);
  editsOf(crowd).setScaleAt(0, joints[2], new Vector3());
  editsOf(crowd).setRotationAt(0, joints[2], TURN, { space: 'model' });
  expect(getVertexPosition(crowd, 0, 60, new Vector3()).toArray().every(Number.isFinite)).toBe(true);
  crowd.setMatrixAt(0, new Matrix4().makeScale(0, 0, 0));
  crowd.instanceMatrix.needsUpdate = true;
  expect(getVertexPosition(crowd, 0, 60, new Vector3()).toArray()).toEqual([0, 0, 0]);
});

test('bad input says what is wrong, and how it is right', () => {
  const { crowd, joints, root, clips } = edited(2);
  const [joint] = joints;
  const q = new Quaternion();
  const v = new Vector3();
  const before = getVertexPosition(crowd, 0, 60, new Vector3()).toArray();
  const nan = new Vector3(Number.NaN, 0, 0);
  expect(() => editsOf(crowd).setRotationAt(2, joint, q)).toThrow('no instance 2');
  expect(() => editsOf(crowd).setRotationAt(0, 'Tail', q)).toThrow('no joint "Tail"');
  expect(() => editsOf(crowd).setRotationAt(0, 999, q)).toThrow('no joint 999');
  expect(() => editsOf(crowd).setRotationAt(0, joint, new Quaternion(0, 0, 0, 0))).toThrow('(0, 0, 0, 0)');
  expect(() => editsOf(crowd).setRotationAt(0, joint, v as never)).toThrow('pass a Quaternion');
  expect(() => editsOf(crowd).setRotationAt(0, joint, undefined as never)).toThrow('is undefined');
  expect(() => editsOf(crowd).setRotationAt(0, joint, q, { weight: 2 })).toThrow('weight is 2');
  expect(() => editsOf(crowd).setRotationAt(0, joint, q, { weight: Number.NaN })).toThrow('weight is NaN');
  expect(() => editsOf(crowd).setPositionAt(0, joint, nan)).toThrow('(NaN, 0, 0)');
  expect(() => editsOf(crowd).setScaleAt(0, joint, nan)).toThrow('(NaN, 0, 0)');
  expect(() => editsOf(crowd).lookAt(0, joint, nan)).toThrow('(NaN, 0, 0)');
  expect(() => editsOf(crowd).lookAt(0, joint, v, { axis: v })).toThrow('axis is (0, 0, 0)');
  expect(() => editsOf(crowd).lookAt(0, joint, v, { limit: -1 })).toThrow('limit is -1');
  expect(() => editsOf(crowd).clearAt(0, 'Tail')).toThrow('no joint "Tail"');
  expect(() => editsOf(crowd).setPoseAt(0, new Bone())).toThrow('Nothing in the pose has the name');
  expect(() => editsOf(crowd).setPoseAt(0, root, { fade: -1 })).toThrow('fade is -1');
  const broken = new Bone();
  broken.name = joint;
  broken.position.x = Number.NaN;
  expect(() => editsOf(crowd).setPoseAt(0, broken)).toThrow(`"${joint}" has position NaN,0,0`);
  expect(getVertexPosition(crowd, 0, 60, v).toArray()).toEqual(before);

  const baked = new SkinnedInstancedMesh(bakeCharacter(root, clips, { encoding: frames }), 1);
  const none = new JointEdits(baked);
  for (const call of [
    () => none.setRotationAt(0, joint, q),
    () => none.lookAt(0, joint, v),
    () => none.setPoseAt(0, root),
    () => none.clearAt(0, joint),
  ]) {
    expect(call).toThrow('bake with encoding "tracks"');
  }
  expect(() => none.clearAt(0)).not.toThrow();
});
