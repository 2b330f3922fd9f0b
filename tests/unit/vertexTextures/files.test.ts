import {
  bakeVertexTexture,
  type EncodedVertices,
  VertexTexture,
} from 'skinned-instanced-mesh/vertex-textures';
import { expect, test } from 'vitest';
import { createFlag, createMorphing } from '../../support/vertexSources.js';

/** As if it had been through a file: the views at odd places of one array of bytes. */
function throughFile({ json, views }: EncodedVertices): EncodedVertices {
  const bytes = new Uint8Array(views.reduce((sum, { length }) => sum + length + 3, 1));
  let at = 1;
  const copies = views.map((view) => {
    bytes.set(view, at);
    const copy = bytes.subarray(at, at + view.length);
    at += view.length + 3;
    return copy;
  });
  return { json: JSON.parse(JSON.stringify(json)), views: copies };
}

test.each(['half', 'float'] as const)('what is written is read again, precision %s', (precision) => {
  const { root, clips } = createMorphing(3);
  const texture = bakeVertexTexture(root, clips, { fps: 10, precision, measure: true });
  texture.addMarker('Travel', 0.2, 'step');
  const read = VertexTexture.decode(throughFile(texture.encode()));
  expect(read.vertexData).toEqual(texture.vertexData);
  expect(read.data.texels).toEqual(texture.data.texels);
  expect(read.clips[1].markers).toEqual([{ time: 0.2, name: 'step' }]);
  expect(new VertexTexture(structuredClone(texture.vertexData)).vertexData).toEqual(texture.vertexData);
  // A device that takes smaller textures may ask for one.
  const { width, height } = VertexTexture.decode(texture.encode(), 64).vertexData;
  expect(Math.max(width, height)).toBeLessThanOrEqual(64);
  expect(() => VertexTexture.decode(texture.encode(), 8)).toThrow(/maxTextureSize is 8/);
});

const { flag, wave } = createFlag(3, 2);
const ENCODED = bakeVertexTexture(flag, wave, { duration: 0.5, fps: 10 }).encode();

test.each([
  ['version', 2, /version is 2, but has to be 1/],
  ['precision', 'double', /precision is "double"/],
  ['frameCount', 1e12, /frames \(bytes\) is 28, but has to be 4000000000000/],
  ['storedCount', -1, /storedCount is -1/],
  ['texels', 7, /texels is 7, but has to be the number of a view/],
  ['parts', [{ name: 'Flag', vertices: 1e9 }], /texels \(bytes\)/],
  ['clips', [null], /clips is Array of 1, but has to be an array of objects/],
  ['normals', 1, /normals is 1/],
])('a file whose %s is %j is refused', (field, value, message) => {
  const json = { ...ENCODED.json, [field]: value };
  expect(() => VertexTexture.decode({ ...ENCODED, json })).toThrow(message);
});

test('a frame beyond those that are stored is refused', () => {
  const { json, views } = structuredClone(ENCODED);
  new DataView(views[0].buffer, views[0].byteOffset).setUint32(0, json.storedCount, true);
  expect(() => VertexTexture.decode({ json, views })).toThrow(`frames is ${json.storedCount}`);
});
