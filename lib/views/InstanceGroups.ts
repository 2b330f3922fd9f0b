import type { Box3 } from 'three';
import type { InstancePlaces } from '../instances/InstancePlaces.js';

/** What is read of a crowd to know where its instances may be seen. */
export interface GroupedCrowd {
  /** Instances in use. */
  readonly count: number;
  readonly capacity: number;
  readonly places: InstancePlaces;
  /** Box around every pose of every mesh of the crowd, relative to an instance. */
  boundsOfPoses(target: Box3): Box3;
}

/**
 * A sphere around each instance, and spheres around groups of neighbours: what cameras, rays and bounds ask first. All are in
 * the crowd's space.
 */
export class InstanceGroups {
  /** Instances in a group. */
  static readonly SIZE = 64;

  /** x, y, z and radius of each instance. Another array once there is room for more instances. */
  spheres = new Float32Array(0);
  /** The instances so that neighbours stand together: the first 64 are the first group, and so on. */
  order = new Uint32Array(0);
  /** x, y, z and radius of each group. */
  groupSpheres = new Float32Array(0);
  groupCount = 0;
  /** Goes up whenever a sphere changes. */
  version = 0;

  constructor(readonly crowd: GroupedCrowd) {}

  /** Brings all of it up to date; costs next to nothing when no instance was moved. */
  update(): void {}
}
