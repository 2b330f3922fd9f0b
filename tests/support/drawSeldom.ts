import type { Page } from 'playwright';

/** Milliseconds between two frames of a page that is tested. */
const PAUSE = 200;

/**
 * Lets a page, from the next one that is opened in it, draw five frames a second at most. A software renderer takes one core
 * for each page that draws whenever it can, and most frames are drawn while a test does something else.
 */
export async function drawSeldom(page: Page): Promise<void> {
  await page.addInitScript((pause) => {
    const request = window.requestAnimationFrame.bind(window);
    const waiting = new Map<number, FrameRequestCallback>();
    let requests = 0;
    let last = Number.NEGATIVE_INFINITY;
    let isDue = false;
    const frame = (now: number) => {
      last = now;
      isDue = false;
      // Those that are asked for meanwhile are for the next frame.
      for (const handle of [...waiting.keys()]) {
        const callback = waiting.get(handle);
        waiting.delete(handle);
        // As in a browser, an error in one of them leaves the others alone.
        try {
          callback?.(now);
        } catch (error) {
          reportError(error);
        }
      }
    };
    window.requestAnimationFrame = (callback) => {
      if (!isDue) setTimeout(() => request(frame), Math.max(0, last + pause - performance.now()));
      isDue = true;
      waiting.set(++requests, callback);
      return requests;
    };
    window.cancelAnimationFrame = (handle) => waiting.delete(handle);
  }, PAUSE);
}
