import { AnimationUtils, Bone, LoopOnce, Vector3 } from 'three';
import { describe, expect, test, vi } from 'vitest';
import { BoneTexture, SkinnedInstancedMesh } from '../../support/library.js';
import { createMorphingStick, createStick, REST_X, tipOf } from '../../support/stick.js';

const DURATIONS = { A: 4, B: 8, C: 2, D: 3, E: 5 };
const LAYERS = [
  { name: 'upper', mask: ['Tip'] },
  { name: 'whole', weight: 0 },
];
const still = { timeScale: 0 };

function createCrowd(
  count = 1,
  layers: NonNullable<ConstructorParameters<typeof SkinnedInstancedMesh>[4]>['layers'] = LAYERS,
) {
  const { root, clips } = createStick(DURATIONS);
  return SkinnedInstancedMesh.from(root, clips, count, { layers });
}

/** Where the tip is, within what float32 keys come to. */
const tipIs = (crowd: SkinnedInstancedMesh, index: number, x: number) =>
  expect(tipOf(crowd, index)).toBeCloseTo(x, 5);

describe('a layer', () => {
  test('lies over what is below it by its weight, which holds whatever is played', () => {
    const crowd = createCrowd();
    expect(crowd.boneTexture.encoding, 'layers choose tracks').toBe('tracks');
    crowd.play(0, 'A', { ...still, time: 1 }).play(0, 'B', { ...still, time: 3, layer: 'upper' });
    tipIs(crowd, 0, 3);
    expect(crowd.getClipAt(0)).toBe('A');
    expect(crowd.getClipAt(0, 'upper')).toBe('B');
    expect(crowd.getClipAt(0, 2)).toBe(null);
    crowd.setLayerWeightAt(0, 'upper', 0.25, { fade: 1 }).update(0.5);
    expect(crowd.getLayerWeightAt(0, 1)).toBeCloseTo(0.625, 9);
    tipIs(crowd, 0, 1 + 0.625 * 2);
    crowd.update(9);
    tipIs(crowd, 0, 1.5);
    crowd.play(0, 'C', { ...still, time: 2, layer: 1 });
    tipIs(crowd, 0, 1.25);
    expect(crowd.getLayerWeightAt(0, 'upper')).toBe(0.25);
    expect(crowd.getLayerWeightAt(0, 'base')).toBe(1);
  });

  test('lies over all layers before it, and begins with the weight that it was given', () => {
    const crowd = createCrowd();
    crowd.play(0, 'A', { ...still, time: 1 }).play(0, 'B', { ...still, time: 3, layer: 'upper' });
    crowd.play(0, 'E', { ...still, time: 5, layer: 'whole' });
    tipIs(crowd, 0, 3);
    crowd.setLayerWeightAt(0, 'whole', 0.5);
    tipIs(crowd, 0, 4);
    crowd.setLayerWeightAt(0, 'upper', 0);
    tipIs(crowd, 0, 3);
  });

  test('fades its clips over what is below it, also in the middle of another fade', () => {
    const crowd = createCrowd();
    crowd.play(0, 'A', { ...still, time: 1 }).play(0, 'B', { ...still, time: 3, layer: 1, fade: 1 });
    tipIs(crowd, 0, 1);
    crowd.update(0.5);
    tipIs(crowd, 0, 2);
    crowd.play(0, 'C', { ...still, time: 2, layer: 1, fade: 1 });
    tipIs(crowd, 0, 2);
    crowd.update(0.5);
    expect(crowd.getWeightAt(0, 'B', 'upper')).toBeCloseTo(0.25, 9);
    tipIs(crowd, 0, 0.25 * 1 + 0.25 * 3 + 0.5 * 2);
    crowd.stop(0, { layer: 'upper', fade: 1 });
    tipIs(crowd, 0, 2);
    crowd.update(0.5);
    tipIs(crowd, 0, (0.25 * 1 + 0.25 * 3 + 0.5 * 2 + 1) / 2);
    crowd.update(0.5);
    tipIs(crowd, 0, 1);
    expect(crowd.getClipAt(0, 'upper')).toBe(null);
    expect(crowd.getClipAt(0)).toBe('A');
  });

  test('plays weighted clips, which leave the rest to what is below', () => {
    const crowd = createCrowd();
    crowd.play(0, 'A', { ...still, time: 1 });
    crowd.play(0, 'B', { ...still, time: 3, layer: 1, weight: 0.5 });
    crowd.play(0, 'C', { ...still, time: 2, layer: 1, weight: 0.25 });
    tipIs(crowd, 0, 0.5 * 3 + 0.25 * 2 + 0.25 * 1);
    crowd.setWeightAt(0, 'C', 0.5, { layer: 'upper' });
    tipIs(crowd, 0, 2.5);
    expect(crowd.getWeightAt(0, 'C', 1)).toBe(0.5);
    expect(crowd.getWeightAt(0, 'C')).toBe(0);
    expect(() => crowd.setWeightAt(0, 'C', 1)).toThrow(/instance 0 does not play "C"; play/);
    expect(() => crowd.setWeightAt(0, 'A', 1, { layer: 1 })).toThrow(/does not play "A" on layer "upper"/);
  });

  test('has times and speeds of its own, and is stopped alone or with all', () => {
    const crowd = createCrowd();
    crowd.play(0, 'A').play(0, 'B', { layer: 'upper', timeScale: 2 }).update(0.5);
    expect(crowd.getTimeAt(0)).toBeCloseTo(0.5, 9);
    expect(crowd.getTimeAt(0, 'upper')).toBeCloseTo(1, 9);
    expect(crowd.getTimeScaleAt(0, 'upper')).toBeCloseTo(2, 9);
    crowd.setTimeAt(0, 3, { layer: 'upper' }).setTimeScaleAt(0, 0, { layer: 'upper' }).update(0.5);
    expect(crowd.getTimeAt(0, 'upper')).toBeCloseTo(3, 9);
    expect(crowd.getTimeAt(0)).toBeCloseTo(1, 9);
    expect([crowd.isPlayingAt(0), crowd.isPlayingAt(0, 1), crowd.isPlayingAt(0, 2)]).toEqual([
      true,
      false,
      false,
    ]);
    crowd.pause(0);
    expect(crowd.isPlayingAt(0)).toBe(false);
    crowd.resume(0).stop(0, { layer: 'upper' });
    expect([crowd.getClipAt(0), crowd.getClipAt(0, 1)]).toEqual(['A', null]);
    crowd.play(0, 'C', { layer: 1 }).stop(0);
    expect([crowd.getClipAt(0), crowd.getClipAt(0, 1)]).toEqual([null, null]);
    tipIs(crowd, 0, REST_X);
  });

  test('has events, which name it', () => {
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

  test('drops the clip that shows least on it, and a warning names it', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const crowd = createCrowd();
    const weights = { A: 0.5, C: 0.1, B: 0.2, D: 0.15 };
    for (const [clip, weight] of Object.entries(weights)) crowd.play(0, clip, { weight, layer: 1 });
    crowd.play(0, 'E', { weight: 0.3, layer: 1 });
    expect(crowd.getWeightAt(0, 'C', 1)).toBe(0);
    expect(crowd.getWeightAt(0, 'D', 1)).toBe(0.15);
    expect(warn.mock.calls.flat().join()).toMatch(/4 clips .* on a layer; "C"/);
    warn.mockRestore();
  });
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
    const crowd = SkinnedInstancedMesh.from(root, clips, 1, { layers: [{ name: 'upper', mask }] });
    crowd.play(0, 'A', { ...still, time: 1 }).play(0, 'B', { ...still, time: 3, layer: 'upper' });
    const matrix = crowd.matrixWorld.clone();
    const x = crowd.getSocketMatrixAt(0, 'Tip', matrix).elements[12];
    expect(x).toBeCloseTo(1 + 2 * tip, 5);
    expect(crowd.getSocketMatrixAt(0, 'End', matrix).elements[12] - x).toBeCloseTo(1 + 2 * end, 5);
  });

  test.each([
    [undefined, undefined, 1],
    [['Tip'], undefined, 0],
    [['Tip'], true, 1],
    [undefined, false, 0],
  ])('%j with morphTargets %j lets the layer show on morph targets by %f', (mask, morphTargets, share) => {
    const { root, clips } = createMorphingStick();
    const layers = [{ name: 'upper', mask, morphTargets }];
    const crowd = SkinnedInstancedMesh.from(root, clips, 1, { layers });
    crowd.play(0, 'Slide', { ...still, time: 0.25 }).play(0, 'Slide', { ...still, time: 0.75, layer: 1 });
    // The vertex rests at a height of 1, and the target lifts it by 2.
    const { y } = crowd.getVertexPositionAt(0, 2, new Vector3());
    expect(y).toBeCloseTo(1 + 2 * (0.25 + 0.5 * share), 5);
  });
});

