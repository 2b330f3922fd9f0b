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
import { affineFromMatrix4, multiplyAffine } from '../utils/affine.js';
import { plainArray } from '../utils/geometries.js';
import { inRuns, type Steps } from '../utils/steps.js';

const _matrix = /*@__PURE__*/ new Matrix4();
const _normalMatrix = /*@__PURE__*/ new Matrix3();
const _affine = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);
const _sum = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);

type Attribute = 'position' | 'normal';

const ATTRIBUTES: readonly Attribute[] = ['position', 'normal'];

/**
 * Reads where three.js draws the vertices of a mesh: with morph targets, skeleton and the mesh's own matrix. `capture` remembers how the
 * mesh is posed, which takes no time to speak of; `compute` may then take breaks in which somebody else poses it.
 */
export class MeshSampler {
  /** Vertices of the mesh. */
  readonly count: number;
  /** Whether the mesh's matrix, relative to the root, mirrored it when it was captured: three.js turns its triangles around then. */
  mirrored = false;
  private palette = new Float64Array(0);
  private readonly model = new Float64Array(AFFINE_SIZE);
  private readonly normalModel: number[] = [];
  private influences: readonly number[] = [];
  /** Positions and normals of the geometry, before anything moves them; null where they are read in `compute`. */
  private base: Record<Attribute, Float32Array | null> = { position: null, normal: null };
  /** Joints and weights of a geometry, which no motion changes: four of each for a vertex. */
  private skinned: {
    geometry: BufferGeometry;
    joints: ArrayLike<number>;
    weights: ArrayLike<number>;
  } | null = null;

  constructor(readonly mesh: Mesh) {
    this.count = mesh.geometry.getAttribute('position').count;
  }

  /** Reads what no motion changes, so that the first frame need not. */
  *prepare(): Steps<void> {
    const { geometry, isSkinnedMesh } = this.mesh as SkinnedMesh;
    if (isSkinnedMesh !== true) return;
    const read = function* (name: string, count: number): Steps<ArrayLike<number>> {
      const attribute = geometry.getAttribute(name);
      const { array, normalized } = attribute as BufferAttribute;
      if (!normalized && attribute.itemSize === 4 && array.length === count * 4) return array;
      const all = new Float32Array(count * 4);
      yield* inRuns(count, (start, end) => all.set(plainArray(attribute, 4, start, end), start * 4));
      return all;
    };
    const joints = yield* read('skinIndex', this.count);
    this.skinned = { geometry, joints, weights: yield* read('skinWeight', this.count) };
  }

  /**
   * Remembers how the mesh is posed now; its world matrices must be up to date.
   *
   * @param toRoot Inverse of the root's world matrix in the rest pose.
   * @param normals Whether they are asked for.
   * @param isWritten Whether code writes into the geometry, so that what it has now must be kept.
   * @param where Says in an error what poses the mesh.
   * @throws If the mesh no longer has as many vertices.
   */
  capture(toRoot: Matrix4, normals: boolean, isWritten: boolean, where: string): void {
    const { mesh, base } = this;
    const { geometry, morphTargetInfluences = [] } = mesh;
    this.checkCount('position', where);
    if (normals) this.checkCount('normal', where);
    this.influences = [...morphTargetInfluences];
    for (const name of ATTRIBUTES) {
      if (!isWritten || (name === 'normal' && !normals)) {
        base[name] = null;
        continue;
      }
      base[name] ??= new Float32Array(this.count * 3);
      base[name].set(plainArray(geometry.getAttribute(name), 3));
    }
    if ((mesh as SkinnedMesh).isSkinnedMesh) this.poseSkeleton(mesh as SkinnedMesh);
    affineFromMatrix4(_matrix.multiplyMatrices(toRoot, mesh.matrixWorld), this.model, 0);
    this.mirrored = _matrix.determinant() < 0;
    _normalMatrix.getNormalMatrix(_matrix).toArray(this.normalModel);
  }

