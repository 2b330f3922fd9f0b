import {
  type AnimationAction,
  AnimationClip,
  AnimationMixer,
  Box3,
  BoxGeometry,
  Group,
  LoopOnce,
  Matrix4,
  MeshBasicMaterial,
  type Object3D,
  Raycaster,
  Skeleton,
  type SkinnedMesh,
  Vector3,
  VectorKeyframeTrack,
} from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { runBlock } from '../support/guides.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { random } from '../support/random.js';
import { createStick } from '../support/stick.js';

const _matrix = new Matrix4();

const bodyOf = (root: Object3D) => root.getObjectByName('Body') as SkinnedMesh;

/** Some vertices from all over the character, in the world. */
function skinnedVertices(root: Object3D): Vector3[] {
  const mesh = bodyOf(root);
  root.updateWorldMatrix(true, false);
  root.updateMatrixWorld(true);
  const { count } = mesh.geometry.getAttribute('position');
  return Array.from({ length: 40 }, (_, i) =>
    mesh.getVertexPosition(Math.floor((i / 40) * count), new Vector3()).applyMatrix4(mesh.matrixWorld),
  );
}

/** The same ones of an instance. */
function crowdVertices(crowd: SkinnedInstancedMesh, index: number): Vector3[] {
  crowd.updateWorldMatrix(true, false);
  const { count } = crowd.geometry.getAttribute('position');
  return Array.from({ length: 40 }, (_, i) =>
    crowd
      .getVertexPositionAt(index, Math.floor((i / 40) * count), new Vector3())
      .applyMatrix4(crowd.matrixWorld),
  );
}

const farthest = (a: Vector3[], b: Vector3[]) => Math.max(...a.map((vertex, i) => vertex.distanceTo(b[i])));

interface Character {
  id: number;
  place: Matrix4;
}

test('characters keep their ids, whoever leaves', () => {
  const { root, clips } = createStick({ Idle: 1 });
  const crowd = SkinnedInstancedMesh.from(root, clips, 2);
  const { add, remove, characters } = runBlock('migrating', 'function remove(', { crowd }, [
    'add',
    'remove',
    'characters',
  ]) as {
    add(character: Character): void;
    remove(character: Character): void;
    characters: Map<number, Character>;
  };
  const chance = random(1);
  const here: Character[] = [];
  for (let step = 0; step < 300; step++) {
    if (here.length === 0 || chance() < 0.6) {
      const character = { id: -1, place: new Matrix4().makeTranslation(step, 0, 0) };
      add(character);
      here.push(character);
    } else {
      const [gone] = here.splice(Math.floor(chance() * here.length), 1);
      remove(gone);
    }
    expect(crowd.instanceCount).toBe(here.length);
    expect(characters.size).toBe(here.length);
    for (const character of here) {
      expect(characters.get(character.id)).toBe(character);
      crowd.getMatrixAt(character.id, _matrix);
      expect(_matrix.elements[12]).toBe(character.place.elements[12]);
      expect(crowd.getClipAt(character.id)).toBe('Idle');
    }
  }
  const [first] = here;
  crowd.play(first.id, 'Idle', { loop: LoopOnce });
  crowd.update(1.5);
  expect(characters.get(first.id), 'the listener has removed it').not.toBe(first);
});

test('an instance and the SkinnedMesh that takes its place look alike, both ways', () => {
  const { root, clips } = createCharacter();
  const gltf = { scene: root, animations: clips };
  const crowd = SkinnedInstancedMesh.from(root, clips, 3);
  crowd.position.set(3, 0, 1);
  crowd.setMatrixAt(
    1,
    _matrix
      .makeRotationY(1)
      .scale(new Vector3(1.2, 1.2, 1.2))
      .setPosition(0.5, 0.1, -0.4),
  );
  crowd.play(1, 'Walk', { time: 0.4, timeScale: 1.5 });
  crowd.update(0.2);
  const before = crowdVertices(crowd, 1);

  const matrix = new Matrix4();
  const names = { crowd, gltf, matrix, AnimationMixer, SkeletonUtils };
  const { takeOut, putBack } = runBlock('migrating', 'function takeOut(', names, ['takeOut', 'putBack']) as {
    takeOut(index: number): { clone: Object3D; mixer: AnimationMixer };
    putBack(index: number, clone: Object3D, mixer: AnimationMixer, playing: AnimationAction): void;
  };
  const { clone, mixer } = takeOut(1);
  expect(farthest(skinnedVertices(clone), before)).toBeLessThan(1e-5);

  const heard: number[] = [];
  crowd.addEventListener('loop', ({ instanceId }) => heard.push(instanceId));
  const action = mixer.existingAction(clips.find(({ name }) => name === 'Walk')!)!;
  // to another frame of the clip, and elsewhere
  mixer.update(4 / 30 / 1.5);
  crowd.update(10);
  clone.position.x += 1;
  expect(heard, 'no events while it is out').toEqual([]);
  const after = skinnedVertices(clone);

  // through where it stood
  const from = before[0].clone().add(new Vector3(0, 0, 5));
  const hits = new Raycaster(from, new Vector3(0, 0, -1)).intersectObject(crowd);
  expect(hits.map(({ instanceId }) => instanceId)).not.toContain(1);

  putBack(1, clone, mixer, action);
  expect(farthest(crowdVertices(crowd, 1), after)).toBeLessThan(1e-5);
  expect(crowd.children).not.toContain(clone);
  crowd.update(5);
  expect(heard, 'it goes on').toContain(1);
});

