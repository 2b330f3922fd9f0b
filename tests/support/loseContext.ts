import type { WebGLRenderer } from 'three';

const heard = (renderer: WebGLRenderer, type: string): Promise<unknown> =>
  new Promise((resolve) => renderer.domElement.addEventListener(type, resolve, { once: true }));

/** Takes a renderer's context away, and waits until it may be given back. */
export async function loseContext(renderer: WebGLRenderer): Promise<void> {
  const lost = heard(renderer, 'webglcontextlost');
  renderer.forceContextLoss();
  await lost;
  // Not before all who listen have: one of them asks for it to be restored, without which the browser refuses to.
  await new Promise((resolve) => setTimeout(resolve));
}

/** Gives a renderer's context back, and waits until it can draw. */
export async function restoreContext(renderer: WebGLRenderer): Promise<void> {
  const restored = heard(renderer, 'webglcontextrestored');
  renderer.forceContextRestore();
  await restored;
}
