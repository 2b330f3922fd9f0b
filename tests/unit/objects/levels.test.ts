import type { InterleavedBufferAttribute, Object3D, SkinnedMesh } from 'three';
import {
  Bone,
  BoxGeometry,
  Color,
  DataTexture,
  Group,
  InstancedBufferAttribute,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  Raycaster,
  Skeleton,
  Vector3,
} from 'three';
import * as SkeletonUtils from 'three/addons/utils/SkeletonUtils.js';
import { expect, test, vi } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import type { CrowdMesh } from '../../../lib/objects/CrowdMesh.js';
import type { LevelMesh } from '../../../lib/objects/LevelMesh.js';
import { vertexPositionAt } from '../../../lib/queries/poseQueries.js';
import { describeCharacters, loadCharacter } from '../../support/characters.js';
import { createKnight } from '../../support/knight.js';
import { BoneTexture, SkinnedInstancedMesh } from '../../support/library.js';
import type { Model } from '../../support/models.js';
import { createMorphingStick, createStick } from '../../support/stick.js';

const ENCODINGS = ['tracks', 'matrix'] as const;

/** How far the vertices of a mesh that has the same geometry are from those of the crowd, at most. */
function offBy(crowd: CrowdMesh, level: CrowdMesh, index: number): number {
  const expected = new Vector3();
  const drawn = new Vector3();
  let worst = 0;
  const { count } = crowd.geometry.getAttribute('position');
  expect(level.geometry.getAttribute('position').count).toBe(count);
  for (let vertex = 0; vertex < count; vertex++) {
    vertexPositionAt(crowd, index, vertex, expected, 'test');
    vertexPositionAt(level, index, vertex, drawn, 'test');
    worst = Math.max(worst, drawn.distanceTo(expected));
  }
  return worst;
}

/** A crowd in the middle of a fade. */
function createFading({ root, clips }: Pick<Model, 'root' | 'clips'>, options = {}) {
  const crowd = SkinnedInstancedMesh.from(root, clips, 3, options);
  crowd.setMatrixAt(1, new Matrix4().makeRotationY(1).setPosition(2, 0, 1));
  crowd.play(1, clips.length - 1).update(0.3);
  crowd.play(1, 0, { fade: 0.4 }).update(0.13);
  return crowd;
}

describeCharacters((name) => {
  test('a level of the same model has the same pose, in the middle of a fade too', async () => {
    const character = await loadCharacter(name);
    for (const encoding of ENCODINGS) {
      const crowd = createFading(character, { encoding });
      const level = crowd.addLevel(character.root, 10);
      expect(offBy(crowd, level, 1)).toBe(0);
      expect(offBy(crowd, level, 0)).toBe(0);
      crowd.dispose();
    }
  });
});

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
  expect(offBy(crowd, crowd.addLevel(root, 10), 1)).toBe(0);

  const large = new Matrix4().makeScale(100, 100, 100).setPosition(3, 0, 0);
  const back = large.clone().invert();
  body.geometry.applyMatrix4(large);
  for (const inverse of body.skeleton.boneInverses) inverse.multiply(back);
  expect(offBy(crowd, crowd.addLevel(root, 20), 1)).toBeLessThan(1e-5);
});

test('rigid meshes follow the joint that they hang on, if they are none themselves', () => {
  const crowd = createFading(createKnight());
  const { root } = createKnight();
  root.getObjectByName('Sword')?.position.set(0.1, 0.2, 0.3);
  const sword = root.getObjectByName('Sword') as Mesh;
  const level = crowd.addLevel(root, 10, 0);
  sword.name = 'Sword_LOD1';
  const renamed = crowd.addLevel(root, 20, 0);
  // The bone texture's joint "Sword" stands where the sword was baked; the other follows the hand.
  const off = (mesh: LevelMesh) => {
    const { count } = crowd.geometry.getAttribute('position');
    const parts = crowd.geometry.getAttribute('partIndex');
    const vertex = [...Array(count).keys()].find((i) => parts.getX(i) === crowd.partNames.indexOf('Sword'));
    const expected = vertexPositionAt(crowd, 1, vertex as number, new Vector3(), 'test');
    return vertexPositionAt(mesh, 1, vertex as number, new Vector3(), 'test')
      .sub(expected)
      .length();
  };
  expect(off(level)).toBeLessThan(1e-6);
  expect(off(renamed)).toBeCloseTo(Math.hypot(0.1, 0.2, 0.3), 5);
});

