import { Box3, type BufferGeometry, type Object3D, Vector3 } from 'three';
import type { BakedClip } from '../animation/ClipTable.js';
import { boxToArray } from '../animation/jointBoxes.js';
import type { ScenePart } from '../animation/Rig.js';
import { RigPoser } from '../baking/RigPoser.js';
import { collectRig } from '../character/collectRig.js';
import { copyNodes, nodesOf } from '../character/rigNodes.js';
import { REST_FRAME } from '../constants.js';
import { inRuns, type Steps } from '../utils/steps.js';
import { FrameStore } from './FrameStore.js';
import type { VertexBakeOptions } from './planMotions.js';
import { type MotionSource, type PlannedMotion, planMotions } from './planMotions.js';
import { VertexSampler } from './VertexSampler.js';
import {
  checkFrames,
  layoutVertices,
  type VertexErrors,
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
  // Before the first break, in which others may pose the object. All meshes have joints of their own.
  const flips = [...nodesOf(object).nodes.keys()].map((part) => ({ part, group: part, mirrored: false }));
  const { rig, parts } = collectRig(object, { flips, shareMorphs: false, keepNamesakes: true });
  parts.sort((a, b) => a.node - b.node);
  const poser = new RigPoser({ ...rig, nodes: copyNodes(rig) });
  const { motions, byCode, restore } = planMotions(object, source, { ...options, fps }, poser);
  const endClaim = claim(parts, byCode);
  try {
    const normals = options.normals ?? (byCode ? 'computed' : 'source');
    const sampler = yield* VertexSampler.of(poser, parts, normals, byCode);
    const recorder = new Recorder(
      sampler,
      new FrameStore(sampler.vertices, precision),
      maxTextureSize,
      measure,
    );
    yield 0;
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
      motion.begin();
      recorder.begin();
      for (let i = 0; i < count; i++) {
        yield* recorder.pose(motion, i);
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
      parts: parts.map(({ mesh: { name }, geometry }) => ({
        name,
        vertices: geometry.getAttribute('position').count,
      })),
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

/** How many bakes use a geometry now: 1 for each by clips, `CODE` for one by code. */
const claims = /*@__PURE__*/ new WeakMap<BufferGeometry, number>();

/**
 * Notes that geometries are being baked, until what is returned is called. Bakes by clips only read them, so that there may be several at
 * once. Code writes into them.
 *
 * @throws If they are being baked, and one of the two bakes is by code.
 */
function claim(parts: readonly ScenePart[], byCode: boolean): () => void {
  const taken = parts.find(({ mesh }) => (claims.get(mesh.geometry) ?? 0) >= (byCode ? 1 : CODE));
  if (taken)
    throw new Error(
      `Mesh "${taken.mesh.name}" is being baked already, and motions of code pose it; await the other bake first, or bake a clone with geometries of its own.`,
    );
  const geometries = new Set(parts.map(({ mesh }) => mesh.geometry));
  const add = (change: number) => {
    for (const one of geometries) claims.set(one, (claims.get(one) ?? 0) + change);
  };
  const count = byCode ? CODE : 1;
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
  /** The frame before, and the object as it is half-way between that and the next. */
  private last: Float32Array;
  private half: Float32Array | null = null;

  constructor(
    private readonly sampler: VertexSampler,
    readonly store: FrameStore,
    private readonly maxTextureSize: number,
    private readonly measures: boolean,
  ) {
    this.last = sampler.positions;
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
  *pose(motion: PlannedMotion, frame: number): Steps<void> {
    const { sampler } = this;
    const { name, count, duration } = motion;
    const where = `Motion "${name}"`;
    const step = count === 1 ? 0 : duration / (count - 1);
    // The last frame is at the duration itself, not a rounding error behind it.
    motion.pose(frame === count - 1 ? (count === 1 ? 0 : duration) : frame * step);
    yield* this.record(where, `, up to frame ${frame + 1} of ${count} of motion "${name}",`);
    if (!this.measures || frame === count - 1) return;
    motion.pose((frame + 0.5) * step);
    yield* sampler.sample(where);
    this.half = sampler.positions.slice();
  }

  /**
   * Records the object as it stands.
   *
   * @param where Says in an error what is posed.
   * @param upTo Says in an error how much has been recorded then.
   * @throws If there is no more room: at once, for what is left may take long.
   */
  *record(where: string, upTo = ''): Steps<void> {
    const { sampler, store, last, half } = this;
    yield* sampler.sample(where);
    const { positions, normals } = sampler;
    const box = new Box3().setFromArray(positions);
    this.clipBounds.union(box);
    this.stored = Math.max(this.stored, yield* store.add(positions, normals, box));
    layoutVertices(store.stored.length * sampler.vertices, this.maxTextureSize, upTo);
    if (half !== null) this.between = Math.max(this.between, yield* distance(half, last, positions));
    this.half = null;
    if (this.measures) this.last = positions.slice();
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
