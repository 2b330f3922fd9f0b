import {
  type BufferAttribute,
  type BufferGeometry,
  type InterleavedBufferAttribute,
  Matrix3,
  Matrix4,
  type Mesh,
  type Object3D,
  type SkinnedMesh,
} from 'three';
import { AFFINE_SIZE } from '../constants.js';
import { plainArray } from '../poses/jointBoxes.js';
import { affineFromMatrix4, multiplyAffine } from '../utils/affine.js';

const _matrix = /*@__PURE__*/ new Matrix4();
const _normalMatrix = /*@__PURE__*/ new Matrix3();
const _affine = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);
const _sum = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);

/** Reads where three.js draws the vertices of a mesh: with morph targets, skeleton and the mesh's own matrix. */
export class MeshSampler {
  /** Vertices of the mesh. */
  readonly count: number;
  private palette = new Float64Array(0);
  /** Joints and weights of a geometry, which no motion changes: four of each for a vertex. */
  private skinned: {
    geometry: BufferGeometry;
    joints: ArrayLike<number>;
    weights: ArrayLike<number>;
  } | null = null;

  constructor(readonly mesh: Mesh) {
    this.count = mesh.geometry.getAttribute('position').count;
  }

  /**
   * Writes positions and normals as the mesh is posed now; its world matrices must be up to date.
   *
   * @param toRoot Inverse of the root's world matrix in the rest pose.
   * @param normals Null if they are not asked for.
   * @param first Vertex at which the mesh begins in these.
   * @param where Says in an error what poses the mesh.
   * @throws If the mesh no longer has as many vertices.
   */
  read(
    toRoot: Matrix4,
    positions: Float32Array,
    normals: Float32Array | null,
    first: number,
    where: string,
  ): void {
    const { mesh, count } = this;
    const { geometry } = mesh;
    const at = first * 3;
    this.checkCount('position', where);
    if (normals !== null) this.checkCount('normal', where);
    positions.set(plainArray(geometry.getAttribute('position'), 3), at);
    this.morph('position', positions, at);
    if (normals !== null) {
      normals.set(plainArray(geometry.getAttribute('normal'), 3), at);
      this.morph('normal', normals, at);
    }
    if ((mesh as SkinnedMesh).isSkinnedMesh) this.skin(mesh as SkinnedMesh, positions, normals, at);

    affineFromMatrix4(_matrix.multiplyMatrices(toRoot, mesh.matrixWorld), _affine, 0);
    const { elements: n } = _normalMatrix.getNormalMatrix(_matrix);
    for (let vertex = 0, k = at; vertex < count; vertex++, k += 3) {
      carry(_affine, positions, k, 1);
      if (normals === null) continue;
      const [x, y, z] = [normals[k], normals[k + 1], normals[k + 2]];
      normals[k] = n[0] * x + n[3] * y + n[6] * z;
      normals[k + 1] = n[1] * x + n[4] * y + n[7] * z;
      normals[k + 2] = n[2] * x + n[5] * y + n[8] * z;
    }
  }

  /**
   * Tangents as the mesh is posed now, three numbers a vertex, of any length. Unlike normals they lie in the surface, so that they
   * take the mesh's matrix as it is.
   *
   * @param tangent The mesh's attribute.
   */
  tangents(toRoot: Matrix4, tangent: BufferAttribute | InterleavedBufferAttribute): Float32Array {
    const { mesh, count } = this;
    const tangents = Float32Array.from(plainArray(tangent, 3));
    if ((mesh as SkinnedMesh).isSkinnedMesh) this.skin(mesh as SkinnedMesh, null, tangents, 0);
    affineFromMatrix4(_matrix.multiplyMatrices(toRoot, mesh.matrixWorld), _affine, 0);
    for (let vertex = 0; vertex < count; vertex++) carry(_affine, tangents, vertex * 3, 0);
    return tangents;
  }

  private checkCount(name: 'position' | 'normal', where: string): void {
    const { mesh, count } = this;
    const found = mesh.geometry.getAttribute(name)?.count ?? 0;
    if (found === count) return;
    throw new Error(
      `${where} gives mesh "${mesh.name}" ${found} vertices (${name}), it had ${count}; keep their number.`,
    );
  }

  private morph(name: 'position' | 'normal', target: Float32Array, at: number): void {
    const { geometry, morphTargetInfluences = [] } = this.mesh;
    const morphs = geometry.morphAttributes[name] ?? [];
    if (morphs.length === 0) return;
    let base = 1;
    if (!geometry.morphTargetsRelative) for (const influence of morphTargetInfluences) base -= influence;
    const length = this.count * 3;
    if (base !== 1) for (let i = 0; i < length; i++) target[at + i] *= base;
    morphs.forEach((morph, number) => {
      const influence = morphTargetInfluences[number] ?? 0;
      if (influence === 0) return;
      const values = plainArray(morph, 3);
      for (let i = 0; i < length; i++) target[at + i] += influence * values[i];
    });
  }

  /** Carries positions and directions, of those that are given, by the skeleton as it stands. */
  private skin(
    mesh: SkinnedMesh,
    positions: Float32Array | null,
    directions: Float32Array | null,
    at: number,
  ): void {
    const { bindMatrix, bindMatrixInverse, skeleton, geometry } = mesh;
    const { bones, boneInverses } = skeleton;
    if (this.palette.length !== bones.length * AFFINE_SIZE)
      this.palette = new Float64Array(bones.length * AFFINE_SIZE);
    bones.forEach((bone, i) => {
      _matrix.multiplyMatrices(bone.matrixWorld, boneInverses[i]).multiply(bindMatrix);
      affineFromMatrix4(_matrix, _sum, 0);
      affineFromMatrix4(bindMatrixInverse, _affine, 0);
      multiplyAffine(_affine, 0, _sum, 0, this.palette, i * AFFINE_SIZE);
    });

    if (this.skinned?.geometry !== geometry) {
      this.skinned = {
        geometry,
        joints: plainArray(geometry.getAttribute('skinIndex'), 4),
        weights: plainArray(geometry.getAttribute('skinWeight'), 4),
      };
    }
    const { joints, weights } = this.skinned;
    for (let vertex = 0; vertex < this.count; vertex++) {
      _sum.fill(0);
      for (let i = vertex * 4; i < vertex * 4 + 4; i++) {
        const weight = weights[i];
        if (weight === 0) continue;
        const from = joints[i] * AFFINE_SIZE;
        for (let k = 0; k < AFFINE_SIZE; k++) _sum[k] += weight * this.palette[from + k];
      }
      if (positions !== null) carry(_sum, positions, at + vertex * 3, 1);
      if (directions !== null) carry(_sum, directions, at + vertex * 3, 0);
    }
  }
}

/** Multiplies a vector of three numbers with an affine matrix; `w` is 1 for positions and 0 for directions. */
function carry(m: Float64Array, vectors: Float32Array, at: number, w: number): void {
  const x = vectors[at];
  const y = vectors[at + 1];
  const z = vectors[at + 2];
  vectors[at] = m[0] * x + m[1] * y + m[2] * z + m[3] * w;
  vectors[at + 1] = m[4] * x + m[5] * y + m[6] * z + m[7] * w;
  vectors[at + 2] = m[8] * x + m[9] * y + m[10] * z + m[11] * w;
}

/** Brings all world matrices that posing needs up to date. */
export function updateWorld(root: Object3D): void {
  root.updateWorldMatrix(true, false);
  root.updateMatrixWorld(true);
}
