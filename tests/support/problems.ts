import { vi } from 'vitest';

/** What went wrong since it was last asked: on the GPU, in shaders, and by what three.js said of it. */
export interface Problems {
  (): string[];
  /** Stops listening. */
  stop(): void;
}

interface AnyRenderer {
  /** WebGLRenderer has it. */
  getContext?(): unknown;
  /** Other renderers do. */
  backend?: unknown;
}

/** Names of the errors of a WebGL context by their codes. */
const WEBGL_ERRORS: Record<number, string> = {
  1280: 'INVALID_ENUM',
  1281: 'INVALID_VALUE',
  1282: 'INVALID_OPERATION',
  1285: 'OUT_OF_MEMORY',
  1286: 'INVALID_FRAMEBUFFER_OPERATION',
  37442: 'CONTEXT_LOST_WEBGL',
};

/**
 * Gathers the problems of a renderer that has been initialised. WebGPU tells them by events, WebGL when asked; logs of
 * shaders and programs that fail come by `console.error`, where three.js writes them.
 */
export function watchProblems(renderer: AnyRenderer): Problems {
  const found: string[] = [];
  const { device, gl } = (renderer.backend ?? { gl: renderer.getContext?.() }) as {
    device?: GPUDevice;
    gl?: WebGL2RenderingContext;
  };
  if (!device && !gl) throw new Error('watchProblems: neither WebGPU nor WebGL; call renderer.init() first.');

  const said = vi.spyOn(console, 'error').mockImplementation((...words) => {
    found.push(words.map(String).join(' '));
  });
  const onError = (event: Event) => found.push((event as GPUUncapturedErrorEvent).error.message);
  device?.addEventListener('uncapturederror', onError);

  const take = () => {
    // A lost context says so once; others may have several waiting.
    for (let code = gl?.getError() ?? 0; code !== 0; code = gl?.getError() ?? 0) {
      found.push(`WebGL: ${WEBGL_ERRORS[code] ?? code}`);
    }
    return found.splice(0);
  };
  return Object.assign(take, {
    stop() {
      device?.removeEventListener('uncapturederror', onError);
      said.mockRestore();
    },
  });
}
