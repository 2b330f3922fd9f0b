import type { Box3, BufferAttribute } from 'three';
import { Vector3 } from 'three';
import type { PoseSource } from '../animation/PoseSource.js';
import { sourceOf } from '../animation/PoseSource.js';
import type { DrawnCrowd } from '../backends/DrawnCrowd.js';
import { type Skin, skinOf } from '../character/crowdGeometry.js';
import { AFFINE_SIZE } from '../constants.js';

const _morph = /*@__PURE__*/ new Vector3();

/**
 * One instance of a crowd as it is posed now: where the CPU skins, for rays, vertices and sockets alike. One object serves
 * any number of instances and crowds, one after another.
 */
export class PosedInstance {
  /** Skinning matrices of the joints, as far as they were asked for. */
  palette: Float64Array = new Float64Array(0);

  private crowd!: DrawnCrowd;
  private source!: PoseSource;
  private index = 0;
  private influences = 0;
  private skin!: Skin;
  /** What clips add to the influence of each morph target. */
  private morphs = new Float64Array(0);
  /** For each joint the number of the pose that its matrix is of. */
  private poses = new Uint32Array(0);
  private poseNumber = 0;
  private readonly matrix = new Float64Array(AFFINE_SIZE);
  /** The vertex at hand, and what carries positions as it is carried. */
  private vertex = 0;
  private readonly carryThis = (position: Vector3) => this.carry(this.vertex, position);

  /** Poses an instance as it is shown now. What it reads holds until any `PosedInstance` poses another. */
  pose(crowd: DrawnCrowd, index: number): this {
    const { geometry, boneTexture, clipsMorph } = crowd;
    const source = sourceOf(crowd);
    this.crowd = crowd;
    this.source = source;
    this.index = index;
    this.skin = skinOf(geometry);
    this.influences = crowd.influences;
    const joints = boneTexture.jointNames.length;
    if (this.poses.length < joints) {
      this.palette = new Float64Array(joints * AFFINE_SIZE);
      this.poses = new Uint32Array(joints);
    }
    this.poseNumber++;
    source.pose(crowd, index);
    crowd.motions?.settle(crowd);

    const targets = clipsMorph && source.readMorphs !== undefined ? boneTexture.morphNames.length : 0;
    if (this.morphs.length !== targets) this.morphs = new Float64Array(targets);
    if (targets > 0) source.readMorphs?.(crowd, this.morphs);
    return this;
  }

  /** Whether the pose is one of joints: else only vertices can be asked for. */
  get hasJoints(): boolean {
    return this.source.jointMatrix !== undefined;
  }

  /**
   * Reads a joint's skinning matrix.
   *
   * @returns Where it begins in `palette`.
   * @throws If the pose is not one of joints.
   */
  jointMatrix(joint: number): number {
    const at = joint * AFFINE_SIZE;
    if (this.poses[joint] === this.poseNumber) return at;
    const { source } = this;
    source.jointMatrix!(this.crowd, joint, this.palette, at);
    this.poses[joint] = this.poseNumber;
    return at;
  }

  /**
   * Position of a vertex as it was modelled, relative to the character's root, with morph targets: by the instance's own
   * influences, or if it has none by those of all, and what its clips add to them.
   */
  morphedVertex(vertex: number, target: Vector3): Vector3 {
    const { geometry, morphTexture, morphTargetInfluences: shared = [] } = this.crowd;
    target.fromBufferAttribute(geometry.getAttribute('position') as BufferAttribute, vertex);
    const own = morphTexture?.image.data as Float32Array | undefined;
    const at = this.index * (morphTexture?.image.width ?? 0) + 1;
    const { position: morphs = [] } = geometry.morphAttributes;
    for (let i = 0; i < morphs.length; i++) {
      const weight = (own === undefined ? shared[i] : own[at + i]) + (this.morphs[i] ?? 0);
      if (weight !== 0)
        target.addScaledVector(_morph.fromBufferAttribute(morphs[i] as BufferAttribute, vertex), weight);
    }
    return target;
  }

  /** Carries a vertex from where it was modelled to where it is posed and moved, relative to the instance. */
  applyPose(vertex: number, target: Vector3): Vector3 {
    const { crowd, index } = this;
    if (crowd.motions === null) return this.carry(vertex, target);
    this.vertex = vertex;
    return crowd.motions.moveVertex(crowd, index, vertex, target, this.carryThis);
  }

  /** The same without motions. */
  private carry(vertex: number, target: Vector3): Vector3 {
    const { source } = this;
    if (source.posedVertex !== undefined) return source.posedVertex(this.crowd, vertex, target);
    const { joints, stride, weights, unit } = this.skin;
    const { x, y, z } = target;
    target.set(0, 0, 0);
    for (let i = 0; i < this.influences; i++) {
      const weight = weights[vertex * 4 + i] * unit;
      if (weight <= 0) break;
      const m = this.jointMatrix(joints[vertex * stride + i]);
      const { palette: p } = this;
      target.x += weight * (p[m] * x + p[m + 1] * y + p[m + 2] * z + p[m + 3]);
      target.y += weight * (p[m + 4] * x + p[m + 5] * y + p[m + 6] * z + p[m + 7]);
      target.z += weight * (p[m + 8] * x + p[m + 9] * y + p[m + 10] * z + p[m + 11]);
    }
    return target;
  }

  /** Box around vertices of a patch that may also be moved by motions: it is grown by as much, see `raycastInstance`. */
  growByMotion(box: Box3, joints: ArrayLike<number>): void {
    const { motions } = this.crowd;
    if (motions === null) return;
    const { maxOffsetBefore, maxOffsetAfter } = motions;
    // Before skinning, vertices are moved by as much as their joints then scale that: at most by the largest of these.
    let scale = 0;
    for (let i = 0; maxOffsetBefore > 0 && i < joints.length; i++) {
      const m = this.jointMatrix(joints[i]);
      let sum = 0;
      for (let k = 0; k < AFFINE_SIZE; k++) if (k % 4 < 3) sum += this.palette[m + k] ** 2;
      scale = Math.max(scale, Math.sqrt(sum));
    }
    box.expandByScalar(maxOffsetBefore * scale + maxOffsetAfter);
  }

  /** Carries a vertex's normal, which is then not normalised. */
  applyPoseToNormal(vertex: number, normal: Vector3): Vector3 {
    const { source } = this;
    if (source.posedNormal !== undefined) return source.posedNormal(this.crowd, vertex, normal);
    if (!this.hasJoints) return normal;
    const m = this.skinningMatrix(vertex);
    const { x, y, z } = normal;
    normal.x = m[0] * x + m[1] * y + m[2] * z;
    normal.y = m[4] * x + m[5] * y + m[6] * z;
    normal.z = m[8] * x + m[9] * y + m[10] * z;
    return normal;
  }

  /**
   * The weighted sum of the joints that a vertex follows, row by row: twin of `skinningMatrix` in the shaders. Weights are
   * sorted and end at the first zero.
   */
  private skinningMatrix(vertex: number): Float64Array {
    const { matrix } = this;
    const { joints, stride, weights, unit } = this.skin;
    matrix.fill(0);
    for (let i = 0; i < this.influences; i++) {
      const weight = weights[vertex * 4 + i] * unit;
      if (weight <= 0) break;
      const at = this.jointMatrix(joints[vertex * stride + i]);
      for (let k = 0; k < AFFINE_SIZE; k++) matrix[k] += weight * this.palette[at + k];
    }
    return matrix;
  }
}
