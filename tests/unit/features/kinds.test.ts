import { GPUInstances } from 'skinned-instanced-mesh/webgpu';
import {
  Box3,
  BoxGeometry,
  type BufferGeometry,
  Group,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  type Object3D,
  Raycaster,
  Vector3,
} from 'three';
import { StorageInstancedBufferAttribute } from 'three/webgpu';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { HEADER_PHASE } from '../../../lib/playback/instanceLayout.js';
import { createCoarseCharacter } from '../../support/coarseCharacter.js';
import { createKnight } from '../../support/knight.js';
import {
  AnimationLayers,
  type BoneTexture,
  bakeCharacter,
  type CrowdIntersection,
  CrowdKinds,
  frames,
  getSocketMatrix,
  getVertexPosition,
  InstanceParts,
  JointAttachment,
  type KindMesh,
  SkinnedInstance,
  SkinnedInstancedMesh,
  setBoneTexture,
} from '../../support/library.js';
import { characterHeight, offFrom, Reference } from '../../support/reference.js';
import { createTall } from '../../support/tallBody.js';

const BOUND = 1e-5;

/** Somebody with a hat of another size than his skeleton's, and bones that the knight has not. */
function createRogue() {
  const { root, clips } = createCoarseCharacter();
  const hat = new Mesh(new BoxGeometry(0.3, 0.2, 0.3), new MeshStandardMaterial());
  hat.name = 'Hat';
  hat.position.set(0, 0.25, 0.05);
  hat.rotation.set(0.1, 0.2, 0.3);
  hat.scale.set(1, 2, 1);
  root.getObjectByName('Head')!.add(hat);
  return { root, clips };
}

const models = [createKnight(), createRogue(), createCharacter()];
const bakeAll = (options = {}) =>
  models.map(({ root, clips }, i) => bakeCharacter(root, i === 1 ? [] : clips, options));
/** Baked once for all tests that have no options, which takes longer than they do. */
const baked = bakeAll();

function createCrowd(options?: object) {
  const [knight, ...others] = options ? bakeAll(options) : baked;
  const crowd = new SkinnedInstancedMesh(knight, 6);
  const kinds = new CrowdKinds(crowd);
  for (const other of others) kinds.add(other);
  const matrices = Array.from({ length: 6 }, (_, i) =>
    new Matrix4().makeRotationY(i).setPosition(i * 2, 0, 0),
  );
  for (let i = 0; i < 6; i++) crowd.setMatrixAt(i, matrices[i]).play(i, i % 4, { time: i * 0.11 });
  for (let i = 0; i < 6; i++) kinds.setKindAt(i, i % 3);
  crowd.update(0);
  return { crowd, kinds, matrices, clips: models[0].clips };
}

const hitBy = (crowd: SkinnedInstancedMesh, x: number, y = 1) => {
  crowd.updateMatrixWorld(true);
  return new Raycaster(new Vector3(x, y, 5), new Vector3(0, 0, -1)).intersectObject(
    crowd,
  ) as CrowdIntersection[];
};

test.each([
  ['tracks', undefined],
  ['frames', { encoding: frames }],
])('three kinds of one crowd have the vertices of clones with their own mixers: %s', (name, options) => {
  const { crowd, kinds, matrices, clips } = createCrowd(options);
  const height = characterHeight(models[0].root);
  for (let i = 0; i < 6; i++) {
    const { root } = models[kinds.getKindAt(i)];
    const time = name === 'tracks' ? i * 0.11 : 0;
    crowd.setTimeAt(i, time);
    const { root: posed } = new Reference(root, matrices[i]).pose(clips[i % 4], time);
    expect(offFrom(posed, kinds.meshes[i % 3] as KindMesh, i) / height).toBeLessThan(BOUND);
  }
});

