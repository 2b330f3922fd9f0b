import { Box3, type BufferGeometry, type Object3D, Vector3 } from 'three';
import type { Precision } from '../animation/BoneTextureData.js';
import type { BakedClip } from '../animation/ClipTable.js';
import { boxToArray } from '../animation/jointBoxes.js';
import type { ScenePart } from '../animation/Rig.js';
import { bakedClip, frameTime } from '../baking/planClips.js';
import { RigPoser } from '../baking/RigPoser.js';
import { assembleCharacter, type Character, type CharacterOptions } from '../character/assembleCharacter.js';
import { collectRig } from '../character/collectRig.js';
import { copyNodes } from '../character/rigNodes.js';
import { REST_FRAME } from '../constants.js';
import { inRuns, runAll, runInSlices, type Steps } from '../utils/slices.js';
import {
  type MotionSource,
  planMotions,
  type VertexBakeAsyncOptions,
  type VertexBakeOptions,
} from './planMotions.js';
import { packNormal } from './VertexReader.js';
import { VertexSampler } from './VertexSampler.js';
import { VertexTexture } from './VertexTexture.js';
import { layoutFrames, layoutVertices, type VertexTextureData, WORDS } from './VertexTextureData.js';

/** How vertices are baked, and meshes merged. */
export interface BakeVertexCharacterOptions extends VertexBakeOptions, CharacterOptions {}

/** {@link BakeVertexCharacterOptions}, and options for baking in slices. */
export interface BakeVertexCharacterAsyncOptions extends VertexBakeAsyncOptions, CharacterOptions {}

/**
 * Bakes motions of all visible meshes under `object`, for crowds to play: `new SkinnedInstancedMesh(character, count)`. Clips change
 * nothing of the object. Your code poses it, and afterwards it is as it was: what was added to it is taken out again. Meshes that are added
 * are not baked.
 *
 * Vertices are relative to `object`, as it stands now: a crowd's instance matrix takes the place of `object.matrix`.
 *
 * @param object Holds the meshes, of whatever kind: skinned or not, with morph targets or without.
 * @param motion AnimationClips, as an `AnimationMixer` plays them; motions of your code; or one function `(time) => void` that
 * poses the object, with `duration` in the options. Without any, the texture holds the object as it is.
 * @throws If there is nothing to bake or it does not fit into a texture; the message says what to do.
 *
 * @category Bake
 */
export function bakeVertexCharacter(
  object: Object3D,
  motion: MotionSource,
  options: BakeVertexCharacterOptions = {},
): Character {
  return ownCharacter(object, bakeVertexTexture(object, motion, options), options);
}

/**
 * {@link bakeVertexCharacter} in slices of a few milliseconds, however many vertices there are, so that a page stays responsive
 * meanwhile; `pose` of your own motions is the one thing that takes as long as it takes. What is baked is the object as it stands when
 * the first slice begins, soon after the call. With clips it may be drawn, moved and posed between slices; do not change its
 * geometries, nor take its nodes apart. Motions of your code pose it until the promise settles: until then it may be drawn, as they
 * left it, but do not move, pose or change it.
 *
 * @throws What `bakeVertexCharacter` throws, and the signal's reason when it aborts; also if meshes of the object are being baked
 * already, and motions of code do one of the two.
 *
 * @category Bake
 */
export async function bakeVertexCharacterAsync(
  object: Object3D,
  motion: MotionSource,
  options: BakeVertexCharacterAsyncOptions = {},
): Promise<Character> {
  return ownCharacter(object, await bakeVertexTextureAsync(object, motion, options), options);
}

/**
 * {@link bakeVertexCharacter} without merging the meshes.
 *
 * @category Bake
 */
export function bakeVertexTexture(
  object: Object3D,
  motion: MotionSource,
  options: VertexBakeOptions = {},
): VertexTexture {
  return new VertexTexture(runAll(bakeVertices(object, motion, options)));
}

/**
 * {@link bakeVertexCharacterAsync} without merging the meshes.
 *
 * @category Bake
 */
