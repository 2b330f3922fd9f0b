import type { Material, Object3D, Scene } from 'three';

/** What poses crowds in node materials. It lives behind the `./webgpu` entry, so that others need not load it. */
export interface NodeBackend {
  /** Called before a crowd is drawn, with the material it will be drawn with. */
  prepare(renderer: object, crowd: Object3D, scene: Scene, material: Material): void;
}

let backend: NodeBackend | null = null;

/** Makes node materials known to every crowd of the page. */
export function registerNodeBackend(value: NodeBackend): void {
  backend = value;
}

/**
 * The node backend.
 *
 * @throws If the page has not imported it.
 */
export function requireNodeBackend(): NodeBackend {
  if (backend === null) {
    throw new Error(
      "SkinnedInstancedMesh: WebGPURenderer needs node materials; import { SkinnedInstancedMesh } from 'skinned-instanced-mesh/webgpu' instead of 'skinned-instanced-mesh'.",
    );
  }
  return backend;
}
