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

/**
 * Has a renderer delete only what is of its context as it is now. three.js also deletes what it made before the context was lost, once
 * that is disposed or replaced, which Chromium counts as an INVALID_OPERATION.
 *
 * @returns What it has passed over.
 */
export function passOverLost(renderer: WebGLRenderer): string[] {
  const passed: string[] = [];
  const gl = renderer.getContext() as unknown as Record<string, (object: unknown) => unknown>;
  for (const key in gl) {
    if (!key.startsWith('delete')) continue;
    const remove = gl[key].bind(gl);
    const isThere = gl[key.replace('delete', 'is')].bind(gl);
    gl[key] = (object) => {
      if (isThere(object)) remove(object);
      else if (object) passed.push(key);
    };
  }
  return passed;
}
