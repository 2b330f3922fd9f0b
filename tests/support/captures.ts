import { REVISION, WebGLRenderer } from 'three';
import { type Capture, webGLCapture } from './parity.js';

/** The languages in which the shaders are written, and where they run. */
export type Twin = 'GLSL' | 'TSL on WebGPU' | 'TSL on WebGL 2';

// Node materials ask for a newer three.js than the main entry.
const nodes: Twin[] = Number(REVISION) >= 187 ? ['TSL on WebGPU', 'TSL on WebGL 2'] : [];

/** Those that this three.js can run. */
export const TWINS: readonly Twin[] = ['GLSL', ...nodes];

/** How a crowd is drawn and read back with one of them. */
export async function captureOf(twin: Twin): Promise<Capture & { dispose(): void }> {
  if (twin === 'GLSL') {
    const renderer = new WebGLRenderer();
    return { ...webGLCapture(renderer), dispose: () => renderer.dispose() };
  }
  const { WebGPURenderer } = await import('three/webgpu');
  const { captureNodeMaterial, captureNodes } = await import('./captureNodes.js');
  const renderer = new WebGPURenderer({ forceWebGL: twin === 'TSL on WebGL 2' });
  await renderer.init();
  return {
    material: (vertices) => captureNodeMaterial(vertices),
    read: (crowd, vertices, instances) => captureNodes(renderer, crowd, vertices, instances),
    dispose: () => renderer.dispose(),
  };
}
