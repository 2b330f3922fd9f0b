import type { Object3D, Quaternion, Skeleton, Vector3 } from 'three';
import {
  clearEdits,
  editPositions,
  editRotations,
  editScales,
  type JointEditOptions,
  type LookAtOptions,
  lookAt,
  setPoses,
  type ValueOfInstance,
} from '../crowd/editJoints.js';
import { type Proportions, setProportions } from '../crowd/setProportions.js';
import type { Instances } from '../instances/instanceRange.js';
import { PlayingMesh } from './PlayingMesh.js';

const NAME = 'SkinnedInstancedMesh';

/**
 * A crowd whose joints can be changed by hand, in each instance by itself, on top of what its clips give: as user code
 * changes the bones of a `SkinnedMesh` after `mixer.update`. It needs encoding `'tracks'`.
 */
export abstract class EditableMesh extends PlayingMesh {
  /**
   * Turns a joint of instances, until another call changes that: in `'replace'` the value takes the place of what the clips
   * give, in `'add'` it comes on top. It is relative to the joint's parent as `Bone.quaternion` is; with `space: 'model'` it is
   * the joint's rotation as seen from the character, or turns the joint about the character's axes.
   *
   * A joint has one edit of its rotation, one of its position, one of its scale, and one target to look at.
   *
   * @param joint Name or index of a joint of the bone texture, or name of a node above joints.
   * @param value Need not be of unit length. Null ends the edit. May be a function of the instance's index.
   * @throws If there is no such instance or joint, the value is not finite, an option is out of range, or the bone texture's
   * encoding is not `'tracks'`.
   */
  setJointRotationAt(
    instances: Instances,
    joint: string | number,
    value: ValueOfInstance<Quaternion>,
    options: JointEditOptions = {},
  ): this {
    editRotations(this.crowd, instances, joint, value, options, `${NAME}.setJointRotationAt`);
    return this;
  }

  /**
   * Moves a joint of instances, as {@link EditableMesh.setJointRotationAt} turns it.
   *
   * @param value Scene units, relative to the joint's parent as `Bone.position` is; with `space: 'model'` relative to the
   * character. Null ends the edit. May be a function of the instance's index.
   * @throws As `setJointRotationAt`.
   */
  setJointPositionAt(
    instances: Instances,
    joint: string | number,
    value: ValueOfInstance<Vector3>,
    options: JointEditOptions = {},
  ): this {
    editPositions(this.crowd, instances, joint, value, options, `${NAME}.setJointPositionAt`);
    return this;
  }

  /**
   * Scales a joint of instances with all that hangs on it, as {@link EditableMesh.setJointRotationAt} turns it. In `'add'`
   * the clips' scale is multiplied by the value.
   *
   * @param value Factors along the joint's axes, as of `Bone.scale`. Null ends the edit. May be a function of the
   * instance's index.
   * @throws As `setJointRotationAt`, and if `space` is `'model'`.
   */
  setJointScaleAt(
    instances: Instances,
    joint: string | number,
    value: ValueOfInstance<Vector3>,
    options: Omit<JointEditOptions, 'space'> = {},
  ): this {
    editScales(this.crowd, instances, joint, value, options, `${NAME}.setJointScaleAt`);
    return this;
  }

  /**
   * Lets a joint of instances look at a target, whatever they play: from where the clips and other edits point its axis, it
   * turns to the target by the shortest way, but by no more than `limit`. The target stays where it is in the crowd's space
   * when instances move (`instanceMatrix.needsUpdate`). A joint at the target itself does not turn.
   *
   * @param joint Name or index of a joint of the bone texture, or name of a node above joints.
   * @param target In the crowd's local space. Null ends the look. May be a function of the instance's index.
   * @throws If there is no such instance or joint, the target is not finite, an option is out of range, or the bone texture's
   * encoding is not `'tracks'`.
   */
  lookAtJointAt(
    instances: Instances,
    joint: string | number,
    target: ValueOfInstance<Vector3>,
    options: LookAtOptions = {},
  ): this {
    lookAt(this.crowd, instances, joint, target, options, `${NAME}.lookAtJointAt`);
    return this;
  }

  /**
   * Builds instances otherwise than the character was: with a larger head, longer arms, more of a morph target. Whatever they
   * play, these stay. The scale that clips, live poses and edits give a joint is multiplied by the joint's factor, which is
   * no edit: `setJointScaleAt` and `clearJointEditsAt` leave it alone. An influence is the instance's own as by
   * `setMorphAt`, to which clips add theirs. What is not named stays as it is.
   *
   * ```ts
   * crowd.setProportionsAt(0, { joints: { Head: 1.4, UpperLeg_L: new Vector3(1, 1.2, 1) }, morphs: { Fat: 0.6 } });
   * crowd.setProportionsAt(0, { joints: { Head: null } }); // its own size again
   * ```
   *
   * @param proportions Null for the character's own build, influences set by `setMorphAt` included. May be a function of the
   * instance's index.
   * @throws If there is no such instance, joint or morph target, a number is not finite, or there are factors and the bone
   * texture's encoding is not `'tracks'`. Then the instance was not changed.
   */
  setProportionsAt(instances: Instances, proportions: ValueOfInstance<Proportions>): this {
    setProportions(this.crowd, this.morphs, instances, proportions, `${NAME}.setProportionsAt`);
    return this;
  }

  /**
   * Ends all edits of a joint of instances: rotation, position, scale and look-at. Live poses and proportions stay.
   *
   * @param joint Of all joints if left out.
   * @throws If there is no such instance or joint.
   */
  clearJointEditsAt(instances: Instances, joint?: string | number): this {
    clearEdits(this.crowd, instances, joint, `${NAME}.clearJointEditsAt`);
    return this;
  }

  /**
   * Gives instances a live pose, which takes the place of their clips: that of a ragdoll, of an `AnimationMixer`, of anything
   * that moves objects. Position, quaternion and scale are copied from objects of the same names as the character's
   * joints and the nodes above them, so call it each time that the pose has changed; nodes that it has not stay with the
   * clips. The pose's own root is left out, since the instance stands where its matrix says. Edits of joints come on top.
   *
   * @param pose An object with the others below it, or a skeleton, whose bones are taken. Null lets the clips come
   * back, which have gone on meanwhile. May be a function of the instance's index.
   * @param options In `fade` seconds the pose takes over, or goes; by default at once. An instance that has a live pose
   * already goes on as it is, unless `fade` is 0.
   * @throws If there is no such instance, nothing in the pose has the name of a node, a transform is not finite, or the bone
   * texture's encoding is not `'tracks'`.
   */
  setPoseAt(
    instances: Instances,
    pose: ValueOfInstance<Object3D | Skeleton>,
    options: { fade?: number } = {},
  ): this {
    setPoses(this.crowd, instances, pose, options, `${NAME}.setPoseAt`);
    return this;
  }
}
