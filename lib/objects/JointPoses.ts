import { Matrix4 } from 'three';
import { TRS_SIZE } from '../animation/Rig.js';
import type { DrawnCrowd } from '../core/Crowd.js';
import { jointMatrix } from '../crowd/poseQueries.js';
import { affineToMatrix4 } from '../utils/affine.js';
import { PosedNodes } from './NodePoses.js';

const _bind = /*@__PURE__*/ new Matrix4();

/**
 * Poses single joints of an instance of a crowd whose bone texture has matrices of joints, and knows nothing of other nodes.
 * Joints of skins in detached bind mode are left out: their matrices do not end at the joint.
 */
export class JointPoses extends PosedNodes {
  readonly names: string[] = [''];
  readonly parents: number[] = [-1];
  readonly joints: number[] = [0];
  readonly trs: Float64Array;
  /** Joint of each node. */
  private readonly numbers: number[] = [-1];
  private readonly models: Matrix4[] = [new Matrix4()];
  private readonly versions: number[] = [0];

  constructor(private readonly crowd: DrawnCrowd) {
    super(crowd);
    const { jointNames, jointBinds, jointParents } = crowd.boneTexture.data;
    const nodes = jointNames.map((name, joint) => {
      if (jointBinds[joint] === null || jointParents?.[joint] === joint) return -1;
      this.numbers.push(joint);
      this.models.push(new Matrix4());
      this.versions.push(0);
      this.joints.push(1);
      return this.names.push(name) - 1;
    });
    for (const joint of this.numbers.slice(1)) {
      let parent = jointParents?.[joint] ?? -1;
      while (parent >= 0 && nodes[parent] < 0) parent = jointParents?.[parent] ?? -1;
      this.parents.push(parent < 0 ? 0 : nodes[parent]);
    }
    this.trs = new Float64Array(this.names.length * TRS_SIZE);
  }

  readModelMatrix(node: number, target: Matrix4): Matrix4 {
    const model = this.models[node];
    if (node > 0 && this.versions[node] !== this.version) {
      const { crowd, instance, numbers } = this;
      const joint = numbers[node];
      const bind = crowd.boneTexture.data.jointBinds[joint] as number[];
      affineToMatrix4(jointMatrix(crowd, instance, joint), 0, model).multiply(
        affineToMatrix4(bind, 0, _bind),
      );
      this.versions[node] = this.version;
    }
    return target.copy(model);
  }
}
