import { editsOf, morphsOf, uniformsOf } from '../support/features.js';
import '@three.ez/instanced-mesh';
import {
  AnimationClip,
  Box3,
  BoxGeometry,
  Color,
  Group,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  OrthographicCamera,
  Quaternion,
  Scene,
  ShaderChunk,
  SphereGeometry,
  Vector3,
  VectorKeyframeTrack,
  WebGLRenderer,
} from 'three';
import type { WebGPURenderer } from 'three/webgpu';
import { expect, test, vi } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { TWINS } from '../support/captures.js';
import { createCoarseCharacter, createCoarsestCharacter } from '../support/coarseCharacter.js';
import { drawingOf as picturesOf } from '../support/drawings.js';
import { addLevel } from '../support/levels.js';
import { bakeCharacter, createLevel, SkinnedInstancedMesh } from '../support/library.js';
import { addTargets } from '../support/morphTargets.js';
import { createPair } from '../support/pair.js';
import { changedPixels, createStage, difference, picture, SIZE } from '../support/pictures.js';
import { createStickCrowd } from '../support/stick.js';

const RED = new Color(1, 0, 0);

const placeAt = (crowd: SkinnedInstancedMesh, index: number, matrix: Matrix4) =>
  (crowd.setMatrixAt(index, matrix).instanceMatrix.needsUpdate = true);

/** By name, what changes the picture of a crowd. */
const CHANGES: Record<string, (crowd: SkinnedInstancedMesh) => unknown> = {
  shifted: (crowd) => crowd.translateX(-4),
  time: (crowd) => crowd.update(0.3),
  clip: (crowd) => crowd.play(1, 'Wave', { time: 0.5 }),
  place: (crowd) => placeAt(crowd, 0, new Matrix4().setPosition(3.4, 0, 0.3)),
  scale: (crowd) => placeAt(crowd, 1, new Matrix4().makeScale(1, 0.6, 1).setPosition(4, 0, 0)),
  color: (crowd) => crowd.setColorAt(0, RED),
  emissive: (crowd) => uniformsOf(crowd).setAt(1, 'emissive', RED),
  morph: (crowd) => morphsOf(crowd).setInfluenceAt(1, 'wide', 1),
  edit: (crowd) => editsOf(crowd).setRotationAt(0, 'Head', new Quaternion(0, 0, 1, 0)),
  more: (crowd) => placeAt(crowd, crowd.addInstance(), new Matrix4().setPosition(4.6, 0, 0)),
  hidden: (crowd) => crowd.setVisibleAt(1, false),
  count: (crowd) => (crowd.count = 1),
  turned: (crowd) => crowd.rotateY(0.1),
  geometry: (crowd) => (crowd.geometry = crowd.geometry.clone().scale(1, 1.2, 1)),
  material: (crowd) => (crowd.material = new MeshBasicMaterial({ color: RED })),
};

test.each(TWINS)('after still frames each change shows in the next one, %s', async (twin) => {
  const { draw, dispose } = await picturesOf(twin);
  // The page has loaded InstancedMesh2, which changes chunks of three.js.
  const { morphinstance_vertex } = ShaderChunk as Record<string, string>;
  expect(morphinstance_vertex).not.toContain('gl_InstanceID');
  const { root, clips } = createCoarsestCharacter();
  addTargets(root.getObjectByName('Body') as Mesh, ['wide'], true, 5);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 2).play(0, 'Run').play(1, 'Walk');
  // Nobody sees it before the crowd is shifted.
  placeAt(crowd, 1, new Matrix4().setPosition(4, 0, 0));
  crowd.castShadow = true;
  const { scene, camera } = createStage(new Box3(new Vector3(-1, 0, -1), new Vector3(1, 2, 1)));
  for (const [name, change] of Object.entries(CHANGES)) {
    await draw(scene, camera, crowd);
    const still = await draw(scene, camera, crowd);
    change(crowd);
    const drawn = await draw(scene, camera, crowd);
    expect(changedPixels(drawn, still), name).toBeGreaterThan(50);
    const clone = crowd.clone();
    expect(changedPixels(drawn, await draw(scene, camera, clone), 1), name).toBe(0);
    clone.dispose();
  }
  crowd.dispose();
  dispose();
});

test.each(TWINS)('an InstancedMesh that shares the matrices of a crowd follows it, %s', async (twin) => {
  const { draw, dispose } = await picturesOf(twin);
  const crowd = createStickCrowd(1);
  crowd.geometry.setDrawRange(0, 0);
  const other = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 1);
  other.instanceMatrix = crowd.instanceMatrix;
  other.frustumCulled = false;
  const camera = new OrthographicCamera(-0.5, 7.5, 4, -4, -1, 1);
  for (const x of [0, 2, 4, 6]) {
    crowd.setMatrixAt(0, new Matrix4().makeTranslation(x, 0, 0));
    crowd.instanceMatrix.needsUpdate = true;
    const pixels = await draw(new Scene(), camera, new Group().add(crowd, other));
    const row = pixels.subarray((SIZE / 2) * SIZE * 4, (SIZE / 2 + 1) * SIZE * 4);
    expect(row.findIndex((value, i) => i % 4 === 0 && value === 255)).toBe((x * SIZE * 4) / 8);
  }
  dispose();
});

