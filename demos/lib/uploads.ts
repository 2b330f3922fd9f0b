const CALLS = ['bufferData', 'bufferSubData', 'texImage2D', 'texSubImage2D'] as const;

/** Counts the bytes that a context is sent: call `take` for what has come since the last time. */
export function countUploads(gl: WebGLRenderingContext | WebGL2RenderingContext): { take(): number } {
  let bytes = 0;
  const context = gl as unknown as Record<string, (...args: unknown[]) => unknown>;
  for (const name of CALLS) {
    const original = context[name].bind(gl);
    context[name] = (...args) => {
      const data = args.find((arg) => ArrayBuffer.isView(arg)) as Float32Array | undefined;
      // bufferSubData may be given the number of elements to send
      const elements = name === 'bufferSubData' && typeof args[4] === 'number' ? args[4] : 0;
      if (data) bytes += elements > 0 ? elements * data.BYTES_PER_ELEMENT : data.byteLength;
      return original(...args);
    };
  }
  return {
    take() {
      const taken = bytes;
      bytes = 0;
      return taken;
    },
  };
}
