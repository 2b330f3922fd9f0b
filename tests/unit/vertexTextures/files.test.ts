import {
  bakeVertexTexture,
  VertexTexture,
  type VertexTextureData,
} from 'skinned-instanced-mesh/vertex-textures';
import { expect, test } from 'vitest';
import { createFlag, createMorphing } from '../../support/vertexSources.js';

test.each(['half', 'float'] as const)('what is written is read again, precision %s', (precision) => {
  const { root, clips } = createMorphing(3);
  const texture = bakeVertexTexture(root, clips, { fps: 10, precision, measure: true });
  texture.addMarker('Travel', 0.2, 'step');
  const read = VertexTexture.decode(structuredClone(texture.vertexData));
  expect(read.vertexData).toEqual(texture.vertexData);
  expect(read.data.texels).toEqual(texture.data.texels);
  expect(read.clips[1].markers).toEqual([{ time: 0.2, name: 'step' }]);
  expect(new VertexTexture(structuredClone(texture.vertexData)).vertexData).toEqual(texture.vertexData);
  // A device that takes smaller textures may ask for one.
  const { width, height } = VertexTexture.decode(texture.vertexData, 64).vertexData;
  expect(Math.max(width, height)).toBeLessThanOrEqual(64);
  expect(() => VertexTexture.decode(texture.vertexData, 8)).toThrow(/maxTextureSize is 8/);
});

const { flag, wave } = createFlag(3, 2);
const { vertexData } = bakeVertexTexture(flag, wave, { duration: 0.5, fps: 10 });

test.each<[keyof VertexTextureData, unknown, string]>([
  ['precision', 'double', 'precision is "double"'],
  ['frames', Uint32Array.of(0, vertexData.boxes.length / 6), 'frames does not fit'],
  ['boxes', new Float32Array(0), 'frames does not fit'],
  ['texels', 7, 'texels is 7'],
  ['texels', new Uint32Array(4), 'texels.length is 4, but has to be'],
  ['parts', [{ name: 'Flag', vertices: 1e9 }], 'parts does not fit'],
  ['clips', [null], 'clips.0 is null, but has to be an object'],
])('data whose %s are %o are refused', (field, value, message) => {
  expect(() => VertexTexture.decode({ ...vertexData, [field]: value })).toThrow(`vertices.${message}`);
});
