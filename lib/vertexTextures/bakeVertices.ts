import { Box3, type Mesh, type Object3D, Vector3 } from 'three';
import type { BakedClip } from '../animation/ClipTable.js';
import { boxToArray } from '../animation/jointBoxes.js';
import { REST_FRAME } from '../constants.js';
import { inRuns, type Steps } from '../utils/steps.js';
import { FrameStore } from './FrameStore.js';
import type { VertexBakeOptions } from './planMotions.js';
import { type MotionSource, type PlannedMotion, planMotions } from './planMotions.js';
import { drawnMeshes, VertexSampler } from './VertexSampler.js';
import {
  checkFrames,
  layoutVertices,
  type VertexErrors,
  type VertexPart,
  type VertexTextureData,
  WORDS,
} from './VertexTextureData.js';

const _size = /*@__PURE__*/ new Vector3();

/** A baking in progress: yields the share that is done, and returns the result. */
export type VertexBakeSteps = Generator<number, VertexTextureData, void>;

/** Poses an object frame by frame, and keeps where its vertices are. */
export function* bakeVertices(
  object: Object3D,
  source: MotionSource,
  options: VertexBakeOptions,
): VertexBakeSteps {
  const { fps = 30, precision = 'half', maxTextureSize = 4096, measure = false } = options;
  const meshes = drawnMeshes(object);
  // Before the first break, in which others may pose the object.
  const { motions, byCode, rest, restore } = planMotions(object, source, { ...options, fps });
  const endClaim = claimMeshes(meshes, byCode);
  try {
    const parts = meshes.map(({ name, geometry }): VertexPart => {
      return { name, vertices: geometry.getAttribute('position').count };
    });
    const normals = options.normals ?? (byCode ? 'computed' : 'source');
    const sampler = yield* VertexSampler.of(meshes, rest.toRoot, normals, byCode);
    const frames = new FrameStore(sampler.vertices, precision);
    yield 0;
    const recorder = new Recorder(sampler, frames, maxTextureSize);
    yield 0;
    sampler.capture(rest, 0, 'The rest pose');
    yield* recorder.record('The rest pose');
    const restBounds = boxToArray(recorder.takeBounds());
    const errors: VertexErrors[] = [];
    const clips: BakedClip[] = [];
    const all = Math.max(
      1,
      motions.reduce((sum, { count }) => sum + count, 0),
    );
    let start = REST_FRAME + 1;
    checkFrames(start + all, maxTextureSize);
    for (const motion of motions) {
      const { name, duration, count } = motion;
      recorder.begin();
      for (let i = 0; i < count; i++) {
        yield* recorder.pose(motion, i, measure);
        yield (start + i) / (all + 1);
      }
      const { stored, between } = recorder;
      errors.push({ clip: name, stored, between: measure && count > 1 ? between : null });
      clips.push({
        name,
        start,
        count,
        duration,
        fps: (count - 1) / (duration || 1),
        bounds: boxToArray(recorder.takeBounds()),
        rootMotion: null,
        markers: [],
      });
      start += count;
    }

    const size = recorder.size || 1;
    for (const error of errors) {
      error.stored /= size;
      if (error.between !== null) error.between /= size;
    }
    const { store } = recorder;
    const { vertices } = sampler;
    const layout = layoutVertices(store.stored.length * vertices, maxTextureSize);
    const texels = new Uint32Array(layout.width * layout.height * WORDS[precision]);
    for (const [i, words] of store.stored.entries()) {
      texels.set(words, i * words.length);
      yield 1;
    }
    return {
      parts,
      vertices,
      precision,
      normals: normals !== 'none',
      frames: Uint32Array.from(store.frames),
      boxes: Float32Array.from(store.boxes),
      texels,
      ...layout,
      clips,
      restBounds,
      errors,
    };
  } finally {
    endClaim();
    restore();
  }
}

/** What a bake by code counts for: more than all bakes by clips together. */
const CODE = 2 ** 30;

/** How many bakes use a mesh or geometry now: 1 for each by clips, `CODE` for one by code. */
const claims = /*@__PURE__*/ new WeakMap<object, number>();

/**
 * Notes that meshes are being baked, until what is returned is called. Bakes by clips leave them as they were in each break, so that
 * there may be several at once. Code does not: another bake would take its frames for the rest pose.
 *
 * @throws If they are being baked, and one of the two bakes is by code.
 */
