import type { Object3D } from 'three';

/** What hides instances of a crowd from cameras: an `Occlusion` of `skinned-instanced-mesh/occlusion`. */
export interface CrowdOcclusion {
  /** Says what it is. */
  readonly isOcclusion: true;
  /** What hides them. */
  readonly occluders: Object3D;
  /** What a renderer finds out about it. @internal */
  of(renderer: object): object;
}
