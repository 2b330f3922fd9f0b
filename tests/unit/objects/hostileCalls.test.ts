import { BoxGeometry, Group, Matrix4, MeshBasicMaterial, Quaternion, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { createStick } from '../../support/stick.js';

function createCrowd() {
  const { root, clips } = createStick({ A: 1, B: 2 });
  return SkinnedInstancedMesh.from(root, clips, 2, { layers: [{ name: 'upper' }] });
}

/** What programs without types may pass. */
const wrong = (value: unknown) => value as never;

const NO_OPTIONS = /: options is (0\.3|null|"fast"); pass an object, or leave it out\.$/;

test.each<[string, (crowd: SkinnedInstancedMesh, options: never) => unknown]>([
  ['play', (crowd, options) => crowd.play(0, 'A', options)],
  ['play', (crowd, options) => crowd.playAll('A', options)],
  ['stop', (crowd, options) => crowd.stop(0, options)],
  ['setTimeAt', (crowd, options) => crowd.setTimeAt(0, 0.5, options)],
  ['setTimeScaleAt', (crowd, options) => crowd.setTimeScaleAt(0, 2, options)],
  ['setWeightAt', (crowd, options) => crowd.setWeightAt(0, 'A', 0.5, options)],
  ['setLayerWeightAt', (crowd, options) => crowd.setLayerWeightAt(0, 'upper', 0.5, options)],
  ['setPoseAt', (crowd, options) => crowd.setPoseAt(0, null, options)],
  ['setJointRotationAt', (crowd, options) => crowd.setJointRotationAt(0, 'Tip', new Quaternion(), options)],
  ['setJointPositionAt', (crowd, options) => crowd.setJointPositionAt(0, 'Tip', new Vector3(), options)],
  ['setJointScaleAt', (crowd, options) => crowd.setJointScaleAt(0, 'Tip', new Vector3(1, 1, 1), options)],
  ['lookAtJointAt', (crowd, options) => crowd.lookAtJointAt(0, 'Tip', new Vector3(1, 1, 1), options)],
  ['addLevel', (crowd, options) => crowd.addLevel(null, 5, 0, options)],
])('%s takes no number, text or null for its options', (method, call) => {
  const crowd = createCrowd();
  crowd.play(0, 'B', { time: 1 });
  const before = JSON.stringify(crowd.playbackToJSON());
  for (const options of [0.3, null, 'fast']) {
    const wanted = `SkinnedInstancedMesh.${method}: `;
    expect(() => call(crowd, wrong(options))).toThrow(NO_OPTIONS);
    expect(() => call(crowd, wrong(options))).toThrow(wanted);
  }
  expect(JSON.stringify(crowd.playbackToJSON())).toBe(before);
  expect(crowd.levels).toHaveLength(1);
});

describe('texts, null and true are no numbers', () => {
  test.each<[string, RegExp, (crowd: SkinnedInstancedMesh, value: never) => unknown]>([
    [
      'time',
      /use a number of seconds from -1000000000000000 to/,
      (crowd, time) => crowd.play(0, 'A', { time }),
    ],
    ['timeScale', /use a number from -1000000 to/, (crowd, timeScale) => crowd.play(0, 'A', { timeScale })],
    ['fade', /use a number of seconds from 0/, (crowd, fade) => crowd.play(0, 'A', { fade })],
    ['weight', /use a number from 0 to 1/, (crowd, weight) => crowd.play(0, 'A', { weight })],
    ['repetitions', /from 0, or Infinity/, (crowd, repetitions) => crowd.play(0, 'A', { repetitions })],
    ['fade', /from 0/, (crowd, fade) => crowd.stop(0, { fade })],
    ['time', /use a number of seconds/, (crowd, time) => crowd.setTimeAt(0, time)],
    ['timeScale', /use a number/, (crowd, timeScale) => crowd.setTimeScaleAt(0, timeScale)],
    ['weight', /0 to 1/, (crowd, weight) => crowd.setWeightAt(0, 'A', weight)],
    ['weight', /0 to 1/, (crowd, weight) => crowd.setLayerWeightAt(0, 'upper', weight)],
    ['the rate', /or 0 for one in every frame/, (crowd, rate) => crowd.setPoseRateAt(0, rate)],
    ['fade', /from 0/, (crowd, fade) => crowd.setPoseAt(0, null, { fade })],
    ['limit', /radians from 0/, (crowd, limit) => crowd.lookAtJointAt(0, 'Tip', new Vector3(), { limit })],
  ])('%s: %s', (what, message, call) => {
    const crowd = createCrowd();
    crowd.play(0, 'A');
    for (const [value, shown] of [
      ['1', '"1"'],
      [true, 'true'],
      [[], 'Array of 0'],
      [Number.NaN, 'NaN'],
    ] as const) {
      expect(() => call(crowd, wrong(value))).toThrow(`: ${what} is ${shown}; use `);
      expect(() => call(crowd, wrong(value))).toThrow(message);
    }
  });

  test('null is none where it does not mean that nothing is given', () => {
    const crowd = createCrowd();
    expect(() => crowd.setTimeAt(0, wrong(null))).toThrow('setTimeAt: time is null');
    expect(() => crowd.setTimeScaleAt(0, wrong(null))).toThrow('setTimeScaleAt: timeScale is null');
    expect(() => crowd.setPoseRateAt(0, wrong(null))).toThrow('setPoseRateAt: the rate is null');
    crowd.play(0, 'A', { time: wrong(null), fade: wrong(null) });
    expect(crowd.getTimeAt(0)).toBe(0);
  });
});

test('attach() and levels of attachments say what they take', () => {
  const crowd = createCrowd();
  const attached = crowd.attachToJoint('Tip', new BoxGeometry(), new MeshBasicMaterial());
  for (const value of [null, undefined, {}]) {
    expect(() => crowd.attach(wrong(value))).toThrow(
      /^SkinnedInstancedMesh.attachToJoint: pass the geometry/,
    );
  }
  const add = (options: unknown) => () => attached.addLevel(new BoxGeometry(), 1, wrong(options));
  expect(add(null)).toThrow('JointAttachment.addLevel: options is null; pass an object');
  expect(add({ material: 'red' })).toThrow('JointAttachment.addLevel: "red" is no material; pass a Material');
});

test('what is no geometry, material or function is refused as it is set, and nothing changes', () => {
  const crowd = createCrowd();
  const { geometry, material } = crowd;
  const attached = crowd.attachToJoint('Tip', new BoxGeometry(), new MeshBasicMaterial(), new Matrix4());
  for (const value of [undefined, null, 5, 'box', {}, new Group()]) {
    expect(() => Object.assign(crowd, { geometry: value })).toThrow(
      /SkinnedInstancedMesh.geometry: .* is no geometry; pass a BufferGeometry\./,
    );
  }
  for (const value of [5, 'red', {}, [material, undefined], [null, material], new BoxGeometry()]) {
    for (const mesh of [crowd, attached]) {
      expect(() => Object.assign(mesh, { material: value })).toThrow(
        /SkinnedInstancedMesh.material: .* is no material; pass a Material, or one for each group\./,
      );
    }
  }
  expect(() => Object.assign(crowd, { material: [material, undefined, material] })).toThrow(
    'SkinnedInstancedMesh.material: undefined at [1] is no material',
  );
  for (const sort of [undefined, 5, 'near', {}]) {
    expect(() => crowd.setCustomSort(wrong(sort))).toThrow(
      /SkinnedInstancedMesh.setCustomSort: .* is no function; pass one that sorts, or null\./,
    );
  }
  for (const levels of [undefined, null, 5, {}]) {
    expect(() => crowd.addSimplifiedLevels(wrong({}), wrong(levels))).toThrow(
      /SkinnedInstancedMesh.addSimplifiedLevels: levels is .*; pass an array of { ratio, distance }\./,
    );
  }
  expect(() => crowd.addSimplifiedLevels(wrong({}), wrong([null]))).toThrow(
    'levels[0] is null; pass an object',
  );
  expect(crowd.geometry).toBe(geometry);
  expect(crowd.material).toBe(material);
  expect(crowd.customSort).toBeNull();
});
