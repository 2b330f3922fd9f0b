interface Shared<T> {
  readonly steps: T;
  users: number;
  forget(): void;
}

/** Computations of each renderer, by what they are built for. */
export type StepsRegistry<T> = WeakMap<object, Map<number, Shared<T>>>;

/**
 * The computations that one crowd uses on a renderer. Crowds that need the same share them, since three.js makes a pipeline
 * for each ComputeNode: whoever uses some lets them read and write its own buffers first, each time.
 */
export class SharedSteps<T extends { dispose(): void }> {
  private used: { key: number; shared: Shared<T> } | null = null;

  constructor(private readonly registry: StepsRegistry<T>) {}

  /** @param key Tells computations apart that must be built otherwise. */
  get(renderer: object, key: number, make: () => T): T {
    if (this.used?.key === key) return this.used.shared.steps;
    this.dispose();
    let byKey = this.registry.get(renderer);
    if (byKey === undefined) {
      byKey = new Map();
      this.registry.set(renderer, byKey);
    }
    let shared = byKey.get(key);
    if (shared === undefined) {
      const others = byKey;
      shared = { steps: make(), users: 0, forget: () => others.delete(key) };
      byKey.set(key, shared);
    }
    shared.users++;
    this.used = { key, shared };
    return shared.steps;
  }

  dispose(): void {
    if (this.used === null) return;
    const { shared } = this.used;
    this.used = null;
    shared.users--;
    if (shared.users > 0) return;
    shared.forget();
    shared.steps.dispose();
  }
}