test('parts are found by name, and looks are those of the crowd', () => {
  const { root, clips } = createKnight();
  const crowd = SkinnedInstancedMesh.from(root, clips, 4, { mergeMaterials: true });
  expect(crowd.partNames).toEqual(['Body', 'Shield', 'Boss', 'Sword'].sort((a, b) => order(a) - order(b)));
  function order(part: string) {
    return crowd.partNames.indexOf(part);
  }

  const far = createKnight().root;
  far.getObjectByName('Shield')?.removeFromParent();
  (far.getObjectByName('Sword') as Object3D).name = 'Sword.LOD2';
  bodyOf(far).name = 'BodyLod2';
  const level = crowd.addLevel(far, 10);
  const parts = level.geometry.getAttribute('partIndex');
  const numbers = new Set(Array.from({ length: parts.count }, (_, i) => parts.getX(i)));
  expect([...numbers].map((number) => crowd.partNames[number]).sort()).toEqual(['Body', 'Sword']);

  crowd.setColorAt(1, new Color(1, 0, 0));
  crowd.setPartVisibleAt(2, 'Sword', false);
  crowd.setPartColorAt(2, 'Body', new Color(0, 1, 0));
  expect(level.instanceColor).toBe(crowd.instanceColor);
  expect(level.parts).toBe(crowd.parts);
  expect(level.wardrobe).toBe(crowd.wardrobe);
  crowd.setVisiblePartsAt(3, []);
  crowd.setCapacity(9).swapInstances(1, 8);
  expect(level.capacity).toBe(9);
  expect(level.instanceColor?.count).toBe(9);
  expect(level.instanceColor?.getY(8)).toBe(0);
  expect(level.instanceMatrix).toBe(crowd.instanceMatrix);
  crowd.count = 5;
  expect(level.count).toBe(5);

  bodyOf(far)?.removeFromParent();
  const torso = createCharacter().root;
  (torso.getObjectByName('Body') as Object3D).name = 'Torso';
  expect(() => crowd.addLevel(torso, 20)).toThrow(
    /SkinnedInstancedMesh.addLevel: mesh "Torso" is none of the character's parts, which are "Body".*parts: { 'Torso': 'Body' }/,
  );
  const named = crowd.addLevel(torso, 20, 0, { parts: { Torso: 'Body' } });
  expect(named.geometry.getAttribute('partIndex').getX(0)).toBe(crowd.partNames.indexOf('Body'));
});

test('morph targets are found by name and have the influences of the crowd', () => {
  const { root, clips } = createMorphingStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 2, { encoding: 'quaternion' });
  const level = crowd.addLevel(createMorphingStick().root, 5);
  const still = crowd.addLevel(createStick().root, 10);
  crowd.play(1, 0).update(0.5);
  expect(offBy(crowd, level, 1)).toBe(0);
  expect(level.morphTargetInfluences).toBe(crowd.morphTargetInfluences);
  expect(still.morphTargetInfluences).toBeUndefined();

  const mesh = new Mesh();
  mesh.morphTargetInfluences = [0.25];
  crowd.setMorphAt(1, mesh);
  expect(level.morphTexture).toBe(crowd.morphTexture);
  expect(still.morphTexture).toBeNull();
  expect(offBy(crowd, level, 1)).toBe(0);
  let disposed = 0;
  crowd.morphTexture?.addEventListener('dispose', () => disposed++);
  level.dispose();
  still.dispose();
  expect(disposed).toBe(0);
  expect(crowd.morphTexture).not.toBeNull();
});

