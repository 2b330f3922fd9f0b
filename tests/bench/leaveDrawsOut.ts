import type { Created } from '../../demos/lib/createRenderer.js';

/** Lets nothing be drawn, so that JavaScript need not wait for a software renderer. @returns How many draws that were. */
export function leaveDrawsOut({ gl }: Pick<Created, 'gl'>): { count: number } {
  const draws = { count: 0 };
  const leaveOut = () => void draws.count++;
  if (gl !== null) {
    for (const name of [
      'drawArrays',
      'drawElements',
      'drawArraysInstanced',
      'drawElementsInstanced',
    ] as const)
      gl[name] = leaveOut;
    return draws;
  }
  for (const { prototype } of [GPURenderPassEncoder, GPURenderBundleEncoder]) {
    for (const name of ['draw', 'drawIndexed', 'drawIndirect', 'drawIndexedIndirect'] as const)
      prototype[name] = leaveOut as () => undefined;
  }
  for (const name of ['dispatchWorkgroups', 'dispatchWorkgroupsIndirect'] as const)
    GPUComputePassEncoder.prototype[name] = () => undefined;
  return draws;
}
