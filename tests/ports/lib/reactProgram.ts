import { createRoot, extend } from '@react-three/fiber';
import { act, createElement, type FunctionComponent, StrictMode, Suspense } from 'react';
import { Group, Mesh, MeshStandardMaterial, type Scene, SphereGeometry } from 'three';
import { createWorld } from '../../../demos/ports/lib/createWorld.js';

/** Fiber draws nothing: the tests do. */
const gl = {
  render() {},
  setSize() {},
  setPixelRatio() {},
  shadowMap: {},
  xr: { addEventListener() {}, removeEventListener() {} },
};

/** Puts a component into a world whose time tests say, as a program that can be taken away. */
export async function reactProgram(Component: FunctionComponent<{ count: number }>, count: number) {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  extend({ Group, Mesh, MeshStandardMaterial, SphereGeometry });
  const { scene, camera } = createWorld(6, 0x77865f);
  const root = createRoot(document.createElement('canvas'));
  await root.configure({
    gl: gl as never,
    scene: scene as Scene,
    camera,
    frameloop: 'never',
    size: { width: 1, height: 1, top: 0, left: 0 },
  });
  const element = createElement(
    StrictMode,
    null,
    createElement(Suspense, null, createElement(Component, { count })),
  );
  const store = await act(async () => root.render(element));
  // until the model is there
  await act(() => new Promise((resolve) => setTimeout(resolve, 60)));
  let time = 0;
  return {
    scene,
    camera,
    update(delta: number) {
      time += delta;
      return act(async () => store.getState().advance(time));
    },
    /** Does something, and waits until React is through with what it causes. */
    act: (change: () => void) =>
      act(async () => {
        change();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }),
    unmount: () => act(async () => root.unmount()),
  };
}