test('levels are from near to far, by distance or by size', () => {
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
  expect(crowd.levels.map(({ object }) => object)).toEqual([crowd]);
  const far = crowd.addLevel(root, 30, 0.2, { castShadow: true });
  const near = crowd.addLevel(root, -10);
  expect(crowd.addLevel(null, 90)).toBeNull();
  expect(crowd.levels.map(({ object }) => object)).toEqual([crowd, near, far, null]);
  expect(crowd.levels.map(({ distance }) => distance)).toEqual([0, 10, 30, 90]);
  expect(crowd.levels[2]).toMatchObject({ hysteresis: 0.2 });
  expect([far.level, near.level]).toEqual([2, 1]);
  expect([far.castShadow, near.castShadow]).toEqual([true, false]);
  expect(crowd.children).toEqual([far, near]);

  expect(() => crowd.addLevel(root, { screenShare: 0.5 })).toThrow(
    "SkinnedInstancedMesh.addLevel: the crowd's other levels go by distance, this one by screenShare; use one for all.",
  );
  expect(crowd.removeLevel(31)).toBe(false);
  expect(crowd.removeLevel(crowd.levels[0])).toBe(false);
  expect(crowd.removeLevel(30)).toBe(true);
  expect(crowd.removeLevel(near)).toBe(true);
  expect(crowd.children).toEqual([]);
  expect(far.level).toBe(-1);
  expect(crowd.removeLevel(90)).toBe(true);
  expect(crowd.attachments).toEqual([]);

  const small = crowd.addLevel(root, { screenShare: 0.1 });
  const large = crowd.addLevel(root, { screenShare: 0.4 });
  expect([large.level, small.level]).toEqual([1, 2]);
  for (let i = 3; i < 8; i++) crowd.addLevel(null, { screenShare: 0.01 });
  expect(() => crowd.addLevel(null, { screenShare: 0.01 })).toThrow(
    'SkinnedInstancedMesh.addLevel: the crowd has 8 levels, itself included; there can be 8.',
  );
});

test('clones and copies have levels of their own, which go with them', () => {
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 2);
  const level = crowd.addLevel(root, 5, 0.1, { influences: 1 });
  crowd.addLevel(null, 50);
  crowd.shadowLevel = 1;
  crowd.levelFade = 0.3;
  level.castShadow = true;

  const copy = crowd.clone();
  expect(copy.levels).toHaveLength(3);
  expect(copy.shadowLevel).toBe(1);
  expect(copy.levelFade).toBe(0.3);
  const [made] = copy.children as LevelMesh[];
  expect(copy.levels[1]).toMatchObject({ object: made, distance: 5, hysteresis: 0.1 });
  expect([made.castShadow, made.influences, made.level, made.count]).toEqual([true, 1, 1, 2]);
  expect(made.playback).toBe(copy.playback);
  expect(made.crowd).toBe(copy.crowd);
  expect(copy.levels[1]).not.toBe(crowd.levels[1]);

  const other = SkinnedInstancedMesh.from(root, clips, 5);
  const before = other.addLevel(root, 7);
  other.copy(crowd);
  expect(before.level).toBe(-1);
  expect(other.levels.map(({ distance }) => distance)).toEqual([0, 5, 50]);
  expect(other.children).toHaveLength(1);
  expect(crowd.clone(false).levels).toHaveLength(1);

  copy.dispose();
  expect(copy.levels.filter(({ object }) => object !== null)).toEqual([copy.levels[0]]);
  expect(level.level).toBe(1);
  expect(() => (level as Object3D).copy(level)).toThrow('LevelMesh.copy: a level belongs to its crowd');
  expect(level.clone().count).toBe(0);
});

