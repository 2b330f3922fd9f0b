import type { BakeOptions } from 'skinned-instanced-mesh';
import { VertexTexture } from 'skinned-instanced-mesh/vertex-textures';
import { bakeInWorker } from 'skinned-instanced-mesh/worker';
import { Mesh, MeshBasicMaterial, PlaneGeometry } from 'three';
import { expect, test, vi } from 'vitest';
import { describe as described } from '../../../lib/utils/describe.js';
import { BoneTexture } from '../../support/library.js';
import { createStick } from '../../support/stick.js';

/** What programs pass by mistake, of every kind. */
const VALUES = [
  '',
  '30',
  'yes',
  0,
  1.5,
  -1,
  Number.NaN,
  Infinity,
  -Infinity,
  1e308,
  true,
  false,
  null,
  [],
  [5],
  {},
];
const WRONG = [...VALUES, () => {}, Symbol('one'), 10n, new Date(0)] as unknown[];

const number = (value: unknown) => typeof value === 'number' && value > 0 && value < Infinity;
const whole = (value: unknown) => number(value) && Number.isInteger(value);
/** What stops work, and what is told of it, may be null as well as left out. */
const orNull = (value: unknown, isRight = false) => value === null || isRight;

/** Options of baking, and which of the values are right for each. */
const BONES: Record<keyof BakeOptions | 'onProgress' | 'signal', (value: unknown) => boolean> = {
  // So many frames would not fit, which another error says.
  fps: (value) => number(value) && value !== 1e308,
  clips: () => false,
  encoding: () => false,
  precision: () => false,
  // No limit.
  maxError: (value) => value === Infinity || number(value),
  maxTextureSize: (value) => value === Infinity,
  instances: (value) => value === 0 || whole(value),
  rootMotion: (value) => value === false,
  sockets: (value) => Array.isArray(value) && value.length === 0,
  joints: () => false,
  morphTargets: (value) => typeof value === 'boolean',
  onProgress: (value) => orNull(value, typeof value === 'function'),
  signal: (value) => orNull(value),
};

const { root, clips } = createStick();

test.each(Object.entries(BONES))('BoneTexture.bake refuses what is no %s', (name, isRight) => {
  for (const value of WRONG) {
    const bake = () => BoneTexture.bake(root, clips, { [name]: value });
    if (isRight(value)) {
      expect(bake, described(value)).not.toThrow();
      continue;
    }
    // A huge texture, a move that clips do not have, or such a thing.
    const isKind = (name === 'maxTextureSize' && value === 1e308) || (name === 'fps' && value === 1e308);
    const isMotion = name === 'rootMotion' && (value === true || /^(Object|Date)$/.test(described(value)));
    if (isKind || isMotion) continue;
    expect(bake, `${name}: ${described(value)}`).toThrow(
      /^BoneTexture\.bake: (options\.)?\w+ .*; (use|leave it) .{5}/,
    );
  }
});

const flag = new Mesh(new PlaneGeometry(), new MeshBasicMaterial());

test.each([
  ['fps', (value: unknown) => number(value) && (value as number) < 1e6],
  ['clips', () => false],
  ['precision', () => false],
  ['maxTextureSize', (value: unknown) => value === Infinity || whole(value)],
  ['normals', () => false],
  ['duration', (value: unknown) => value === 0 || (number(value) && (value as number) < 1e6)],
  ['name', (value: unknown) => typeof value === 'string' && value !== ''],
  ['measure', (value: unknown) => typeof value === 'boolean'],
  ['onProgress', (value: unknown) => orNull(value, typeof value === 'function')],
  ['signal', (value: unknown) => orNull(value)],
] as [string, (value: unknown) => boolean][])('VertexTexture.bake refuses what is no %s', (name, isRight) => {
  for (const value of WRONG) {
    // More frames than there is room for.
    if (value === 1e308 && name !== 'measure') continue;
    const bake = () => VertexTexture.bake(flag, () => {}, { duration: 0.1, [name]: value });
    if (isRight(value) && !(name === 'maxTextureSize' && value === 1)) {
      expect(bake, described(value)).not.toThrow();
      continue;
    }
    expect(bake, `${name}: ${described(value)}`).toThrow(/^VertexTexture\.bake: .*; (use|leave|bake) .{5}/);
  }
});

test('there may be no limit, in all encodings, and neither signal nor listener', async () => {
  for (const encoding of ['tracks', 'quaternion', 'matrix'] as const) {
    const limits = { encoding, maxError: Infinity, maxTextureSize: Infinity };
    const { data } = BoneTexture.bake(root, clips, limits);
    expect(data.texels).toEqual(BoneTexture.bake(root, clips, { encoding }).data.texels);
  }
  const none = { signal: null as never, onProgress: null as never, maxTextureSize: Infinity };
  expect((await BoneTexture.bakeAsync(root, clips, none)).clips).toHaveLength(clips.length);
  const { vertexData } = await VertexTexture.bakeAsync(flag, [], none);
  expect(vertexData.texels).toEqual(VertexTexture.bake(flag, []).vertexData.texels);
});

test('texts of digits are no numbers', () => {
  expect(() => BoneTexture.bake(root, clips, { fps: '30' as never })).toThrow(
    'BoneTexture.bake: fps is "30"; use a positive number of frames per second.',
  );
  const choice = { clip: clips[0], fps: '30' as never };
  expect(() => BoneTexture.bake(root, clips, { clips: [choice] })).toThrow(
    'fps is "30"; use a positive number',
  );
  expect(() => VertexTexture.bake(root, clips, { clips: [choice] })).toThrow(
    'VertexTexture.bake: options.clips "Slide": fps is "30"; use a positive number',
  );
  const motion = { name: 'Sway', duration: 1, fps: '30' as never, pose() {} };
  expect(() => VertexTexture.bake(flag, [motion])).toThrow(
    'VertexTexture.bake: motion "Sway" has fps "30"; use a positive number',
  );
  for (const [option, message] of [
    [{ joint: 5 }, 'rootMotion.joint is 5; use the name of a joint'],
    [{ yaw: 'no' }, 'rootMotion.yaw is "no"; use true or false'],
    [{ vertical: 1 }, 'rootMotion.vertical is 1'],
    [{ clips: 'Slide' }, 'rootMotion.clips is "Slide"; use an array'],
  ] as [object, string][]) {
    expect(() => BoneTexture.bake(root, clips, { rootMotion: option })).toThrow(message);
  }
});

test.each([
  ['BoneTexture.bakeAsync', (options: never) => BoneTexture.bakeAsync(root, clips, options)],
  ['VertexTexture.bakeAsync', (options: never) => VertexTexture.bakeAsync(flag, [], options)],
  ['bakeInWorker', (options: never) => bakeInWorker(root, clips, options)],
])('%s refuses them in its promise', async (_, bake) => {
  for (const options of [
    null,
    'fast',
    5,
    [],
    { fps: '30' },
    { signal: {} },
    { onProgress: true },
    { fps: null },
  ]) {
    await expect(bake(options as never), described(options)).rejects.toThrow(
      /^(BoneTexture|VertexTexture)\.bake(Async)?: \w+ is .*; (use|pass) /,
    );
  }
});

test('two clips of one name are warned of by the name of who bakes them', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const twice = [clips[0], clips[0].clone()];
  VertexTexture.bake(root, twice);
  BoneTexture.bake(root, twice);
  expect(warn.mock.calls.map(([text]) => text.slice(0, 60))).toEqual([
    'VertexTexture.bake: more than one clip is named "Slide"; the',
    'BoneTexture.bake: more than one clip is named "Slide"; the f',
  ]);
  warn.mockRestore();
});
