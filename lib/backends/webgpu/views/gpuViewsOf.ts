import type { WebGPURenderer } from 'three/webgpu';
import type { CrowdViews } from '../../../views/CrowdViews.js';
import type { DrawnCrowd } from '../../DrawnCrowd.js';
import { WORKGROUP } from './compactLists.js';
import { GPUViews } from './GPUViews.js';

/** Storage buffers that the computations read and write, and that vertices of a crowd read. */
const COMPUTE_BUFFERS = 7;
const VERTEX_BUFFERS = 4;
/** Bytes of an instance in the largest of the buffers. */
const BYTES = 64;

/** What is read of a device. Those limits that are not there are no limits. */
interface Limits {
  maxStorageBuffersPerShaderStage: number;
  maxStorageBuffersInVertexStage?: number;
  maxStorageBufferBindingSize: number;
  maxComputeInvocationsPerWorkgroup: number;
}

const known = /*@__PURE__*/ new WeakMap<CrowdViews, WeakMap<object, GPUViews>>();

/** Whether the GPU of a renderer can find out what cameras see of a crowd; else the CPU does it. */
export function isCulledOnGPU(renderer: object, { views, instanceMatrix }: DrawnCrowd): boolean {
  // Sorting, choosing the nearest, and layers of single instances are the CPU's.
  if (!views.isUsed || views.isStaged) return false;
  const { backend } = renderer as { backend: { device?: { limits: Limits } } };
  const limits = backend.device?.limits;
  return (
    limits !== undefined &&
    limits.maxStorageBuffersPerShaderStage >= COMPUTE_BUFFERS &&
    (limits.maxStorageBuffersInVertexStage ?? VERTEX_BUFFERS) >= VERTEX_BUFFERS &&
    limits.maxComputeInvocationsPerWorkgroup >= WORKGROUP &&
    limits.maxStorageBufferBindingSize >= instanceMatrix.count * BYTES
  );
}

/** What the cameras of a renderer see of a crowd. It goes with the crowd's views. */
export function gpuViewsOf(renderer: object, { views }: DrawnCrowd): GPUViews {
  let byRenderer = known.get(views);
  if (byRenderer === undefined) {
    byRenderer = new WeakMap();
    known.set(views, byRenderer);
  }
  let found = byRenderer.get(renderer);
  // It is made anew if the crowd was disposed, and is drawn again.
  if (found === undefined || !views.owned.has(found)) {
    const made = new GPUViews(renderer as WebGPURenderer);
    byRenderer.set(renderer, made);
    views.owned.add(made);
    found = made;
  }
  return found;
}
