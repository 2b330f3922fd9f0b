import { WebGLRenderer } from 'three';
import type { WebGPURenderer } from 'three/webgpu';
import { afterAll, beforeAll, inject } from 'vitest';
import { disposeWaiting } from './disposeLater.js';
import { type Capture, webGLCapture } from './parity.js';

/** The languages in which the shaders are written, and where they run. */
export type Twin = 'GLSL' | 'TSL on WebGPU' | 'TSL on WebGL 2';

const HAS_WEBGPU = inject('hasWebGPU');

/** Those of this browser. */
export const TWINS: readonly Twin[] = HAS_WEBGPU
  ? ['GLSL', 'TSL on WebGPU', 'TSL on WebGL 2']
  : ['GLSL', 'TSL on WebGL 2'];

/** A WebGPURenderer that draws with what it shall. */
export async function createNodeRenderer(
  twin: Exclude<Twin, 'GLSL'>,
  reversedDepthBuffer = false,
): Promise<WebGPURenderer> {
  const { WebGPURenderer: Renderer } = await import('three/webgpu');
  await import('skinned-instanced-mesh/webgpu');
  const forceWebGL = twin === 'TSL on WebGL 2';
  const renderer = new Renderer({ forceWebGL, reversedDepthBuffer });
  await renderer.init();
  const { isWebGPUBackend = false } = renderer.backend as { isWebGPUBackend?: boolean };
  if (isWebGPUBackend === forceWebGL) throw new Error(`There is no ${twin} in this browser.`);
  return renderer;
}

/** How a crowd is drawn and read back with one of them. */
export async function captureOf(twin: Twin): Promise<Capture & { dispose(): void }> {
  if (twin === 'GLSL') {
    const renderer = new WebGLRenderer();
    return { ...webGLCapture(renderer), dispose: () => disposeAll(renderer) };
  }
  const { captureNodeMaterial, captureNodes } = await import('./captureNodes.js');
  const renderer = await createNodeRenderer(twin);
  return {
    material: (vertices) => captureNodeMaterial(vertices),
    read: (crowd, vertices, instances) => captureNodes(renderer, crowd, vertices, instances),
    dispose: () => disposeAll(renderer),
  };
}

/** How crowds are drawn and read back in the tests of a suite. */
export function useCapture(twin: Twin): Capture {
  let made: Awaited<ReturnType<typeof captureOf>>;
  beforeAll(async () => {
    made = await captureOf(twin);
  });
  afterAll(() => made.dispose());
  return { material: (vertices) => made.material(vertices), read: (...what) => made.read(...what) };
}

function disposeAll(renderer: WebGLRenderer | WebGPURenderer): void {
  disposeWaiting();
  renderer.dispose();
}
