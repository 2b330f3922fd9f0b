import type { DrawnCrowd } from '../../core/Crowd.js';
import type { CrowdViews } from '../../culling/CrowdViews.js';

/** Whether a renderer draws with WebGPU; else with WebGL 2. */
export const isWebGPU = (renderer: object): boolean =>
  (renderer as { backend: { isWebGPUBackend?: boolean } }).backend.isWebGPUBackend === true;

/** What each renderer keeps of each crowd. It goes with the crowd, and is made anew if that is drawn again. */
export class PerRenderer<T extends { dispose(): void; suits?(crowd: DrawnCrowd): boolean }> {
  private readonly all = new WeakMap<object, WeakMap<CrowdViews, T>>();

  constructor(private readonly make: (renderer: object, crowd: DrawnCrowd) => T) {}

  of(renderer: object, crowd: DrawnCrowd): T {
    const { views } = crowd;
    let byCrowd = this.all.get(renderer);
    if (byCrowd === undefined) {
      byCrowd = new WeakMap();
      this.all.set(renderer, byCrowd);
    }
    const last = byCrowd.get(views);
    if (last !== undefined && views.owned.has(last)) {
      if (last.suits?.(crowd) !== false) return last;
      views.owned.delete(last);
      // A pass that reads it may not be submitted yet, and what takes its place shares computations with it.
      queueMicrotask(() => last.dispose());
    }
    const made = this.make(renderer, crowd);
    byCrowd.set(views, made);
    views.owned.add(made);
    return made;
  }
}

interface Shared<T> {
  readonly key: number;
  readonly steps: T;
  users: number;
  readonly all: Map<number, Shared<T>>;
}

/** Computations of each renderer, by what they are built for. */
export type StepsRegistry<T> = WeakMap<object, Map<number, Shared<T>>>;

/**
 * The computations that one crowd uses on a renderer. Crowds that need the same share them, since three.js makes a pipeline
 * for each ComputeNode: whoever uses some lets them read and write its own buffers first, each time.
 */
export class SharedSteps<T extends { dispose(): void }> {
  private used: Shared<T> | null = null;

  constructor(private readonly registry: StepsRegistry<T>) {}

  /** @param key Tells computations apart that must be built otherwise. */
  get(renderer: object, key: number, make: () => T): T {
    if (this.used?.key === key) return this.used.steps;
    this.dispose();
    const all = this.registry.get(renderer) ?? new Map<number, Shared<T>>();
    this.registry.set(renderer, all);
    this.used = all.get(key) ?? { key, steps: make(), users: 0, all };
    all.set(key, this.used);
    this.used.users++;
    return this.used.steps;
  }

  dispose(): void {
    const { used } = this;
    this.used = null;
    if (used === null || --used.users > 0) return;
    used.all.delete(used.key);
    used.steps.dispose();
  }
}

/** The nodes of shared computations: which value each has of what they are next used for. */
export class NodesInTurn<T> {
  private readonly each: ((of: T) => void)[] = [];

  /** Returns the node. It keeps its value where there is no other. */
  add<N extends { value: unknown }>(node: N, next: (of: T) => unknown): N {
    this.call((of) => {
      node.value = next(of) ?? node.value;
    });
    return node;
  }

  /** Has something else done each time. */
  call(use: (of: T) => void): void {
    this.each.push(use);
  }

  use(of: T): void {
    for (let i = 0; i < this.each.length; i++) this.each[i](of);
  }
}
