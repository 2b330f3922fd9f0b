import type { MeshMotions } from '../../core/Crowd.js';
import { addMeshFeature, dropMeshFeature, featureOf, type MeshFeature } from '../../core/CrowdFeature.js';
import type { CrowdMesh } from '../../crowd/CrowdMesh.js';
import type { Motion } from './defineMotion.js';
import { InstanceSeeds, type MotionSet, motionsOf } from './MotionSet.js';

/**
 * Moves the vertices of a crowd in time, beside what clips do, by what `defineMotion` defines: wind, flutter, breath. Time
 * is the crowd's clock, which `update` moves; it is the same for all instances, also for those that are paused.
 *
 * Levels of detail move likewise. What is attached to joints is moved by those motions that come after skinning, as the body is
 * at the same place, and by motions of its own: `new InstanceMotions(sword, …)`.
 *
 * ```ts
 * new InstanceMotions(crowd, hop({ height: 0.3 }));
 * ```
 *
 * @category Move
 */
export class InstanceMotions implements MeshFeature {
  private assigned: readonly Motion[] = [];
  /** @internal */
  readonly seeds: InstanceSeeds;

  /**
   * @param mesh A crowd, or what is attached to one.
   * @param motions One after another.
   * @throws If the mesh has some already.
   */
  constructor(
    private readonly mesh: CrowdMesh,
    ...motions: Motion[]
  ) {
    addMeshFeature(mesh, this);
    mesh.instanceMotions = this;
    this.seeds = featureOf(mesh, InstanceSeeds) ?? new InstanceSeeds(mesh);
    this.set(...motions);
  }

  /** What moves the vertices now. */
  get motions(): readonly Motion[] {
    return this.assigned;
  }

  /** Other motions in the place of these. Another set compiles materials anew; other values of uniforms do not. */
  set(...motions: Motion[]): this {
    this.assigned = motions;
    this.mesh.motionsChanged();
    return this;
  }

  /** @internal */
  with(owner: MeshMotions | null): MotionSet | null {
    return motionsOf(this.mesh, this.assigned, owner, this.seeds);
  }

  /** Motions have nothing of single instances. */
  resize(): void {}

  /** See `resize`. */
  swap(): void {}

  /** See `resize`. */
  reset(): void {}

  copy({ assigned, mesh }: InstanceMotions): void {
    this.set(...assigned);
    this.mesh.motions?.copyTime(mesh, this.mesh);
  }

  cloneForMesh(mesh: object): InstanceMotions {
    return new InstanceMotions(mesh as CrowdMesh);
  }

  /** Vertices are where clips have them again. */
  dispose(): void {
    if (this.mesh.instanceMotions !== this) return;
    this.mesh.instanceMotions = null;
    dropMeshFeature(this.mesh, this);
    this.mesh.motionsChanged();
  }
}
