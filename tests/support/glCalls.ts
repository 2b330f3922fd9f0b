const UPLOADS = [
  'bufferData',
  'bufferSubData',
  'texImage2D',
  'texSubImage2D',
  'texImage3D',
  'texSubImage3D',
] as const;
const DRAWS = ['drawElements', 'drawArrays', 'drawElementsInstanced', 'drawArraysInstanced'] as const;

export interface GlCalls {
  uploads: number;
  bytes: number;
  draws: number;
  reset(): void;
}

/** Counts what a context is asked to upload and draw. The calls still go through. */
export function countGlCalls(gl: WebGL2RenderingContext): GlCalls {
  const calls: GlCalls = {
    uploads: 0,
    bytes: 0,
    draws: 0,
    reset() {
      this.uploads = this.bytes = this.draws = 0;
    },
  };
  const context = gl as unknown as Record<string, (...args: unknown[]) => unknown>;
  for (const name of [...UPLOADS, ...DRAWS]) {
    const original = context[name].bind(gl);
    const upload = (UPLOADS as readonly string[]).includes(name);
    context[name] = (...args) => {
      if (upload) {
        calls.uploads++;
        calls.bytes += uploadedBytes(name, args);
      } else {
        calls.draws++;
      }
      return original(...args);
    };
  }
  return calls;
}

function uploadedBytes(name: string, args: unknown[]): number {
  const data = args.find((arg) => ArrayBuffer.isView(arg)) as Float32Array | undefined;
  if (data === undefined) return 0;
  // three.js sends a part of a texture out of the whole array, by a row length and what to skip
  if (name === 'texSubImage2D') {
    const [width, height] = args.slice(4, 6).map(Number);
    const channels = 4;
    return width * height * channels * data.BYTES_PER_ELEMENT;
  }
  const length = name === 'bufferSubData' && typeof args[4] === 'number' ? args[4] : 0;
  return length > 0 ? length * data.BYTES_PER_ELEMENT : data.byteLength;
}
