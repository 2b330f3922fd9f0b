const GL_UPLOADS = [
  'bufferData',
  'bufferSubData',
  'texImage2D',
  'texSubImage2D',
  'texImage3D',
  'texSubImage3D',
];
const GL_DRAWS = ['drawElements', 'drawArrays', 'drawElementsInstanced', 'drawArraysInstanced'];
const GPU_UPLOADS = ['writeBuffer', 'writeTexture'];
const GPU_DRAWS = ['draw', 'drawIndexed', 'drawIndirect', 'drawIndexedIndirect'];

/** What a draw call is for: characters in the picture, their shadows in a shadow map, their poses, or the ground and the like. */
export type Purpose = 'characters' | 'shadows' | 'poses' | 'rest';

/** What a graphics API was asked for since the last `reset`. */
export interface Calls {
  uploads: number;
  bytes: number;
  /** All draw calls, and those for each purpose. */
  draws: number;
  drawsFor: Record<Purpose, number>;
  /** What the draw calls that come next are for. */
  purpose: Purpose;
  reset(): void;
}

/** Counts what a WebGL context or a WebGPU device is asked to upload and draw. The calls still go through. */
export function countCalls(target: WebGL2RenderingContext | GPUDevice): Calls {
  const calls: Calls = {
    uploads: 0,
    bytes: 0,
    draws: 0,
    drawsFor: { characters: 0, shadows: 0, poses: 0, rest: 0 },
    purpose: 'characters',
    reset() {
      const { drawsFor } = this;
      this.uploads = this.bytes = this.draws = 0;
      drawsFor.characters = drawsFor.shadows = drawsFor.poses = drawsFor.rest = 0;
    },
  };
  const onUpload = (name: string, args: unknown[]) => {
    calls.uploads++;
    calls.bytes += uploadedBytes(name, args);
  };
  const onDraw = (name: string, [, , vertices, instances]: unknown[]) => {
    calls.draws++;
    // The pass that poses crowds under WebGL draws one triangle once, and nobody else by this call.
    const isPass = name === 'drawArraysInstanced' && vertices === 3 && instances === 1;
    calls.drawsFor[isPass ? 'poses' : calls.purpose]++;
  };
  if ('queue' in target) {
    watch(target.queue, GPU_UPLOADS, onUpload);
    watch(GPURenderPassEncoder.prototype, GPU_DRAWS, onDraw);
  } else {
    watch(target, GL_UPLOADS, onUpload);
    watch(target, GL_DRAWS, onDraw);
    const batches = target.getExtension('WEBGL_multi_draw');
    if (batches !== null) watch(batches, ['multiDrawElementsWEBGL', 'multiDrawArraysWEBGL'], onDraw);
  }
  return calls;
}

function watch(owner: object, names: string[], callback: (name: string, args: unknown[]) => void): void {
  const methods = owner as Record<string, (...args: unknown[]) => unknown>;
  for (const name of names) {
    const original = methods[name];
    methods[name] = function watched(this: unknown, ...args) {
      callback(name, args);
      return original.apply(this, args);
    };
  }
}

/** Bytes that a call sends; several take a whole array, and say elsewhere which part of it. */
function uploadedBytes(name: string, args: unknown[]): number {
  const data = args.find((arg) => ArrayBuffer.isView(arg) || arg instanceof ArrayBuffer) as
    | Float32Array
    | undefined;
  if (data === undefined) return 0;
  const size = data.BYTES_PER_ELEMENT ?? 1;
  if (name === 'texSubImage2D') return Number(args[4]) * Number(args[5]) * 4 * size;
  if (name === 'writeTexture') {
    const { bytesPerRow = 0 } = args[2] as GPUTexelCopyBufferLayout;
    const { height = 1, depthOrArrayLayers = 1 } = args[3] as GPUExtent3DDict;
    return bytesPerRow * height * depthOrArrayLayers;
  }
  const elements = name.startsWith('buffer') || name === 'writeBuffer' ? Number(args[4] ?? 0) : 0;
  return elements > 0 ? elements * size : data.byteLength;
}