describe('an additive layer', () => {
  test('adds by its weight, takes no other clips, and bounds hold what it adds', () => {
    const { root, clips } = createStick({ A: 4, B: 8 });
    const lean = AnimationUtils.makeClipAdditive(clips[1].clone());
    lean.name = 'Lean';
    const layers = [
      { name: 'lean', additive: true },
      { name: 'more', additive: true },
    ];
    const crowd = SkinnedInstancedMesh.from(root, [...clips, lean], 1, { layers });
    crowd.play(0, 'A', { ...still, time: 1 }).play(0, 'Lean', { ...still, time: 7.9, layer: 'lean' });
    tipIs(crowd, 0, 8.9);
    crowd.setLayerWeightAt(0, 'lean', 0.5);
    tipIs(crowd, 0, 4.95);
    expect(() => crowd.play(0, 'B', { layer: 'lean' })).toThrow(/clip "B" is not additive, and layer "lean"/);

    crowd.setLayerWeightAt(0, 1, 1).play(0, 'Lean', { ...still, time: 7.9, layer: 'more' });
    tipIs(crowd, 0, 16.8);
    crowd.computeBoundingBox();
    const tip = crowd.getVertexPositionAt(0, 1, new Vector3());
    expect(crowd.boundingBox?.distanceToPoint(tip)).toBeLessThan(1e-6);
  });

  test('lets go of a clip that is not additive in another bone texture', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const { root, clips } = createStick({ A: 4, B: 8 });
    const lean = AnimationUtils.makeClipAdditive(clips[1].clone());
    const layers = [{ name: 'lean', additive: true }];
    const crowd = SkinnedInstancedMesh.from(root, [clips[0], lean], 1, { layers });
    crowd.play(0, 'A', { ...still, time: 1 }).play(0, 'B', { ...still, time: 2, layer: 'lean' });
    tipIs(crowd, 0, 3);
    crowd.boneTexture = BoneTexture.bake(root, [lean, clips[0]], { encoding: 'tracks' });
    tipIs(crowd, 0, 3);
    crowd.boneTexture = BoneTexture.bake(root, clips, { encoding: 'tracks' });
    tipIs(crowd, 0, 1);
    expect(warn.mock.calls.flat().join()).toMatch(/the new one has no "B"/);
    warn.mockRestore();
  });
});

