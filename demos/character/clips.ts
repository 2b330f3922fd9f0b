import { AnimationClip, QuaternionKeyframeTrack, VectorKeyframeTrack } from 'three';
import { curve } from './curve.js';
import { Poser } from './Poser.js';
import { JOINTS, type Side } from './skeleton.js';

const KEYS_PER_SECOND = 24;
const SIDES = ['Left', 'Right'] as const;

/** Draws the pose at a phase from 0 to 1; every motion below is periodic, so the clips close without a jump. */
export type Motion = (pose: Poser, phase: number) => void;

const wave = (phase: number, shift = 0): number => Math.sin((phase + shift) * 2 * Math.PI);
const signOf = (side: Side): number => (side === 'Left' ? 1 : -1);

/** The right side does half a cycle later what the left side does. */
const ownPhase = (side: Side, phase: number): number => (side === 'Left' ? phase : phase + 0.5);

const idle: Motion = (pose, phase) => {
  const sway = wave(phase);
  const breath = wave(2 * phase, -0.15);
  pose.hips.add({ x: 0.014 * sway, y: -0.012 + 0.002 * breath, z: 0 });
  pose.turn('Hips', 0, 1.5 * sway, 1.2 * sway);
  pose.turn('Spine', 1 - 0.8 * breath, -1.5 * sway, -1.5 * sway);
  pose.turn('Chest', -1 - 1.4 * breath, -1 * sway, -0.8 * sway);
  pose.turn('Neck', 2 + 0.8 * breath, 3 * wave(phase, 0.1));
  pose.turn('Head', 1 + 1.2 * breath, 5 * wave(phase, 0.1), 1.2 * sway);
  for (const side of SIDES) {
    pose.arm(side, {
      spread: 11 + breath,
      swing: 2 + 1.5 * wave(phase, signOf(side) * 0.1),
      elbow: 16 + 2 * breath,
      shrug: 1 + 1.2 * breath,
    });
    pose.foot(side, { x: 0.105, yaw: 10 });
  }
};

const walkStep = curve([0, 0.3], [0.58, -0.3], [0.78, -0.02], [0.94, 0.31]);
const walkLift = curve([0, 0], [0.58, 0], [0.72, 0.06], [0.84, 0.03], [0.97, 0.005]);
const walkPitch = curve([0, -18], [0.1, 0], [0.34, 2], [0.58, 42], [0.66, 48], [0.84, -4], [0.95, -18]);
const walkToes = curve([0, 0], [0.34, 0], [0.57, 36], [0.68, 6], [0.8, 0]);

const walk: Motion = (pose, phase) => {
  const twist = wave(phase, 0.25);
  pose.hips.add({ x: 0.016 * wave(phase, -0.02), y: -0.028 - 0.018 * wave(2 * phase, 0.2), z: 0 });
  pose.turn('Hips', 3, -7 * twist, -2.5 * wave(phase));
  pose.turn('Spine', 1, 6 * twist, 2 * wave(phase));
  pose.turn('Chest', 0, 8 * twist, 1.2 * wave(phase));
  pose.turn('Neck', 0, -4 * twist);
  pose.turn('Head', -2 + 1.2 * wave(2 * phase, 0.3), -3 * twist);
  for (const side of SIDES) {
    const own = ownPhase(side, phase);
    const swing = -wave(own, 0.23);
    pose.arm(side, { spread: 12, swing: 3 + 27 * swing, elbow: 24 + 14 * swing, palm: 10 });
    pose.foot(side, {
      x: 0.078,
      z: walkStep(own),
      lift: walkLift(own),
      pitch: walkPitch(own),
      toes: walkToes(own),
      yaw: 4,
    });
  }
};

const runStep = curve([0, 0.2], [0.34, -0.4], [0.48, -0.42], [0.72, 0.1], [0.86, 0.4], [0.95, 0.32]);
const runLift = curve([0, 0], [0.33, 0], [0.5, 0.26], [0.64, 0.3], [0.8, 0.16], [0.93, 0.06]);
const runPitch = curve(
  [0, -4],
  [0.08, 2],
  [0.2, 12],
  [0.34, 55],
  [0.5, 92],
  [0.64, 58],
  [0.82, -2],
  [0.92, -8],
);
const runToes = curve([0, 0], [0.14, 0], [0.33, 38], [0.45, 8], [0.6, 0]);

