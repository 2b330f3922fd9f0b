import { Euler, MathUtils, Quaternion, Vector3 } from 'three';
import { type BoneName, JOINTS, mirror, offsetOf, type Side } from './skeleton.js';

const DEG = Math.PI / 180;

/** Where a foot is; lengths in scene units, angles in degrees. */
export interface Footing {
  /** Distance from the middle to the outside, and forwards. */
  x?: number;
  z?: number;
  /** Height of the sole's lowest point above the ground. */
  lift?: number;
  /** Positive lowers the toes and turns about the ball of the foot, negative raises them and turns about the heel. */
  pitch?: number;
  /** Turns the toes outwards. */
  yaw?: number;
  /** Bends the toes up; by default as far as keeps them level while the heel is off the ground. */
  toes?: number;
}

/** An arm's angles in degrees, the same for both sides. */
export interface ArmPose {
  /** From hanging straight down out to the side: 0 hangs, 90 is horizontal. */
  spread?: number;
  /** Swings forwards (negative: backwards). */
  swing?: number;
  /** Turns the arm about its own length; positive turns the inside of the elbow upwards. */
  roll?: number;
  /** Bends the elbow towards the front of the body. */
  elbow?: number;
  /** Bends the elbow up, as in waving. */
  lift?: number;
  /** Turns the palm, shared by the forearm and the hand. */
  palm?: number;
  /** Raises the shoulder. */
  shrug?: number;
}

const ANKLE = new Vector3(0, 0.085, 0);
const BALL = new Vector3(0, 0.02, 0.125);
const HEEL = new Vector3(0, 0.01, -0.065);
const FOOT_X = 0.092;
const FOOT_Z = -0.01;
const euler = new Euler();

/** One pose of the figure in the making: joints by angles, feet by where they stand. */
export class Poser {
  readonly hips = offsetOf('Hips').clone();
  private readonly rotations = new Map<BoneName, Quaternion>();

  constructor() {
    for (const { name } of JOINTS) this.rotations.set(name, new Quaternion());
  }

  rotation(name: BoneName): Quaternion {
    return this.rotations.get(name) as Quaternion;
  }

  /** Sets a joint's angles in degrees: x leans forwards, y turns to the figure's left, z leans to its right. */
  turn(name: BoneName, x: number, y = 0, z = 0): this {
    this.rotation(name).setFromEuler(euler.set(x * DEG, y * DEG, -z * DEG, 'YXZ'));
    return this;
  }

  arm(side: Side, pose: ArmPose): this {
    const { spread = 10, swing = 0, roll = 0, elbow = 12, lift = 0, palm = 0, shrug = 0 } = pose;
    const shoulder = this.rotation(`${side}Shoulder`).setFromEuler(euler.set(0, 0, shrug * DEG));
    const upper = axisAngle(-swing, 1, 0, 0)
      .multiply(axisAngle(spread - 90, 0, 0, 1))
      .multiply(axisAngle(-roll, 1, 0, 0));
    const lower = axisAngle(lift, 0, 0, 1)
      .multiply(axisAngle(-elbow, 0, 1, 0))
      .multiply(axisAngle(palm / 2, 1, 0, 0));
    const hand = axisAngle(palm / 2, 1, 0, 0);
    const joints = { UpperArm: upper, LowerArm: lower, Hand: hand };
    for (const [joint, rotation] of Object.entries(joints) as [keyof typeof joints, Quaternion][]) {
      this.rotation(`${side}${joint}`).copy(side === 'Left' ? rotation : mirror(rotation));
    }
    if (side === 'Right') mirror(shoulder);
    return this;
  }

  /** Puts a foot somewhere and bends hip and knee to reach it; call it after the hips have their place. */
  foot(side: Side, { x = FOOT_X, z = 0, lift = 0, pitch = 0, yaw = 6, toes }: Footing): this {
    const sign = side === 'Left' ? 1 : -1;
    const sole = axisAngle(yaw * sign, 0, 1, 0).multiply(axisAngle(pitch, 1, 0, 0));
    const pivot = (pitch > 0 ? BALL : HEEL).clone();
    const flat = pivot.clone().applyQuaternion(axisAngle(yaw * sign, 0, 1, 0));
    const ankle = ANKLE.clone().sub(pivot).applyQuaternion(sole).add(flat);
    ankle.add(new Vector3(x * sign, lift, z + FOOT_Z));

    const hips = this.rotation('Hips');
    const hip = offsetOf(`${side}UpperLeg`);
    const reach = ankle.sub(this.hips).applyQuaternion(hips.clone().invert()).sub(hip);
    const { upper, lower } = bendLeg(reach, offsetOf(`${side}LowerLeg`), offsetOf(`${side}Foot`));
    this.rotation(`${side}UpperLeg`).copy(upper);
    this.rotation(`${side}LowerLeg`).copy(lower);
    const leg = hips.clone().multiply(upper).multiply(lower);
    this.rotation(`${side}Foot`).copy(leg.invert().multiply(sole));
    this.rotation(`${side}Toes`).copy(axisAngle(-(toes ?? Math.max(0, pitch)), 1, 0, 0));
    return this;
  }
}

function axisAngle(degrees: number, x: number, y: number, z: number): Quaternion {
  return new Quaternion().setFromAxisAngle(new Vector3(x, y, z), degrees * DEG);
}

/** Law of cosines for the knee, then the hip turns the bent leg until its ankle lies at `reach`. */
function bendLeg(reach: Vector3, shin: Vector3, ankle: Vector3): { upper: Quaternion; lower: Quaternion } {
  const thighLength = shin.length();
  const shinLength = ankle.length();
  // A fully stretched knee snaps visibly from one frame to the next; a hair less does not.
  const distance = MathUtils.clamp(reach.length(), 0.2, (thighLength + shinLength) * 0.9985);
  const cosine = (thighLength ** 2 + shinLength ** 2 - distance ** 2) / (2 * thighLength * shinLength);
  // The ankle lies a little behind the shin's line in the rest pose, which the knee makes up for.
  const bend = Math.PI - Math.acos(MathUtils.clamp(cosine, -1, 1)) - Math.atan2(-ankle.z, -ankle.y);
  const lower = new Quaternion().setFromAxisAngle(new Vector3(1, 0, 0), bend);
  const bent = ankle.clone().applyQuaternion(lower).add(shin).normalize();
  const direction = reach.clone().normalize();
  const pitch = Math.asin(bent.z) - Math.asin(direction.z);
  const roll = Math.atan2(direction.x, -direction.y);
  const upper = new Quaternion()
    .setFromAxisAngle(new Vector3(0, 0, 1), roll)
    .multiply(new Quaternion().setFromAxisAngle(new Vector3(1, 0, 0), pitch));
  return { upper, lower };
}
