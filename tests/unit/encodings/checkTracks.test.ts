import { BoneTexture, type BoneTextureData, type PoseTracks } from 'skinned-instanced-mesh';
import { expect, test } from 'vitest';
import { createMorphingStick } from '../../support/stick.js';

const { root, clips } = createMorphingStick();
const { data } = BoneTexture.bake(root, clips, { encoding: 'tracks' });
const tracks = data.tracks as PoseTracks;

test.each([
  ['tracks', null, 'data.tracks is null, but has to be the tracks that were baked'],
  ['tracks', {}, 'data.tracks is Object'],
  ['precision', 'half', 'data.tracks.shorts is null, but has to be a Uint16Array of whole rows of 2048'],
  [
    'layout',
    { ...data.layout, width: 4, height: data.texels.length / 16 },
    'data.layout.width is 4, but has to be 2048',
  ],
  ['texels', new Float32Array(2048 * 8), /data\.texels\.length is 16384, but has to be 8192/],
  ['clips', [{ ...data.clips[0], start: 2 }], 'data.clips[0].start is 2, but has to be 1'],
  ['clips', [{ ...data.clips[0], fps: 7 }], 'data.clips[0].fps is 7'],
  ['clips', [{ ...data.clips[0], duration: Number.NaN }], 'data.clips[0].duration is NaN'],
  ['clips', [], /data\.tracks\.table is Uint32Array of \d+, but has to be a Uint32Array of 0 numbers/],
] as [keyof BoneTextureData, unknown, string | RegExp][])(
  'another %s is named (%#)',
  (field, value, message) => {
    expect(() => new BoneTexture({ ...data, [field]: value } as BoneTextureData)).toThrow(message);
  },
);

test.each([
  [
    'names',
    ['a', 'b'],
    "data.tracks.names is Array of 2, but has to be a name for each of 3 nodes, '' where",
  ],
  ['names', ['a', 'b', null], 'data.tracks.names is Array of 3'],
  ['names', undefined, 'data.tracks.names is undefined'],
  ['parents', Int32Array.of(-1, 2, 0), 'data.tracks.parents is Int32Array of 3'],
  [
    'rest',
    new Float64Array(3),
    'data.tracks.rest is Float64Array of 3, but has to be a Float64Array of 30 numbers',
  ],
  ['fixed', [], 'data.tracks.fixed is Array of 0'],
  ['before', new Float32Array(12), 'data.tracks.before is Float32Array of 12'],
  [
    'jointNodes',
    Int32Array.of(1, 3),
    'data.tracks.jointNodes is Int32Array of 2, but has to be nodes from 0 to 2',
  ],
  ['inverses', new Float64Array(12), 'data.tracks.inverses is Float64Array of 12'],
  ['morphRest', new Float64Array(8), 'data.tracks.morphRest is Float64Array of 8'],
  [
    'keys',
    tracks.keys.slice(0, 4),
    /data\.tracks\.table\[\d+\] is \d+, but has to be a track among the 1 texels/,
  ],
  // Addresses of more than these are no longer exact in shaders.
  [
    'keys',
    new Float32Array(2 ** 24),
    'data.tracks.keys is Float32Array of 16777216, but has to be so few that 4194304 texels hold all',
  ],
  ['table', tracks.table.slice(1), 'data.tracks.table is Uint32Array of'],
  ['clips', [], 'data.tracks.clips is Array of 0'],
  ['clips', [{ ...tracks.clips[0], frames: 9 }], 'data.tracks.clips[0].frames is 9, but has to be 2'],
  ['clips', [{ ...tracks.clips[0], stride: 0.5 }], 'data.tracks.clips[0].stride is 0.5'],
] as [keyof PoseTracks, unknown, string | RegExp][])(
  'so are tracks with other %s (%#)',
  (field, value, message) => {
    const changed = { ...data, tracks: { ...tracks, [field]: value } } as BoneTextureData;
    expect(() => new BoneTexture(changed)).toThrow(message);
  },
);
