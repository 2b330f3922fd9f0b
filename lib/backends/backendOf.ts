import type { Backend } from './Backend.js';
import { webGLBackend } from './webgl/WebGLBackend.js';

/** What draws crowds in node materials. It lives behind the `./webgpu` entry, so that others need not load it. */
let nodeBackend: Backend | null = null;

/** Makes node materials known to every crowd of the page. */
export function registerNodeBackend(backend: Backend): void {
  nodeBackend = backend;
}

/**
 * The backend for a renderer.
 *
 * @throws If the page has not imported it.
 */
export function backendOf(renderer: object): Backend {
  if ((renderer as { isWebGLRenderer?: boolean }).isWebGLRenderer === true) return webGLBackend;
  if (nodeBackend !== null) return nodeBackend;
  throw new Error(
    "SkinnedInstancedMesh: WebGPURenderer needs node materials; import { SkinnedInstancedMesh } from 'skinned-instanced-mesh/webgpu' instead of 'skinned-instanced-mesh'.",
  );
}
