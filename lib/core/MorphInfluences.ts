import type { InstancedMesh, Mesh } from 'three';
import type { MorphRange } from '../animation/jointBoxes.js';
/** The influences of morph targets that instances of a mesh have had, without what clips add. Bounds hold all of them. */
export class MorphInfluences implements MorphRange {
  /** For each target the least and the greatest influence. They only grow. */
  readonly least: number[] = [];
  readonly most: number[] = [];
  /** Goes up when one of these changes. */
  version = 0;
  /** What gives instances influences of their own; null where all have those of the mesh. */
  ofInstances: {
    /** Call before `InstancedMesh.setMorphAt`. @throws If the object's influences do not fit. */
    prepare(object: Mesh): void;
    setInfluenceAt(index: number, name: string, influence: number | null): unknown;
  } | null = null;

  constructor(private readonly mesh: InstancedMesh & { readonly clipsMorph: boolean }) {}

  /** Grows by the influences that all instances share, which users write into an array of three.js. */
  growByShared(): void {
    const { morphTargetInfluences: shared } = this.mesh;
    if (shared === undefined) return;
    const { least, most } = this;
    if (most.length !== shared.length) {
      // Boxes hold influences from 0 to 1 anyway. What clips add to the shared ones comes on top, which boxes hold tightly at first.
      const { clipsMorph } = this.mesh;
      for (let target = 0; target < shared.length; target++) {
        // What is no number would stay so for ever: nothing is less or greater.
        const influence = Number.isNaN(shared[target]) ? 0 : shared[target];
        least[target] = clipsMorph || influence < 0 ? influence : 0;
        most[target] = clipsMorph || influence > 1 ? influence : 1;
      }
      least.length = most.length = shared.length;
      this.version++;
    }
    for (let target = 0; target < shared.length; target++) this.growBy(target, shared[target]);
  }

  /** Grows by an influence: by more than it asks for, so that bounds are not computed at each step of one that moves on. */
  growBy(target: number, influence: number): void {
    const { least, most } = this;
    if (!(influence < least[target] || influence > most[target])) return;
    for (let i = 0; i < most.length; i++) {
      least[i] = Math.min(least[i], 0);
      most[i] = Math.max(most[i], 1);
    }
    if (influence < 0) least[target] = Math.min(least[target], influence * HEADROOM);
    if (influence > 1) most[target] = Math.max(most[target], influence * HEADROOM);
    this.version++;
  }

  /** Grows by all that another mesh holds. */
  grow({ least, most }: MorphRange): void {
    this.growByShared();
    for (let target = 0; target < Math.min(most.length, this.most.length); target++) {
      this.growBy(target, least[target]);
      this.growBy(target, most[target]);
    }
  }
}

/** How much farther than an influence asks for its range grows. */
export const HEADROOM = 1.25;
