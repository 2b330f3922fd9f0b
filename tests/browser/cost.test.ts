import { InstanceUniforms, JointAttachment } from 'skinned-instanced-mesh';
import {
  BoxGeometry,
  Color,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  PerspectiveCamera,
  PointLight,
  Scene,
  Vector4,
  WebGLRenderer,
} from 'three';
import { describe, expect, test, vi } from 'vitest';
import { countCalls } from '../../demos/lib/countCalls.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { type CrowdOptions, crowdArguments } from '../support/crowdArguments.js';
import { uniformsOf } from '../support/features.js';
import { encodingOf, SkinnedInstancedMesh } from '../support/library.js';
import { NIGHTLY, THOROUGH } from '../support/thorough.js';

const COUNT = 10_000;

/** Draws of the pass that poses a crowd by tracks. */
const PASS = 2;

function createCrowd(count = COUNT, encoding: 'frames' | 'tracks' = 'frames', options: CrowdOptions = {}) {
  const renderer = new WebGLRenderer();
  renderer.setSize(64, 64);
  const { root, clips } = createCoarseCharacter();
  // a second part of the same material
  const { material } = root.getObjectByName('Body') as Mesh;
  const hat = new Mesh(new BoxGeometry(0.1, 0.1, 0.1), material);
  hat.castShadow = hat.receiveShadow = true;
  root.getObjectByName('Head')?.add(hat);
  const crowd = new SkinnedInstancedMesh(
    ...crowdArguments(root, clips, count, { ...options, encoding: encodingOf(encoding) }),
  );
  expect(crowd.geometry.groups).toEqual([]);
  const matrix = new Matrix4();
  for (let i = 0; i < count; i++) {
    crowd.setMatrixAt(i, matrix.makeTranslation((i % 100) * 2, 0, -Math.floor(i / 100) * 2));
    const time = ((i % 37) / 37) * clips[i % clips.length].duration;
    crowd.play(i, i % clips.length, { time, timeScale: 0.8 + (i % 5) / 10 });
  }
  // Uploads and calls do not depend on it, and a software renderer would take long over ten thousand of them.
  crowd.geometry.setDrawRange(0, 0);
  const scene = new Scene();
  scene.add(crowd);
  const camera = new PerspectiveCamera(60, 1, 0.1, 1000);
  camera.position.set(100, 30, 40);
  const calls = countCalls(renderer.getContext() as WebGL2RenderingContext);
  const frame = (delta = 1 / 60) => {
    calls.reset();
    crowd.update(delta);
    renderer.render(scene, camera);
    return { uploads: calls.uploads, bytes: calls.bytes, draws: calls.draws };
  };
  return { renderer, crowd, scene, camera, frame };
}

describe.each([
  ['frames', 0],
  // So many are posed in two turns.
  ['tracks', 2 * PASS],
] as const)('encoding %s', (encoding, pass) => {
  test('ten thousand instances in mixed clips are one draw call and upload nothing while nothing changes', () => {
    const { renderer, frame } = createCrowd(COUNT, encoding);
    frame();
    // A software renderer takes long to pose so many, while the next tests wait for it.
    const frames = encoding === 'tracks' ? (NIGHTLY ? 20 : 6) : 60;
    for (let i = 0; i < frames; i++) expect(frame()).toEqual({ uploads: 0, bytes: 0, draws: 1 + pass });
    // What stands still is not posed anew.
    expect(frame(0)).toEqual({ uploads: 0, bytes: 0, draws: 1 });
    renderer.dispose();
  });

  test('shadows add one draw call per face of the shadow map, and no uploads', () => {
    const { renderer, crowd, scene, frame } = createCrowd(COUNT, encoding);
    renderer.shadowMap.enabled = true;
    crowd.castShadow = true;
    crowd.frustumCulled = false;
    const light = new PointLight();
    light.castShadow = true;
    light.shadow.mapSize.set(32, 32);
    scene.add(light);
    frame();
    const frames = encoding === 'tracks' && !THOROUGH ? 3 : 10;
    for (let i = 0; i < frames; i++) expect(frame()).toEqual({ uploads: 0, bytes: 0, draws: 7 + pass });
    renderer.dispose();
  });

  test('only what changed is uploaded, by what an instance takes', () => {
    const { renderer, crowd, frame } = createCrowd(COUNT, encoding);
    // A header and a clip.
    const size = 16 + 48;
    frame();
    crowd.play(5000, 0);
    expect(frame()).toMatchObject({ uploads: 1, bytes: size });
    crowd.play(1, 2).play(0, 1).play(9999, 1);
    expect(frame()).toMatchObject({ uploads: 2, bytes: 3 * size });
    expect(frame()).toMatchObject({ uploads: 0 });
    // Once for all there is room for a second one.
    crowd.play(1, 0, { fade: 1 });
    expect(frame().bytes).toBeGreaterThan(COUNT * (size + 48));
    crowd.play(5000, 1, { fade: 1 });
    expect(frame()).toMatchObject({ uploads: 1, bytes: size + 48 });
    renderer.dispose();
  });
});

