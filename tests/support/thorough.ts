import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    thorough: boolean;
    hasWebGPU: boolean;
  }
}

/**
 * Whether everything is tested, as CI does: `npm test -- --all`. Otherwise random tests run with one seed and fewer rounds,
 * two of the real characters are tested, materials that are lit as others are not drawn, nor some point lights, the WebGL 2 backend
 * of WebGPURenderer, which runs the nodes that WebGPU runs, has the first test of some files (see tests/setup/onceOnWebGL2.ts), and
 * demos are opened, and most impostors drawn, under one of the renderers in turn.
 */
export const THOROUGH: boolean = inject('thorough');
