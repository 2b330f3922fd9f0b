import { BoneTexture, type BoneTextureData, SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { createStick } from '../support/stick.js';

const options = [
  {},
  { encoding: 'matrix' },
  { precision: 'half' },
  { rootMotion: { joint: 'Base' }, sockets: ['Stick'] },
  { maxTextureSize: 12 },
] as const;

test.each(options)('the data of a bone texture make an equal one, %j', (given) => {
  const { root, clips } = createStick({ Slide: 0.3, Other: 0.2 });
  const texture = BoneTexture.bake(root, clips, given);
  texture.addMarker('Other', 0.1, 'step');
  for (const data of [texture.data, structuredClone(texture.data)]) {
    const other = new BoneTexture(data);
    expect(other.data).toEqual(texture.data);
    expect(other.clips[0].bounds).toHaveLength(6);
    expect(other.type).toBe(texture.type);
    expect(other.image.width).toBe(texture.image.width);
    const crowd = SkinnedInstancedMesh.from(root, clips, 1, { boneTexture: other });
    crowd.play(0, 'Slide', { time: 0.2 });
    expect(crowd.getSkinningMatrixAt(0, 'Tip', new Matrix4()).elements[12]).toBeCloseTo(5.2, 2);
    expect(crowd.getSocketMatrixAt(0, 'Tip', new Matrix4()).elements[12]).toBeCloseTo(0.2, 2);
    crowd.computeBoundingSphere();
    expect(crowd.boundingSphere?.radius).toBeGreaterThan(1);
  }
});

test('markers belong to each texture', () => {
  const { root, clips } = createStick();
  const texture = BoneTexture.bake(root, clips).addMarker(0, 0.5, 'step');
  const copies = [
    new BoneTexture(texture.data),
    texture.clone(),
    new BoneTexture(texture.data).copy(texture),
  ];
  texture.removeMarkers();
  for (const copy of copies) expect(copy.clips[0].markers).toEqual([{ time: 0.5, name: 'step' }]);
  copies[0].addMarker(0, 0.2, 'other');
  expect(copies[1].clips[0].markers).toHaveLength(1);
  expect(copies[1].image.data, 'texels are shared').toBe(texture.image.data);
});

test('the data cannot be exchanged for others', () => {
  const { root, clips } = createStick();
  const texture = BoneTexture.bake(root, clips);
  expect(() => Object.assign(texture, { data: BoneTexture.bake(root, clips, { fps: 5 }).data })).toThrow(
    TypeError,
  );
});

const without = (count: number) => (array: Float32Array) => array.slice(0, array.length - count);

test.each([
  ['encoding', () => 'euler', 'data.encoding is "euler", but has to be one of "matrix", "quaternion"'],
  ['precision', () => 'double', 'data.precision is "double"'],
  ['precision', () => 'half', 'data.texels is Float32Array of'],
  ['texels', without(4), /data\.texels\.length is \d+, but has to be \d+, for 4 × 3\d texels/],
  ['texels', (texels: Float32Array) => [...texels], 'data is Object; use BoneTexture.bake'],
  [
    'layout',
    () => ({ width: 4, height: 32, stride: 3 }),
    'data.layout.stride is 3, but has to be 4, for 2 joints',
  ],
  ['layout', () => ({ width: 5, height: 32, stride: 4 }), 'data.layout.width is 5'],
  ['layout', () => ({ width: 4, height: 0, stride: 4 }), 'data.layout.height is 0'],
  ['frames', () => 1000, /data\.frames is 1000, but has to be from 1 to \d+/],
  ['frames', () => 5, 'data.clips[0].count is 31, but has to be from 1 to 4'],
  ['jointNames', () => [], 'data.jointNames is Array of 0'],
  ['jointNames', () => ['Base', 7], 'data.jointNames is Array of 2, but has to be an array of names'],
  ['jointNames', () => ['Base'], 'data.layout.stride is 4, but has to be 2, for 1 joints'],
  [
    'jointBinds',
    () => [null],
    'data.jointBinds is Array of 1, but has to be 12 numbers or null for each of 2 joints',
  ],
  ['jointBinds', () => [null, [1, 2]], 'data.jointBinds'],
  ['jointBoxes', without(1), 'data.jointBoxes is Float32Array of 11'],
  ['morphNames', () => undefined, 'data.morphNames is undefined'],
  ['restBounds', () => null, 'data.restBounds is'],
  ['flips', () => undefined, 'data.flips is undefined'],
  ['clips', () => null, 'data.clips is null'],
  ['clips', () => [null], 'data.clips[0] is null'],
] as [keyof BoneTextureData, (value: never) => unknown, string | RegExp][])(
  'data with another %s are named (%#)',
  (field, change, message) => {
    const { root, clips } = createStick();
    const { data } = BoneTexture.bake(root, clips);
    const changed = { ...data, [field]: change(data[field] as never) };
    expect(() => new BoneTexture(changed)).toThrow(message);
  },
);

test.each([
  ['name', 5, 'data.clips[1].name is 5'],
  ['start', 0, 'data.clips[1].start is 0, but has to be a frame from 32, behind the clip before'],
  ['start', 33.5, 'data.clips[1].start is 33.5'],
  ['count', 32, 'data.clips[1].count is 32, but has to be from 1 to 31'],
  ['count', 0, 'data.clips[1].count is 0'],
  ['duration', -1, 'data.clips[1].duration is -1'],
  ['fps', 25, 'data.clips[1].fps is 25, but has to be 30'],
  ['bounds', {}, 'data.clips[1].bounds is'],
  ['rootMotion', new Float32Array(3), 'data.clips[1].rootMotion is Float32Array of 3'],
  ['markers', [{ time: 3, name: 'late' }], 'data.clips[1].markers is Array of 1'],
  ['markers', undefined, 'data.clips[1].markers is undefined'],
] as const)('so is a clip with another %s (%#)', (field, value, message) => {
  const { root, clips } = createStick({ One: 1, Two: 1 });
  const { data } = BoneTexture.bake(root, clips);
  const changed = { ...data, clips: [data.clips[0], { ...data.clips[1], [field]: value }] };
  expect(() => new BoneTexture(changed as BoneTextureData)).toThrow(message);
});

test('what are no data at all', () => {
  for (const data of [undefined, null, 5, {}, new Float32Array(4)]) {
    expect(() => new BoneTexture(data as never)).toThrow('BoneTexture: data is');
  }
});
