import { WebGLRenderer } from 'three';
import type { WebGPURenderer } from 'three/webgpu';
import { type Calls, countCalls } from './countCalls.js';

export type AnyRenderer = WebGLRenderer | WebGPURenderer;

export interface Created {
  renderer: AnyRenderer;
  /** What draws: 'WebGLRenderer', or 'WebGPURenderer' and on what. */
  label: string;
  /** Under WebGPU. */
  device: GPUDevice | null;
  /** Under WebGL 2. */
  gl: WebGL2RenderingContext | null;
  maxTextureSize: number;
  calls: Calls;
  /** Turns WebGPU's timestamps on and off. */
  track?(on: boolean): void;
}

/** What three.js's types leave out. */
interface Backend {
  device?: GPUDevice;
  gl?: WebGL2RenderingContext;
  trackTimestamp: boolean;
}

/** `?renderer=webgl` or `webgpu`. WebGPURenderer falls back to WebGL 2 by itself where there is no WebGPU. */
export async function createRenderer(kind: string | null, antialias = true): Promise<Created> {
  if (kind !== 'webgpu') {
    const renderer = new WebGLRenderer({ antialias });
    const { maxTextureSize } = renderer.capabilities;
    const gl = renderer.getContext() as WebGL2RenderingContext;
    return { renderer, label: 'WebGLRenderer', device: null, gl, maxTextureSize, calls: countCalls(gl) };
  }

  const { WebGPURenderer: Renderer } = await import('three/webgpu');
  const renderer = new Renderer({ antialias, trackTimestamp: true });
  await renderer.init();
  const backend = renderer.backend as unknown as Backend;
  const { device = null, gl = null } = backend;
  const track = (on: boolean) => {
    backend.trackTimestamp = on;
  };
  // only when it is asked for: it costs every frame a little
  track(false);
  return {
    renderer,
    label: device
      ? 'WebGPURenderer on WebGPU'
      : 'WebGPURenderer on WebGL 2, since this browser has no WebGPU',
    device,
    gl,
    maxTextureSize: device?.limits.maxTextureDimension2D ?? 4096,
    calls: countCalls((device ?? gl) as GPUDevice | WebGL2RenderingContext),
    track,
  };
}
