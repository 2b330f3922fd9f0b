interface Disposable {
  dispose(): void;
}

const waiting: Disposable[] = [];

/**
 * For what a test is through with. A renderer gives a shader up with the last material that uses it, and to compile it
 * anew for the next test takes longer than most tests.
 */
export function disposeLater(thing: Disposable): void {
  waiting.push(thing);
}

/** Disposes all of it but for the last `kept`; `Drawing` and `Capture` do that when they are disposed. */
export function disposeWaiting(kept = 0): void {
  for (const thing of waiting.splice(0, Math.max(0, waiting.length - kept))) thing.dispose();
}
