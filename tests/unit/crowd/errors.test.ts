import {
  BoxGeometry,
  Color,
  Group,
  InstancedMesh,
  LoopOnce,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  Points,
  Scene,
} from 'three';
import { expect, test, vi } from 'vitest';
import {
  assembleCharacter,
  type BoneTexture,
  bakeBoneTexture,
  bakeCharacter,
  getSkinningMatrix,
  InstanceMorphs,
  InstanceParts,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { createStick } from '../../support/stick.js';

test('skin weights and indices that cannot be drawn', () => {
  const { root, mesh, clips } = createStick();
  const boneTexture = bakeBoneTexture(root, clips);
  const create = () => new SkinnedInstancedMesh(mesh.geometry, mesh.material, boneTexture, 1);
  const { skinWeight, skinIndex } = mesh.geometry.attributes;
  skinWeight.setX(1, 0);
  expect(create).toThrow('The skin weights of vertex 1 of geometry "stick" are 0, 0, 0, 0');
  skinWeight.setX(1, -1);
  expect(create).toThrow('are -1, 0, 0, 0');
  skinWeight.setX(1, 1);
  skinIndex.setX(2, 9);
  expect(create).toThrow('Vertex 2 of geometry "stick" follows joint 9, but there are 2; mend skinIndex');
  expect(() => new SkinnedInstancedMesh(new BoxGeometry(), mesh.material, boneTexture, 1)).toThrow(
    'has no attribute "skinIndex"',
  );
});

test('a bone texture that was baked for another skeleton', () => {
  const { root } = createStick();
  const other = createStick();
  other.bones[1].name = 'Other';
  other.clips[0].tracks[0].name = 'Other.position';
  const boneTexture = bakeBoneTexture(other.root, other.clips);
  expect(() => new SkinnedInstancedMesh(assembleCharacter(root, boneTexture), 1)).toThrow(
    'was baked for another skeleton (of 2 joints, not 2: joint 1 is "Other", not "',
  );
});

test('a number behind the name of a joint is that of a loader, unless another joint is called so', () => {
  const named = (base: string, tip: string) => {
    const { root, bones } = createStick();
    bones[0].name = base;
    bones[1].name = tip;
    return root;
  };
  const from = (root: Object3D, boneTexture: BoneTexture) => () =>
    new SkinnedInstancedMesh(assembleCharacter(root, boneTexture), 1);
  expect(from(named('Arm_1', 'Hand_1'), bakeBoneTexture(named('Arm', 'Hand'), []))).not.toThrow();
  expect(from(named('Arm_1', 'Arm_1_1'), bakeBoneTexture(named('Arm', 'Arm_1'), []))).toThrow(
    'joint 0 is "Arm", not "Arm_1"',
  );
});

test('arguments and indices out of range', () => {
  const { root, mesh, clips } = createStick();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 3);
  expect(() => crowd.play(0, 'Runn')).toThrow('There is no clip "Runn"; there are "Slide".');
  expect(() => crowd.play(0, 5)).toThrow('There is no clip 5');
  expect(() => crowd.play(0, 'slide')).toThrow('There is no clip "slide"; there are "Slide".');
  expect(() => crowd.play('Slide' as never, 0)).toThrow('There is no instance "Slide"; instances go first');
  expect(() => crowd.play(3, 'Slide')).toThrow('There is no instance 3; the crowd has 3, 0 to 2.');
  expect(() => crowd.play(-1, 'Slide')).toThrow('no instance -1');
  expect(() => crowd.play(0, 'Slide', { repetitions: -2 })).toThrow('repetitions is -2');
  expect(() => crowd.setMatrixAt(3, new Matrix4())).toThrow('There is no instance 3');
  expect(() => crowd.setMatrixAt(crowd.all as never, new Matrix4())).toThrow('call it for each, from 0 to');
  const color = new Color();
  crowd.setColorAt({ start: 1, count: 2 }, new Color(0, 1, 0));
  expect([0, 1, 2].map((i) => crowd.getColorAt(i, color).r)).toEqual([1, 0, 0]);
  expect(() => crowd.play([0, 1] as never, 0)).toThrow('Array of 2 is no range; pass { start, count }');
  const empty = new SkinnedInstancedMesh(bakeCharacter(root, clips), 0);
  const none = 'There is no instance 0; the crowd has none yet; call addInstance()';
  expect(() => empty.play(0, 'Slide')).toThrow(none);
  expect(() => empty.setMatrixAt(0, new Matrix4())).toThrow(none);
  expect(empty.addInstance()).toBe(0);
  empty.play(0, 'Slide').deleteInstance(0);
  expect(() => empty.play(0, 'Slide')).toThrow('Instance 0 was deleted');
  expect(() => getSkinningMatrix(crowd, 0, 'Nose', new Matrix4())).toThrow('no joint "Nose"');
  expect(() => crowd.setMorphAt(0, mesh)).toThrow('make a new InstanceMorphs(crowd)');
  new InstanceMorphs(crowd);
  expect(() => crowd.setMorphAt(0, mesh)).toThrow('The object has no morph target');
  expect(() => crowd.setMorphAt(0, Object.assign(mesh, { morphTargetInfluences: [] }))).toThrow(
    'has 0 morph',
  );
  const { boneTexture } = crowd;
  expect(() => new SkinnedInstancedMesh(mesh.geometry, mesh.material, boneTexture, -1)).toThrow(
    'cannot be -1 instances',
  );
  expect(() => new SkinnedInstancedMesh(mesh.geometry, mesh.material, 10 as never, 1)).toThrow(
    '10 is no bone texture; make a crowd of what bakeCharacter returns',
  );
  expect(() => new SkinnedInstancedMesh(bakeCharacter(root, clips), 1e9)).toThrow('to 16777216');
  expect(() => crowd.setCapacity(1e9)).toThrow('to 16777216');
  // Texts of digits look like numbers where messages do not put them in quotes.
  const text = '1' as unknown as number;
  expect(() => new SkinnedInstancedMesh(bakeCharacter(root, clips), text)).toThrow(
    'There cannot be "1" inst',
  );
  expect(() => Object.assign(crowd, { count: text })).toThrow('The count is "1"; use a whole number');
  expect(() => crowd.setVisibleAt(text, false)).toThrow('There is no instance "1"');
  expect(() => crowd.play({ start: 0, count: text }, 'Slide')).toThrow(
    'from 0 with "1" instances is not within',
  );
});

