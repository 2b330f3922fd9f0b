import type { BufferGeometry, Material, Matrix4, Mesh, Object3D, Vector3 } from 'three';

/** Numbers per node in `Rig.rest`: position 3, quaternion 4, scale 3. */
export const TRS_SIZE = 10;

/** One drawn mesh under the root and how its vertices find their joints. */
export interface RigPart {
  mesh: Mesh;
  geometry: BufferGeometry;
  material: Material | Material[];
  /** Joint of the rig for each index that the geometry's `skinIndex` may hold; for a rigid mesh its one joint. */
  joints: Int32Array;
  /**
   * The same for a second copy of the part, whose triangles are turned around, where clips mirror the mesh: one of the
   * two is drawn in any pose, and the other is shrunk to a point. Null for all other parts.
   */
  mirrorJoints: Int32Array | null;
  rigid: boolean;
  /** Where the mesh stands in the rest pose, relative to the root. */
  model: Matrix4;
  /** Where the mesh's morph targets begin among those of the rig; -1 if it has none. */
  morphOffset: number;
}

/** What a joint's matrix owes to the mesh whose vertices follow it, where that is more than nothing. */
export interface MeshJoint {
  /** Node of the mesh. */
  node: number;
  /** For a skin in detached bind mode the inverse of its bind matrix, which the mesh's own matrix multiplies. */
  bindInverse: Float64Array | null;
  /**
   * Whether vertices gather in the mesh's origin while its matrix cannot be inverted: three.js does that to skins in
   * attached bind mode, whose own matrix else makes no difference.
   */
  vanishes: boolean;
  /** 1 for a joint that is used while the mesh's matrix does not mirror, -1 while it does, 0 always. */
  side: -1 | 0 | 1;
}

/**
 * What a root object says about posing, taken out of the object graph into flat arrays: nodes parents first, and the
 * joints whose matrices a bone texture stores.
 *
 * A joint's skinning matrix relative to the root is `model(node) · inverse`, where `model` is the product of the local
 * matrices from below the root down to the node. `inverse` holds `boneInverse · bindMatrix`, so that raw geometry can be
 * skinned without another matrix. A few joints depend on their mesh as well, see `jointMeshes`.
 */
export interface Rig {
  root: Object3D;
  nodes: Object3D[];
  /** Index of the parent in `nodes`, -1 for the root. */
  parents: Int32Array;
  /** Local transforms as found, `TRS_SIZE` numbers a node. */
  rest: Float64Array;
  /** `rotation` of each node as found, x, y, z: what a track of one angle leaves the others at. */
  restRotations: Float64Array;
  /** Points about which nodes turn and scale, for those that have one. */
  pivots: ReadonlyMap<number, Vector3>;
  /** Local matrices as found, `AFFINE_SIZE` numbers a node; the root's is the identity. */
  restLocal: Float64Array;
  jointNames: string[];
  /** Node of each joint. */
  jointNodes: Int32Array;
  /** `AFFINE_SIZE` numbers a joint. */
  jointInverses: Float64Array;
  /** For each joint, what it owes to its mesh; null for nearly all. */
  jointMeshes: (MeshJoint | null)[];
  parts: RigPart[];
  /** Whether morph targets were taken along. */
  morphing: boolean;
  /** Names of the morph targets of all parts; those that the primitives of one mesh have in common are there once. */
  morphNames: string[];
  /** Their influences as found. */
  morphRest: Float64Array;
}
