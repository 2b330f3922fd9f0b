import { AnimationClip, AnimationUtils, QuaternionKeyframeTrack } from 'three';
import { type Motion, recordClip } from '../character/clips.js';

const wave = (phase: number): number => Math.sin(phase * 2 * Math.PI);

/** Strikes with the right arm; the left one guards. */
const strike: Motion = (pose, phase) => {
  const raised = Math.max(0, wave(phase)) ** 0.6;
  const down = Math.max(0, -wave(phase)) ** 0.6;
  pose.turn('Spine', 4 * down, -14 * raised + 16 * down);
  pose.turn('Chest', -6 * raised + 10 * down, -16 * raised + 20 * down);
  pose.arm('Right', { spread: 30, swing: 60 + 90 * raised - 20 * down, elbow: 70 + 30 * raised - 60 * down });
  pose.arm('Left', { spread: 20, swing: 45, elbow: 100, palm: 40 });
};

/** Holds something heavy before the chest. */
const carry: Motion = (pose, phase) => {
  const breath = wave(phase);
  pose.turn('Spine', -5 + breath);
  pose.turn('Chest', -4 - breath);
  for (const side of ['Left', 'Right'] as const) {
    pose.arm(side, { spread: 14, swing: 34 + 2 * breath, elbow: 78, roll: 20, palm: 90, shrug: 3 });
  }
};

/** Leans forward, to be added to whatever else plays. */
function createLean(): AnimationClip {
  const half = (angle: number) => [Math.sin(angle / 2), 0, 0, Math.cos(angle / 2)];
  const tracks = ['Spine', 'Chest'].map(
    (joint) =>
      new QuaternionKeyframeTrack(
        `${joint}.quaternion`,
        [0, 1, 2],
        [...half(0.3), ...half(0.42), ...half(0.3)],
      ),
  );
  const upright = ['Spine', 'Chest'].map(
    (joint) => new QuaternionKeyframeTrack(`${joint}.quaternion`, [0], [0, 0, 0, 1]),
  );
  return AnimationUtils.makeClipAdditive(
    new AnimationClip('Lean', 2, tracks),
    0,
    new AnimationClip('Upright', 0, upright),
  );
}

/** What arms do while legs walk, and a lean that is added. */
export function createGestures(): AnimationClip[] {
  return [recordClip('Strike', 1.25, strike), recordClip('Carry', 2, carry), createLean()];
}