test('of names that are not there, the nearest that are come first', () => {
  const { root, bones, clips } = createStick({ Walk: 1, Run: 1, 'Armature|Idle': 1, Idle: 1, '': 1 });
  bones[0].name = 'mixamorigHead';
  bones[1].name = 'mixamorigLeftHand';
  clips.forEach(({ tracks }) => (tracks[0].name = 'mixamorigLeftHand.position'));
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
  const errorOf = (clip: unknown) => () => crowd.play(0, clip as string);
  expect(errorOf('idle')).toThrow('There is no clip "idle"; there are "Idle", "Armature|Idle", ');
  expect(errorOf('Runing')).toThrow('there are "Run", ');
  expect(errorOf('mixamo.com|Walk')).toThrow('there are "Walk", ');
  expect(errorOf('x'.repeat(1e6))).toThrow('There is no clip');
  expect(errorOf(undefined)).toThrow('There is no clip "undefined"; there are "Walk", "Run", ');
  expect(() => crowd.boneTexture.jointIndex('lefthand')).toThrow(
    'There is no joint "lefthand"; there are "mixamorigLeftHand", "mixamorigHead".',
  );
  expect(() => bakeCharacter(root, clips, { clips: ['idle'] })).toThrow('there are "Idle", ');
  expect(() => bakeCharacter(root, clips, { hiddenParts: ['stick'] })).toThrow('has "StickMesh"');
});

test.each([
  ['red', '"red"'],
  [0xff0000, '16711680'],
  [undefined, 'undefined'],
  [new Color(1, Number.NaN, 0), '1, NaN, 0'],
])('a colour that is %s', (color, shown) => {
  const { root, clips } = createStick();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
  const message = `The color is ${shown}; pass a Color of finite numbers: new Color('red').`;
  expect(() => crowd.setColorAt(0, color as Color)).toThrow(message);
  expect(() => new InstanceParts(crowd).setColorAt(0, 'StickMesh', color as Color)).toThrow(message);
});

