import {
  ArrayCamera,
  Box3,
  type Camera,
  Matrix4,
  MeshStandardMaterial,
  Object3D,
  PerspectiveCamera,
  RawShaderMaterial,
  Scene,
  ShaderMaterial,
  Vector3,
  Vector4,
  WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { PARAM_LISTED, TEXTURE_VIEW } from '../../lib/constants.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { changedPixels, createStage, picture, SIZE } from '../support/pictures.js';

let renderer: WebGLRenderer;
beforeAll(() => {
  renderer = new WebGLRenderer();
  renderer.shadowMap.enabled = true;
});
afterAll(() => renderer.dispose());

const COUNT = 36;
/** Where the camera stands in the middle of the crowd; most of that is behind it or to the side. */
const MIDDLE = new Box3(new Vector3(-3, 0, -3), new Vector3(3, 2, 3));

/** Characters in rows, of which some are hidden, with a second level of detail that is larger, to be told apart. */
function createCrowd(encoding: 'tracks' | 'quaternion' = 'tracks', levels = true): SkinnedInstancedMesh {
  const { root, clips } = createCoarseCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, COUNT, { encoding });
  crowd.perObjectFrustumCulled = true;
  crowd.castShadow = crowd.receiveShadow = true;
  for (let i = 0; i < COUNT; i++) {
    const place = (i * 7) % COUNT;
    const x = ((place % 6) - 2.5) * 2;
    crowd.setMatrixAt(i, new Matrix4().makeRotationY(i).setPosition(x, 0, (Math.floor(place / 6) - 2.5) * 2));
    crowd.play(i, i % clips.length, { time: i * 0.1 });
  }
  if (levels) {
    const level = crowd.addLevel(createCoarseCharacter().root, 7);
    level.castShadow = level.receiveShadow = true;
    level.material = new MeshStandardMaterial({ color: 0xff0000 });
  }
  for (const i of [1, 5, 8]) crowd.setVisibleAt(i, false);
  crowd.update(0.2);
  return crowd;
}

const stage = () => createStage(MIDDLE, 'directional');

test.each(['tracks', 'quaternion'] as const)(
  'encoding %s: a crowd whose hook the user replaces without calling it is drawn whole, as it was never listed',
  (encoding) => {
    const { scene, camera } = stage();
    const crowd = createCrowd(encoding, false);
    crowd.setVisibleAt(crowd.all, true);
    renderer.shadowMap.enabled = false;
    picture(renderer, scene, camera, crowd);
    crowd.onBeforeRender = () => {};
    const drawn = picture(renderer, scene, camera, crowd);
    expect(crowd.bindMatrix.elements[PARAM_LISTED]).toBe(0);
    expect(crowd.count).toBe(COUNT);

    const whole = createCrowd(encoding, false);
    whole.setVisibleAt(whole.all, true);
    whole.perObjectFrustumCulled = false;
    expect(changedPixels(picture(renderer, scene, camera, whole), drawn, 0)).toBe(0);
    renderer.shadowMap.enabled = true;
    for (const one of [crowd, whole]) one.dispose();
  },
);

test('a hook that renders the crowd once more, from elsewhere, leaves the picture as it is', () => {
  const { scene, camera } = stage();
  const crowd = createCrowd();
  const expected = picture(renderer, scene, camera, crowd);
  const mirror = new PerspectiveCamera(60, 1, 0.1, 50);
  mirror.position.set(-8, 3, -8);
  mirror.lookAt(0, 0, 0);
  const target = new WebGLRenderTarget(SIZE, SIZE);
  let nested = 0;
  for (const mesh of [crowd, ...crowd.attachments]) {
    const original = mesh.onBeforeRender;
    mesh.onBeforeRender = function (this: SkinnedInstancedMesh, ...args) {
      original.apply(this, args);
      if (args[2] !== camera) return;
      nested++;
      const before = renderer.getRenderTarget();
      renderer.setRenderTarget(target);
      renderer.render(scene, mirror);
      renderer.setRenderTarget(before);
    };
  }
  expect(changedPixels(expected, picture(renderer, scene, camera, crowd), 0)).toBe(0);
  expect(nested).toBe(2);
  expect(crowd.count).toBe(COUNT);
  target.dispose();
  crowd.dispose();
});

test('an error in the middle of a draw does not change for good how many instances there are', () => {
  const { scene, camera } = stage();
  const crowd = createCrowd();
  scene.add(crowd);
  const broken = new MeshStandardMaterial();
  let fails = true;
  broken.onBeforeCompile = () => {
    if (fails) throw new Error('not yet');
  };
  for (const mesh of [crowd, ...crowd.attachments]) mesh.material = broken;
  expect(() => renderer.render(scene, camera)).toThrow('not yet');
  crowd.update(0);
  for (const mesh of [crowd, ...crowd.attachments]) expect(mesh.count).toBe(COUNT);
  fails = false;
  const fresh = createCrowd();
  for (const mesh of [fresh, ...fresh.attachments]) mesh.material = new MeshStandardMaterial();
  scene.remove(crowd);
  const expected = picture(renderer, scene, camera, fresh);
  expect(changedPixels(expected, picture(renderer, scene, camera, crowd), 0)).toBe(0);
  for (const one of [crowd, fresh]) one.dispose();
});

const VERTEX = `
  varying float height;
  void main() {
    height = position.y;
    gl_Position = projectionMatrix * modelViewMatrix * instanceMatrix * vec4( position, 1.0 );
  }`;
