import type { Object3D, SkinnedMesh } from 'three';
import {
  Bone,
  BoxGeometry,
  Color,
  Group,
  InstancedBufferAttribute,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Skeleton,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import type { CrowdMesh } from '../../../lib/crowd/CrowdMesh.js';
import type { LevelMesh } from '../../../lib/features/levels/LevelMesh.js';
import { crowdArguments } from '../../support/crowdArguments.js';
import { partsOf } from '../../support/features.js';
import { createKnight } from '../../support/knight.js';
import { addLevel, levelsOf } from '../../support/levels.js';
import {
  bakeCharacter,
  createLevel,
  getVertexPosition,
  mergeMaterials,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import type { Model } from '../../support/models.js';
import { createStick } from '../../support/stick.js';

/** How far the vertices of a mesh that has the same geometry are from those of the crowd, at most. */
function offBy(crowd: CrowdMesh, level: CrowdMesh, index: number): number {
  const expected = new Vector3();
  const drawn = new Vector3();
  let worst = 0;
  const { count } = crowd.geometry.getAttribute('position');
  expect(level.geometry.getAttribute('position').count).toBe(count);
  for (let vertex = 0; vertex < count; vertex++) {
    getVertexPosition(crowd, index, vertex, expected);
    getVertexPosition(level, index, vertex, drawn);
    worst = Math.max(worst, drawn.distanceTo(expected));
  }
  return worst;
}

/** A crowd in the middle of a fade. */
function createFading({ root, clips }: Pick<Model, 'root' | 'clips'>, options = {}) {
  const crowd = new SkinnedInstancedMesh(...crowdArguments(root, clips, 3, options));
  crowd.setMatrixAt(1, new Matrix4().makeRotationY(1).setPosition(2, 0, 1));
  crowd.play(1, clips.length - 1).update(0.3);
  crowd.play(1, 0, { fade: 0.4 }).update(0.13);
  return crowd;
}

/** Binds a mesh's bones in another order. */
function reorder(mesh: SkinnedMesh): void {
  const { bones, boneInverses } = mesh.skeleton;
  const last = bones.length - 1;
  mesh.skeleton = new Skeleton([...bones].reverse(), [...boneInverses].reverse());
  const { skinIndex } = mesh.geometry.attributes;
  for (let i = 0; i < skinIndex.count; i++) {
    for (let k = 0; k < 4; k++) skinIndex.setComponent(i, k, last - skinIndex.getComponent(i, k));
  }
}

const bodyOf = (root: Object3D) => root.getObjectByName('Body') as SkinnedMesh;

test('bones may be in another order, more of them, and bound to a mesh of another size', () => {
  const crowd = createFading(createCharacter());
  const { root } = createCharacter();
  const body = bodyOf(root);
  reorder(body);
  const twig = new Bone();
  twig.name = 'Twig';
  // No vertex follows it.
  body.skeleton.bones.push(twig);
  body.skeleton.boneInverses.push(new Matrix4());
  root.add(twig);
  expect(offBy(crowd, addLevel(crowd, createLevel(crowd, root), 10), 1)).toBe(0);

  const large = new Matrix4().makeScale(100, 100, 100).setPosition(3, 0, 0);
  const back = large.clone().invert();
  body.geometry.applyMatrix4(large);
  for (const inverse of body.skeleton.boneInverses) inverse.multiply(back);
  expect(offBy(crowd, addLevel(crowd, createLevel(crowd, root), 20), 1)).toBeLessThan(1e-5);
});

test('rigid meshes follow the joint that they hang on, if they are none themselves', () => {
  const crowd = createFading(createKnight());
  const { root } = createKnight();
  root.getObjectByName('Sword')?.position.set(0.1, 0.2, 0.3);
  const sword = root.getObjectByName('Sword') as Mesh;
  const level = addLevel(crowd, createLevel(crowd, root), 10, 0);
  sword.name = 'Sword_LOD1';
  const renamed = addLevel(crowd, createLevel(crowd, root), 20, 0);
  // The bone texture's joint "Sword" stands where the sword was baked; the other follows the hand.
  const off = (mesh: LevelMesh) => {
    const { count } = crowd.geometry.getAttribute('position');
    const parts = crowd.geometry.getAttribute('partIndex');
    const vertex = [...Array(count).keys()].find(
      (i) => parts.getX(i) === partsOf(crowd).names.indexOf('Sword'),
    );
    const expected = getVertexPosition(crowd, 1, vertex as number, new Vector3());
    return getVertexPosition(mesh, 1, vertex as number, new Vector3())
      .sub(expected)
      .length();
  };
  expect(off(level)).toBeLessThan(1e-6);
  expect(off(renamed)).toBeCloseTo(Math.hypot(0.1, 0.2, 0.3), 5);
});

test('parts are found by name, and looks are those of the crowd', () => {
  const { root, clips } = createKnight();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips, { mergeMaterials: mergeMaterials() }), 4);
  const far = createKnight().root;
  far.getObjectByName('Shield')?.removeFromParent();
  far.getObjectByName('Sword')!.name = 'Sword.LOD2';
  bodyOf(far).name = 'BodyLod2';
  const level = addLevel(crowd, createLevel(crowd, far), 10);
  const parts = level.geometry.getAttribute('partIndex');
  const numbers = new Set(Array.from({ length: parts.count }, (_, i) => parts.getX(i)));
  expect([...numbers].map((number) => partsOf(crowd).names[number]).sort()).toEqual(['Body', 'Sword']);

  crowd.setColorAt(1, new Color(1, 0, 0));
  partsOf(crowd).setVisibleAt(2, 'Sword', false);
  partsOf(crowd).setColorAt(2, 'Body', new Color(0, 1, 0));
  expect(level.instanceColor).toBe(crowd.instanceColor);
  expect(level.parts).toBe(crowd.parts);
  partsOf(crowd).setVisiblePartsAt(3, []);
  crowd.setCapacity(9).swapInstances(1, 8);
  expect(level.capacity).toBe(9);
  expect(level.instanceColor?.count).toBe(9);
  expect(level.instanceColor?.getY(8)).toBe(0);
  expect(level.instanceMatrix).toBe(crowd.instanceMatrix);
  crowd.count = 5;
  expect(level.count).toBe(5);

  bodyOf(far)?.removeFromParent();
  const torso = createCharacter().root;
  torso.getObjectByName('Body')!.name = 'Torso';
  expect(() => addLevel(crowd, createLevel(crowd, torso), 20)).toThrow(
    /Mesh "Torso" is none of the character's parts, which are .*"Body".*parts: { 'Torso': 'Body' }/,
  );
  const named = addLevel(crowd, createLevel(crowd, torso, { parts: { Torso: 'Body' } }), 20);
  expect(named.geometry.getAttribute('partIndex').getX(0)).toBe(partsOf(crowd).names.indexOf('Body'));
});