test('options that nobody reads are warned of once, with those that there are, nearest first', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { root, clips } = createStick();
  const baking = { mergeMaterial: () => null, onProgress() {} } as object;
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips, baking), 2, { influence: 2 } as object);
  const playing = { crossFade: 1, loop: LoopOnce } as object;
  for (let i = 0; i < 3; i++) crowd.playAll('Slide', playing).play(0, 'Slide', { ...playing, warp: true });
  crowd.setWeightAt(0, 'Slide', 1, { fades: 1 } as object).stop(0, { fadeOut: 1 } as object);
  crowd.play(0, 'Slide').setTimeAt(0, 1, { clips: 'Slide' } as object);
  crowd.setTimeScaleAt(0, 1, { fade: 1 } as object);
  const said = warn.mock.calls.map(([text]) => String(text).match(/^.*?, /)?.[0]);
  expect(said).toEqual([
    'bakeCharacter: there is no option "mergeMaterial"; there are "mergeMaterials", ',
    'SkinnedInstancedMesh: there is no option "influence"; there are "influences", ',
    'play: there is no option "crossFade"; there are "fade", ',
    'setWeightAt: there is no option "fades"; there are "fade", ',
    'stop: there is no option "fadeOut"; there are "fade", ',
    'setTimeAt: there is no option "clips"; there are "clip", ',
    'setTimeScaleAt: there is no option "fade"; there are "layer", ',
  ]);
  expect(warn.mock.calls[1][0]).toMatch(/there are "influences", "shadowInfluences", "interpolate"\.$/);
});

test('updates by milliseconds, and a crowd that is nowhere, are warned of once', () => {
  const { root, clips } = createStick();
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const said = () => warn.mock.calls.splice(0).map(([text]) => text);
  const create = (count = 2) => new SkinnedInstancedMesh(bakeCharacter(root, clips), count).playAll('Slide');
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const run = (crowd: SkinnedInstancedMesh, frames: number, delta = 1 / 60, frame = 1000 / 60) => {
    for (let i = 0; i < frames; i++, now += frame) crowd.update(delta);
    return said();
  };
  const hours = create();
  new Scene().add(hours);
  for (let i = 0; i < 20; i++) expect([run(hours, 9, 3600), run(hours, 1, 1)]).toEqual([[], []]);
  // A page that is that slow, and steps without frames.
  expect([run(hours, 20, 2, 2000), run(hours, 20, 2, 0.1), run(hours, 1)]).toEqual([[], [], []]);
  expect(run(hours, 25, 16.7)).toEqual([expect.stringMatching(/^[^;]*10 deltas .* 16\.7; pass the seconds/)]);

  const inScene = create();
  new Scene().add(new Group().add(inScene));
  expect([run(create(0), 300), run(inScene, 300), run(create(), 99)]).toEqual([[], [], []]);
  const lost = create();
  new Group().add(lost);
  expect(run(lost, 300)).toEqual([expect.stringContaining('call scene.add(crowd)')]);
});

test('what cannot be instanced is named, and skipped on demand', () => {
  const { root, clips } = createStick();
  const points = new Points(new BoxGeometry());
  points.name = 'Sparks';
  root.add(points);
  expect(() => new SkinnedInstancedMesh(bakeCharacter(root, clips), 1)).toThrow('"Sparks" (Points)');
  expect(new SkinnedInstancedMesh(bakeCharacter(root, clips, { skipUnsupported: true }), 1).count).toBe(1);
  root.remove(points);
  root.add(new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 2));
  expect(() => new SkinnedInstancedMesh(bakeCharacter(root, clips), 1)).toThrow(
    '(InstancedMesh) cannot be drawn',
  );
});

test.each([null, undefined])(
  'groups of material %s draw nothing beside a mesh, as in three.js',
  (nothing) => {
    const { root, mesh, bones, clips } = createStick();
    mesh.geometry.addGroup(0, 3, 0);
    mesh.geometry.addGroup(0, 3, 1);
    Object.assign(mesh, { material: [mesh.material, nothing] });
    bones[1].add(new Mesh(new BoxGeometry(), new MeshBasicMaterial()));
    expect(new SkinnedInstancedMesh(bakeCharacter(root, clips), 1).geometry.index?.count).toBe(3 + 36);
  },
);
