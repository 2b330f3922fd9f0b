import type { Camera } from 'three';
import { backendOf } from '../core/Backend.js';
import { drawsOf, type ViewInfo, viewInfoOf } from '../culling/ViewInfo.js';
import type { CrowdMesh } from './CrowdMesh.js';

/**
 * What a camera saw when it last drew a crowd, of all its levels together: for figures to be shown. With `GPUInstances` or
 * `Occlusion` only the GPU knows; see {@link readViewInfo}.
 *
 * @param camera Also that of a light's shadow.
 * @returns Null if the camera has not drawn the crowd lately, or all of it is drawn whatever the camera sees.
 *
 * @category Ask
 */
export function getViewInfo(mesh: CrowdMesh, camera: Camera): ViewInfo | null {
  return mesh.views.isUsed ? viewInfoOf(mesh.views, camera) : null;
}

/**
 * What a camera saw when it last drew a crowd, for measuring and debugging. Where the GPU alone knows, reading it
 * takes some frames: do not wait for it in a program that runs.
 *
 * @param camera Also that of a light's shadow.
 *
 * @category Ask
 */
export async function readViewInfo(mesh: CrowdMesh, renderer: object, camera: Camera): Promise<ViewInfo> {
  const read = backendOf(renderer).readView?.(renderer, mesh, camera);
  if (read) return await read;
  const { count, views } = mesh;
  return getViewInfo(mesh, camera) ?? { visible: count, levels: [count], ...drawsOf(views, () => count) };
}
