import { Occlusion } from 'skinned-instanced-mesh/occlusion';
import { Color, Group, Matrix4, Mesh, type Object3D, PerspectiveCamera, Scene, type Vector4 } from 'three';
import { expect, test, vi } from 'vitest';
import type { CameraOcclusion } from '../../../lib/backends/webgpu/views/CameraOcclusion.js';

/** What the pass asks of a renderer. */
function createRenderer(render: (scene: Object3D, camera: PerspectiveCamera) => void) {
  const state: Record<string, unknown> = { RenderTarget: null, RenderObjectFunction: null, MRT: null };
  const clear = new Color(0.1, 0.2, 0.3);
  let alpha = 0.5;
  return {
    info: { frame: 1 },
    transparent: true,
    opaque: false,
    autoClear: false,
    autoClearColor: false,
    autoClearDepth: false,
    autoClearStencil: false,
    getRenderTarget: () => state.RenderTarget,
    setRenderTarget: (target: unknown) => Object.assign(state, { RenderTarget: target }),
    getRenderObjectFunction: () => state.RenderObjectFunction,
    setRenderObjectFunction: (draw: unknown) => Object.assign(state, { RenderObjectFunction: draw }),
    getMRT: () => state.MRT,
    setMRT: (mrt: unknown) => Object.assign(state, { MRT: mrt }),
    getClearColor: (color: Color) => color.copy(clear),
    setClearColor: (color: Color | number, to: number) => {
      clear.set(color);
      alpha = to;
    },
    getClearAlpha: () => alpha,
    getActiveCubeFace: () => 0,
    getActiveMipmapLevel: () => 0,
    getPixelRatio: () => 1,
    setPixelRatio: () => {},
    getScissorTest: () => false,
    setScissorTest: () => {},
    getViewport: (viewport: Vector4) => viewport.set(0, 0, 64, 32),
    render,
    compute: vi.fn(),
  };
}

/** All that a renderer can be asked for. */
const stateOf = (renderer: ReturnType<typeof createRenderer>) =>
  JSON.stringify([
    renderer,
    ...Object.entries(renderer).flatMap(([name, get]) =>
      /^get(?!V)/.test(name) ? [name, (get as (into: Color) => unknown)(new Color())] : [],
    ),
  ]);

const askerOf = (occluders: Object3D, renderer: object) =>
  new Occlusion(occluders).of(renderer) as CameraOcclusion;

test('a hook that throws leaves the renderer as it was, and nothing is known', () => {
  let throws = true;
  let transparent: boolean | null = null;
  const renderer = createRenderer(() => {
    transparent = renderer.transparent;
    expect([renderer.opaque, renderer.autoClearDepth, renderer.autoClear]).toEqual([true, true, true]);
    expect(renderer.getRenderTarget()).not.toBeNull();
    if (throws) throw new Error('a hook');
  });
  const occluders = new Group();
  const asked = askerOf(occluders, renderer);
  const camera = new PerspectiveCamera();
  const before = stateOf(renderer);
  for (let i = 0; i < 2; i++) expect(() => asked.prepare(camera)).toThrow('a hook');
  expect(stateOf(renderer)).toBe(before);
  expect(transparent).toBe(false);
  expect(occluders.matrixWorldAutoUpdate).toBe(true);
  expect(renderer.compute).not.toHaveBeenCalled();
  throws = false;
  expect(asked.prepare(camera)).toBe(1);
  expect(asked.prepare(camera)).toBe(1);
  expect(renderer.compute).toHaveBeenCalledTimes(1);
  renderer.info.frame++;
  expect(asked.prepare(camera)).toBe(2);
  expect(stateOf(renderer).replace('"frame":2', '"frame":1')).toBe(before);
});

test('a picture that is drawn within the pass has nothing hidden, and does not change what is known', () => {
  const other = new PerspectiveCamera();
  const within: number[] = [];
  const renderer = createRenderer(() => within.push(asked.prepare(other), asked.prepare(camera)));
  const asked = askerOf(new Group(), renderer);
  const camera = new PerspectiveCamera();
  expect(asked.prepare(camera)).toBe(1);
  expect(within).toEqual([0, 0]);
  expect(asked.prepare(camera)).toBe(1);
  expect(asked.prepare(other)).toBe(2);
});

test('what is rendered is none of the user’s scenes, by a camera of its own that sees the same', () => {
  const scene = new Scene();
  const wall = new Mesh();
  scene.add(wall);
  const camera = new PerspectiveCamera(33, 1.5, 0.3, 70);
  camera.position.set(1, 2, 3);
  camera.layers.set(4);
  // As three.js does before the first picture, and users for an oblique near plane.
  camera.updateMatrixWorld();
  camera.projectionMatrix.multiply(new Matrix4().makeScale(1, 1, 0.9));
  const seen: PerspectiveCamera[] = [];
  const renderer = createRenderer((rendered, by) => {
    expect(rendered).not.toBe(scene);
    expect(rendered.children).toEqual([scene]);
    seen.push(by);
  });
  const asked = askerOf(scene, renderer);
  asked.prepare(camera);
  renderer.info.frame++;
  asked.prepare(camera);
  const [copy] = seen;
  expect(seen).toEqual([copy, copy]);
  expect(seen[1]).toBe(copy);
  expect(copy).not.toBe(camera);
  for (const name of [
    'matrixWorld',
    'matrixWorldInverse',
    'projectionMatrix',
    'layers',
    'near',
    'far',
    'fov',
    'position',
  ] as const)
    expect(copy[name], name).toEqual(camera[name]);
  expect(copy.matrixWorldAutoUpdate).toBe(false);
  expect([scene.parent, wall.parent]).toEqual([null, scene]);
  asked.prepare(new PerspectiveCamera());
  expect(seen[2]).not.toBe(copy);
});
