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

/** Disposes all of it; `Drawing` and `Capture` do that when they are disposed. */
export function disposeWaiting(): void {
  for (const thing of waiting.splice(0)) thing.dispose();
}