test('rays hit the geometry of the kind, its parts and what is attached to it', () => {
  const { crowd, kinds } = createCrowd();
  const rogue = kinds.meshes[1] as KindMesh;
  crowd.stop(crowd.all);
  const head = new JointAttachment(rogue, 'Head', new BoxGeometry(0.2, 3, 0.2), new MeshStandardMaterial());
  const parts = (x: number, y?: number) =>
    new Set(hitBy(crowd, x, y).map(({ object, instanceId, part }) => `${object.type} ${instanceId} ${part}`));
  expect(parts(2)).toContain('KindMesh 1 Body');
  expect(parts(0)).toContain('SkinnedInstancedMesh 0 Body');
  expect(parts(2, 2.6)).toEqual(new Set(['JointAttachment 1 0']));
  expect(parts(0, 2.6).size).toBe(0);
  kinds.setKindAt(0, rogue).setKindAt(1, 0);
  expect(parts(0)).toContain('KindMesh 0 Body');
  expect(parts(0, 2.6)).toEqual(new Set(['JointAttachment 0 0']));
  expect(parts(2, 2.6).size).toBe(0);
  head.dispose();
  const hat = new InstanceParts(rogue);
  expect(hat.names).toContain('Hat');
  const top = (x: number) => [...parts(x, 2)].filter((one) => one.includes('Hat')).length;
  expect(top(0)).toBe(1);
  hat.setVisibleAt(0, 'Hat', false);
  expect(top(0)).toBe(0);
});

test('objects are hit in the geometry of their kind', () => {
  const { crowd, kinds } = createCrowd();
  const object = new SkinnedInstance(crowd);
  object.position.set(40, 0, 0);
  kinds.setKindAt(object.instanceId, 1);
  const parts = new InstanceParts(kinds.meshes[1] as KindMesh).setVisibleAt(object.instanceId, 'Hat', false);
  const { instanceId } = object.clone();
  expect([kinds.getKindAt(instanceId), parts.getVisibleAt(instanceId, 'Hat')]).toEqual([1, false]);
  crowd.deleteInstance(instanceId);
  const hits = hitBy(crowd, 40);
  expect(new Set(hits.map((hit) => hit.object))).toEqual(new Set([object]));
  expect(new Set(hits.map((hit) => (hit as { mesh?: Object3D }).mesh))).toEqual(new Set([kinds.meshes[1]]));
});

test('kinds that go, as for those of a copy, take along what is attached to them', () => {
  const [one, other] = [createCrowd(), createCrowd()];
  for (const { kinds } of [one, other])
    new JointAttachment(kinds.meshes[1] as KindMesh, 'Head', new BoxGeometry(), new MeshStandardMaterial());
  const members = other.crowd.crowd.members.length;
  one.crowd.copy(other.crowd);
  expect(one.crowd.crowd.members).toHaveLength(members);
  expect(one.kinds.getKindAt(4)).toBe(1);
  one.kinds.remove(1);
  expect(one.crowd.crowd.members).toHaveLength(members - 2);
});

test('rays find whom the GPU places in a kind that is larger than the crowd', async () => {
  const { crowd, kinds, matrices } = createCrowd();
  const storage = new StorageInstancedBufferAttribute(6, 16);
  matrices.forEach((matrix, i) => matrix.toArray(storage.array, i * 16));
  const gpu = new GPUInstances(crowd, { matrices: storage });
  const renderer = { getArrayBufferAsync: async () => storage.array.buffer } as never;
  const above = new Raycaster(new Vector3(4, 4, 9), new Vector3(0, 0, -1));
  expect(await gpu.raycast(renderer, above)).toBe(null);
  const { root } = createRogue();
  root.getObjectByName('Hat')!.scale.y = 30;
  kinds.add(bakeCharacter(root, []));
  expect(await gpu.raycast(renderer, above)).toMatchObject({ instanceId: expect.any(Number) });
});

test('another skeleton is refused, with the way out', () => {
  const { kinds } = createCrowd();
  const turned = createCharacter();
  turned.root.getObjectByName('Head')!.rotation.y += 0.1;
  const joint = createCharacter();
  joint.root.getObjectByName('Head')!.name = 'Skull';
  const { clips } = joint;
  for (const clip of clips)
    for (const track of clip.tracks) track.name = track.name.replace(/^Head\b/, 'Skull');
  expect(() => kinds.add(bakeCharacter(turned.root, []))).toThrow(/"Head" rests elsewhere .* second crowd/);
  expect(() => kinds.add(bakeCharacter(joint.root, clips))).toThrow(/no joint "Skull".* second crowd/);
  expect(kinds.meshes.length).toBe(3);
});

