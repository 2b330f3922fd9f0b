import type { BufferGeometry, Object3D } from 'three';
import type { ScenePart } from '../character/collectParts.js';

/** What a bone texture brings along that poses vertices by something else than joints. */
export interface VertexBinding {
  /**
   * The meshes under a root, as parts that follow one joint.
   *
   * @throws If the texture was baked of others.
   */
  collect(root: Object3D): ScenePart[];
  /**
   * What is said of the first mesh under a root that has other vertices than the one that was baked, or has them in another order;
   * null if there is none, and of meshes that are others altogether, which `collect` refuses.
   *
   * @param sumsOf The `positionSums` of a geometry, or those that it had when it was loaded.
   */
  findMoved(root: Object3D, sumsOf: (geometry: BufferGeometry) => readonly number[]): string | null;
  /**
   * Gives a crowd geometry what the vertices need to be posed, in the place of joints and weights.
   *
   * @param source What the geometry is a copy of.
   * @throws If the texture was baked of another geometry.
   */
  bind(geometry: BufferGeometry, source: BufferGeometry): void;
}