test('what a clip mirrors is drawn with the right side out, skinned and rigid', () => {
  const { root, clips } = createCharacter();
  const ball = new Mesh(
    new SphereGeometry(0.25, 16, 12).translate(0.6, 0.3, 0),
    new MeshStandardMaterial({ color: 0xff8800 }),
  );
  ball.name = 'Ball';
  root.add(ball);
  const walk = clips.find(({ name }) => name === 'Walk')!;
  const { duration } = walk;
  const flip = (name: string, from: number[], to: number[]) =>
    new VectorKeyframeTrack(`${name}.scale`, [0, duration / 2, duration], [...from, ...from, ...to]);
  const inside = root.children.map(({ name }) => flip(name, [1, 1, 1], [-1, 1, 1]));
  const model = {
    name: 'Mirrored',
    root,
    clips: [new AnimationClip('Mirrored', duration, [...walk.tracks, ...inside])],
  };

  const renderer = new WebGLRenderer();
  renderer.shadowMap.enabled = true;
  for (const share of [0.25, 1]) {
    const { reference, crowd, bounds } = createPair(model, 0, share, undefined, 'frames');
    const { scene, camera } = createStage(bounds);
    const empty = picture(renderer, scene, camera, new Mesh());
    const expected = picture(renderer, scene, camera, reference.root);
    const drawn = picture(renderer, scene, camera, crowd);
    const { covered, wrong } = difference(expected, drawn, empty);
    expect(covered).toBeGreaterThan(2000);
    expect(wrong, `${share} of the clip`).toBeLessThan(0.01);
    crowd.dispose();
  }
  renderer.dispose();
});

/** What three.js changes while it draws shadow maps. */
async function stateOf(renderer: WebGPURenderer, scene: Scene): Promise<() => void> {
  const { RendererUtils } = await import('three/webgpu');
  const { saveRendererAndSceneState: save, restoreRendererAndSceneState: restore } = RendererUtils;
  const state = (save as (...of: unknown[]) => unknown)(renderer, scene);
  return () => (restore as (...of: unknown[]) => void)(renderer, scene, state);
}

const HOOKS = ['onBeforeRender', 'onAfterRender', 'onBeforeShadow', 'onAfterShadow'] as const;

test.each(TWINS)('an error of a hook in the middle of a draw leaves nothing behind, %s', async (twin) => {
  const { renderer, draw, dispose } = await picturesOf(twin);
  const { root, clips } = createCoarseCharacter();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 4).play(0, 'Run').play(1, 'Wave');
  for (const [i, x] of [-1, 1, 0, 900].entries()) crowd.setMatrixAt(i, new Matrix4().setPosition(x, 0, -i));
  addLevel(crowd, createLevel(crowd, root), 6);
  crowd.castShadow = true;
  const other = new Mesh(new BoxGeometry(0.2, 0.2, 0.2), crowd.material);
  const whole = new Group().add(crowd, other);
  const { scene, camera } = createStage(new Box3(new Vector3(-2, 0, -2), new Vector3(2, 2, 2)));
  const expected = await draw(scene, camera, whole);
  const restore = twin === 'GLSL' ? () => {} : await stateOf(renderer as WebGPURenderer, scene);
  const hooks = twin === 'GLSL' ? HOOKS : HOOKS.slice(0, 2);
  for (const [mesh, name] of [...hooks.map((hook) => [crowd, hook] as const), [other, hooks[0]] as const]) {
    const own = mesh[name] as (...of: unknown[]) => void;
    const hook = vi.fn((...of: unknown[]) => {
      if (name.startsWith('onBefore')) own.apply(mesh, of);
      throw new Error('of the user');
    });
    mesh[name] = hook;
    await expect(draw(scene, camera, whole)).rejects.toThrow('of the user');
    mesh[name] = own;
    // Where three.js's own draw of the shadow map has stopped; WebGPURenderer leaves more, be it a plain mesh's hook.
    renderer.setRenderTarget(null);
    restore();
    crowd.update(0);
    expect(crowd.count, name).toBe(4);
    // On WebGL 2 the first frame after an error in `onAfterRender` may differ, on a page that drew nothing before.
    if (twin === 'TSL on WebGL 2') await draw(scene, camera, whole);
    expect(changedPixels(await draw(scene, camera, whole), expected, 0), name).toBe(0);
  }
  dispose();
});
