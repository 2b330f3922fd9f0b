import {
  type Camera,
  type Material,
  type Object3D,
  WebGLRenderer,
  type WebGLRendererParameters,
} from 'three';
import type { WebGPURenderer } from 'three/webgpu';
import { type Calls, countCalls, type Purpose } from './countCalls.js';
import { deviceName, isSoftwareName } from './deviceName.js';
import { IndirectTriangles } from './IndirectTriangles.js';

export type AnyRenderer = WebGLRenderer | WebGPURenderer;

export interface Created {
  renderer: AnyRenderer;
  /** What draws: 'WebGLRenderer', or 'WebGPURenderer' and on what. */
  label: string;
  /** Of the GPU, or of the program that stands in for one. */
  name: string;
  /** Under WebGPU. */
  device: GPUDevice | null;
  /** Under WebGL 2. */
  gl: WebGL2RenderingContext | null;
  maxTextureSize: number;
  calls: Calls;
  /** Triangles that `renderer.info` leaves out. */
  indirect: IndirectTriangles;
}

/** What three.js's types leave out. */
interface Backend {
  device?: GPUDevice;
  gl?: WebGL2RenderingContext;
  draw(renderObject: DrawnObject, info: unknown): void;
}

interface DrawnObject {
  object: Object3D;
  material: Material;
  camera: Camera;
  getIndirect(): unknown;
}

/** Objects that are no characters: the ground, a marker. Their draw calls are counted apart. */
export const scenery = new WeakSet<Object3D>();

function purposeOf(object: Object3D, shadows: boolean): Purpose {
  // WebGPURenderer draws the picture as a quad, once more, to convert its colours.
  const isOutput = (object as { isQuadMesh?: boolean }).isQuadMesh === true;
  if (isOutput || scenery.has(object)) return 'rest';
  return shadows ? 'shadows' : 'characters';
}

/** Whether the browser draws with a program that stands in for a GPU. */
function isSoftware(): boolean {
  const gl = document.createElement('canvas').getContext('webgl2');
  const name = deviceName(gl, null);
  gl?.getExtension('WEBGL_lose_context')?.loseContext();
  return isSoftwareName(name);
}

/** Buffers as large as the GPU has them: 128 MiB, which every device has, are poses of 60,000 figures of 45 joints. */
async function largestBuffers(): Promise<Record<string, number>> {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) return {};
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
  return { maxBufferSize, maxStorageBufferBindingSize };
}

/** Frames that the GPU may be behind. */
const BEHIND = 2;

/** WebGPU takes any number of frames, and draws them seconds later: has pages wait with the next until it has caught up. */
export function waitForGPU(queue: Pick<GPUQueue, 'onSubmittedWorkDone'>): void {
  const request = window.requestAnimationFrame.bind(window);
  let behind = 0;
  let last = 0;
  window.requestAnimationFrame = (callback) => {
    const next = (now: number): void => {
      if (behind > BEHIND) {
        request(next);
        return;
      }
      callback(now);
      if (now === last) return; // several may ask for the same frame
      last = now;
      behind++;
      const done = () => behind--;
      queue.onSubmittedWorkDone().then(done, done);
    };
    return request(next);
  };
}

/**
 * `?renderer=webgl` or `webgpu`. WebGPURenderer falls back to WebGL 2 by itself where there is no WebGPU.
 *
 * @param options Of WebGLRenderer; WebGPURenderer takes `antialias`.
 */
export async function createRenderer(
  kind: string | null,
  options: Pick<WebGLRendererParameters, 'antialias' | 'outputBufferType'> = {},
): Promise<Created> {
  // A program that stands in for a GPU takes twice as long with it.
  const { antialias = !isSoftware() } = options;
  if (kind !== 'webgpu') {
    const renderer = new WebGLRenderer({ ...options, antialias });
    // Asking for each program's errors waits until it is linked.
    renderer.debug.checkShaderErrors = import.meta.env.DEV;
    const { maxTextureSize } = renderer.capabilities;
    const gl = renderer.getContext() as WebGL2RenderingContext;
    const calls = countCalls(gl);
    const original = renderer.renderBufferDirect;
    renderer.renderBufferDirect = (camera, scene, geometry, material, object, group) => {
      // Shadow maps are drawn without a scene.
      // What is in half floats is drawn once more as a triangle, a scene of its own, to convert its colours.
      calls.purpose = object.parent === null ? 'rest' : purposeOf(object, scene === null);
      original(camera, scene, geometry, material, object, group);
    };
    const name = deviceName(gl, null);
    const indirect = new IndirectTriangles(renderer);
    return { renderer, label: 'WebGLRenderer', name, device: null, gl, maxTextureSize, calls, indirect };
  }

  const { WebGPURenderer: Renderer } = await import('three/webgpu');
  const requiredLimits = await largestBuffers();
  const renderer = new Renderer({ antialias, requiredLimits });
  await renderer.init();
  const backend = renderer.backend as unknown as Backend;
  const { device = null, gl = null } = backend;
  if (device !== null) waitForGPU(device.queue);
  const calls = countCalls((device ?? gl) as GPUDevice | WebGL2RenderingContext);
  const original = backend.draw;
  const indirect = new IndirectTriangles(renderer);
  backend.draw = (renderObject, info) => {
    const { object, material, camera } = renderObject;
    if (renderObject.getIndirect() !== null) indirect.note(object, camera);
    calls.purpose = purposeOf(object, 'isShadowPassMaterial' in material);
    original.call(backend, renderObject, info);
  };
  // TypeScript does not know it yet.
  const { adapterInfo = null } = (device ?? {}) as { adapterInfo?: GPUAdapterInfo };
  return {
    renderer,
    name: deviceName(gl, adapterInfo),
    label: device
      ? 'WebGPURenderer on WebGPU'
      : 'WebGPURenderer on WebGL 2, since this browser has no WebGPU',
    device,
    gl,
    maxTextureSize: device?.limits.maxTextureDimension2D ?? 4096,
    calls,
    indirect,
  };
}
