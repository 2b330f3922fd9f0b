import {
  BoxGeometry,
  Float32BufferAttribute,
  Group,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Raycaster,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { morphsOf, partsOf } from '../../support/features.js';
import {
  assembleCharacter,
  bakeBoneTexture,
  bakeCharacter,
  type CrowdMesh,
  getSocketMatrix,
  getVertexPosition,
  JointAttachment,
  LoopOnceOptions,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { Reference } from '../../support/reference.js';
import { createStick, createStickCrowd } from '../../support/stick.js';

const createCrowd = (count = 2) => createStickCrowd(count);

/** Adds a morph target that moves every vertex along y. */
function withMorph(geometry: BoxGeometry): BoxGeometry {
  const { count } = geometry.getAttribute('position');
  const way = Array.from({ length: count }, () => [0, 1, 0]).flat();
  geometry.morphAttributes.position = [new Float32BufferAttribute(way, 3)];
  geometry.morphTargetsRelative = true;
  return geometry;
}

const influence = (value: number) => Object.assign(new Mesh(), { morphTargetInfluences: [value] });

const attachBox = (crowd: JointAttachment['owner']) =>
  new JointAttachment(crowd, 'Tip', new BoxGeometry(), new MeshBasicMaterial());

test('morph weights of an attachment move it as they move an object that is added to a bone', () => {
  const { root, clips, bones } = createStick();
  bones[1].rotation.z = 0.4;
  bones[1].scale.setScalar(2);
  root.updateMatrixWorld(true);
  const offset = new Matrix4().makeRotationX(0.7).setPosition(1, 2, 3);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
  const hat = new JointAttachment(crowd, 'Tip', withMorph(new BoxGeometry()), new MeshBasicMaterial(), {
    offset,
  });
  morphsOf(hat);
  hat.setMorphAt(0, influence(0.5));

  const mesh = new Mesh(withMorph(new BoxGeometry()), new MeshBasicMaterial());
  mesh.applyMatrix4(offset);
  mesh.morphTargetInfluences = [0.5];
  bones[1].add(mesh);
  root.updateMatrixWorld(true);
  const expected = new Vector3();
  const drawn = new Vector3();
  for (let vertex = 0; vertex < 24; vertex++) {
    mesh.getVertexPosition(vertex, expected).applyMatrix4(mesh.matrixWorld);
    expect(getVertexPosition(hat, 0, vertex, drawn).distanceTo(expected)).toBeLessThan(1e-5);
  }
});

/** Whether a ray down onto an instance's box hits it. */
function hits(crowd: SkinnedInstancedMesh, mesh: CrowdMesh, index: number): boolean {
  crowd.updateMatrixWorld(true);
  const matrix = getSocketMatrix(crowd, index, 'Tip', new Matrix4());
  const { x } = new Vector3().setFromMatrixPosition(matrix);
  const found = new Raycaster(new Vector3(x, 9, 0), new Vector3(0, -1, 0)).intersectObject(mesh, false);
  return found.some(({ instanceId }) => instanceId === index);
}
function createApart() {
  const crowd = createCrowd(3);
  for (let i = 0; i < 3; i++) crowd.setMatrixAt(i, new Matrix4().makeTranslation(i * 10, 0, 0));
  const sword = attachBox(crowd);
  const gem = attachBox(sword);
  return { crowd, sword, gem };
}

test('what is attached to a hidden character is hidden too, until it is shown again', () => {
  const { crowd, sword, gem } = createApart();
  expect([0, 1].map((i) => hits(crowd, sword, i))).toEqual([true, true]);
  crowd.setVisibleAt(1, false);
  for (const mesh of [sword, gem]) {
    expect([0, 1, 2].map((i) => hits(crowd, mesh, i))).toEqual([true, false, true]);
    expect(partsOf(mesh).getVisibleAt(1, 0), 'what was asked of the attachment itself').toBe(true);
  }
  partsOf(sword).setVisibleAt(1, 0, true);
  expect(hits(crowd, sword, 1)).toBe(false);
  crowd.setVisibleAt(1, true);
  for (const mesh of [sword, gem]) expect(hits(crowd, mesh, 1)).toBe(true);
});

test('a node that is no joint is a socket when baked as one', () => {
  const { root, clips } = createCharacter();
  const grip = new Group();
  grip.name = 'Grip';
  grip.position.set(0, -0.1, 0.05);
  root.getObjectByName('RightHand')?.add(grip);
  expect(() =>
    getSocketMatrix(new SkinnedInstancedMesh(bakeCharacter(root, clips), 1), 0, 'Grip', new Matrix4()),
  ).toThrow(/There is no joint "Grip"; there are .*"Hips".*sockets: \["Grip"\]/);
  expect(() => bakeBoneTexture(root, clips, { sockets: ['Grab'] })).toThrow('sockets names "Grab"');

  const boneTexture = bakeBoneTexture(root, clips, { sockets: ['Grip'], fps: 48 });
  const crowd = new SkinnedInstancedMesh(assembleCharacter(root, boneTexture), 1);
  crowd.play(0, 1, { ...LoopOnceOptions, time: 0.5 });
  const reference = new Reference(root, new Matrix4()).pose(clips[1], 0.5);
  const expected = new Vector3();
  reference.root.getObjectByName('Grip')?.getWorldPosition(expected);
  const drawn = new Vector3().setFromMatrixPosition(getSocketMatrix(crowd, 0, 'Grip', new Matrix4()));
  expect(drawn.distanceTo(expected)).toBeLessThan(1e-5);
});