export async function bakeVertexTextureAsync(
  object: Object3D,
  motion: MotionSource,
  options: VertexBakeAsyncOptions = {},
): Promise<VertexTexture> {
  const steps = bakeVertices(object, motion, options);
  return new VertexTexture(await runInSlices(steps, options));
}

function ownCharacter(object: Object3D, texture: VertexTexture, options: CharacterOptions): Character {
  const character = assembleCharacter(object, texture, options);
  character.made.push(texture);
  return character;
}

const _middle = /*@__PURE__*/ new Vector3();
const _other = /*@__PURE__*/ new Vector3();

/** Poses an object frame by frame, and keeps where its vertices are. */
export function* bakeVertices(
  object: Object3D,
  source: MotionSource,
  options: VertexBakeOptions,
): Steps<VertexTextureData> {
  const { fps = 30, precision = 'half', maxTextureSize = 4096, measure = false } = options;
  // Before the first break, in which others may pose the object. All meshes have joints of their own.
  let most = 0;
  object?.traverse?.(() => most++);
  const flips = Array.from({ length: most }, (_, part) => ({ part, group: part, mirrored: false }));
  const { rig, parts } = collectRig(object, { flips, shareMorphs: false, keepNamesakes: true });
  parts.sort((a, b) => a.node - b.node);
  const poser = new RigPoser({ ...rig, nodes: copyNodes(rig) });
  const { motions, byCode, restore } = planMotions(object, source, { ...options, fps }, poser);
  const endClaim = claim(parts, byCode);
  try {
    const normals = options.normals ?? (byCode ? 'computed' : 'source');
    const sampler = yield* VertexSampler.of(poser, parts, normals, byCode);
    const { vertices, positions } = sampler;
    const store = new FrameStore(vertices, precision);
    yield 0;
    const whole = new Box3();
    const record = function* (where: string, upTo = ''): Steps<{ box: Box3; error: number }> {
      yield* sampler.sample(where);
      const box = new Box3().setFromArray(positions);
      const error = yield* store.add(positions, sampler.normals, box);
      // At once, for what is left may take long.
      layoutVertices(store.stored.length * vertices, maxTextureSize, upTo);
      whole.union(box);
      return { box, error };
    };
    const restBounds = boxToArray((yield* record('The rest pose')).box);
    const errors: VertexTextureData['errors'] = [];
    const clips: BakedClip[] = [];
    const all = motions.reduce((sum, { count }) => sum + count, 0) || 1;
    let start = REST_FRAME + 1;
    layoutFrames(start + all, maxTextureSize);
    for (const { name, duration, count, begin, pose } of motions) {
      const where = `Motion "${name}"`;
      const bounds = new Box3();
      let [stored, between] = [0, 0];
      // The frame before, and the object as it is half-way from that.
      let [last, half] = [positions, positions];
      begin();
      for (let i = 0; i < count; i++) {
        pose(frameTime(i, count, duration));
        const upTo = `, up to frame ${i + 1} of ${count} of motion "${name}",`;
        const { box, error } = yield* record(where, upTo);
        bounds.union(box);
        stored = Math.max(stored, error);
        if (measure && i > 0) between = Math.max(between, yield* distance(half, last, positions));
        if (measure && i < count - 1) {
          last = positions.slice();
          pose(frameTime(i + 0.5, count, duration));
          yield* sampler.sample(where);
          half = positions.slice();
        }
        yield (start + i) / (all + 1);
      }
      errors.push({ clip: name, stored, between: measure && count > 1 ? between : null });
      clips.push(bakedClip({ name, start, count, duration }, bounds));
      start += count;
    }

    const size = Math.max(...whole.getSize(new Vector3()).toArray()) || 1;
    for (const error of errors) {
      error.stored /= size;
      if (error.between !== null) error.between /= size;
    }
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

/** The largest distance of vertices from the middle between two others. */
function* distance(positions: Float32Array, a: Float32Array, b: Float32Array): Steps<number> {
  let most = 0;
  yield* inRuns(positions.length / 3, (start, end) => {
    for (let i = start * 3; i < end * 3; i += 3) {
      _middle.fromArray(a, i).add(_other.fromArray(b, i)).multiplyScalar(0.5);
      most = Math.max(most, _middle.distanceToSquared(_other.fromArray(positions, i)));
    }
  });
  return Math.sqrt(most);
}

const _floats = /*@__PURE__*/ new Float32Array(3);
const _steps = /*@__PURE__*/ new Uint32Array(3);
const _bits = /*@__PURE__*/ (() => new Uint32Array(_floats.buffer))();

/** The largest number of 16 bits. */
const STEPS = 65535;

/** Encodes frames, and keeps those that differ. */
class FrameStore {
  /** Which of the stored frames each is. */
  readonly frames: number[] = [];
  /** Texels of each stored frame. */
  readonly stored: Uint32Array[] = [];
  /** Six numbers for each: see `VertexTextureData.boxes`. */
  readonly boxes: number[] = [];
  private readonly byHash = new Map<number, number[]>();
  private next: Uint32Array;

  constructor(
    private readonly vertices: number,
    private readonly precision: Precision,
  ) {
    this.next = new Uint32Array(vertices * WORDS[precision]);
  }

  /**
   * Adds a frame.
   *
   * @param normals Null if there are none.
   * @param around The box around all positions.
   * @returns How far the farthest position is from where it is stored.
   */
  *add(positions: Float32Array, normals: Float32Array | null, { min, max }: Box3): Steps<number> {
    const { next, stored } = this;
    const sides = max.clone().sub(min).toArray();
    const isHalf = this.precision === 'half';
    const box = isHalf
      ? [...min.toArray(), ...sides.map((side) => Math.fround(side / STEPS))]
      : [0, 0, 0, 0, 0, 0];
    const words = WORDS[this.precision];
    let error = 0;
    // FNV-1a, word by word.
    let hash = 0x811c9dc5;
    yield* inRuns(this.vertices, (start, end) => {
      error = Math.max(error, this.encode(positions, normals, box, start, end));
      for (let i = start * words; i < end * words; i++) hash = Math.imul(hash ^ next[i], 0x01000193);
    });
    const alike = this.byHash.get(hash) ?? [];
    const isSame = (other: number) =>
      box.every((value, i) => value === this.boxes[other * 6 + i]) &&
      stored[other].every((word, i) => word === next[i]);
    const known = alike.find(isSame);
    this.frames.push(known ?? stored.length);
    if (known === undefined) {
      this.byHash.set(hash, [...alike, stored.length]);
      this.boxes.push(...box);
      stored.push(next);
      yield 0;
      this.next = new Uint32Array(next.length);
    }
    yield 0;
    return error;
  }

  /** @returns The largest error. */
  private encode(
    positions: Float32Array,
    normals: Float32Array | null,
    box: readonly number[],
    start: number,
    end: number,
  ): number {
    const { next, precision } = this;
    let most = 0;
    for (let vertex = start, at = start * 3; vertex < end; vertex++, at += 3) {
      const normal =
        normals === null ? 0 : packNormal(normals[at], normals[at + 1], normals[at + 2], precision);
      if (precision === 'float') {
        for (let i = 0; i < 3; i++) _floats[i] = positions[at + i];
        next.set(_bits, vertex * 4);
        next[vertex * 4 + 3] = normal;
        continue;
      }
      let square = 0;
      for (let i = 0; i < 3; i++) {
        _steps[i] = toSteps(positions[at + i], box[i], box[i + 3]);
        square += (box[i] + box[i + 3] * _steps[i] - positions[at + i]) ** 2;
      }
      most = Math.max(most, square);
      next[vertex * 2] = _steps[0] | (_steps[1] << 16);
      next[vertex * 2 + 1] = _steps[2] | (normal << 16);
    }
    return Math.sqrt(most);
  }
}

function toSteps(value: number, least: number, step: number): number {
  return step > 0 ? Math.min(Math.max(Math.round((value - least) / step), 0), STEPS) : 0;
}
