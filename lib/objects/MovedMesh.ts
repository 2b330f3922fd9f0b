import type { AnyMotion, CrowdMotions } from '../motion/CrowdMotions.js';
import { describe } from '../utils/describe.js';
import { CrowdMesh } from './CrowdMesh.js';

const NAME = 'SkinnedInstancedMesh';
const NONE: readonly AnyMotion[] = [];

/** A mesh of a crowd whose vertices may be moved in time by more than clips: by wind, breath, or code of the user's. */
export abstract class MovedMesh extends CrowdMesh {
  private assigned: AnyMotion | readonly AnyMotion[] | null = null;

  /**
   * What moves the vertices beside clips: one motion, or several, one after another; null for none. They are made by
   * `skinned-instanced-mesh/motion`: `wind`, `flutter`, `breathing`, and what `defineMotion` defines. Time is the crowd's clock,
   * which `update` moves. It is the time of the whole crowd, also for instances that are paused.
   *
   * Levels of detail move likewise. What is attached to joints is moved by those motions that come after skinning, as the body is
   * at the same place, and by motions of its own.
   *
   * ```ts
   * crowd.motion = wind({ strength: 0.3 });
   * ```
   *
   * @throws If it is no motion.
   */
  get motion(): AnyMotion | readonly AnyMotion[] | null {
    return this.assigned;
  }

  /** Another set of motions compiles the materials of this crowd anew; other values of their uniforms do not. */
  set motion(value: AnyMotion | readonly AnyMotion[] | null) {
    for (const motion of listOf(value)) {
      if (motion?.isMotion === true) continue;
      throw new Error(
        `${NAME}.motion: ${describe(motion)} is no motion; assign what wind() and the like of 'skinned-instanced-mesh/motion' return, several in an array, or null.`,
      );
    }
    this.assigned = value;
    this.motionsChanged();
  }

  /** What moves the mesh that this one is attached to. */
  protected get ownerMotions(): CrowdMotions | null {
    return null;
  }

  /** @internal */
  override motionsChanged(): void {
    const own = listOf(this.assigned);
    const { ownerMotions } = this;
    const [first = ownerMotions] = own;
    this.motions = first?.combine(this, own, ownerMotions) ?? null;
    super.motionsChanged();
  }

  override copy(source: this, recursive?: boolean): this {
    if (source === this) return this;
    super.copy(source, recursive);
    this.motion = source.motion;
    this.motions?.copyTime(source, this);
    return this;
  }
}

function listOf(value: AnyMotion | readonly AnyMotion[] | null): readonly AnyMotion[] {
  if (value === null) return NONE;
  return Array.isArray(value) ? value : [value as AnyMotion];
}