/** Instances in the middle of fades on every layer. */
function createBusy(count = 3) {
  const crowd = createCrowd(count);
  crowd.update(14);
  crowd.play(0, 'A', { timeScale: 0.1 }).play(0, 'B', { fade: 3, timeScale: 0.2 });
  crowd
    .play(0, 'C', { layer: 1, weight: 0.3, timeScale: 0.1 })
    .play(0, 'D', { layer: 1, weight: 0.9, fade: 4 });
  crowd.setLayerWeightAt(0, 1, 0.1, { fade: 5 }).setLayerWeightAt(0, 2, 0.6, { fade: 2 });
  crowd.play(0, 'E', { layer: 2, fade: 1 });
  crowd.play(1, 'D', { time: 1 }).setLayerWeightAt(1, 'whole', 0.7).play(1, 'A', { layer: 'whole' });
  crowd.update(0.4);
  crowd.pause(1);
  return crowd;
}

const state = (crowd: SkinnedInstancedMesh, index: number) => [
  tipOf(crowd, index),
  ...[0, 1, 2].map((layer) => crowd.getLayerWeightAt(index, layer)),
  ...[0, 1, 2].flatMap((layer) =>
    ['A', 'B', 'C', 'D', 'E'].map((clip) => crowd.getWeightAt(index, clip, layer)),
  ),
  ...[0, 1, 2].map((layer) => crowd.getTimeAt(index, layer)),
];

/** That instances of a crowd are now, and stay, as those of another one. */
function expectSame(
  crowd: SkinnedInstancedMesh,
  other: SkinnedInstancedMesh,
  indices: readonly number[],
): void {
  for (const step of [0, 0.3, 0.8, 2, 3]) {
    for (const one of [crowd, other]) one.update(step);
    indices.forEach((index, i) => {
      state(crowd, i).forEach((value, k) => {
        expect(value, `instance ${i}, number ${k}, ${step}`).toBeCloseTo(state(other, index)[k], 5);
      });
    });
  }
}

