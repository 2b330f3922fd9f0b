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
import { describe, expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { describeCharacters, loadCharacter } from '../../support/characters.js';
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
import { nearestFrame } from '../../support/pair.js';
import { characterHeight, Reference } from '../../support/reference.js';
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

describe('morph weights of an attachment', () => {
  test('move it as they move an object that is added to a bone', () => {
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
});

describe('what is attached to a hidden character', () => {
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

  test('is hidden too, until the character is shown again', () => {
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
});

describeCharacters((name) => {
  test('sockets are where the bones are', async () => {
    const { root, clips } = await loadCharacter(name);
    const height = characterHeight(root);
    const place = new Matrix4().makeRotationY(0.7).setPosition(0.2 * height, 0, -height);
    const boneTexture = bakeBoneTexture(root, clips, { clips: clips.slice(0, 3).map((clip) => clip.name) });
    const crowd = new SkinnedInstancedMesh(assembleCharacter(root, boneTexture), 1);
    crowd.setMatrixAt(0, place);
    const reference = new Reference(root, place);
    const matrix = new Matrix4();
    const seen = new Set<string>();
    let worst = 0;
    for (const [i, clip] of clips.slice(0, 3).entries()) {
      const time = nearestFrame(crowd.boneTexture, i, 0.4 * clip.duration);
      crowd.play(0, i, { ...LoopOnceOptions, time });
      reference.pose(clip, time);
      for (const joint of new Set(boneTexture.jointNames)) {
        const bone = reference.root.getObjectByName(joint);
        if (bone === undefined) continue;
        seen.add(joint);
        getSocketMatrix(crowd, 0, joint, matrix);
        const off = new Vector3()
          .setFromMatrixPosition(matrix)
          .distanceTo(new Vector3().setFromMatrixPosition(bone.matrixWorld));
        worst = Math.max(worst, off / height);
        const axes = bone.matrixWorld.elements
          .slice(0, 11)
          .map((value, k) => Math.abs(value - matrix.elements[k]));
        expect(Math.max(...axes) / bone.matrixWorld.getMaxScaleOnAxis()).toBeLessThan(1e-4);
      }
    }
    console.log(`${name}: ${seen.size} sockets, off by ${worst.toExponential(1)} of the height at most`);
    expect(seen.size).toBeGreaterThan(15);
    expect(worst).toBeLessThan(2e-5);
  });
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
