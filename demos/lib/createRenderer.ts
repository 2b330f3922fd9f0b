import { WebGLRenderer } from 'three';
import type { WebGPURenderer } from 'three/webgpu';

export type AnyRenderer = WebGLRenderer | WebGPURenderer;

export interface Created {
  renderer: AnyRenderer;
  /** What draws: 'WebGLRenderer', or 'WebGPURenderer' and on what. */
  label: string;
  maxTextureSize: number;
  draws(): number;
  /** Bytes sent to the GPU since the last time. */
  takeBytes(): number;
}

/** `?renderer=webgl` or `webgpu`. WebGPURenderer falls back to WebGL 2 by itself where there is no WebGPU. */
export async function createRenderer(kind: string | null): Promise<Created> {
  if (kind !== 'webgpu') {
    const renderer = new WebGLRenderer({ antialias: true });
    const { maxTextureSize } = renderer.capabilities;
    const bytes = count(renderer.getContext(), [
      'bufferData',
      'bufferSubData',
      'texImage2D',
      'texSubImage2D',
    ]);
    return {
      renderer,
      label: 'WebGLRenderer',
      maxTextureSize,
      draws: () => renderer.info.render.calls,
      takeBytes: bytes,
    };
  }

  const { WebGPURenderer: Renderer } = await import('three/webgpu');
  const renderer = new Renderer({ antialias: true });
  await renderer.init();
  const { device, gl } = renderer.backend as unknown as { device?: GPUDevice; gl?: WebGL2RenderingContext };
  const bytes = device
    ? count(device.queue, ['writeBuffer', 'writeTexture'])
    : count(gl as WebGL2RenderingContext, ['bufferData', 'bufferSubData', 'texImage2D', 'texSubImage2D']);
  return {
    renderer,
    label: device
      ? 'WebGPURenderer on WebGPU'
      : 'WebGPURenderer on WebGL 2, since this browser has no WebGPU',
    maxTextureSize: device?.limits.maxTextureDimension2D ?? 4096,
    draws: () => renderer.info.render.drawCalls,
    takeBytes: bytes,
  };
}

/** Counts the bytes that go through some methods of a context or queue. */
function count(owner: object, methods: string[]): () => number {
  let bytes = 0;
  const calls = owner as Record<string, (...args: unknown[]) => unknown>;
  for (const name of methods) {
    const original = calls[name].bind(owner);
    calls[name] = (...args) => {
      bytes += bytesOf(name, args);
      return original(...args);
    };
  }
  return () => {
    const taken = bytes;
    bytes = 0;
    return taken;
  };
}

/** Bytes that a call sends; several take a whole array, and say elsewhere which part of it. */
function bytesOf(name: string, args: unknown[]): number {
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
  const elements = name === 'bufferSubData' || name === 'writeBuffer' ? Number(args[4] ?? 0) : 0;
  return elements > 0 ? elements * size : data.byteLength;
}
