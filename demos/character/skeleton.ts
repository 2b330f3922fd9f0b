import { Bone, type Quaternion, Vector3 } from 'three';

export type Side = 'Left' | 'Right';

/** Angle in degrees by which the arms point below the horizontal in the rest pose. */
export const REST_ARM_ANGLE = 50;

// The left half of the body: name, parent, and the position in the parent's space. The right half mirrors it in x.
const CENTRE = [
  ['Hips', null, 0, 0.94, 0],
  ['Spine', 'Hips', 0, 0.11, 0],
  ['Chest', 'Spine', 0, 0.15, 0],
  ['Neck', 'Chest', 0, 0.25, -0.012],
  ['Head', 'Neck', 0, 0.075, 0.012],
] as const;

const SIDE = [
  ['Shoulder', 'Chest', 0.05, 0.185, 0],
  ['UpperArm', 'Shoulder', 0.125, -0.005, 0],
  ['LowerArm', 'UpperArm', 0.26, 0, 0],
  ['Hand', 'LowerArm', 0.235, 0, 0],
  ['UpperLeg', 'Hips', 0.092, -0.04, 0],
  ['LowerLeg', 'UpperLeg', 0, -0.41, 0],
  ['Foot', 'LowerLeg', 0, -0.405, -0.01],
  ['Toes', 'Foot', 0, -0.06, 0.125],
] as const;

type SideBone = (typeof SIDE)[number][0];
export type BoneName = (typeof CENTRE)[number][0] | `${Side}${SideBone}`;

interface Joint {
  name: BoneName;
  parent: BoneName | null;
  position: Vector3;
}

function listJoints(): Joint[] {
  const joints: Joint[] = CENTRE.map(([name, parent, x, y, z]) => ({
    name,
    parent,
    position: new Vector3(x, y, z),
  }));
  for (const side of ['Left', 'Right'] as const) {
    for (const [name, parent, x, y, z] of SIDE) {
      joints.push({
        name: `${side}${name}`,
        parent: parent === 'Chest' || parent === 'Hips' ? parent : `${side}${parent}`,
        position: new Vector3(side === 'Left' ? x : -x, y, z),
      });
    }
  }
  return joints;
}

/** Every joint, parents first. */
export const JOINTS: readonly Joint[] = listJoints();

/** The joint's offset from its parent in the rest pose. */
export function offsetOf(name: BoneName): Vector3 {
  const joint = JOINTS.find((candidate) => candidate.name === name);
  if (!joint) throw new Error(`skeleton.offsetOf: no joint named "${name}".`);
  return joint.position;
}

/** Reflects a rotation in the plane x = 0, so that what the left arm does becomes what the right arm does. */
export function mirror(rotation: Quaternion): Quaternion {
  return rotation.set(rotation.x, -rotation.y, -rotation.z, rotation.w);
}

/** The joints in rest pose, 'Hips' first, already parented to each other. */
export function createBones(): Bone[] {
  const bones = new Map<BoneName, Bone>();
  for (const { name, parent, position } of JOINTS) {
    const bone = new Bone();
    bone.name = name;
    bone.position.copy(position);
    if (parent) bones.get(parent)?.add(bone);
    bones.set(name, bone);
  }
  // Half-lowered arms deform better at the shoulder than those of a T-pose: most clips let them hang.
  const drop = (REST_ARM_ANGLE * Math.PI) / 180;
  bones.get('LeftUpperArm')?.rotation.set(0, 0, -drop);
  bones.get('RightUpperArm')?.rotation.set(0, 0, drop);
  return [...bones.values()];
}
