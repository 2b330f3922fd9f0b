import type { BufferGeometry, Material, Mesh, Object3D } from 'three';

/** Numbers of a local transform, e.g. of each node in `Rig.rest`: position 3, quaternion 4, scale 3. */
export const TRS_SIZE = 10;
/** Those of one that does nothing. */
export const STILL: readonly number[] = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1];

/** How the vertices of one drawn mesh find their joints. */
export interface RigPart {
  /** Node of the mesh. */
  node: number;
  /** Joint of the rig for each index that the geometry's `skinIndex` may hold. */
  joints: Int32Array;
  /**
   * The same for a second copy of the part, whose triangles are turned around, where clips mirror the mesh: one of the
   * two is drawn in any pose, and the other is shrunk to a point. Null for all other parts.
   */
  mirrorJoints: Int32Array | null;
  /** Whether it is no skinned mesh: all vertices follow its one joint. */
  rigid: boolean;
  /** Matrix of the mesh in the rest pose, relative to the root: 12 numbers. */
  model: Float64Array;
  /** Where the mesh's morph targets begin among those of the rig; -1 if it has none. */
  morphOffset: number;
  /** How many morph influences the mesh has. */
  morphCount: number;
  /** Index among these by the target's name, as tracks use it. */
  morphIndices: Record<string, number>;
}

/** A part whose mesh is mirrored or flattened by a clip, and therefore needs joints that other parts do not share. */
export interface PartFlip {
  /** Index of the part. */
  part: number;
  /** Parts with the same number are mirrored and flattened together, and may share joints with each other. */
  group: number;
  /** Whether a clip mirrors the part where the rest pose does not, or the other way round. */
  mirrored: boolean;
}

/**
 * Everything that posing a character needs: the nodes under its root, and the joints whose matrices a bone texture stores. Nodes and
 * joints are known by their numbers.
 *
 * A joint's skinning matrix relative to the root is `model(node) · inverse`, where `model` is the product of the local
 * matrices from below the root down to the node. `inverse` holds `boneInverse · bindMatrix`, so that raw geometry can be
 * skinned without another matrix. A few joints depend on their mesh as well, see `jointMeshes`.
 */
export interface Rig {
  /** The root and all under it as they stand at rest, parents first. */
  nodes: Object3D[];
  /** Number of each node's parent, -1 for the root. */
  parents: Int32Array;
  /** Name of each joint. */
  jointNames: string[];
  /** Node of each joint. */
  jointNodes: Int32Array;
  /** `AFFINE_SIZE` numbers a joint. */
  jointInverses: Float64Array;
  /** For each joint, what its matrix takes from the mesh whose vertices follow it; null for most, which do not depend on the mesh. */
  jointMeshes: ({
    /** Node of the mesh. */
    node: number;
    /** For a skin in detached bind mode the inverse of its bind matrix, which the mesh's own matrix multiplies. */
    bindInverse: Float64Array | null;
    /**
     * Whether vertices gather in the mesh's origin while its matrix cannot be inverted. three.js does that to skins in
     * attached bind mode, to which the mesh's own matrix makes no other difference.
     */
    vanishes: boolean;
    /** 1 for a joint that is used while the mesh's matrix does not mirror, -1 while it does, 0 always. */
    side: -1 | 0 | 1;
  } | null)[];
  /** The drawn meshes. */
  parts: RigPart[];
  /** Whether morph targets are among what clips may move. */
  morphing: boolean;
  /** Names of the morph targets of all parts; those that the primitives of one mesh have in common are there once. */
  morphNames: string[];
  /** Their influences as found. */
  morphRest: Float64Array;
}

/** A part together with what it is in the scene, which merging needs and posing does not. */
export interface ScenePart extends RigPart {
  mesh: Mesh;
  /**
   * The mesh's, or one that shares attributes with it, and has joints and weights in any case; its vertices may be in the space of another
   * mesh's, see `shareInverses`.
   */
  geometry: BufferGeometry;
  material: Material | Material[];
  /** Which places of `joints` vertices follow with a weight; of a rigid part the only one. */
  followed: ReadonlySet<number>;
}
