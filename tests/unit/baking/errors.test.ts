import {
  AnimationClip,
  Bone,
  BoxGeometry,
  Group,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  type Object3D,
  ObjectSpaceNormalMap,
  Skeleton,
  Texture,
  VectorKeyframeTrack,
} from 'three';
import { expect, test, vi } from 'vitest';
import {
  bakeBoneTexture,
  bakeCharacter,
  bakeCharacterAsync,
  frames,
  getSkinningMatrix,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { createStick } from '../../support/stick.js';

const bake =
  (root: Object3D, clips: AnimationClip[], options = {}) =>
  () =>
    bakeBoneTexture(root, clips, options);

test('bakeCharacter says what is missing', () => {
  const { root, clips } = createStick();
  expect(bake(undefined as unknown as Object3D, clips)).toThrow('root is undefined');
  expect(bake(root, undefined as never)).toThrow('clips is undefined; pass gltf.animations of a file');
  expect(bake(new Group(), clips)).toThrow('No visible mesh under "Group"');
  expect(bake(root, clips, { clips: [] })).toThrow('options.clips is empty');
  expect(bake(root, clips, { clips: ['Slid'] })).toThrow(
    'No clip named "Slid" in options.clips; there are "Slide"',
  );
});

test('the scale of the root, which instances do not have, is warned of', () => {
  const { root, clips } = createStick();
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  root.rotation.x = 1;
  root.scale.setScalar(1 + 1e-6);
  bakeCharacter(root, clips);
  expect(warn).not.toHaveBeenCalled();
  root.scale.setScalar(0.01);
  bakeCharacter(root, clips);
  bakeCharacter(new Group().add(root), clips);
  expect(warn.mock.calls).toEqual([[expect.stringContaining('"Stick" is scaled by 0.01')]]);
});

test('bakeCharacter names the clip and track it cannot bake', () => {
  const { root } = createStick();
  const track = (values: number[], times = [0, 1]) => new VectorKeyframeTrack('Tip.position', times, values);
  const nan = new AnimationClip('Bad', 1, [track([0, 0, 0, Number.NaN, 0, 0])]);
  expect(bake(root, [nan])).toThrow('Track "Tip.position" of clip "Bad" has NaN in key 1');
  const hollow = new AnimationClip('Hollow', 1, [track([0, 0, 0, 1, 0, 0])]);
  hollow.tracks[0].times = new Float32Array(0);
  expect(bake(root, [hollow])).toThrow('Track "Tip.position" of clip "Hollow" has no keys');
  const short = new AnimationClip('Short', 1, [track([0, 0, 0, 1, 0, 0])]);
  short.duration = 0;
  expect(bake(root, [short])).toThrow('Clip "Short" has duration 0');
  short.duration = Number.NaN;
  expect(bake(root, [short])).toThrow('Clip "Short" has duration NaN');
});

test('a clip without length is a pose of one frame', () => {
  const { root } = createStick();
  const pose = new AnimationClip('Pose', -1, [new VectorKeyframeTrack('Tip.position', [0], [7, 0, 0])]);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, [pose]), 1);
  expect(crowd.boneTexture.clips[0]).toMatchObject({ count: 1, duration: 0 });
  crowd.play(0, 'Pose').update(5);
  expect(getSkinningMatrix(crowd, 0, 'Tip', new Matrix4()).elements[12]).toBeCloseTo(12, 5);
});

test('tracks of nodes that are not there are skipped and named once', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { root, clips } = createStick({ A: 1, B: 1 });
  for (const clip of clips) {
    clip.tracks.push(new VectorKeyframeTrack('Tail.position', [0, 1], [0, 0, 0, 1, 1, 1]));
  }
  bakeBoneTexture(root, clips);
  expect(warn).toHaveBeenCalledTimes(1);
  expect(warn.mock.calls[0][0]).toContain('"Stick" has no such nodes: "Tail.position"');
});

test('options out of range', () => {
  const { root, clips } = createStick();
  expect(bake(root, clips, { fps: 0 })).toThrow('fps is 0');
  expect(bake(root, clips, { fps: Number.NaN })).toThrow('fps is NaN');
  expect(bake(root, clips, { maxTextureSize: 4, encoding: frames })).toThrow(
    /need a texture of \d+ × 4, but maxTextureSize is 4/,
  );
});

test.each(['tracks', 'frames', {}])('an encoding of another kind: %s', async (encoding) => {
  const { root, clips } = createStick();
  const message = 'leave it out for tracks, or pass frames, which is imported beside bakeCharacter.';
  expect(bake(root, clips, { encoding })).toThrow(message);
  await expect(bakeCharacterAsync(root, clips, { encoding: encoding as never })).rejects.toThrow(message);
});

test('bones outside of the root', () => {
  const { mesh, clips } = createStick();
  const outside = new Bone();
  outside.name = 'Outside';
  mesh.bind(new Skeleton([outside, outside]));
  expect(bake(mesh, clips)).toThrow(
    'Bone "Outside" of SkinnedMesh "StickMesh" is not under root "StickMesh"',
  );
});

test('tracks say what they cannot hold', () => {
  const { root, clips } = createStick();
  expect(bake(root, clips, { maxTextureSize: 1024 })).toThrow('maxTextureSize is 1024');
  const mug = new Mesh(new BoxGeometry(), new MeshStandardMaterial());
  mug.name = 'mug';
  root.add(mug);
  const scale = new VectorKeyframeTrack('mug.scale', [0, 1], [1, 1, 1, -0.05, -0.05, -0.05]);
  expect(bake(root, [...clips, new AnimationClip('Drink', 1, [scale])])).toThrow(
    'Tracks cannot hold mesh "mug", whose scale is 0 or less in clip "Drink"; keep it above 0, or pass',
  );
});

test('a normal map in object space, which no instance turns, is told of', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const material = new MeshStandardMaterial({
    normalMap: new Texture(),
    normalMapType: ObjectSpaceNormalMap,
  });
  const mesh = new Mesh(new BoxGeometry(), material);
  mesh.name = 'Propeller';
  bakeCharacter(mesh, []);
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    'The normal map of "Propeller" is in object space: it turns with the crowd, not with instances.',
  );
});