describe('layers stay', () => {
  test('through the clock going back to zero', () => {
    const crowd = createBusy();
    const weights = [0, 1, 2].map((layer) => crowd.getLayerWeightAt(0, layer));
    const tip = tipOf(crowd, 0);
    crowd.update(1.4).update(-1.4);
    expect(crowd.elapsed).toBeCloseTo(14.4, 9);
    expect([0, 1, 2].map((layer) => crowd.getLayerWeightAt(0, layer))).toEqual(
      weights.map((weight) => expect.closeTo(weight, 9)),
    );
    tipIs(crowd, 0, tip);
    crowd.update(1.5);
    expect(crowd.getLayerWeightAt(0, 1)).toBeCloseTo(1 - (0.9 * 1.9) / 5, 9);
    expect(crowd.clock).toBeCloseTo(15.9, 9);
    crowd.update(0.2);
    expect(crowd.clock).toBe(0);
    expect(crowd.getLayerWeightAt(0, 1)).toBeCloseTo(1 - (0.9 * 2.1) / 5, 9);
    expect(crowd.getLayerWeightAt(0, 2)).toBeCloseTo(0.6, 9);
    crowd.update(20);
    expect(crowd.getLayerWeightAt(0, 1)).toBeCloseTo(0.1, 9);
  });

  test('while an instance is paused', () => {
    const crowd = createBusy();
    const other = createBusy();
    crowd.pause(0).update(20).resume(0);
    expectSame(crowd, other, [0]);
  });

  test('in JSON, to a crowd whose layers are in another order', () => {
    const crowd = createBusy();
    const json = JSON.parse(JSON.stringify(crowd.playbackToJSON()));
    expect(json).toMatchObject({ version: 4, layers: ['base', 'upper', 'whole'] });
    const other = createCrowd(3).update(5);
    other.play(2, 'A', { layer: 1 }).setLayerWeightAt(2, 1, 0.3);
    expectSame(other.playbackFromJSON(json), createBusy(), [0, 1, 2]);

    const turned = createCrowd(3, [LAYERS[1], LAYERS[0], { name: 'more' }]).playbackFromJSON(json);
    expect(turned.getLayerWeightAt(0, 'upper')).toBeCloseTo(crowd.getLayerWeightAt(0, 'upper'), 9);
    expect(turned.getClipAt(0, 'whole')).toBe('E');
    expect(turned.getClipAt(0, 'more')).toBe(null);
  });

  test('exchanged, copied, cloned, and with more room', () => {
    const crowd = createBusy();
    crowd.swapInstances(0, 2).swapInstances(1, 0);
    expectSame(crowd, createBusy(), [1, 2, 0]);
    const clone = createBusy().clone();
    expectSame(clone, createBusy(), [0, 1, 2]);
    clone.dispose();
    const copy = createCrowd(1, []).copy(createBusy());
    expectSame(copy, createBusy(), [0, 1, 2]);
    expectSame(createBusy().setCapacity(40), createBusy(), [0, 1, 2]);
    const grown = createBusy().setCapacity(40);
    grown.count = 40;
    expect([1, 2].map((layer) => grown.getLayerWeightAt(30, layer))).toEqual([1, 0]);
  });

  test('with another bone texture of tracks', () => {
    const crowd = createBusy();
    const { root, clips } = createStick(DURATIONS);
    crowd.boneTexture = BoneTexture.bake(root, [...clips].reverse(), { encoding: 'tracks' });
    expectSame(crowd, createBusy(), [0, 1, 2]);
    const matrices = BoneTexture.bake(root, clips, { encoding: 'matrix' });
    expect(() => {
      crowd.boneTexture = matrices;
    }).toThrow(/boneTexture: layers need .*encoding "tracks"/);
    expect(crowd.boneTexture).not.toBe(matrices);
  });
});