function claimMeshes(meshes: readonly Mesh[], byCode: boolean): () => void {
  const claimed = new Set<object>();
  for (const mesh of meshes) {
    const { geometry, name } = mesh;
    claimed.add(mesh).add(geometry);
    const others = Math.max(claims.get(mesh) ?? 0, claims.get(geometry) ?? 0);
    if (others === 0 || (!byCode && others < CODE)) continue;
    throw new Error(
      `Mesh "${name}" is being baked already, and motions of code pose it; await the other bake first, or bake a clone with geometries of its own.`,
    );
  }
  const count = byCode ? CODE : 1;
  const add = (change: number) => {
    for (const one of claimed) claims.set(one, (claims.get(one) ?? 0) + change);
  };
  add(count);
  return () => add(-count);
}

/** Reads frames of a motion into a store, and finds how far these are from it. */
class Recorder {
  /** Largest distances of the clip at hand, in the units of the scene. */
  stored = 0;
  between = 0;
  /** Around all frames of the clip at hand, and around all frames. */
  private readonly clipBounds = new Box3();
  private readonly bounds = new Box3();
  /** The last two frames as they are stored, and the object as it is half-way between them. */
  private last: Float32Array;
  private before: Float32Array;
  private half: Float32Array | null = null;

  constructor(
    private readonly sampler: VertexSampler,
    readonly store: FrameStore,
    private readonly maxTextureSize: number,
  ) {
    this.last = new Float32Array(sampler.positions.length);
    this.before = new Float32Array(sampler.positions.length);
  }

  /** The longest side of the box around all frames. */
  get size(): number {
    const { x, y, z } = this.bounds.getSize(_size);
    return Math.max(x, y, z);
  }

  /** Begins a clip. */
  begin(): void {
    this.stored = this.between = 0;
    this.half = null;
  }

  /** Records a frame of a motion. */
  *pose(motion: PlannedMotion, frame: number, measure: boolean): Steps<void> {
    const { sampler } = this;
    const { name, count, duration } = motion;
    const where = `Motion "${name}"`;
    const step = count === 1 ? 0 : duration / (count - 1);
    // The last frame is at the duration itself, not a rounding error behind it.
    sampler.capture(motion, frame === count - 1 ? (count === 1 ? 0 : duration) : frame * step, where);
    yield* this.record(where, `, up to frame ${frame + 1} of ${count} of motion "${name}",`);
    if (!measure || frame === count - 1) return;
    sampler.capture(motion, (frame + 0.5) * step, where);
    yield* sampler.compute(where);
    this.half = sampler.positions.slice();
  }

  /**
   * Records the object as it was captured.
   *
   * @param where Says in an error what is posed.
   * @param upTo Says in an error how much has been recorded then.
   * @throws If there is no more room: at once, for what is left may take long.
   */
  *record(where: string, upTo = ''): Steps<void> {
    const { sampler, store, clipBounds } = this;
    yield* sampler.compute(where);
    const { positions, normals } = sampler;
    yield* store.add(positions, normals);
    layoutVertices(store.stored.length * sampler.vertices, this.maxTextureSize, upTo);
    [this.before, this.last] = [this.last, this.before];
    const { last, before, half } = this;
    yield* store.decode(last);
    this.stored = Math.max(this.stored, yield* distance(positions, last, last));
    if (half !== null) this.between = Math.max(this.between, yield* distance(half, before, last));
    this.half = null;
    const { min, max } = clipBounds;
    yield* inRuns(sampler.vertices, (start, end) => {
      for (let i = start * 3; i < end * 3; i += 3) {
        min.set(Math.min(min.x, last[i]), Math.min(min.y, last[i + 1]), Math.min(min.z, last[i + 2]));
        max.set(Math.max(max.x, last[i]), Math.max(max.y, last[i + 1]), Math.max(max.z, last[i + 2]));
      }
    });
  }

  /** The box around all frames since it was last asked for. */
  takeBounds(): Box3 {
    this.bounds.union(this.clipBounds);
    const taken = this.clipBounds.clone();
    this.clipBounds.makeEmpty();
    return taken;
  }
}

/** The largest distance of vertices from the middle between two others. */
function* distance(positions: Float32Array, a: Float32Array, b: Float32Array): Steps<number> {
  let most = 0;
  yield* inRuns(positions.length / 3, (start, end) => {
    for (let i = start * 3; i < end * 3; i += 3) {
      const x = positions[i] - (a[i] + b[i]) / 2;
      const y = positions[i + 1] - (a[i + 1] + b[i + 1]) / 2;
      const z = positions[i + 2] - (a[i + 2] + b[i + 2]) / 2;
      most = Math.max(most, x * x + y * y + z * z);
    }
  });
  return Math.sqrt(most);
}
