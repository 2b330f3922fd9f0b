import { Box3, type Vector3 } from 'three';
import { MOTION_HAS_COLOR, MOTION_SWAPPED, type MotionProgram } from '../../shaders/MotionProgram.js';
import type { AnyMotion, CrowdMotions, MovedMesh } from './CrowdMotions.js';
import type { Motion } from './Motion.js';
import { clockOf } from './MotionClock.js';
import type { MotionValue } from './MotionDefinition.js';
import { motionProgramOf } from './motionProgramOf.js';
import { movedVertex } from './movedVertex.js';

/** A motion, and the mesh that it was assigned to: that of an attachment may be its owner's. */
export interface AssignedMotion {
  readonly motion: Motion;
  readonly home: MovedMesh;
}

/** The motions of a mesh, its own and those of what it is attached to. */
export class MotionSet implements CrowdMotions {
  readonly program: MotionProgram;
  readonly numbers: Float32Array;

  constructor(readonly assigned: readonly AssignedMotion[]) {
    this.program = motionProgramOf(assigned.map(({ motion }) => motion.definition));
    this.numbers = new Float32Array(this.program.vectors * 4);
  }

  get reachBefore(): number {
    return this.reachOf('beforeSkinning');
  }

  get reachAfter(): number {
    return this.reachOf('afterSkinning');
  }

  settle(mesh: MovedMesh): void {
    const { numbers, assigned, program } = this;
    numbers[MOTION_HAS_COLOR] = mesh.geometry.hasAttribute('color') ? 1 : 0;
    numbers[MOTION_SWAPPED] = mesh.seeds.areSwapped ? 1 : 0;
    for (let i = 0; i < assigned.length; i++) {
      const { motion, home } = assigned[i];
      const { timeAt, places } = program.steps[i];
      const clock = clockOf(mesh, motion);
      clock.settle(mesh.elapsed);
      numbers[timeAt] = clock.time;
      prepare(motion, home);
      const uniforms = motion.uniforms as Readonly<Record<string, { value: MotionValue }>>;
      for (let k = 0; k < places.length; k++) {
        const { name, at } = places[k];
        const { value } = uniforms[name];
        if (typeof value === 'number') numbers[at] = value;
        else value.toArray(numbers, at);
      }
    }
  }

  moveVertex(
    mesh: MovedMesh,
    index: number,
    vertex: number,
    target: Vector3,
    pose: (position: Vector3) => Vector3,
  ): Vector3 {
    return movedVertex(this.assigned, mesh, index, vertex, target, pose);
  }

  copyTime(from: MovedMesh, to: MovedMesh): void {
    for (const { motion } of this.assigned) clockOf(to, motion).copy(clockOf(from, motion));
  }

  combine(mesh: MovedMesh, own: readonly AnyMotion[], owner: CrowdMotions | null): CrowdMotions | null {
    return combineMotions(mesh, own, owner);
  }

  private reachOf(stage: Motion['stage']): number {
    let reach = 0;
    for (let i = 0; i < this.assigned.length; i++) {
      const { motion, home } = this.assigned[i];
      if (motion.stage !== stage) continue;
      // What it derived from the geometry may be that of another crowd.
      prepare(motion, home);
      reach += motion.reach;
    }
    // Steps of a fifth.
    return reach === 0 ? 0 : 2 ** (Math.ceil(Math.log2(reach) * 4) / 4);
  }
}

const _rest = /*@__PURE__*/ new Box3();

/** Lets a motion derive uniforms from others and from the mesh that it was assigned to. */
function prepare(motion: Motion, { geometry, boneTexture, isJointAttachment }: MovedMesh): void {
  if (isJointAttachment === true) {
    if (geometry.boundingBox === null) geometry.computeBoundingBox();
    _rest.copy(geometry.boundingBox ?? _rest.makeEmpty());
  } else {
    const { restBounds } = boneTexture.data;
    _rest.min.set(restBounds[0], restBounds[1], restBounds[2]);
    _rest.max.set(restBounds[3], restBounds[4], restBounds[5]);
  }
  motion.hooks.prepare(geometry, _rest);
}

/** Makes what moves a mesh, see `AnyMotion.combine`. */
export function combineMotions(
  mesh: MovedMesh,
  own: readonly AnyMotion[],
  owner: CrowdMotions | null,
): CrowdMotions | null {
  const assigned = (own as readonly Motion[]).map((motion) => ({ motion, home: mesh }));
  const followed = owner instanceof MotionSet ? owner.assigned : [];
  const after = followed.filter(({ motion }) => motion.stage === 'afterSkinning' && !own.includes(motion));
  const all = [...assigned, ...after];
  return all.length === 0 ? null : new MotionSet(all);
}
