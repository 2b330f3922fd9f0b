import { Matrix4, type Mesh, type Object3D } from 'three';
import { isUnsupported, traverseDrawn } from '../baking/collectParts.js';
import { describe } from '../utils/describe.js';
import { MeshSampler, updateWorld } from './MeshSampler.js';
import { SmoothNormals } from './smoothNormals.js';
import type { VertexBakeOptions } from './VertexBakeOptions.js';

const _model = /*@__PURE__*/ new Matrix4();

/**
 * The visible meshes under an object that have vertices, in the order in which they stand in the scene.
 *
 * @throws If there is none, or one of them has no positions.
 */
export function drawnMeshes(object: Object3D, caller: string): Mesh[] {
  if (object?.isObject3D !== true) {
    throw new Error(
      `${caller}: object is ${describe(object)}; pass the Object3D whose meshes shall be baked.`,
    );
  }
  const meshes: Mesh[] = [];
  traverseDrawn(object, (node) => {
    if (!(node as Mesh).isMesh || isUnsupported(node)) return;
    if ((node as Mesh).geometry.getAttribute('position')?.count !== 0) meshes.push(node as Mesh);
  });
  if (meshes.length === 0) {
    throw new Error(`${caller}: no visible mesh with vertices under "${object.name || object.type}".`);
  }
  for (const { geometry, name, type } of meshes) {
    if (geometry.hasAttribute('position')) continue;
    throw new Error(`${caller}: the geometry of ${type} "${name}" has no attribute "position".`);
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
  /** What computes the normals of a mesh; null where they are read. */
  private readonly smooth: readonly (SmoothNormals | null)[];
  private readonly toRoot = new Matrix4();

  constructor(
    object: Object3D,
    readonly meshes: readonly Mesh[],
    normals: NonNullable<VertexBakeOptions['normals']>,
  ) {
    updateWorld(object);
    this.toRoot.copy(object.matrixWorld).invert();
    this.samplers = meshes.map((mesh) => new MeshSampler(mesh));
    this.vertices = this.samplers.reduce((sum, { count }) => sum + count, 0);
    this.positions = new Float32Array(this.vertices * 3);
    this.normals = normals === 'none' ? null : new Float32Array(this.vertices * 3);
    // Where there are none to be read, they are computed too.
    this.smooth = meshes.map((mesh) =>
      normals === 'computed' || !mesh.geometry.hasAttribute('normal') ? new SmoothNormals(mesh) : null,
    );
  }

  /**
   * Reads all vertices as they are posed now.
   *
   * @param where Says in an error what is posed.
   * @throws If a position is not finite, or a mesh has another number of vertices than at rest.
   */
  read(where: string): void {
    const { samplers, positions, normals, smooth, toRoot } = this;
    let first = 0;
    samplers.forEach((sampler, i) => {
      const computed = smooth[i];
      sampler.read(toRoot, positions, computed === null ? normals : null, first, where);
      if (computed !== null && normals !== null) {
        computed.compute(positions, normals, first, isMirrored(sampler.mesh, toRoot) ? -1 : 1);
      }
      first += sampler.count;
    });
    const bad = positions.findIndex((value) => !(Math.abs(value) < 1e30));
    if (bad < 0) return;
    throw new Error(`${where} puts vertex ${Math.floor(bad / 3)} at ${positions[bad]}.`);
  }
}

/** Whether a mesh's matrix, relative to its root, mirrors: three.js turns its triangles around then. */
export const isMirrored = ({ matrixWorld }: Mesh, toRoot: Matrix4): boolean =>
  _model.multiplyMatrices(toRoot, matrixWorld).determinant() < 0;