const run: Motion = (pose, phase) => {
  const twist = wave(phase, 0.2);
  pose.hips.add({ x: 0.01 * wave(phase), y: -0.045 - 0.042 * wave(2 * phase, -0.08), z: 0 });
  pose.turn('Hips', 9, -9 * twist, -3 * wave(phase));
  pose.turn('Spine', 5, 8 * twist, 2 * wave(phase));
  pose.turn('Chest', 3, 13 * twist, 1.5 * wave(phase));
  pose.turn('Neck', -5, -7 * twist);
  pose.turn('Head', -8 + 1.5 * wave(2 * phase), -5 * twist);
  for (const side of SIDES) {
    const own = ownPhase(side, phase);
    const swing = -wave(own, 0.2);
    pose.arm(side, { spread: 17, swing: -2 + 46 * swing, elbow: 84 + 20 * swing, roll: 12, shrug: 3 });
    pose.foot(side, {
      x: 0.066,
      z: runStep(own),
      lift: runLift(own),
      pitch: runPitch(own),
      toes: runToes(own),
      yaw: 2,
    });
  }
};

const waving: Motion = (pose, phase) => {
  const sway = wave(phase);
  const shake = wave(3 * phase);
  pose.hips.add({ x: 0.03 + 0.006 * sway, y: -0.016, z: 0 });
  pose.turn('Hips', 0, 2, -3 + 0.5 * sway);
  pose.turn('Spine', 0, -2, 3);
  pose.turn('Chest', -2, 3, -2 + 1.5 * sway);
  pose.turn('Neck', 0, 2, 3);
  pose.turn('Head', -2 + 1.5 * wave(2 * phase), -3, 5 + 2 * sway);
  pose.arm('Left', { spread: 12, swing: 2 + 2 * sway, elbow: 18 });
  pose.arm('Right', {
    spread: 92 + 4 * shake,
    swing: 12,
    roll: 40,
    elbow: 40,
    lift: 62 + 24 * shake,
    palm: -60,
    shrug: 10,
  });
  pose.turn('RightHand', 0, 0, 12 * wave(3 * phase, -0.12));
  pose.foot('Left', { x: 0.1, yaw: 8 });
  pose.foot('Right', { x: 0.115, z: 0.02, yaw: 16, pitch: 0 });
};

const dance: Motion = (pose, phase) => {
  const side1 = wave(phase);
  const beat = 0.5 - 0.5 * wave(2 * phase, 0.25);
  const bounce = wave(4 * phase, 0.25);
  pose.hips.add({ x: 0.075 * side1, y: -0.055 + 0.018 * bounce, z: 0 });
  pose.turn('Hips', 2, 14 * wave(phase, 0.25), 7 * side1);
  pose.turn('Spine', 2, -8 * wave(phase, 0.25), -7 * side1);
  pose.turn('Chest', 2 + 3 * bounce, -12 * wave(phase, 0.25), -7 * side1);
  pose.turn('Neck', 3 * bounce, 5 * wave(phase, 0.25));
  pose.turn('Head', 5 * bounce, 6 * wave(phase, 0.25), 6 * side1);
  for (const side of SIDES) {
    const sign = signOf(side);
    const up = 0.5 + 0.5 * wave(phase, sign * 0.12) * sign;
    pose.arm(side, {
      spread: 38 + 58 * up,
      swing: 24 + 12 * bounce,
      roll: 10 + 30 * up,
      elbow: 74 + 16 * beat,
      lift: 44 * up,
      shrug: 2 + 8 * up,
    });
    // The foot that the hips have left taps with its heel up.
    const free = Math.max(0, -sign * side1);
    pose.foot(side, { x: 0.15, z: 0.03 * free, yaw: 14, pitch: 34 * free * (0.6 + 0.4 * bounce) });
  }
};

