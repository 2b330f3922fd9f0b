import { expect, test } from 'vitest';
import {
  ACTION_FROM,
  ACTION_LAYER,
  ACTION_TEXELS,
  ACTION_TO,
  actionsRowBits,
  actionsTexels,
  CLIP_START,
  firstAction,
  HEADER_CHANGED,
  HEADER_PHASE,
  HEADER_RATE,
  MAX_LAYERS,
} from '../../../lib/playback/instanceLayout.js';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { createStick } from '../../support/stick.js';

const LAYERS = ['one', 'two', 'three', 'four'].map((name) => ({ name }));

/** A crowd with so many layers, the base among them, and a function that gives the numbers of an instance's texels. */
function createCrowd(layers: number, count = 300) {
  const { root, clips } = createStick({ A: 4, B: 8, C: 2 });
  const crowd = SkinnedInstancedMesh.from(root, clips, count, {
    encoding: 'tracks',
    layers: LAYERS.slice(0, layers - 1),
  });
  const { image } = crowd.playback.actions.plain;
  const perRow = 2 ** actionsRowBits(layers);
  return {
    crowd,
    numbersOf(index: number): Float32Array {
      const texel = Math.floor(index / perRow) * image.width + (index % perRow) * actionsTexels(layers);
      return (image.data as Float32Array).subarray(texel * 4, (texel + actionsTexels(layers)) * 4);
    },
  };
}

test.each([1, 2, 3, 4, 5])(
  'rows of %i layers fit into every device, and no smaller power of two would do',
  (layers) => {
    const width = actionsTexels(layers) * 2 ** actionsRowBits(layers);
    expect(width).toBeLessThanOrEqual(2048);
    expect(actionsRowBits(layers) === 7 || width > 1024).toBe(true);
    expect(createCrowd(layers).crowd.playback.actions.plain.image.width).toBe(width);
    expect(layers).toBeLessThanOrEqual(MAX_LAYERS);
  },
);

test('a header says when an instance last changed, and how often and when it is to be posed', () => {
  const { crowd, numbersOf } = createCrowd(1);
  crowd.update(3).play(7, 'A').update(2).setPoseRateAt(9, 15);
  expect(numbersOf(7)[HEADER_CHANGED]).toBe(3);
  expect(numbersOf(9)[HEADER_CHANGED]).toBe(5);
  expect(numbersOf(7)[HEADER_RATE]).toBe(0);
  expect(numbersOf(9)[HEADER_RATE]).toBe(15);
  const { version } = crowd.playback;
  crowd.update(1).playback.touch(7);
  expect(numbersOf(7)[HEADER_CHANGED]).toBe(6);
  expect(crowd.playback.version).toBeGreaterThan(version);

  const phases = Array.from({ length: 300 }, (_, i) => numbersOf(i)[HEADER_PHASE]).sort((a, b) => a - b);
  const gaps = phases.map((phase, i) => (phases[i + 1] ?? 1 + phases[0]) - phase);
  expect(Math.max(...gaps), 'phases are spread evenly').toBeLessThan(2.7 / 300);

  crowd.update(15);
  expect(crowd.clock).toBe(0);
  expect(numbersOf(7)[HEADER_CHANGED], 'times go along when the clock goes back').toBe(0);
});

test('actions are packed, layer by layer, in the order in which they were started', () => {
  const { crowd, numbersOf } = createCrowd(5);
  const clipsOf = (index: number) => {
    const numbers = numbersOf(index);
    const clips: [number, number][] = [];
    for (let at = firstAction(5) * 4; at < numbers.length; at += ACTION_TEXELS * 4) {
      const clip = numbers[at + CLIP_START];
      if (clip === 0) break;
      clips.push([Math.floor(clip / ACTION_LAYER), (clip % ACTION_LAYER) - 1]);
    }
    return clips;
  };
  crowd.play(200, 'C', { layer: 'four' }).play(200, 'B').play(200, 'A', { weight: 0.5 });
  crowd.play(200, 'B', { layer: 'two', fade: 1 });
  expect(clipsOf(200)).toEqual([
    [0, 1],
    [0, 0],
    [2, 1],
    [4, 2],
  ]);
  const numbers = numbersOf(200);
  const second = (firstAction(5) + ACTION_TEXELS) * 4;
  expect([numbers[second + ACTION_FROM], numbers[second + ACTION_TO]]).toEqual([0.5, 0.5]);

  crowd.setLayerWeightAt(200, 'two', 0, { fade: 0.5 });
  expect([...numbers.subarray(2 * 4, 3 * 4)], 'from, to, start and share a second').toEqual([1, 0, 0, 2]);
  expect(clipsOf(200)).toHaveLength(4);
  crowd.update(0.6).setPoseRateAt(200, 0);
  expect(clipsOf(200), 'what is hidden for good is left out').toEqual([
    [0, 1],
    [0, 0],
    [4, 2],
  ]);
  crowd.setLayerWeightAt(200, 'two', 1);
  expect(clipsOf(200)).toHaveLength(4);
  crowd.setLayerWeightAt(200, 'four', 0, { fade: 2 }).update(0.5).pause(200);
  expect(numbers[4 * 4 + 1], 'a paused instance keeps the weight of that moment').toBeCloseTo(0.75, 6);
  expect(numbers[4 * 4 + 3]).toBe(0);

  for (const layer of [0, 1, 2, 3, 4]) {
    crowd.stop(201, { layer });
    for (const clip of ['A', 'B', 'C']) crowd.play(201, clip, { weight: 0.3, layer });
  }
  expect(clipsOf(201)).toHaveLength(15);
  expect(clipsOf(202), 'neighbours are left alone').toEqual([]);
});