test('disposing a level frees what is its own and nothing of the crowd', () => {
  const { root, clips } = createKnight();
  const crowd = SkinnedInstancedMesh.from(root, clips, 2, { mergeMaterials: true });
  crowd.setColorAt(0, new Color(1, 0, 0));
  const level = crowd.addLevel(createKnight().root, 5, 0, { mergeMaterials: true });
  const events: string[] = [];
  const { instanceColor, instanceMatrix } = crowd;
  crowd.geometry.addEventListener('dispose', () => events.push('crowd'));
  level.geometry.addEventListener('dispose', () => events.push('level'));
  level.addEventListener('dispose' as never, () => {
    events.push(level.instanceMatrix === instanceMatrix ? 'shared' : 'own');
    events.push(level.instanceColor === null ? 'none' : 'colors');
  });
  (level.material as MeshStandardMaterial).addEventListener('dispose', () => events.push('material'));
  crowd.removeLevel(level);
  expect(events.sort()).toEqual(['level', 'material', 'none', 'own']);
  expect(crowd.instanceColor).toBe(instanceColor);
  expect(crowd.geometry.getAttribute('instanceClip')).not.toBe(undefined);
});

test('a level of merged materials that are the crowd’s has what the crowd has packed, and leaves it alone', () => {
  const texture = (value: number) => new DataTexture(new Uint8Array(4).fill(value), 1, 1);
  const materials = [1, 2, 3].map((value) => new MeshStandardMaterial({ map: texture(value) }));
  const knight = (worn: readonly MeshStandardMaterial[]) => {
    const { root, clips } = createKnight();
    const meshes: Mesh[] = [];
    root.traverse((node) => {
      if ((node as Mesh).isMesh) meshes.push(node as Mesh);
    });
    meshes.forEach((mesh, i) => {
      mesh.material = worn[i % worn.length];
    });
    return { root, clips };
  };
  const { root, clips } = knight(materials);
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { mergeMaterials: true });
  const level = crowd.addLevel(knight([...materials].reverse()).root, 5, 0, { mergeMaterials: true });
  expect(level.material).toBe(crowd.material);
  const numbers = ({ geometry: { attributes } }: CrowdMesh) =>
    Array.from({ length: attributes.position.count }, (_, i) => attributes.partIndex.getY(i));
  expect(new Set(numbers(crowd)).size).toBe(3);
  expect(numbers(level)).toEqual(numbers(crowd).map((number) => 2 - number));
  const own = new MeshStandardMaterial({ map: texture(4), color: 0xff0000 });
  const mixed = crowd.addLevel(knight([materials[0], own]).root, 9, 0, { mergeMaterials: true });
  expect(mixed.material).toContain(crowd.material);
  const small = crowd.addLevel(knight(materials).root, 12, 0, { mergeMaterials: { maxSize: 1 } });
  expect(small.material, 'of layers of another size').not.toBe(crowd.material);

  let disposed = 0;
  (crowd.material as MeshStandardMaterial).addEventListener('dispose', () => disposed++);
  crowd.removeLevel(level);
  expect(disposed).toBe(0);
  crowd.dispose();
  expect(disposed).toBe(1);
});

test('another bone texture, geometry or material takes levels along', () => {
  const { root, clips } = createStick({ Slide: 1 });
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
  const level = crowd.addLevel(root, 5);
  const other = createStick({ Slide: 2 });
  const boneTexture = BoneTexture.bake(other.root, other.clips, { encoding: 'quaternion' });
  crowd.boneTexture = boneTexture;
  expect(level.boneTexture).toBe(boneTexture);
  crowd.interpolate = false;
  expect(level.interpolate).toBe(false);

  level.geometry = createStick().mesh.geometry;
  crowd.play(0, 0).update(0.7);
  expect(offBy(crowd, level, 0)).toBe(0);
  const buffers = [level, crowd].map(({ geometry }) => geometry.getAttribute('instanceClip'));
  expect((buffers[0] as InterleavedBufferAttribute).data).toBe(
    (buffers[1] as InterleavedBufferAttribute).data,
  );
});

