import { AnimationUtils, Bone, LoopOnce, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { layersOf, withLayers } from '../../support/features.js';
import {
  AnimationLayers,
  bakeCharacter,
  type EncodingName,
  encodingOf,
  getSocketMatrix,
  getVertexPosition,
  type LayerOptions,
  loadPlayback,
  SkinnedInstancedMesh,
  savePlayback,
} from '../../support/library.js';
import { createMorphingStick, createStick, createStickCrowd, tipOf } from '../../support/stick.js';

const DURATIONS = { A: 4, B: 8, C: 2, D: 3, E: 5 };
const LAYERS = [
  { name: 'upper', mask: ['Tip'] },
  { name: 'whole', weight: 0 },
];
const still = { timeScale: 0 };

function createCrowd(count = 1, layers: readonly LayerOptions[] = LAYERS) {
  const { root, clips } = createStick(DURATIONS);
  return withLayers(new SkinnedInstancedMesh(bakeCharacter(root, clips), count), layers);
}

/** Where the tip is, within what float32 keys come to. */
const tipIs = (crowd: SkinnedInstancedMesh, index: number, x: number) =>
  expect(tipOf(crowd, index)).toBeCloseTo(x, 5);

test('a layer has events, which name it', () => {
  const crowd = createCrowd(2);
  const heard: unknown[] = [];
  crowd.boneTexture.addMarker('C', 1.5, 'step');
  crowd.addEventListener('loop', ({ clip, layer, instanceId }) =>
    heard.push(['loop', clip, layer, instanceId]),
  );
  crowd.addEventListener('finished', ({ clip, layer }) => heard.push(['finished', clip, layer]));
  crowd.addEventListener('marker', ({ name, layer }) => heard.push([name, layer]));
  crowd
    .play(1, 'D')
    .play(1, 'C', { layer: 'upper' })
    .play(1, 'C', { layer: 'whole', loop: LoopOnce, time: 0.1 });
  for (let i = 0; i < 35; i++) crowd.update(0.1);
  expect(heard).toEqual([
    ['step', 'whole'],
    ['step', 'upper'],
    ['finished', 'C', 'whole'],
    ['loop', 'C', 'upper', 1],
    ['loop', 'D', 'base', 1],
    ['step', 'upper'],
  ]);
  crowd.swapInstances(0, 1);
  for (let i = 0; i < 6; i++) crowd.update(0.1);
  expect(heard.splice(6)).toEqual([['loop', 'C', 'upper', 0]]);
});

describe('a mask', () => {
  /** A stick with another bone behind its tip, which its clips move too. */
  function createLong() {
    const stick = createStick(DURATIONS);
    const end = new Bone();
    end.name = 'End';
    stick.bones[1].add(end);
    stick.mesh.skeleton.bones.push(end);
    stick.mesh.skeleton.boneInverses.push(stick.mesh.skeleton.boneInverses[1].clone());
    for (const clip of stick.clips) {
      const track = clip.tracks[0].clone();
      track.name = 'End.position';
      clip.tracks.push(track);
    }
    return stick;
  }

  test.each([
    [['Tip'], [1, 1]],
    [['End'], [0, 1]],
    [
      ['Tip', 'End'],
      [1, 1],
    ],
    [{ joints: ['Tip'], below: false }, [1, 0]],
    [{ joints: ['Tip'] }, [1, 1]],
    [{ Tip: 0.5 }, [0.5, 0.5]],
    [{ Tip: 0.5, End: 0 }, [0.5, 0]],
    [{ Stick: 0.25, End: 1 }, [0.25, 1]],
    [undefined, [1, 1]],
  ])('%j', (mask, [tip, end]) => {
    const { root, clips } = createLong();
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
    new AnimationLayers(crowd, [{ name: 'upper', mask }]);
    crowd.play(0, 'A', { ...still, time: 1 }).play(0, 'B', { ...still, time: 3, layer: 'upper' });
    const matrix = crowd.matrixWorld.clone();
    const x = getSocketMatrix(crowd, 0, 'Tip', matrix).elements[12];
    expect(x).toBeCloseTo(1 + 2 * tip, 5);
    expect(getSocketMatrix(crowd, 0, 'End', matrix).elements[12] - x).toBeCloseTo(1 + 2 * end, 5);
  });

  test.each([
    [undefined, undefined, 1],
    [['Tip'], undefined, 0],
    [['Tip'], true, 1],
    [undefined, false, 0],
  ])('%j with morphTargets %j lets the layer show on morph targets by %f', (mask, morphTargets, share) => {
    const { root, clips } = createMorphingStick();
    const layers = [{ name: 'upper', mask, morphTargets }];
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
    new AnimationLayers(crowd, layers);
    crowd.play(0, 'Slide', { ...still, time: 0.25 }).play(0, 'Slide', { ...still, time: 0.75, layer: 1 });
    // The vertex rests at a height of 1, and the target lifts it by 2.
    const { y } = getVertexPosition(crowd, 0, 2, new Vector3());
    expect(y).toBeCloseTo(1 + 2 * (0.25 + 0.5 * share), 5);
  });
});

test('an additive layer adds by its weight, takes no other clips, and bounds hold what it adds', () => {
  const { root, clips } = createStick({ A: 4, B: 8 });
  const lean = AnimationUtils.makeClipAdditive(clips[1].clone());
  lean.name = 'Lean';
  const layers = [
    { name: 'lean', additive: true },
    { name: 'more', additive: true },
  ];
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, [...clips, lean]), 1);
  crowd.computeBoundingBox();
  new AnimationLayers(crowd, layers);
  crowd.play(0, 'A', { ...still, time: 1 }).play(0, 'Lean', { ...still, time: 7.9, layer: 'lean' });
  tipIs(crowd, 0, 8.9);
  layersOf(crowd).setWeightAt(0, 'lean', 0.5);
  tipIs(crowd, 0, 4.95);
  expect(() => crowd.play(0, 'B', { layer: 'lean' })).toThrow(/Clip "B" is not additive, and layer "lean"/);

  layersOf(crowd).setWeightAt(0, 1, 1);
  crowd.play(0, 'Lean', { ...still, time: 7.9, layer: 'more' });
  tipIs(crowd, 0, 16.8);
  crowd.computeBoundingBox();
  const tip = getVertexPosition(crowd, 0, 1, new Vector3());
  expect(crowd.boundingBox?.distanceToPoint(tip)).toBeLessThan(1e-6);
});

