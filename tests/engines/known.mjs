/**
 * What is known to be wrong. It does not count as failed, but to be drawn right does: then it must go from this list.
 *
 * @type {{ engine: string, renderer: import('./renderers.mjs').RendererName, scene: string, says: string, why: string }[]}
 */
export const KNOWN = [];

/** What is known to be wrong with a scene, or undefined. */
export const knownWrong = (engine, renderer, scene) =>
  KNOWN.find((known) => known.engine === engine && known.renderer === renderer && known.scene === scene);