test('what is said of the crowd goes for its levels: other geometry, and that bounds do not hold', () => {
  const { root, clips } = createMorphingStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { encoding: 'quaternion' });
  const level = crowd.addLevel(createMorphingStick().root, 5);
  crowd.frustumCulled = false;
  expect(level.frustumCulled).toBe(false);
  expect(level.geometry.morphAttributes.position).toHaveLength(1);
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { geometry } = createMorphingStick().mesh;
  const { position: targets = [] } = geometry.morphAttributes;
  geometry.morphAttributes.position = [...targets, ...targets];
  crowd.geometry = geometry;
  expect(warn.mock.calls.flat().join()).toContain(
    'has 1 morph targets and the crowd 2; the level is drawn without',
  );
  warn.mockRestore();
  expect(level.geometry.morphAttributes.position).toBeUndefined();
});

test('SkeletonUtils.clone clones crowds with their levels', () => {
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 2);
  crowd.addLevel(root, 5);
  const group = new Group().add(crowd);
  const [copy] = SkeletonUtils.clone(group).children as SkinnedInstancedMesh[];
  expect(copy.levels).toHaveLength(2);
  expect(copy.levels[1].object).toBe(copy.children[0]);
});

test('a geometry may be a level too', () => {
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
  const level = crowd.addLevel(crowd.geometry, 5);
  expect(level.material).toBe(crowd.material);
  expect(level.geometry).not.toBe(crowd.geometry);
  expect(offBy(crowd, level, 0)).toBe(0);
  crowd.material = [new MeshBasicMaterial(), new MeshBasicMaterial()];
  expect(() => crowd.addLevel(crowd.geometry, 5)).toThrow("has no groups for the crowd's 2 materials");
  const material = new MeshBasicMaterial();
  expect(crowd.addLevel(crowd.geometry, 5, 0, { material }).material).toBe(material);
});

test('rays hit the crowd alone, and JSON holds no levels', () => {
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
  crowd.addLevel(root, 5);
  crowd.attachToJoint('Tip', new BoxGeometry(), new MeshBasicMaterial());
  crowd.updateMatrixWorld(true);
  const ray = new Raycaster(new Vector3(5.2, 0.2, 5), new Vector3(0, 0, -1));
  crowd.play(0, 0);
  const hits = ray.intersectObject(crowd).filter(({ object }) => object === crowd || 'isLevelMesh' in object);
  expect(hits.map(({ object }) => object)).toEqual([crowd]);
  const { object } = crowd.toJSON() as unknown as { object: { children: unknown[] } };
  expect(object.children).toHaveLength(1);
  expect(crowd.levels).toHaveLength(2);
});

test('what does not fit the crowd is an error that says so', () => {
  const { root, clips } = createCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
  const add = (change: (root: Object3D) => void) => () => {
    const { root } = createCharacter();
    change(root);
    crowd.addLevel(root, 10);
  };
  expect(
    add((other) => {
      (other.getObjectByName('Head') as Object3D).name = 'Skull';
    }),
  ).toThrow(
    /addLevel: the crowd's bone texture has no joint "Skull", which mesh "Body" follows; it has "Hips"/,
  );
  expect(add((other) => bodyOf(other).skeleton.boneInverses[3].makeTranslation(1, 2, 3))).toThrow(
    /addLevel: bone ".*" of mesh "Body" stands another way in the bind pose than the crowd's/,
  );
  expect(
    add((other) => {
      const box = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
      box.name = 'Crate';
      other.add(box);
      bodyOf(other).removeFromParent();
    }),
  ).toThrow('addLevel: mesh "Crate" hangs on none of the crowd\'s joints');
  expect(add((other) => bodyOf(other).removeFromParent())).toThrow(
    'SkinnedInstancedMesh.addLevel: no visible mesh under "Character"',
  );
  expect(() => crowd.addLevel(new Group() as Object3D, 10)).toThrow('addLevel: no visible mesh');
  expect(() => crowd.addLevel('far' as unknown as Group, 10)).toThrow(
    'addLevel: "far" is no object or geometry',
  );
  expect(() => crowd.addLevel(root, Number.NaN)).toThrow(
    'addLevel: the distance is NaN; use a finite number',
  );
  expect(() => crowd.addLevel(root, 1, 2)).toThrow('addLevel: hysteresis is 2; use a share of the distance');
  expect(() => crowd.addLevel(root, { screenShare: 0 })).toThrow('addLevel: screenShare is 0');
  expect(() => {
    crowd.shadowLevel = 0.5;
  }).toThrow('SkinnedInstancedMesh.shadowLevel: 0.5 is no number of levels');
  for (const share of [-0.1, 1.5, Number.NaN]) {
    expect(() => {
      crowd.levelFade = share;
    }).toThrow(`SkinnedInstancedMesh.levelFade: ${share} is no share of a distance; use 0 to 1.`);
  }
  expect(() => Object.assign(crowd, { levelFade: '0.5' })).toThrow(
    'SkinnedInstancedMesh.levelFade: "0.5" is no share of a distance; use 0 to 1.',
  );
  expect(() => Object.assign(crowd, { levelFade: null })).toThrow('levelFade: null is no share');
  expect(() => crowd.addLevel(null, 5, '0.5' as unknown as number)).toThrow('addLevel: hysteresis is "0.5"');
  crowd.geometry.setAttribute('wind', new InstancedBufferAttribute(new Float32Array(4), 4));
  expect(() => crowd.addLevel(root, 1)).toThrow('addLevel: the instanced attribute "wind" of your own');
  expect(crowd.levels).toHaveLength(1);
  expect(crowd.children).toEqual([]);
});

