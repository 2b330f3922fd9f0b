import {
  AnimationMixer,
  Bone,
  Box3,
  Group,
  type Object3D,
  Quaternion,
  Skeleton,
  type SkinnedMesh,
  Uint16BufferAttribute,
  Vector3,
  VectorKeyframeTrack,
} from 'three';
import * as SkeletonUtils from 'three/addons/utils/SkeletonUtils.js';
import { describe, expect, test } from 'vitest';
import { OWN_KEYS } from '../../lib/animation/trackTexels.js';
import { TWINS } from '../support/captures.js';
import { createCoarseCharacter, createFigure } from '../support/coarseCharacter.js';
import { expectSameDrawn } from '../support/comparePair.js';
import { disposeLater } from '../support/disposeLater.js';
import { useDrawing } from '../support/drawings.js';
import { editsOf } from '../support/features.js';
import { createKnight } from '../support/knight.js';
import {
  bakeCharacter,
  CrowdKinds,
  CrowdLevels,
  DrawOrder,
  SkinnedInstancedMesh,
  setBoneTexture,
} from '../support/library.js';
import { createStage, shaded } from '../support/pictures.js';
import { createTall } from '../support/tallBody.js';

const COUNT = 5;

describe.each(TWINS)('%s', (twin) => {
  const { draw } = useDrawing(twin);

  test('instances of several kinds look as clones of their characters do, whatever happens to them', async () => {
    const { root: knight, clips } = createKnight();
    const roots = [
      knight,
      createFigure(0xcc4422, 0.4, createCoarseCharacter()).root,
      createFigure(0x2244cc, 0.2, createCoarseCharacter()).root,
      createFigure(0x22aa44, 0.5, createCoarseCharacter()).root,
    ];
    roots.forEach(shaded);
    const crowd = new SkinnedInstancedMesh(bakeCharacter(knight, clips), COUNT);
    crowd.castShadow = crowd.receiveShadow = true;
    const kinds = new CrowdKinds(crowd);
    const add = (i: number) => kinds.add(bakeCharacter(roots[i], []));
    add(1);
    add(2);
    const town = new Group();
    const place = (i: number) => new Vector3((i % 3) - 1, 0, i < 3 ? 0 : -1);
    const clones: (Object3D | null)[] = Array.from({ length: COUNT }, () => null);
    const show = (i: number, kind: number, time: number, has = true) => {
      clones[i]?.removeFromParent();
      const clone = SkeletonUtils.clone(roots[kind]);
      clone.position.copy(place(i));
      const mixer = new AnimationMixer(clone);
      mixer.clipAction(clips[i % 4]).play();
      mixer.setTime(time);
      clones[i] = clone;
      town.add(clone);
      if (has) kinds.setKindAt(i, kind);
    };
    for (let i = 0; i < COUNT; i++) {
      const clone = new Group();
      clone.position.copy(place(i));
      clone.updateMatrix();
      crowd.setMatrixAt(i, clone.matrix).play(i, i % 4, { time: 0.2 });
      show(i, i % 3, 0.2);
    }
    crowd.update(0);
    const box = new Box3(new Vector3(-1.5, 0, -1.5), new Vector3(1.5, 2.2, 0.5));
    for (const light of ['point', 'directional'] as const) {
      const stage = createStage(box, light);
      const compare = (what: string) =>
        expectSameDrawn(`kinds, ${twin}, ${light}, ${what}`, draw, stage, town, crowd);
      await compare('at first');
      if (light === 'point') continue;

      crowd.update(0.1);
      for (let i = 0; i < COUNT; i++) show(i, (i + 1) % 3, 0.3);
      await compare('changed while they play');
      add(3);
      for (let i = 1; i < COUNT; i += 2) show(i, 3, 0.3);
      await compare('one more while they play');
      crowd.setVisibleAt(1, false);
      clones[1]!.visible = false;
      await compare('one hidden');
      const levels = new CrowdLevels(crowd, { dissolve: 0.5 });
      for (const distance of [3, 4]) levels.add(crowd.geometry, distance);
      levels.addToKind(kinds.meshes[3] as never, kinds.meshes[3]?.geometry as never, 2);
      await compare('at levels of detail');
      new DrawOrder(crowd, { sortObjects: true });
      await compare('sorted');
      expect(kinds.remove(3)).toBe(undefined);
      for (let i = 1; i < COUNT; i += 2) show(i, 0, 0.3);
      clones[1]!.visible = false;
      await compare('one kind less');
      levels.dispose();
      crowd.setVisibleAt(1, true);
      clones[1]!.visible = true;
      kinds.dispose();
      for (let i = 0; i < COUNT; i++) show(i, 0, 0.3, false);
      await compare('kinds disposed');
    }
    disposeLater(crowd);
  });
});