test('below an uneven armature, normals of a kind are turned by joints of the crowd that rest where its own do', () => {
  const squashed = (root: Object3D, scale: number) => {
    const armature = new Group().add(...root.children);
    armature.name = 'Armature';
    armature.scale.set(1, scale, 0.7);
    return root.add(armature);
  };
  const { root, clips } = createKnight();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(squashed(root, 1.3), clips), 1);
  const character = bakeCharacter(squashed(createRogue().root, 1.3), []);
  const kind = new CrowdKinds(crowd).add(character);
  const shadingOf = (mesh: { geometry: BufferGeometry; boneTexture: BoneTexture }) =>
    Array.from(mesh.geometry.attributes.shadingJoint.array, (one) => mesh.boneTexture.jointNames[one - 1]);
  const [before, after] = [character, kind].map(shadingOf);
  expect(new Set(before)).toContain('normals of part 0');
  before.forEach((name, vertex) => {
    const isSkin = name.startsWith('normals');
    expect(after[vertex]).toMatch(isSkin ? /^normals of part/ : name === 'Hat' ? /Head/ : name);
  });
});

test('a kind of other proportions, bound in another way, has the vertices of a clone whose clips are as much longer', () => {
  const { crowd, kinds, matrices } = createCrowd();
  const { root, clips } = createTall();
  const tall = kinds.add(bakeCharacter(root, []));
  const wide = kinds.add(bakeCharacter(createRogue().root, []), { scale: 2 });
  expect(wide.boneTexture).not.toBe(kinds.crowd.boneTexture);
  const height = characterHeight(root);
  for (let i = 0; i < 6; i += 2) {
    kinds.setKindAt(i, tall);
    // The last by other clips of the crowd.
    if (i === 4) {
      setBoneTexture(crowd, bakeCharacter(models[0].root, models[0].clips.slice(0, 1)).boneTexture);
      crowd.play(i, 0, { time: i * 0.11 }).update(0);
    }
    const { root: posed } = new Reference(root, matrices[i]).pose(clips[i % 4], i * 0.11);
    expect(offFrom(posed, tall, i) / height).toBeLessThan(BOUND);
    const hand = posed.getObjectByName('LeftHand')!;
    const socket = getSocketMatrix(tall, i, 'LeftHand', new Matrix4());
    hand.matrixWorld.elements.forEach((one, k) => expect(socket.elements[k]).toBeCloseTo(one, 5));
    const box = new Box3();
    for (let vertex = 0; vertex < tall.geometry.attributes.position.count; vertex++)
      box.expandByPoint(
        getVertexPosition(tall, i, vertex, new Vector3()).applyMatrix4(matrices[i].clone().invert()),
      );
    expect(tall.bounds.ofPoses().containsBox(box)).toBe(true);
  }
});

test('what an instance of other proportions plays by stays its own, whatever happens to it', () => {
  const { crowd, kinds } = createCrowd();
  const { root } = createTall();
  const tall = kinds.add(bakeCharacter(root, []));
  const told = () => {
    for (const mesh of kinds.meshes) void mesh?.list;
    const { data, stride } = crowd.playback.texels.texture;
    return Array.from({ length: crowd.count }, (_, i) => Math.floor(data[i * stride + HEADER_PHASE]));
  };
  const kindsNow = () => Array.from(kinds.kinds.subarray(0, crowd.count));
  kinds.setKindAt(2, tall);
  const hand = (index: number) => getSocketMatrix(crowd, index, 'LeftHand', new Matrix4());
  expect(hand(2)).toEqual(getSocketMatrix(tall, 2, 'LeftHand', new Matrix4()));
  const object = new SkinnedInstance(crowd);
  kinds.setKindAt(object.instanceId, tall);
  const bone = object.getObjectByName('LeftHand')!;
  const at = new Vector3().setFromMatrixPosition(hand(object.instanceId));
  expect(bone.getWorldPosition(new Vector3()).distanceTo(at)).toBeLessThan(BOUND);
  crowd.swapInstances(2, 3);
  expect(told()).toEqual(kindsNow());
  crowd.setCapacity(40);
  new AnimationLayers(crowd, [{ name: 'upper' }]);
  expect(told()).toEqual(kindsNow());
  const copy = crowd.clone();
  const other = copy.views.kinds as CrowdKinds;
  expect(hand(3)).toEqual(getSocketMatrix(copy, 3, 'LeftHand', new Matrix4()));
  expect(other.meshes[3]?.boneTexture).not.toBe(copy.boneTexture);
  crowd.deleteInstance(3);
  expect(told()).toEqual(kindsNow());
  const attached = new JointAttachment(crowd, 'Head', new BoxGeometry(), new MeshStandardMaterial());
  expect([0, 1, object.instanceId].map((id) => kinds.shows(attached, id))).toEqual([true, false, false]);
  tall.dispose();
  expect(kinds.shows(attached, object.instanceId)).toBe(true);
  expect(crowd.crowd.bodies).toBe(null);
});