const jumpHeight = curve(
  [0, -0.012],
  [0.08, -0.012],
  [0.27, -0.26],
  [0.36, 0.0],
  [0.5, 0.36],
  [0.64, 0.0],
  [0.74, -0.22],
  [0.92, -0.02],
);
const jumpFeet = curve([0, 0], [0.37, 0], [0.5, 0.37], [0.63, 0], [0.9, 0]);
const jumpPitch = curve([0, 0], [0.28, 0], [0.37, 50], [0.5, 28], [0.62, 22], [0.67, 0], [0.9, 0]);
const jumpToes = curve([0, 0], [0.28, 0], [0.36, 42], [0.42, 0], [0.62, 10], [0.67, 0], [0.9, 0]);
const jumpLean = curve([0, 0], [0.06, 0], [0.27, 1], [0.4, -0.15], [0.55, 0.1], [0.73, 0.85], [0.94, 0]);
const jumpArms = curve([0, 0], [0.06, 0], [0.25, -1], [0.44, 2.7], [0.56, 1.8], [0.74, 0.3], [0.94, 0]);

const jump: Motion = (pose, phase) => {
  const lean = jumpLean(phase);
  const arms = jumpArms(phase);
  pose.hips.add({ x: 0, y: jumpHeight(phase), z: -0.05 * Math.max(0, lean) });
  pose.turn('Hips', 22 * lean);
  pose.turn('Spine', 14 * lean);
  pose.turn('Chest', 8 * lean - 2);
  pose.turn('Neck', -10 * lean);
  pose.turn('Head', -16 * lean);
  for (const side of SIDES) {
    pose.arm(side, { spread: 12 + 6 * Math.abs(arms), swing: 48 * arms, elbow: 16 + 14 * Math.abs(arms) });
    pose.foot(side, {
      x: 0.11,
      yaw: 9,
      lift: jumpFeet(phase),
      pitch: jumpPitch(phase),
      toes: jumpToes(phase),
    });
  }
};

const MOTIONS: [name: string, duration: number, motion: Motion][] = [
  ['Idle', 3, idle],
  ['Walk', 1, walk],
  ['Run', 0.7, run],
  ['Wave', 2, waving],
  ['Dance', 2, dance],
  ['Jump', 1.5, jump],
];

/** Metres a second at which feet that are down stay where they are. */
const TRAVEL: Record<string, number> = { Walk: 1.03, Run: 2.52 };

/**
 * Fresh clips for the joints of `createBones`; a rotation track per joint and the place of the hips.
 *
 * @param travel Whether Walk and Run cover ground; else they are on the spot.
 */
export function createClips(travel: boolean): AnimationClip[] {
  return MOTIONS.map(([name, duration, motion]) =>
    recordClip(name, duration, motion, travel ? (TRAVEL[name] ?? 0) : 0),
  );
}

/**
 * A clip of what a motion draws.
 *
 * @param speed Metres a second at which it covers ground.
 * @param loops Whether it ends as it begins; else its last key is the motion's end.
 */
export function recordClip(
  name: string,
  duration: number,
  motion: Motion,
  speed = 0,
  loops = true,
): AnimationClip {
  const intervals = Math.round(duration * KEYS_PER_SECOND);
  const times = Array.from({ length: intervals + 1 }, (_, i) => (i / intervals) * duration);
  const poses = times.map((_, i) => {
    const pose = new Poser();
    // The last key of a loop repeats the first one to the bit.
    motion(pose, (loops ? i % intervals : i) / intervals);
    return pose;
  });
  const positions = poses.flatMap(({ hips }, i) => [hips.x, hips.y, hips.z + speed * times[i]]);
  const tracks = JOINTS.map(({ name: joint }) => {
    const rotations = poses.flatMap((pose) => pose.rotation(joint).toArray());
    return new QuaternionKeyframeTrack(`${joint}.quaternion`, times, rotations);
  });
  return new AnimationClip(name, duration, [
    new VectorKeyframeTrack('Hips.position', times, positions),
    ...tracks,
  ]);
}
