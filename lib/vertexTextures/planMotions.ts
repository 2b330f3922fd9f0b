import type { AnimationClip, BufferAttribute, BufferGeometry, Mesh, Object3D, SkinnedMesh } from 'three';
import type { Precision } from '../animation/BoneTextureData.js';
import type { BakeOptions } from '../baking/BakeOptions.js';
import { warnOfTracks } from '../baking/bakeCharacter.js';
import { bindClip } from '../baking/channels.js';
import { planClips, warnOfNames } from '../baking/planClips.js';
import type { RigPoser } from '../baking/RigPoser.js';
import { nodesOf } from '../character/rigNodes.js';
import { describe, isPositive } from '../utils/messages.js';
import { runAll, type SliceOptions } from '../utils/slices.js';

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
  /** Called before the first `pose`. */
  begin(): void;
  /** Poses the nodes of the poser. */
  pose(time: number): void;
}

/** What the vertices are to be moved by. */
export type MotionSource = readonly (AnimationClip | VertexMotion)[] | ((time: number) => void);

/**
 * Clips, or motions of the user's code, with their frames.
 *
 * @param poser Poses copies of the object's nodes, which are to be where these are now.
 * @returns `byCode` says whether code poses the object, not clips, which pose the copies; `restore` poses it as it was at first.
 * @throws If one of them cannot be baked.
 */
export function planMotions(
  object: Object3D,
  source: MotionSource,
  options: VertexBakeOptions & { fps: number },
  poser: RigPoser,
): { motions: PlannedMotion[]; byCode: boolean; restore(): void } {
  const motions = typeof source === 'function' ? [oneMotion(source, options)] : source;
  if (motions.length > 0 && motions.every(isMotion)) {
    if (options.clips !== undefined) {
      throw new Error(`options.clips chooses among AnimationClips; leave out motions instead.`);
    }
    warnOfNames(motions, 'motion');
    const restore = keepObject(object);
    const follow = follower(object, poser);
    return {
      motions: motions.map((motion) => planMotion(motion, options.fps, follow)),
      byCode: true,
      restore,
    };
  }
  const planned = runAll(planClips(motions as AnimationClip[], options.clips, options.fps));
  const bound = planned.map((clip) => ({ ...clip, ...bindClip(poser, clip.clip) }));
  warnOfTracks(poser.rig, bound);
  return {
    motions: bound.map(({ clip, name, count, channels }) => ({
      name,
      duration: clip.duration,
      count,
      begin: () => poser.play(clip, channels),
      pose: (time) => poser.sample(time),
    })),
    byCode: false,
    restore() {},
  };
}

/** Makes a function that puts the nodes of a poser where those of the object are then, relative to the root as it is now. */
function follower(object: Object3D, { nodes }: RigPoser): () => void {
  const own = nodesOf(object).nodes;
  updateWorld(object);
  const toRoot = object.matrixWorld.clone().invert();
  for (const node of nodes) node.matrixWorldAutoUpdate = false;
  return () => {
    updateWorld(object);
    own.forEach(({ matrixWorld }, i) => {
      nodes[i].matrixWorld.multiplyMatrices(toRoot, matrixWorld);
    });
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

function planMotion(motion: VertexMotion, rate: number, follow: () => void): PlannedMotion {
  const { name, duration, fps = rate } = motion;
  if (name === '') throw new Error('The name of a motion is ""; use one for play to find.');
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
    follow();
  };
  return { name, duration, count, begin() {}, pose };
}

/**
 * Fields of nodes and geometries that code sets anew, or writes into; bounds may be null. `rotation` stands before `quaternion`, which
 * it sets: then both get back their very numbers, whichever of them a program turns its nodes by.
 */
const FIELDS =
  /*@__PURE__*/ 'visible matrixAutoUpdate geometry morphTargetInfluences index position rotation quaternion scale matrix matrixWorld boundingBox boundingSphere'.split(
    ' ',
  );

/** Attributes into which code writes that poses a geometry: `computeVertexNormals` and `computeTangents` do too. */
const WRITTEN = ['position', 'normal', 'tangent'];

/** A vector, angles, a matrix, a box or a sphere. */
interface Copied {
  clone(): Copied;
  equals?(other: Copied): boolean;
  copy(source: Copied): unknown;
}

/**
 * Remembers all of an object that code may change which poses it: its nodes, influences of morph targets, children, and what geometries
 * hold.
 *
 * @returns Puts it back.
 */
function keepObject(object: Object3D): () => void {
  const kept: (() => void)[] = [];
  const nodes = new Set<Object3D>();
  const geometries = new Set<BufferGeometry>();
  object.traverse((node) => {
    nodes.add(node);
    for (const bone of (node as SkinnedMesh).skeleton?.bones ?? []) nodes.add(bone);
    const { geometry } = node as Mesh;
    // Meshes may share one.
    if (geometry) geometries.add(geometry);
    keepChildren(node, kept);
  });
  for (const geometry of geometries) {
    keepFields(geometry, kept);
    keepAttributes(geometry, kept);
  }
  for (const node of nodes) {
    keepFields(node, kept);
    const { morphTargetInfluences } = node as Mesh;
    if (morphTargetInfluences) keepNumbers(morphTargetInfluences, kept);
  }
  return () => {
    for (const restore of kept) restore();
    updateWorld(object);
  };
}

/** Brings all world matrices that posing needs up to date. */
function updateWorld(root: Object3D): void {
  root.updateWorldMatrix(true, false);
  root.updateMatrixWorld(true);
}

function keepFields(holder: object, kept: (() => void)[]): void {
  const fields = holder as Record<string, unknown>;
  for (const name of FIELDS) {
    const value = fields[name] as Copied | null | undefined;
    const content = value?.equals && value.clone();
    kept.push(() => {
      // Some cannot be set, and setting others does more than remember the value.
      if (fields[name] !== value) fields[name] = value;
      if (content && value?.equals?.(content) === false) value.copy(content);
    });
  }
}

/** Takes out what was added, and puts back what was taken out. */
function keepChildren(node: Object3D, kept: (() => void)[]): void {
  const before = new Set(node.children);
  kept.push(() => {
    for (const child of [...node.children]) if (!before.has(child)) child.removeFromParent();
    for (const child of before) if (child.parent !== node) node.add(child);
    // In the order that they had.
    node.children.splice(0, node.children.length, ...before);
  });
}

function keepAttributes({ attributes }: BufferGeometry, kept: (() => void)[]): void {
  const before = { ...attributes };
  kept.push(() => {
    for (const name in attributes) delete attributes[name];
    Object.assign(attributes, before);
  });
  for (const name of WRITTEN) {
    const attribute = before[name] as BufferAttribute | undefined;
    // Some are on the GPU alone.
    if (!attribute?.array) continue;
    keepNumbers(attribute.array, kept);
    kept.push(() => {
      attribute.needsUpdate = true;
    });
  }
}

function keepNumbers(
  numbers: { [index: number]: number; slice(): ArrayLike<number> },
  kept: (() => void)[],
): void {
  const values = numbers.slice();
  kept.push(() => {
    for (let i = 0; i < values.length; i++) numbers[i] = values[i];
  });
}
