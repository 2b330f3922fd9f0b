import {
  applyRootMotion,
  assembleCharacter,
  BoneTexture,
  bakeBoneTexture,
  extractRootMotion,
  frames,
  getVertexPosition,
  SkinnedInstancedMesh,
} from 'skinned-instanced-mesh';
import { Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { cubicSpline } from '../../support/cubicSpline.js';
import { randomCharacter } from '../../support/randomCharacter.js';
import { createMorphingStick, createStick } from '../../support/stick.js';

const cubic = await cubicSpline();

const cases = [
  ['frames with morph targets', createMorphingStick(), { encoding: frames }],
  ['tracks with morph targets', createMorphingStick(), {}],
  ['root motion', createStick(), { rootMotion: extractRootMotion({ joint: 'Tip' }) }],
  ['half floats', createStick(), { precision: 'half' }],
  [
    'root motion and sockets',
    createStick(),
    { rootMotion: extractRootMotion({ joint: 'Base' }), sockets: ['Stick'] },
  ],
  [
    'frames in several columns',
    createStick({ Slide: 0.3, Other: 0.2 }),
    { encoding: frames, maxTextureSize: 12 },
  ],
  ...[1, 2, 3].map(
    (seed) => [`random character ${seed}`, randomCharacter(seed, cubic), { encoding: frames }] as const,
  ),
] as const;

describe.each(cases)('the data of %s', (_, { root, clips }, options) => {
  const texture = bakeBoneTexture(root, clips, options);
  texture.addMarker(0, 0.05, 'step');
  const copy = new BoneTexture(structuredClone(texture.data), texture);

  test('make an equal texture when a worker has had them', () => {
    expect(copy.data).toStrictEqual(texture.data);
    const { image, type, byteLength } = texture;
    expect(copy).toMatchObject({ image, type, byteLength });
  });

  test('pose a crowd just the same', () => {
    const shown = [texture, copy].map((boneTexture) => {
      const crowd = new SkinnedInstancedMesh(assembleCharacter(root, boneTexture), 1);
      // Half-way through a fade.
      crowd.play(0, 0, { time: 0.3 * boneTexture.clips[0].duration, rootMotion: 'rootMotion' in options });
      crowd.play(0, clips.length - 1, { fade: 0.2, time: 0.1 }).update(0.07);
      applyRootMotion(crowd, 0.07);
      crowd.computeBoundingBox();
      const vertices = [0, 1, 2].map((vertex) => getVertexPosition(crowd, 0, vertex, new Vector3()));
      return [vertices, crowd.instanceMatrix.array, crowd.boundingBox];
    });
    expect(shown[1]).toEqual(shown[0]);
  });
});

test('markers are in the order of their times', () => {
  const { root, clips } = createStick();
  const texture = bakeBoneTexture(root, clips);
  texture.addMarker(0, 0.5, 'b').addMarker(0, 0.2, 'a').addMarker('Slide', 0.5, 'c');
  expect(texture.clips[0].markers.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  texture.removeMarkers(0, 'b').removeMarkers('Slide', 'a');
  expect(texture.clips[0].markers).toEqual([{ time: 0.5, name: 'c' }]);
});
