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
    let waiting = new Map<number, FrameRequestCallback>();
    let requests = 0;
    let last = Number.NEGATIVE_INFINITY;
    const frame = (now: number) => {
      last = now;
      const due = waiting;
      waiting = new Map();
      for (const callback of due.values()) {
        // As in a browser, an error in one of them leaves the others alone.
        try {
          callback(now);
        } catch (error) {
          reportError(error);
        }
      }
    };
    window.requestAnimationFrame = (callback) => {
      if (waiting.size === 0) setTimeout(() => request(frame), Math.max(0, last + pause - performance.now()));
      waiting.set(++requests, callback);
      return requests;
    };
    window.cancelAnimationFrame = (handle) => {
      waiting.delete(handle);
    };
  }, PAUSE);
}