test('a layer plays one clip above a joint and another below it', () => {
  const { root, clips } = createCharacter();
  const attack = clips.find(({ name }) => name === 'Wave')!.clone();
  attack.name = 'Attack';
  const gltf = { scene: root, animations: [...clips, attack] };
  const { crowd } = runBlock(
    'migrating',
    "layers: [{ name: 'upper'",
    { gltf, LoopOnce, SkinnedInstancedMesh },
    ['crowd'],
  ) as { crowd: SkinnedInstancedMesh };

  // three.js plays both at once: clips that have no track in common do not disturb each other.
  const upper = new Set<string>();
  root.getObjectByName('Spine')!.traverse(({ name }) => upper.add(name));
  const only = (clip: AnimationClip, above: boolean) =>
    new AnimationClip(
      clip.name,
      clip.duration,
      clip.tracks.filter(({ name }) => upper.has(name.split('.')[0]) === above),
    );
  const walk = clips.find(({ name }) => name === 'Walk')!;
  const clone = SkeletonUtils.clone(root);
  const mixer = new AnimationMixer(clone);
  mixer.clipAction(only(walk, false)).play();
  const swing = mixer.clipAction(only(walk, true)).play();
  const arms = mixer.clipAction(only(attack, true)).play();
  arms.setLoop(LoopOnce, 1).clampWhenFinished = true;

  const step = (delta: number, weight: number) => {
    crowd.update(delta);
    swing.setEffectiveWeight(1 - weight);
    arms.setEffectiveWeight(weight);
    mixer.update(delta);
    expect(farthest(crowdVertices(crowd, 0), skinnedVertices(clone))).toBeLessThan(1e-5);
  };
  step(0.06, 0.4);
  step(0.09, 1);
  for (let time = 0.15; time < attack.duration - 0.1; time += 0.077) step(0.077, 1);
  // It finishes, and fades out.
  expect(crowd.getClipAt(0, 'upper')).toBe('Attack');
  crowd.update(0.2);
  mixer.update(0.2);
  expect(crowd.getClipAt(0, 'upper')).toBe(null);
  step(0.06, 0.6);
  step(0.2, 0);
});

test('what is attached to a joint that is scaled has its own size', () => {
  // as exporters write it: metres in the mesh, centimetres in the armature
  const { root, bones, mesh } = createStick();
  const armature = new Group();
  armature.scale.setScalar(0.01);
  armature.add(bones[0]);
  root.add(armature);
  bones[1].name = 'hand_r';
  bones[1].position.multiplyScalar(100);
  root.updateMatrixWorld(true);
  mesh.bind(new Skeleton(bones));
  const clip = new AnimationClip('Reach', 1, [
    new VectorKeyframeTrack('hand_r.position', [0, 1], [-500, 0, 0, -500, 100, 0]),
  ]);
  const crowd = SkinnedInstancedMesh.from(root, [clip], 1);
  crowd.setMatrixAt(0, _matrix.identity());
  const { swords } = runBlock(
    'migrating',
    'const upright',
    {
      gltf: { scene: root },
      crowd,
      swordGeometry: new BoxGeometry(0.1, 1, 0.1),
      swordMaterial: new MeshBasicMaterial(),
      offsetMatrix: new Matrix4().makeTranslation(0, 0.5, 0),
      Matrix4,
      Vector3,
    },
    ['swords'],
  ) as { swords: SkinnedInstancedMesh };
  crowd.play(0, 'Reach', { time: 1, timeScale: 0 });
  const box = new Box3();
  for (let i = 0; i < swords.geometry.getAttribute('position').count; i++) {
    box.expandByPoint(swords.getVertexPositionAt(0, i, new Vector3()));
  }
  // stands in the hand, which is at (-5, 1, 0), and is a metre long
  expect(box.min.distanceTo(new Vector3(-5.05, 1, -0.05))).toBeLessThan(1e-5);
  expect(box.max.distanceTo(new Vector3(-4.95, 2, 0.05))).toBeLessThan(1e-5);
});

test('a second bake keeps other proportions where clips have tracks of scale', () => {
  const { root, clips } = createCharacter();
  for (const clip of clips) clip.tracks.push(new VectorKeyframeTrack('Head.scale', [0], [1, 1, 1]));
  const { giants, giant, moves } = runBlock(
    'migrating',
    'const giants',
    { gltf: { scene: root, animations: clips }, AnimationClip, SkeletonUtils, SkinnedInstancedMesh },
    ['giants', 'giant', 'moves'],
  ) as { giants: SkinnedInstancedMesh; giant: Object3D; moves: AnimationClip[] };

  const play = (character: Object3D, list: AnimationClip[]) => {
    const mixer = new AnimationMixer(character);
    mixer.clipAction(list[1]).play();
    mixer.setTime(0.2);
    return skinnedVertices(character);
  };
  giants.play(0, 1, { time: 0.2, timeScale: 0 });
  const normal = play(SkeletonUtils.clone(root), clips);
  const expected = play(giant, moves);
  expect(farthest(expected, normal), 'a larger head').toBeGreaterThan(0.05);
  expect(farthest(crowdVertices(giants, 0), expected)).toBeLessThan(1e-5);
});