describe('wrong input is named', () => {
  const from = (layers: unknown, encoding?: 'matrix') => {
    const { root, clips } = createStick(DURATIONS);
    return SkinnedInstancedMesh.from(root, clips, 1, { layers: layers as typeof LAYERS, encoding });
  };

  test.each<[string, unknown, RegExp]>([
    ['no array', { name: 'upper' }, /from: layers is Object "upper"; pass an array/],
    [
      'too many',
      Array.from({ length: 5 }, (_, i) => ({ name: `${i}` })),
      /5 layers; there may be 4 over the base/,
    ],
    ['nothing', [null], /layer 1 is called undefined/],
    ['no name', [{}], /layer 1 is called undefined; each needs a name/],
    ['the name of the base', [{ name: 'base' }], /layer 1 is called "base"/],
    ['a name twice', [{ name: 'a' }, { name: 'a' }], /layer 2 is called "a"/],
    [
      'a weight of NaN',
      [{ name: 'a', weight: Number.NaN }],
      /layer "a": weight is NaN; use a number from 0 to 1/,
    ],
    ['an unknown joint', [{ name: 'a', mask: ['Arm'] }], /layer "a": the mask names "Arm", .*"Tip"/],
    ['an empty mask', [{ name: 'a', mask: [] }], /layer "a": the mask names no joint/],
    ['a mask that is 0', [{ name: 'a', mask: { Tip: 0 } }], /layer "a": the mask .* nowhere/],
    ['a share of NaN', [{ name: 'a', mask: { Tip: Number.NaN } }], /mask gives "Tip" a weight of NaN/],
  ])('%s', (_what, layers, message) => {
    expect(() => from(layers)).toThrow(message);
  });

  test('layers without tracks', () => {
    expect(() => from(LAYERS, 'matrix')).toThrow(
      /SkinnedInstancedMesh: layers need .*bake with encoding "tracks"/,
    );
  });

  test('unknown layers and weights that are none', () => {
    const crowd = createCrowd();
    crowd.play(0, 'A');
    for (const layer of ['lower', 3, -1, 0.5]) {
      expect(() => crowd.play(0, 'A', { layer })).toThrow(
        /play: no layer .*; the crowd has "base", "upper", "whole"/,
      );
      expect(() => crowd.stop(0, { layer })).toThrow(/stop: no layer/);
      expect(() => crowd.setLayerWeightAt(0, layer, 1)).toThrow(/setLayerWeightAt: no layer/);
      expect(() => crowd.getLayerWeightAt(0, layer)).toThrow(/getLayerWeightAt: no layer/);
      expect(() => crowd.getClipAt(0, layer)).toThrow(/getClipAt: no layer/);
    }
    for (const weight of [Number.NaN, -1, 2]) {
      expect(() => crowd.setLayerWeightAt(0, 1, weight)).toThrow(/setLayerWeightAt: weight is .*0 to 1/);
    }
    expect(() => crowd.setLayerWeightAt(0, 1, 1, { fade: Number.NaN })).toThrow(
      /setLayerWeightAt: fade is NaN/,
    );
    expect(() => crowd.setLayerWeightAt(0, 'base', 0.5)).toThrow(/the base has no weight of its own/);
    expect(() => crowd.setLayerWeightAt(1, 1, 0.5)).toThrow(/setLayerWeightAt: no instance 1/);
  });

  test('JSON with layers that are not there, twice there, or of a wrong length', () => {
    const json = () => JSON.parse(JSON.stringify(createBusy().playbackToJSON()));
    const crowd = createCrowd(3);
    expect(() => createCrowd(3, []).playbackFromJSON(json())).toThrow(/playbackFromJSON: no layer "upper"/);
    expect(() => crowd.playbackFromJSON({ ...json(), layers: ['base', 'base', 'upper'] })).toThrow(
      /a layer twice/,
    );
    expect(() => crowd.playbackFromJSON({ ...json(), layers: ['base', 'upper'] })).toThrow(/instance 0 has/);
    expect(() => crowd.playbackFromJSON({ ...json(), layers: undefined })).toThrow(
      /version other than 2 to 4/,
    );
    const wrong = json();
    wrong.instances[0][1] = 7;
    expect(() => crowd.playbackFromJSON(wrong)).toThrow(/instance 0 has weights that no layer can have: 7/);
    expect(crowd.getClipAt(0)).toBe(null);
  });
});

describe('pose rates', () => {
  test('are kept for each instance, exchanged and copied', () => {
    const crowd = createCrowd(3);
    crowd.setPoseRateAt({ start: 0, count: 2 }, 15).setPoseRateAt(2, 30);
    expect([0, 1, 2].map((i) => crowd.getPoseRateAt(i))).toEqual([15, 15, 30]);
    crowd.swapInstances(0, 2).setPoseRateAt(1, Infinity);
    crowd.setCapacity(10);
    expect([0, 1, 2, 5].map((i) => crowd.clone().getPoseRateAt(i))).toEqual([30, 0, 15, 0]);
    for (const rate of [-1, Number.NaN]) {
      expect(() => crowd.setPoseRateAt(0, rate)).toThrow(/setPoseRateAt: the rate is .*poses a second/);
    }
  });
});

test('ten thousand plays with fades on a layer take a few milliseconds', () => {
  const count = 10_000;
  const crowd = createCrowd(count);
  const times: number[] = [];
  for (let round = 0; round < 12; round++) {
    const clip = 'ABCDE'[round % 5];
    const begin = performance.now();
    crowd.play(crowd.all, clip, { fade: 0.3, layer: 'upper' });
    times.push(performance.now() - begin);
    crowd.update(0.1);
  }
  console.log(`10,000 plays with fades on a layer: ${Math.min(...times.slice(2)).toFixed(2)} ms`);
  expect(crowd.getWeightAt(count - 1, 'A', 'upper')).toBeGreaterThan(0);
});
