import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    thorough: boolean;
    nightly: boolean;
    hasWebGPU: boolean;
  }
}

/**
 * Whether everything is tested, as CI does: `npm test -- --all`. Otherwise random tests run with one seed and fewer rounds,
 * two of the real characters are tested, materials that are lit as others are not drawn, nor some point lights, the WebGL 2 backend
 * of WebGPURenderer, which runs the nodes that WebGPU runs, has the first test of some files (see tests/setup/onceOnWebGL2.ts),
 * what takes longest to draw is drawn under one of the renderers, and neither the package nor the pages of the demos are built.
 */
export const THOROUGH: boolean = inject('thorough');

/**
 * Whether what takes longest is tested too, as a workflow does on a schedule: `SIM_NIGHTLY=1 npm test -- --all`. Otherwise random tests
 * have one seed of two, the WebGL 2 backend has the first test of each file, what takes longest to draw is drawn under one of the
 * renderers in turn, and the starters for webpack and Next are not built.
 */
export const NIGHTLY: boolean = inject('nightly');
