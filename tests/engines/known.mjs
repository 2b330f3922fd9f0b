/**
 * What is known to be wrong. It does not count as failed, but to be drawn right does: then it must go from this list.
 *
 * @type {{ engine: string, renderer: import('./renderers.mjs').RendererName, scene: string, says: string, why: string }[]}
 */
export const KNOWN = [
  {
    engine: 'WebKit',
    renderer: 'WebGLRenderer',
    scene: 'merged materials',
    says: 'Too many attributes',
    why: 'WebKit counts gl_InstanceID, gl_VertexID and what a shader declares without use among its 16 attributes; parts, colours, morph targets and merged materials together take 17',
  },
];

/** What is known to be wrong with a scene, or undefined. */
export const knownWrong = (engine, renderer, scene) =>
  KNOWN.find((known) => known.engine === engine && known.renderer === renderer && known.scene === scene);
