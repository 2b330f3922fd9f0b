import { Matrix4, type Mesh, type Object3D } from 'three';
import { drawnObjects, unsupportedKind } from '../character/collectParts.js';
import { describe } from '../utils/messages.js';
import { inRuns, type Steps } from '../utils/steps.js';
import { MeshSampler } from './MeshSampler.js';
import type { PlannedMotion, VertexBakeOptions } from './planMotions.js';
import { SmoothNormals } from './smoothNormals.js';

const _model = /*@__PURE__*/ new Matrix4();

/**
 * The visible meshes under an object that have vertices, in the order in which they stand in the scene.
 *
 * @throws If there is none, or one of them has no positions.
 */
export function drawnMeshes(object: Object3D): Mesh[] {
  if (object?.isObject3D !== true) {
    throw new Error(`Object is ${describe(object)}; pass the Object3D whose meshes shall be baked.`);
  }
  const meshes: Mesh[] = [];
  for (const node of drawnObjects(object)) {
    if (!(node as Mesh).isMesh || unsupportedKind(node) !== undefined) continue;
    if ((node as Mesh).geometry.getAttribute('position')?.count !== 0) meshes.push(node as Mesh);
  }
  if (meshes.length === 0) {
    throw new Error(`No visible mesh with vertices under "${object.name || object.type}".`);
  }
  for (const { geometry, name, type } of meshes) {
    if (geometry.hasAttribute('position')) continue;
    throw new Error(`The geometry of ${type} "${name}" has no attribute "position".`);
  }
  return meshes;
}

/** Reads where all vertices of an object are, relative to where its root is at rest. */
export class VertexSampler {
  readonly vertices: number;
  readonly positions: Float32Array;
  /** Null if they are not asked for. */
  readonly normals: Float32Array | null;
  private readonly samplers: readonly MeshSampler[];

  private constructor(
    readonly meshes: readonly Mesh[],
    private readonly toRoot: Matrix4,
    normals: NonNullable<VertexBakeOptions['normals']>,
    /** Whether code writes into the geometries. */
    private readonly isWritten: boolean,
    /** What computes the normals of a mesh; null where they are read. */
    private readonly smooth: readonly (SmoothNormals | null)[],
  ) {
    this.samplers = meshes.map((mesh) => new MeshSampler(mesh));
    this.vertices = this.samplers.reduce((sum, { count }) => sum + count, 0);
    this.positions = new Float32Array(this.vertices * 3);
    this.normals = normals === 'none' ? null : new Float32Array(this.vertices * 3);
  }

  /**
   * Reads what does not move.
   *
   * @param toRoot Inverse of the root's world matrix in the rest pose, whenever vertices are captured.
   */
  static *of(
    meshes: readonly Mesh[],
    toRoot: Matrix4,
    normals: NonNullable<VertexBakeOptions['normals']>,
    isWritten: boolean,
  ): Steps<VertexSampler> {
    const smooth: (SmoothNormals | null)[] = [];
    for (const mesh of meshes) {
      // Where there are none to be read, they are computed too.
      const isComputed = normals === 'computed' || !mesh.geometry.hasAttribute('normal');
      smooth.push(isComputed ? yield* SmoothNormals.of(mesh) : null);
    }
    yield 0;
    const sampler = new VertexSampler(meshes, toRoot, normals, isWritten, smooth);
    yield 0;
    for (const one of sampler.samplers) yield* one.prepare();
    return sampler;
  }

  /**
   * Remembers how a motion poses the object. It is posed by it no longer than that takes, also where there is an error.
   *
   * @param where Says in an error what is posed.
   * @throws If a mesh has another number of vertices than at rest.
   */
  capture(motion: Pick<PlannedMotion, 'pose' | 'release'>, time: number, where: string): void {
    try {
      motion.pose(time);
      this.samplers.forEach((sampler, i) => {
        sampler.capture(this.toRoot, this.normals !== null && this.smooth[i] === null, this.isWritten, where);
      });
    } finally {
      motion.release();
    }
  }

  /**
   * Writes all vertices as they were posed when they were captured.
   *
   * @param where Says in an error what is posed.
   * @throws If a position is not finite.
   */
  *compute(where: string): Steps<void> {
    const { samplers, positions, normals, smooth } = this;
    let first = 0;
    for (const [i, sampler] of samplers.entries()) {
      const computed = smooth[i];
      yield* sampler.compute(positions, computed === null ? normals : null, first);
      if (computed !== null && normals !== null) {
        yield* computed.compute(positions, normals, first, sampler.mirrored ? -1 : 1);
      }
      first += sampler.count;
    }
    yield* inRuns(positions.length, (start, end) => {
      for (let i = start; i < end; i++) {
        if (Math.abs(positions[i]) < 1e30) continue;
        throw new Error(`${where} puts vertex ${Math.floor(i / 3)} at ${positions[i]}.`);
      }
    });
  }
}

/** Whether a mesh's matrix, relative to its root, mirrors: three.js turns its triangles around then. */
export const isMirrored = ({ matrixWorld }: Mesh, toRoot: Matrix4): boolean =>
  _model.multiplyMatrices(toRoot, matrixWorld).determinant() < 0;