  /**
   * Writes positions and normals as the mesh was posed when it was captured.
   *
   * @param normals Null if they are not asked for.
   * @param first Vertex at which the mesh begins in these.
   */
  compute(positions: Float32Array, normals: Float32Array | null, first: number): Steps<void> {
    const { mesh, model, normalModel: n } = this;
    const isSkinned = (mesh as SkinnedMesh).isSkinnedMesh === true;
    return inRuns(this.count, (start, end) => {
      this.morph('position', positions, start, end, first);
      if (normals !== null) this.morph('normal', normals, start, end, first);
      if (isSkinned) this.skin(positions, normals, start, end, first);
      for (let k = (first + start) * 3; k < (first + end) * 3; k += 3) {
        carry(model, positions, k, 1);
        if (normals === null) continue;
        const [x, y, z] = [normals[k], normals[k + 1], normals[k + 2]];
        normals[k] = n[0] * x + n[3] * y + n[6] * z;
        normals[k + 1] = n[1] * x + n[4] * y + n[7] * z;
        normals[k + 2] = n[2] * x + n[5] * y + n[8] * z;
      }
    });
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
    if ((mesh as SkinnedMesh).isSkinnedMesh) {
      this.poseSkeleton(mesh as SkinnedMesh);
      this.skin(null, tangents, 0, count, 0);
    }
    affineFromMatrix4(_matrix.multiplyMatrices(toRoot, mesh.matrixWorld), _affine, 0);
    for (let vertex = 0; vertex < count; vertex++) carry(_affine, tangents, vertex * 3, 0);
    return tangents;
  }

  private checkCount(name: Attribute, where: string): void {
    const { mesh, count } = this;
    const found = mesh.geometry.getAttribute(name)?.count ?? 0;
    if (found === count) return;
    throw new Error(
      `${where} gives mesh "${mesh.name}" ${found} vertices (${name}), it had ${count}; keep their number.`,
    );
  }

  /** Writes a run of an attribute, with the morph targets that have influence. */
  private morph(name: Attribute, target: Float32Array, start: number, end: number, first: number): void {
    const { influences, base } = this;
    const { geometry } = this.mesh;
    const at = (first + start) * 3;
    const length = (end - start) * 3;
    const own = base[name]?.subarray(start * 3, end * 3);
    target.set(own ?? plainArray(geometry.getAttribute(name), 3, start, end), at);
    const morphs = geometry.morphAttributes[name] ?? [];
    if (morphs.length === 0) return;
    let rest = 1;
    if (!geometry.morphTargetsRelative) for (const influence of influences) rest -= influence;
    if (rest !== 1) for (let i = 0; i < length; i++) target[at + i] *= rest;
    morphs.forEach((morph, number) => {
      const influence = influences[number] ?? 0;
      if (influence === 0) return;
      const values = plainArray(morph, 3, start, end);
      for (let i = 0; i < length; i++) target[at + i] += influence * values[i];
    });
  }

  /** Remembers how the skeleton stands. */
  private poseSkeleton(mesh: SkinnedMesh): void {
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
    if (this.skinned?.geometry === geometry) return;
    this.skinned = {
      geometry,
      joints: plainArray(geometry.getAttribute('skinIndex'), 4),
      weights: plainArray(geometry.getAttribute('skinWeight'), 4),
    };
  }

  /** Carries a run of positions and directions, of those that are given, by the skeleton. */
  private skin(
    positions: Float32Array | null,
    directions: Float32Array | null,
    start: number,
    end: number,
    first: number,
  ): void {
    if (this.skinned === null) return;
    const { joints, weights } = this.skinned;
    for (let vertex = start; vertex < end; vertex++) {
      _sum.fill(0);
      for (let i = vertex * 4; i < vertex * 4 + 4; i++) {
        const weight = weights[i];
        if (weight === 0) continue;
        const from = joints[i] * AFFINE_SIZE;
        for (let k = 0; k < AFFINE_SIZE; k++) _sum[k] += weight * this.palette[from + k];
      }
      const at = (first + vertex) * 3;
      if (positions !== null) carry(_sum, positions, at, 1);
      if (directions !== null) carry(_sum, directions, at, 0);
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