test('an instance more than there is room for sends once what instances have, and has nothing else made anew', () => {
  const { renderer, crowd, frame } = createCrowd(2048, 'tracks');
  for (let i = 0; i < 3; i++) frame();
  const { memory, programs } = renderer.info;
  const before = { ...memory, programs: programs?.length };
  const measured = vi.spyOn(crowd.boneTexture.poseSource, 'expandBounds');
  const id = crowd.addInstance();
  crowd.play(id, 0);
  // Its matrix as a texel and in the attribute, 4 texels of actions, entries of lists; and vertices.
  expect(frame().bytes / crowd.capacity).toBeLessThan(2 * 64 + 4 * 16 + 40);
  expect({ ...memory, programs: programs?.length }).toEqual(before);
  // Nor later.
  expect(frame().bytes).toBeLessThan(5000);
  expect(measured).not.toHaveBeenCalled();
  renderer.dispose();
});

test('what instances have of their own costs a steady frame nothing, and a change what it is', () => {
  const { renderer, crowd, scene, frame } = createCrowd(COUNT, 'frames');
  new InstanceUniforms(crowd, { dirt: 'float', at: 'vec4' });
  const box = new BoxGeometry();
  box.setDrawRange(0, 0);
  const swords = new JointAttachment(crowd, 'RightHand', box, new MeshStandardMaterial());
  swords.frustumCulled = false;
  scene.add(crowd);
  frame();
  for (let i = 0; i < 5; i++) expect(frame(1 / 60)).toMatchObject({ uploads: 0, draws: 2 });

  // two texels an instance, which the swords share
  uniformsOf(crowd).setAt(4000, 'dirt', 0.5);
  expect(frame()).toMatchObject({ uploads: 1, bytes: 2 * 16 });
  uniformsOf(crowd).setAt({ start: 100, count: 20 }, 'dirt', 0.5);
  expect(frame()).toMatchObject({ uploads: 1, bytes: 20 * 2 * 16 });
  uniformsOf(crowd).setAt(crowd.all, 'at', new Vector4(0, 0, 0, 0));
  expect(frame(), 'the same as before').toMatchObject({ uploads: 0 });
  // Those of the swords are their own, of one texel.
  uniformsOf(swords).setAt(7, 'emissive', new Color(1, 0, 0));
  frame();
  uniformsOf(swords).setAt(7, 'emissive', new Color(0, 1, 0));
  expect(frame()).toMatchObject({ uploads: 1, bytes: 16 });

  // 12 bytes of an attribute, and where shaders read them from a texture, 16 there
  for (const red of [1, 0.5]) {
    crowd.setColorAt(7, new Color(red, 0, 0));
    frame();
  }
  for (const index of [4000, 7, 4000]) {
    crowd.setColorAt(index, new Color(Math.random(), 0, 0));
    const { bytes } = frame();
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(12 + 16);
  }
  expect(frame()).toMatchObject({ uploads: 0 });
  renderer.dispose();
});