const FRAGMENT =
  'varying float height; void main() { gl_FragColor = vec4( fract( height ), 0.0, 1.0, 1.0 ); }';

test('shaders that cannot pose a crowd draw those of its instances that are visible, each at its level', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const still = new ShaderMaterial({ vertexShader: VERTEX, fragmentShader: FRAGMENT });
  const { scene, camera } = stage();
  camera.position.set(0, 2, 3);
  camera.lookAt(0, 1, -3);
  camera.updateMatrixWorld();
  const crowd = createCrowd();
  const drawn: number[] = [];
  for (const mesh of [crowd, ...crowd.attachments]) {
    mesh.onBeforeRender = function (this: SkinnedInstancedMesh, ...args) {
      SkinnedInstancedMesh.prototype.onBeforeRender.apply(this, args);
      drawn.push(this.count);
    };
  }
  for (const mesh of [crowd, ...crowd.attachments]) mesh.material = still;
  // The first picture finds out what the shader is.
  picture(renderer, scene, camera, crowd);
  drawn.length = 0;
  const listed = picture(renderer, scene, camera, crowd);
  const info = crowd.getViewInfo(camera);
  expect(drawn).toEqual(info?.levels);
  expect(info?.visible).toBeLessThan(COUNT - 3);

  // The same without lists: whoever is hidden shrinks to nothing, and levels look alike.
  const plain = createCrowd('tracks', false);
  plain.perObjectFrustumCulled = false;
  plain.setVisibleAt(plain.all, true);
  for (const i of [1, 5, 8]) plain.setMatrixAt(i, new Matrix4().makeScale(0, 0, 0));
  plain.material = still;
  const expected = picture(renderer, scene, camera, plain);
  expect(changedPixels(expected, picture(renderer, scene, camera, new Object3D()))).toBeGreaterThan(500);
  expect(changedPixels(expected, listed, 0)).toBe(0);
  warn.mockRestore();
  for (const one of [crowd, plain, still]) one.dispose();
});

test('raw shaders, which know no lists, draw all instances, but only once', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const uniforms = 'uniform mat4 projectionMatrix; uniform mat4 modelViewMatrix;';
  const inputs = 'attribute vec3 position; attribute mat4 instanceMatrix;';
  const raw = new RawShaderMaterial({
    vertexShader: `precision highp float; ${uniforms} ${inputs} ${VERTEX}`,
    fragmentShader: `precision highp float; ${FRAGMENT}`,
  });
  const { scene, camera } = stage();
  scene.overrideMaterial = raw;
  const crowd = createCrowd();
  const counts: number[] = [];
  for (const mesh of [crowd, ...crowd.attachments]) {
    mesh.onBeforeRender = function (this: SkinnedInstancedMesh, ...args) {
      SkinnedInstancedMesh.prototype.onBeforeRender.apply(this, args);
      counts.push(this.count);
    };
  }
  picture(renderer, scene, camera, crowd);
  expect(renderer.getContext().getError()).toBe(0);
  expect(counts).toEqual([COUNT, 0]);
  warn.mockRestore();
  for (const one of [crowd, raw]) one.dispose();
});

test('both eyes of a headset see an instance at the same level', () => {
  const crowd = createCrowd();
  const scene = new Scene().add(crowd) as Scene;
  const head = new PerspectiveCamera(90, 1, 0.1, 50);
  head.position.set(0, 1.6, 6);
  head.updateMatrixWorld();
  // Far apart, so that distances to the same instance are other ones.
  const eyes = [2, 5].map((x, i) => {
    const eye = Object.assign(head.clone(), { viewport: new Vector4(i * 128, 0, 128, 128) });
    eye.position.x = x;
    eye.updateMatrixWorld();
    return eye;
  });
  const array = new ArrayCamera(eyes);
  array.copy(head, false);
  array.cameras = eyes;
  array.updateMatrixWorld();
  const { xr } = renderer;
  const { getCamera, isPresenting, cameraAutoUpdate, getDepthSensingMesh } = xr;
  xr.enabled = true;
  Object.assign(xr, {
    isPresenting: true,
    cameraAutoUpdate: false,
    getCamera: () => array,
    getDepthSensingMesh: () => null,
  });
  /** By eye: the instances at each level. */
  const drawn = new Map<Camera, number[][]>(eyes.map((eye) => [eye, []]));
  for (const mesh of [crowd, ...crowd.attachments]) {
    mesh.onBeforeRender = function (this: SkinnedInstancedMesh, ...args) {
      SkinnedInstancedMesh.prototype.onBeforeRender.apply(this, args);
      const { data } = this.skeleton.textures[TEXTURE_VIEW].image as { data: Float32Array };
      drawn.get(args[2])?.push([...data.subarray(0, this.count)]);
    };
  }
  renderer.render(scene, head);
  Object.assign(xr, { isPresenting, cameraAutoUpdate, getCamera, getDepthSensingMesh });
  xr.enabled = false;

  const levelsOf = (eye: Camera, viewer: Camera) => {
    const view = crowd.views.of(eye, crowd.matrixWorld, renderer.info.render.frame, viewer, false);
    return [0, 1].map((level) => {
      const { count, list } = view.of(level);
      return Array.from({ length: count }, (_, i) => list.get(i));
    });
  };
  for (const eye of eyes) {
    expect(drawn.get(eye)).toEqual(levelsOf(eye, array));
    expect(levelsOf(eye, eye), 'each by itself would see other levels').not.toEqual(drawn.get(eye));
  }
  crowd.dispose();
});
