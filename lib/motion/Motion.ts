import type { Box3, BufferGeometry } from 'three';
import type { MotionStage } from '../../shaders/MotionProgram.js';
import type { AnyMotion, CombineMotions, CrowdMotions, MovedMesh } from './CrowdMotions.js';
import type { MotionDefinition, MotionUniforms, MotionValue } from './MotionDefinition.js';

/** What a motion does with its uniforms, whatever they are. */
export interface MotionHooks {
  /** The uniforms' values under their names. */
  readonly values: object;
  reach(): number;
  rate(): number;
  prepare(geometry: BufferGeometry, rest: Box3): void;
  combine: CombineMotions;
}

/**
 * Moves the vertices of crowds in time: what {@link defineMotion} and the ready-made ones return. Assign it to `motion` of a
 * crowd, or of several, which then share its uniforms.
 *
 * ```ts
 * const breeze = wind({ strength: 0.3 });
 * grass.motion = breeze;
 * trees.motion = breeze;
 * breeze.uniforms.strength.value = 0.5; // at any time
 * ```
 */
export class Motion<U = unknown> implements AnyMotion {
  /** For type testing. */
  readonly isMotion = true;
  /** What it is called in messages. */
  readonly name: string;
  /** Whether vertices are moved as they were modelled, or as they are posed. */
  readonly stage: MotionStage;
  /** Change the `value` of any at any time: nothing is compiled anew. */
  readonly uniforms: MotionUniforms<U>;

  /** @internal */
  constructor(
    /** @internal */
    readonly definition: MotionDefinition,
    uniforms: Readonly<Record<string, { value: MotionValue }>>,
    /** @internal */
    readonly hooks: MotionHooks,
  ) {
    this.name = definition.name;
    this.stage = definition.stage;
    this.uniforms = uniforms as MotionUniforms<U>;
  }

  /**
   * The farthest that it moves a vertex, in units of the instance; before skinning, in those of the geometry as it was modelled.
   * Where that depends on the geometry, as of wind, it is that of the mesh for which the motion was prepared last: who asks
   * prepares it first, see `MotionSet`.
   *
   * @throws If that is no finite number from 0.
   * @internal
   */
  get reach(): number {
    const reach = this.hooks.reach();
    if (reach >= 0 && reach < Infinity) return reach;
    throw new Error(
      `Motion.reach: that of "${this.name}" is ${reach}; its uniforms, or its \`reach\`, must give a finite number from 0.`,
    );
  }

  /** @internal */
  combine(mesh: MovedMesh, own: readonly AnyMotion[], owner: CrowdMotions | null): CrowdMotions | null {
    return this.hooks.combine(mesh, own, owner);
  }
}