test('there is one object of layers, and saved ones are found by their names', () => {
  const crowd = createCrowd(2);
  expect(() => new AnimationLayers(crowd, LAYERS)).toThrow(/has AnimationLayers already/);
  crowd.play(0, 'A').play(0, 'B', { layer: 'upper', time: 3 }).play(1, 'E', { layer: 'whole' });
  layersOf(crowd).setWeightAt(0, 'upper', 0.5).setWeightAt(1, 'whole', 0.7);
  const json = JSON.parse(JSON.stringify(savePlayback(crowd)));
  const turned = loadPlayback(createCrowd(2, [LAYERS[1], LAYERS[0], { name: 'more' }]), json);
  expect([turned.getClipAt(1, 'whole'), turned.getClipAt(1, 'more')]).toEqual(['E', null]);
  for (const index of [0, 1]) tipIs(turned, index, tipOf(crowd, index));
});

describe('wrong input is named', () => {
  const from = (layers: unknown, encoding: EncodingName = 'tracks') => {
    const crowd = createStickCrowd(1, DURATIONS, { encoding: encodingOf(encoding) });
    return new AnimationLayers(crowd, layers as typeof LAYERS);
  };

  test.each<[string, unknown, RegExp]>([
    [
      'too many',
      Array.from({ length: 5 }, (_, i) => ({ name: `${i}` })),
      /5 layers; there may be 4 over the base/,
    ],
    ['the name of the base', [{ name: 'base' }], /Layer 1 is called "base"; each needs a name/],
    ['a name twice', [{ name: 'a' }, { name: 'a' }], /Layer 2 is called "a"/],
    ['a weight of NaN', [{ name: 'a', weight: Number.NaN }], /The weight is NaN; use a number from 0 to 1/],
    ['an unknown joint', [{ name: 'a', mask: ['Arm'] }], /The mask of a layer names "Arm", .*"Tip"/],
    ['an empty mask', [{ name: 'a', mask: [] }], /The mask of a layer names no joint/],
    ['a mask that is 0', [{ name: 'a', mask: { Tip: 0 } }], /The mask of a layer .* nowhere/],
    [
      'a share of NaN',
      [{ name: 'a', mask: { Tip: Number.NaN } }],
      /The mask of a layer gives "Tip" a weight of NaN/,
    ],
  ])('%s', (_what, layers, message) => {
    expect(() => from(layers)).toThrow(message);
  });

  test('layers without tracks', () => {
    expect(() => from(LAYERS, 'frames')).toThrow(/Layers need .*bake with encoding "tracks"/);
  });
});