describe.each(TWINS)('other proportions, %s', (twin) => {
  const { draw } = useDrawing(twin);

  test('instances of kinds with other proportions look as clones that play clips made for them', async () => {
    const models = [createKnight(), createTall(), createFigure(0x2244cc, 0.2, createCoarseCharacter())];
    for (const { root } of models) shaded(root);
    const [knight] = models;
    // More joints than a row of what shaders read of bodies has room for.
    const more = Array.from({ length: 520 }, (_, i) => Object.assign(new Bone(), { name: `More${i}` }));
    knight.root.updateMatrixWorld(true);
    knight.root.getObjectByName('Hips')?.add(...more);
    const mesh = knight.root.getObjectByName('Body') as SkinnedMesh;
    mesh.bind(new Skeleton([...more, ...mesh.skeleton.bones]));
    const { skinIndex } = mesh.geometry.attributes;
    const joints = Array.from(skinIndex.array, (joint) => joint + more.length);
    mesh.geometry.setAttribute('skinIndex', new Uint16BufferAttribute(joints, 4));
    const crowd = new SkinnedInstancedMesh(bakeCharacter(knight.root, knight.clips), COUNT);
    crowd.castShadow = crowd.receiveShadow = true;
    const kinds = new CrowdKinds(crowd);
    kinds.add(bakeCharacter(models[1].root, []));
    // Whose hips are where clips of the crowd have them not.
    const { clips, names } = crowd.boneTexture.data.tracks!;
    const [heads, keys]: number[][] = [[], []];
    clips.forEach(({ frames, fps }, at) => {
      heads.push(clips.length - at + keys.length / 4, names.indexOf('Hips'), 0, 0);
      const own = Array.from({ length: frames * OWN_KEYS }, (_, i) => [
        0.2 * Math.sin(i + at),
        0.5 + at / 5,
        i / 50,
      ]);
      for (const key of own) keys.push(...key, 0);
      const clip = models[2].clips[at];
      const times = own.map((_, i) => i / OWN_KEYS / (fps || 1));
      clip.tracks = clip.tracks.filter(({ name }) => name !== 'Hips.position');
      clip.tracks.push(new VectorKeyframeTrack('Hips.position', times, own.flat()));
    });
    kinds.add(bakeCharacter(models[2].root, []), {
      scale: 1,
      hips: () => Float32Array.from([...heads, ...keys]),
    });
    const town = new Group();
    const mixers = Array.from({ length: COUNT }, (_, i) => {
      const { root, clips } = models[i % 3];
      const clone = SkeletonUtils.clone(root);
      clone.position.set((i % 3) - 1, 0, i < 3 ? 0 : -1);
      clone.updateMatrix();
      crowd.setMatrixAt(i, clone.matrix).play(i, i % 4, { time: i * 0.1 });
      kinds.setKindAt(i, i % 3);
      town.add(clone);
      const mixer = new AnimationMixer(clone);
      const [from, to] = [i, i + 1].map((clip) => mixer.clipAction(clips[clip % 4]));
      from.play().time = i * 0.1;
      return { mixer, from, to };
    });
    crowd.update(0);
    for (const { mixer } of mixers) mixer.update(0);
    const stage = createStage(new Box3(new Vector3(-1.5, 0, -1.5), new Vector3(1.5, 2.6, 0.5)));
    const compare = (what: string) =>
      expectSameDrawn(`proportions, ${twin}, ${what}`, draw, stage, town, crowd);
    await compare('in clips');
    mixers.forEach(({ from, to }, i) => {
      from.crossFadeTo(to.play(), 0.4, false);
      crowd.play(i, (i + 1) % 4, { fade: 0.4 });
    });
    for (const one of [crowd, ...mixers.map(({ mixer }) => mixer)]) one.update(0.2);
    await compare('in fades');
    const turned = new Quaternion(0, 0.6, 0, 0.8);
    for (const joint of ['Hips', 'Head']) editsOf(crowd).setRotationAt(crowd.all, joint, turned);
    town.traverse(({ name, quaternion }) => /^(Hips|Head)$/.test(name) && quaternion.copy(turned));
    await compare('edited');
    const levels = new CrowdLevels(crowd);
    levels.add(crowd.geometry, 2);
    for (const kind of kinds.meshes.slice(1)) levels.addToKind(kind as never, kind?.geometry as never, 2);
    setBoneTexture(crowd, bakeCharacter(knight.root, knight.clips).boneTexture);
    await compare('at levels, by another bone texture');
    disposeLater(crowd);
  });
});