test('levels are from near to far, by distance or by size', () => {
  const { root, clips } = createStick();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
  expect(levelsOf(crowd).levels.map(({ object }) => object)).toEqual([crowd]);
  const far = addLevel(crowd, createLevel(crowd, root), 30, 0.2, { castShadow: true });
  const near = addLevel(crowd, createLevel(crowd, root), -10);
  expect(addLevel(crowd, null, 90)).toBeNull();
  expect(levelsOf(crowd).levels.map(({ object }) => object)).toEqual([crowd, near, far, null]);
  expect(levelsOf(crowd).levels.map(({ distance }) => distance)).toEqual([0, 10, 30, 90]);
  expect(levelsOf(crowd).levels[2]).toMatchObject({ hysteresis: 0.2 });
  expect([far.list, near.list]).toEqual([1 << 2, 1 << 1]);
  expect([far.castShadow, near.castShadow]).toEqual([true, false]);
  expect(crowd.children).toEqual([far, near]);

  expect(() => addLevel(crowd, createLevel(crowd, root), { screenShare: 0.5 })).toThrow(
    "CrowdLevels: the crowd's other levels go by distance, this one by screenShare; use one for all.",
  );
  expect(levelsOf(crowd).remove(31)).toBe(false);
  expect(levelsOf(crowd).remove(levelsOf(crowd).levels[0])).toBe(false);
  expect(levelsOf(crowd).remove(30)).toBe(true);
  expect(levelsOf(crowd).remove(near)).toBe(true);
  expect(crowd.children).toEqual([]);
  expect(far.list).toBe(0);
  expect(levelsOf(crowd).remove(90)).toBe(true);
  expect(crowd.attachments).toEqual([]);

  const small = addLevel(crowd, createLevel(crowd, root), { screenShare: 0.1 });
  const large = addLevel(crowd, createLevel(crowd, root), { screenShare: 0.4 });
  expect([large.list, small.list]).toEqual([1 << 1, 1 << 2]);
  for (let i = 3; i < 8; i++) addLevel(crowd, null, { screenShare: 0.01 });
  expect(() => addLevel(crowd, null, { screenShare: 0.01 })).toThrow(
    'CrowdLevels: there can be 8 levels, the crowd itself included.',
  );
});

test('what does not fit the crowd is an error that says so', () => {
  const { root, clips } = createCharacter();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
  const add = (change: (root: Object3D) => void) => () => {
    const { root } = createCharacter();
    change(root);
    addLevel(crowd, createLevel(crowd, root), 10);
  };
  expect(add((other) => (other.getObjectByName('Head')!.name = 'Skull'))).toThrow(
    /The crowd's bone texture has no joint "Skull", which mesh "Body" follows; it has .*"Hips"/,
  );
  expect(add((other) => bodyOf(other).skeleton.boneInverses[3].makeTranslation(1, 2, 3))).toThrow(
    /Bone ".*" of mesh "Body" stands another way in the bind pose than the crowd's/,
  );
  expect(
    add((other) => {
      const box = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
      box.name = 'Crate';
      other.add(box);
      bodyOf(other).removeFromParent();
    }),
  ).toThrow('Mesh "Crate" hangs on none of the crowd\'s joints');
  expect(add((other) => bodyOf(other).removeFromParent())).toThrow('No visible mesh under "Character"');
  expect(() => addLevel(crowd, createLevel(crowd, new Group() as Object3D), 10)).toThrow('No visible mesh');
  expect(() => addLevel(crowd, crowd.geometry, Number.NaN)).toThrow('a level begins at NaN; use a finite');
  expect(() => addLevel(crowd, crowd.geometry, 1, 2)).toThrow(
    'CrowdLevels: hysteresis is 2; use a share of the distance',
  );
  expect(() => addLevel(crowd, crowd.geometry, { screenShare: 0 })).toThrow('a level begins at 0; use');
  expect(() => (levelsOf(crowd).shadowLevel = 0.5)).toThrow('CrowdLevels: shadowLevel is 0.5; use 0, 1');
  for (const share of [-0.1, 1.5, Number.NaN]) {
    expect(() => {
      levelsOf(crowd).dissolve = share;
    }).toThrow(`CrowdLevels: dissolve is ${share}; use a share of the distance, 0 to 1.`);
  }
  crowd.geometry.setAttribute('wind', new InstancedBufferAttribute(new Float32Array(4), 4));
  expect(() => addLevel(crowd, createLevel(crowd, root), 1)).toThrow(
    'CrowdLevels: the instanced attribute "wind" of your own',
  );
  expect(levelsOf(crowd).levels).toHaveLength(1);
  expect(crowd.children).toEqual([]);
});
