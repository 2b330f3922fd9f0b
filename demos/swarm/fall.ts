import type { AnimationClip } from 'three';
import { type Motion, recordClip } from '../character/clips.js';
import { curve } from '../character/curve.js';
import { LYING } from './rules.js';

const sunk = curve([0, 0], [0.1, 0.5], [0.18, 1], [0.24, 0.97], [0.6, 1], [0.78, 0.55], [0.97, 0]);
const leant = curve([0, 0], [0.08, 0.5], [0.2, 1], [0.6, 0.9], [0.74, -0.5], [0.97, 0]);

/** Thrown onto the seat, and up again. */
const fall: Motion = (pose, phase) => {
  const [down, back] = [sunk(phase), leant(phase)];
  pose.hips.add({ x: 0, y: -0.76 * down, z: -0.3 * down });
  pose.turn('Hips', -38 * back);
  pose.turn('Spine', -8 * back);
  pose.turn('Chest', 4 * back);
  pose.turn('Neck', 14 * back);
  pose.turn('Head', 18 * back);
  for (const side of ['Left', 'Right'] as const) {
    pose.arm(side, { spread: 12 + 24 * down, swing: -46 * back, elbow: 14 + 10 * down });
    pose.foot(side, {
      x: 0.1 + 0.06 * down,
      z: 0.34 * Math.max(back, 0),
      pitch: -24 * Math.max(back, 0),
      yaw: 12,
    });
  }
};

export const createFall = (): AnimationClip => recordClip('Fall', LYING, fall);
