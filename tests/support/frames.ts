/** Until the browser, and with it every WebGPURenderer, is in another frame. */
export const nextFrame = (): Promise<void> =>
  new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));

/** What is read of a WebGPURenderer. */
interface Renderer {
  readonly info: { readonly frame: number };
}

const drawnIn = new WeakMap<Renderer, number>();

/**
 * Draws in a frame in which this has not drawn yet. Within one frame three.js renders the shadows that a camera sees once,
 * and brings each skeleton up to date once: a second picture in the same frame would show the shadow and the pose of the
 * first. Whether two pictures fall into one frame depends on how quick the machine is.
 */
export async function drawInNewFrame(renderer: Renderer, draw: () => void): Promise<void> {
  while (renderer.info.frame === drawnIn.get(renderer)) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
  draw();
  // Not before: the first frame of all begins with the first drawing.
  drawnIn.set(renderer, renderer.info.frame);
}