test('numbers of a level that cannot be are errors as they are set', () => {
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
  const level = crowd.addLevel(root, 10, 0.1);
  crowd.addLevel(null, 20);
  const set = (at: number, values: object) => () => void Object.assign(crowd.levels[at], values);
  const before = crowd.levels.map((one) => ({ ...one }));
  for (const at of [0, 1, 2]) {
    for (const distance of [Number.NaN, -1, '5', null, undefined]) {
      const shown = typeof distance === 'string' ? '"5"' : distance;
      const message = `SkinnedInstancedMesh.levels: distance is ${shown}; use world units from 0.`;
      expect(set(at, { distance })).toThrow(message);
    }
    for (const hysteresis of [Number.NaN, -0.1, 1.1, '0', null]) {
      expect(set(at, { hysteresis })).toThrow('SkinnedInstancedMesh.levels: hysteresis is ');
    }
    for (const poseRate of [Number.NaN, -1, '15', null, true]) {
      expect(set(at, { poseRate })).toThrow(/levels: poseRate is .*; use a number of poses a second/);
    }
    expect(set(at, { attachments: 1 })).toThrow('levels: attachments is 1; use true or false.');
    expect(set(at, { screenShare: 0.5 })).toThrow(
      'SkinnedInstancedMesh.levels: screenShare is 0.5, and the level goes by the other measure; remove it, and add another.',
    );
    expect(set(at, { screenShare: -1 })).toThrow("use a share of the picture's height above 0.");
  }
  expect(() => Object.assign(level.entry, { distance: Number.NaN })).toThrow('levels: distance is NaN');
  expect(() => crowd.addLevel(null, 5, 0, { poseRate: '15' as unknown as number })).toThrow(
    'SkinnedInstancedMesh.addLevel: poseRate is "15"; use a number of poses a second',
  );
  expect(() => crowd.addLevel(null, 5, 0, { attachments: 'no' as unknown as boolean })).toThrow(
    'SkinnedInstancedMesh.addLevel: attachments is "no"; use true or false.',
  );
  expect(crowd.levels.map((one) => ({ ...one }))).toEqual(before);

  Object.assign(crowd.levels[2], { distance: Infinity });
  Object.assign(crowd.levels[1], { distance: 15, hysteresis: 1, poseRate: 5.5, attachments: false });
  expect(level.entry).toMatchObject({ distance: 15, hysteresis: 1, poseRate: 5.5, attachments: false });
  const copy = crowd.clone();
  expect(() => Object.assign(copy.levels[2], { distance: -1 })).toThrow('levels: distance is -1');
  expect(copy.levels[1]).toMatchObject({ distance: 15, poseRate: 5.5 });
});
