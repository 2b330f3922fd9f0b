import { Mesh, type Vector3 } from 'three';
import { type PoseSource, sourceOf } from '../animation/PoseSource.js';
import { type Skin, skinOf } from '../character/crowdGeometry.js';
import { AFFINE_SIZE } from '../constants.js';
import type { DrawnCrowd } from '../core/Crowd.js';

/**
 * One instance of a crowd as it is posed now, as a mesh: where the CPU skins, for rays, vertices and sockets alike. One object serves
 * any number of instances and crowds, one after another.
 */
export class PosedInstance extends Mesh {
  /** Skinning matrices of the joints, as far as they were asked for. */
  palette: Float64Array = new Float64Array(0);
  /** Whether the pose is one of joints: else only vertices can be asked for. */
  hasJoints = false;

  private crowd!: DrawnCrowd;
  private index = 0;
  private source!: PoseSource;
  private skin!: Skin;
  /** What clips add to the influence of each morph target. */
  private added = new Float64Array(0);
  /** For each joint the number of the pose that its matrix is of. */
  private poses = new Uint32Array(0);
  private poseNumber = 0;
  private vertex = 0;
  private readonly carry = (position: Vector3) => this.skinVertex(this.vertex, position, 1);

  /** Poses an instance as it is shown now. What it reads holds until any `PosedInstance` poses another. */
  pose(crowd: DrawnCrowd, index: number): this {
    const { geometry, boneTexture } = crowd;
    const source = sourceOf(crowd);
    this.geometry = geometry;
    this.crowd = crowd;
    this.index = index;
    this.source = source;
    this.skin = skinOf(geometry);
    this.hasJoints = source.hasJoints === true;
    const joints = boneTexture.jointNames.length;
    if (this.poses.length < joints) {
      this.palette = new Float64Array(joints * AFFINE_SIZE);
      this.poses = new Uint32Array(joints);
    }
    this.poseNumber++;
    source.pose(crowd, index);
    crowd.motions?.settle(crowd);
    if (geometry.morphAttributes.position !== undefined) this.morph(geometry.morphAttributes.position.length);
    return this;
  }

  /** Position of a vertex relative to the instance. */
  override getVertexPosition(vertex: number, target: Vector3): Vector3 {
    super.getVertexPosition(vertex, target);
    this.vertex = vertex;
    const { crowd, index, carry } = this;
    if (crowd.motions === null) return carry(target);
    return crowd.motions.moveVertex(crowd, index, vertex, target, carry);
  }

  /** Turns a vertex's normal as the vertex is turned; it is not normalised. */
  turnNormal(vertex: number, normal: Vector3): Vector3 {
    const { source, crowd } = this;
    if (source.posedNormal !== undefined) return source.posedNormal(crowd, vertex, normal);
    return this.hasJoints ? this.skinVertex(vertex, normal, 0) : normal;
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
    this.crowd.boneTexture.reader.jointMatrix(joint, this.palette, at);
    this.poses[joint] = this.poseNumber;
    return at;
  }

  /** Takes the instance's own influences of morph targets, or those of all, and adds what its clips do. */
  private morph(targets: number): void {
    const { crowd, index } = this;
    const { boneTexture, morphTexture, morphTargetInfluences: shared = [] } = crowd;
    const own = morphTexture?.image as { data: Float32Array; width: number } | undefined;
    this.added.fill(0);
    if (this.added.length !== targets) this.added = new Float64Array(targets);
    if (crowd.clipsMorph) boneTexture.reader.readMorphs(this.added);
    this.morphTargetInfluences = Array.from(
      this.added,
      (added, i) => added + (own === undefined ? shared[i] : own.data[index * own.width + 1 + i]),
    );
  }

  /** Carries a position, with `w` 1, or a direction, with 0. Weights are sorted and end at the first zero. */
  private skinVertex(vertex: number, target: Vector3, w: number): Vector3 {
    const { crowd, source, skin } = this;
    if (source.posedVertex !== undefined) return source.posedVertex(crowd, vertex, target);
    const { joints, stride, weights, unit } = skin;
    const { x, y, z } = target;
    target.set(0, 0, 0);
    for (let i = 0; i < crowd.influences; i++) {
      const weight = weights[vertex * 4 + i] * unit;
      if (weight <= 0) break;
      const m = this.jointMatrix(joints[vertex * stride + i]);
      const { palette: p } = this;
      target.x += weight * (p[m] * x + p[m + 1] * y + p[m + 2] * z + p[m + 3] * w);
      target.y += weight * (p[m + 4] * x + p[m + 5] * y + p[m + 6] * z + p[m + 7] * w);
      target.z += weight * (p[m + 8] * x + p[m + 9] * y + p[m + 10] * z + p[m + 11] * w);
    }
    return target;
  }
}
