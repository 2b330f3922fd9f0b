import { type Camera, type Object3D, PCFShadowMap, type Scene, WebGLRenderer } from 'three';
import type { WebGPURenderer } from 'three/webgpu';
import { afterAll, beforeAll } from 'vitest';
import { createNodeRenderer, type Twin } from './captures.js';
import { disposeWaiting } from './disposeLater.js';
import { picture } from './pictures.js';

/** Things of tests that wait to be disposed, at most, until the next file begins. */
const MANY = 40;

/** A renderer that draws pictures with shadows. */
export interface Drawing {
  readonly renderer: WebGLRenderer | WebGPURenderer;
  /** RGBA bytes of the scene with one object added. */
  draw(scene: Scene, camera: Camera, object: Object3D): Promise<Uint8Array>;
  dispose(): void;
}

/**
 * What draws with one of the languages of shaders.
 *
 * @param reversedDepthBuffer Whether what is near has the larger depth, where the device can do that.
 */
export async function drawingOf(twin: Twin, reversedDepthBuffer = false): Promise<Drawing> {
  const drawing =
    twin === 'GLSL' ? withWebGL(reversedDepthBuffer) : await withNodes(twin, reversedDepthBuffer);
  const { renderer } = drawing;
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = PCFShadowMap;
  const dispose = () => {
    disposeWaiting();
    renderer.dispose();
  };
  return { ...drawing, dispose };
}

const shared = new Map<Twin, Promise<Drawing>>();

/**
 * The same for all files of a page, which need not compile what they have in common. For tests that leave the renderer as it was.
 * `dispose` gives back what tests are through with, once that is much.
 */
export async function sharedDrawing(twin: Twin): Promise<Drawing> {
  const known = shared.get(twin) ?? drawingOf(twin);
  shared.set(twin, known);
  const drawing = await known;
  drawing.renderer.shadowMap.type = PCFShadowMap;
  return { ...drawing, dispose: () => disposeWaiting(MANY) };
}

/** What draws in the tests of a suite. */
export function useDrawing(twin: Twin, make = sharedDrawing): Drawing {
  let made: Drawing;
  beforeAll(async () => {
    made = await make(twin);
  });
  afterAll(() => made.dispose());
  return {
    get renderer() {
      return made.renderer;
    },
    draw: (...what) => made.draw(...what),
    dispose: () => made.dispose(),
  };
}

function withWebGL(reversedDepthBuffer: boolean): Omit<Drawing, 'dispose'> {
  const renderer = new WebGLRenderer({ reversedDepthBuffer });
  return { renderer, draw: async (scene, camera, object) => picture(renderer, scene, camera, object) };
}

async function withNodes(
  twin: Exclude<Twin, 'GLSL'>,
  reversedDepthBuffer: boolean,
): Promise<Omit<Drawing, 'dispose'>> {
  const { pictureNodes } = await import('./picturesNodes.js');
  const renderer = await createNodeRenderer(twin, reversedDepthBuffer);
  return { renderer, draw: (scene, camera, object) => pictureNodes(renderer, scene, camera, object) };
}
