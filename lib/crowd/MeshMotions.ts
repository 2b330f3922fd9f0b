import type { BufferGeometry, InstancedBufferAttribute, Matrix4, Vector3 } from 'three';
import type { MotionProgram } from '../../shaders/MotionProgram.js';
import type { InstanceTexture } from '../instances/InstanceTexture.js';
import type { BoxArray } from '../poses/jointBoxes.js';

/** What motions read of a mesh that they move. */
export interface MovedMesh {
  readonly geometry: BufferGeometry;
  readonly boneTexture: { readonly data: { readonly restBounds: BoxArray } };
  /** Whether it follows a joint: what its bone texture knows is then of the mesh that it is attached to. */
  readonly isJointAttachment?: boolean;
  readonly matrixWorld: Matrix4;
  readonly instanceMatrix: InstancedBufferAttribute;
  /** Seconds by which the crowd was advanced. */
  readonly elapsed: number;
  /** What all meshes of a crowd have in common, and those of others have not. */
  readonly playback: object;
}

/** What moves the vertices of a mesh beside clips: made by `InstanceMotions`. */
export interface MeshMotions {
  readonly program: MotionProgram;
  /** What shaders are told in each draw, see `MotionProgram`; `settle` writes them. */
  readonly numbers: Float32Array;
  /**
   * How far vertices may be moved: before they are skinned, in units of the geometry as it was modelled, and afterwards, in those of
   * the instance. They grow in steps, so that bounds need not be computed anew whenever a uniform changes.
   */
  readonly reachBefore: number;
  readonly reachAfter: number;
  /** Brings `numbers` up to what the crowd's clock and the uniforms are now. */
  settle(mesh: MovedMesh): void;
  /**
   * Moves a vertex as shaders do, so far as motions have a function for the CPU. Call `settle` before.
   *
   * @param target The vertex with morph targets applied; gets where it is in the instance's space.
   * @param pose Carries a position from where it was modelled to where it is posed.
   */
  moveVertex(
    mesh: MovedMesh,
    index: number,
    vertex: number,
    target: Vector3,
    pose: (position: Vector3) => Vector3,
  ): Vector3;
  /** Lets the same motions of another crowd go on from where they are in this one. */
  copyTime(from: MovedMesh, to: MovedMesh): void;
  /** What moves a mesh that is attached to the one that these move, and has no motions of its own. */
  attached(mesh: MovedMesh): MeshMotions | null;
  /** Of what random numbers of instances are made, where some are not made of ids; its texture is null while all are. */
  readonly seeds: { readonly texture: InstanceTexture | null; readonly areSwapped: boolean };
}
