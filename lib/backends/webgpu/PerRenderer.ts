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
      last.dispose();
    }
    const made = this.make(renderer, crowd);
    byCrowd.set(views, made);
    views.owned.add(made);
    return made;
  }
}
