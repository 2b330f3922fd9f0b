import { AnimationClip, Euler, Quaternion, QuaternionKeyframeTrack, VectorKeyframeTrack } from 'three';
import type { BonePlan, Triple } from './boxes.js';

const KEYS_PER_SECOND = 16;
const DEG = Math.PI / 180;

/** How far bones are from where they rest: turned by angles in degrees, and moved. */
export interface BonePose {
  turn?: Record<string, Triple>;
  move?: Record<string, Triple>;
}

/** The pose at a phase from 0 to 1, at which it is as at 0; it names the same bones at any phase. */
export type BoneMotion = (phase: number) => BonePose;

/** A sine of a phase, in turns. */
export const wave = (phase: number): number => Math.sin(phase * 2 * Math.PI);

/** A clip of a motion that loops, for the bones that it names. */
export function recordBones(
  name: string,
  duration: number,
  plan: readonly BonePlan[],
  motion: BoneMotion,
): AnimationClip {
  const intervals = Math.round(duration * KEYS_PER_SECOND);
  const times = Array.from({ length: intervals + 1 }, (_, i) => (i / intervals) * duration);
  const poses = times.map((_, i) => motion((i % intervals) / intervals));
  const { turn = {}, move = {} } = poses[0];
  const rotations = Object.keys(turn).map((bone) => {
    const values = poses.flatMap((pose) => turned(pose.turn?.[bone] ?? [0, 0, 0]));
    return new QuaternionKeyframeTrack(`${bone}.quaternion`, times, values);
  });
  const positions = Object.keys(move).map((bone) => {
    const rest = plan.find((one) => one.name === bone)?.at ?? [0, 0, 0];
    const values = poses.flatMap((pose) =>
      rest.map((value, axis) => value + (pose.move?.[bone]?.[axis] ?? 0)),
    );
    return new VectorKeyframeTrack(`${bone}.position`, times, values);
  });
  return new AnimationClip(name, duration, [...positions, ...rotations]);
}

function turned([x, y, z]: Triple): number[] {
  return new Quaternion().setFromEuler(new Euler(x * DEG, y * DEG, z * DEG, 'YXZ')).toArray();
}
