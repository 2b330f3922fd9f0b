import { type AnimationAction, type AnimationClip, AnimationMixer, LoopOnce, type Object3D } from 'three';
import { type PlannedClip, planClips, warnOfNames } from '../baking/planClips.js';
import { isPositive } from '../utils/checkOptions.js';
import { describe } from '../utils/describe.js';
import { runAll } from '../utils/steps.js';
import { keepObject } from './keepObject.js';
import { updateWorld } from './MeshSampler.js';
import { RestPose } from './RestPose.js';
import type { VertexBakeOptions, VertexMotion } from './VertexBakeOptions.js';

/** One clip to bake. */
export interface PlannedMotion {
  name: string;
  duration: number;
  /** Frames, both ends included. */
  count: number;
  /** Poses the object, and brings its world matrices up to date. */
  pose(time: number): void;
  /** Called where something else may look at the object before the next `pose`: clips put it back as it was. */
  release(): void;
}

/** What is baked of an object. */
export interface PlannedMotions {
  motions: PlannedMotion[];
  /** Whether code of the user's poses the object, not clips. */
  byCode: boolean;
  /** How the object was at first. */
  rest: RestPose;
  /** Poses the object as it was at first, where motions have not put it back. */
  restore(): void;
}

/** What the vertices are to be moved by. */
export type MotionSource = readonly (AnimationClip | VertexMotion)[] | ((time: number) => void);

/**
 * Clips, or motions of the user's code, with their frames.
 *
 * @throws If one of them cannot be baked.
 */
export function planMotions(
  object: Object3D,
  source: MotionSource,
  options: VertexBakeOptions & { fps: number },
  caller: string,
): PlannedMotions {
  const motions = typeof source === 'function' ? [oneMotion(source, options, caller)] : source;
  if (!Array.isArray(motions)) {
    throw new Error(
      `${caller}: ${describe(source)} is no motion; pass AnimationClips, a function (time) => void, or an array of { name, duration, pose }.`,
    );
  }
  if (motions.length > 0 && motions.every(isMotion)) {
    if (options.clips !== undefined) {
      throw new Error(`${caller}: options.clips chooses among AnimationClips; leave out motions instead.`);
    }
    warnOfNames(motions, 'motion');
    const restore = keepObject(object);
    return {
      motions: motions.map((motion) => planMotion(object, motion, options.fps, caller)),
      byCode: true,
      rest: new RestPose(object, true),
      restore,
    };
  }
  const rest = new RestPose(object, false);
  const planned = runAll(planClips(motions as AnimationClip[], options.clips, options.fps));
  return {
    motions: planned.map((clip) => driven(object, clip, rest)),
    byCode: false,
    rest,
    restore() {},
  };
}

const isMotion = (motion: unknown): motion is VertexMotion =>
  typeof (motion as VertexMotion | null)?.pose === 'function';

function oneMotion(
  pose: (time: number) => void,
  { duration, name = 'Motion' }: VertexBakeOptions,
  caller: string,
): VertexMotion {
  if (duration === undefined) {
    throw new Error(`${caller}: a motion that is a function needs options.duration, in seconds.`);
  }
  return { name, duration, pose };
}

function planMotion(object: Object3D, motion: VertexMotion, rate: number, caller: string): PlannedMotion {
  const { name, duration, fps = rate } = motion;
  if (typeof name !== 'string' || name === '') {
    throw new Error(`${caller}: the name of a motion is ${describe(name)}; use one for play to find.`);
  }
  if (!(Number.isFinite(duration) && duration >= 0)) {
    throw new Error(
      `${caller}: motion "${name}" has duration ${describe(duration)}; use a finite number of seconds.`,
    );
  }
  if (!isPositive(fps)) {
    throw new Error(`${caller}: motion "${name}" has fps ${describe(fps)}; use a positive number.`);
  }
  const count = duration > 0 ? Math.max(1, Math.round(duration * fps)) + 1 : 1;
  const pose = (time: number) => {
    const returned = motion.pose(time) as { then?: unknown } | undefined;
    if (typeof returned?.then === 'function') {
      throw new Error(
        `${caller}: motion "${name}" returns a promise; pose(time) has to pose the object before it returns.`,
      );
    }
    updateWorld(object);
  };
  // A simulation may go on from what it has written.
  return { name, duration, count, pose, release() {} };
}

/** Lets an `AnimationMixer` of its own pose the object, which puts everything back in its place when it is stopped. */
function driven(object: Object3D, { clip, name, count }: PlannedClip, rest: RestPose): PlannedMotion {
  let mixer: AnimationMixer | null = null;
  let action: AnimationAction | null = null;
  return {
    name,
    duration: clip.duration,
    count,
    pose(time) {
      rest.pose();
      mixer ??= new AnimationMixer(object);
      action ??= mixer.clipAction(clip).setLoop(LoopOnce, 1);
      action.clampWhenFinished = true;
      action.reset().play();
      mixer.setTime(time);
      updateWorld(object);
    },
    release() {
      mixer?.stopAllAction();
      rest.release();
    },
  };
}
