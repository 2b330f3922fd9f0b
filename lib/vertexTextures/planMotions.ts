import { type AnimationAction, type AnimationClip, AnimationMixer, LoopOnce, type Object3D } from 'three';
import type { Precision } from '../animation/BoneTextureData.js';
import type { BakeOptions } from '../baking/BakeOptions.js';
import { type PlannedClip, planClips, warnOfNames } from '../baking/planClips.js';
import { describe, isPositive } from '../utils/messages.js';
import { runAll, type SliceOptions } from '../utils/steps.js';
import { keepObject, RestPose } from './keepObject.js';
import { updateWorld } from './MeshSampler.js';

/** A motion that your code makes: a simulation, a formula, another library's animation. */
export interface VertexMotion {
  /** As `play` takes it. */
  name: string;
  /** Seconds; 0 for a pose. */
  duration: number;
  /** Frames per second for this one. @default that of the bake */
  fps?: number;
  /**
   * Poses the object: writes positions (and normals) of its geometries, moves nodes or bones, sets influences of morph targets.
   * Called once for each frame, in the order of their times, both ends included: a simulation may step from one to the next.
   *
   * @param time Seconds from the start.
   */
  pose(time: number): void;
}

/** How vertices are baked. */
export interface VertexBakeOptions extends Pick<BakeOptions, 'fps' | 'clips' | 'maxTextureSize'> {
  /**
   * Frames per second. Two frames are mixed when drawn; see `measure` for what that makes of a motion.
   * @default 30
   */
  fps?: number;
  /**
   * `'half'`: positions of 16 bits within the box of their frame, off by at most 1/130,000 of each of its sides, so by 1/75,000 of
   * the longest one; 8 bytes a vertex and frame, with the normal. `'float'`: 32 bits, 16 bytes.
   * @default 'half'
   */
  precision?: Precision;
  /**
   * Where normals come from. `'source'`: as three.js would light the object: its own, with skeleton and morph targets.
   * `'computed'`: from the triangles as they are posed, smooth where the object is at rest. `'none'`: they stay as they are at
   * rest, for materials without light or with `flatShading`.
   * @default 'source' with clips, 'computed' for motions of your code
   */
  normals?: 'source' | 'computed' | 'none';
  /** Seconds, where the motion is one function. */
  duration?: number;
  /** Name of the clip, where the motion is one function. @default 'Motion' */
  name?: string;
  /**
   * Whether to pose the object between frames too, to find out how far the mix of two frames is from it, see
   * `VertexTexture.errors`. Takes twice as long. Motions of your code are then asked for times between frames too.
   * @default false
   */
  measure?: boolean;
}

/** {@link VertexBakeOptions}, and options for baking in slices. */
export interface VertexBakeAsyncOptions extends VertexBakeOptions, SliceOptions {}

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
): PlannedMotions {
  const motions = typeof source === 'function' ? [oneMotion(source, options)] : source;
  if (!Array.isArray(motions)) {
    throw new Error(
      `${describe(source)} is no motion; pass AnimationClips, a function (time) => void, or an array of { name, duration, pose }.`,
    );
  }
  if (motions.length > 0 && motions.every(isMotion)) {
    if (options.clips !== undefined) {
      throw new Error(`options.clips chooses among AnimationClips; leave out motions instead.`);
    }
    warnOfNames(motions, 'motion');
    const restore = keepObject(object);
    return {
      motions: motions.map((motion) => planMotion(object, motion, options.fps)),
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
): VertexMotion {
  if (duration === undefined) {
    throw new Error(`A motion that is a function needs options.duration, in seconds.`);
  }
  return { name, duration, pose };
}

function planMotion(object: Object3D, motion: VertexMotion, rate: number): PlannedMotion {
  const { name, duration, fps = rate } = motion;
  if (typeof name !== 'string' || name === '') {
    throw new Error(`The name of a motion is ${describe(name)}; use one for play to find.`);
  }
  if (!(Number.isFinite(duration) && duration >= 0)) {
    throw new Error(`Motion "${name}" has duration ${describe(duration)}; use a finite number of seconds.`);
  }
  if (!isPositive(fps)) {
    throw new Error(`Motion "${name}" has fps ${describe(fps)}; use a positive number.`);
  }
  const count = duration > 0 ? Math.max(1, Math.round(duration * fps)) + 1 : 1;
  const pose = (time: number) => {
    const returned = motion.pose(time) as { then?: unknown } | undefined;
    if (typeof returned?.then === 'function') {
      throw new Error(
        `Motion "${name}" returns a promise; pose(time) has to pose the object before it returns.`,
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
