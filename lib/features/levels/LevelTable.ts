import { Box3, type BufferGeometry, type Camera, type Matrix4, type Object3D, Sphere, Vector3 } from 'three';
import type { BoneTexture } from '../../animation/BoneTexture.js';
import { expandByArray } from '../../animation/jointBoxes.js';
import { carry, restMatrices } from '../../character/crowdGeometry.js';
import { FADE_STEPS, FADING, ID_MASK, LEVEL_MASK, MAX_LEVELS } from '../../constants.js';
import type { SkinnedInstancedMesh } from '../../crowd/SkinnedInstancedMesh.js';
import type { KindSplitter, ListNumber, LODSelector } from '../../culling/LODSelector.js';
import { SplitLists } from '../../culling/SplitLists.js';
import { plainArray } from '../../utils/geometries.js';
import { CameraLevels, SeenLevels } from './CameraLevels.js';

/** A level of detail of a crowd, as `LOD.levels` has them. The numbers may be changed at any time. */
export interface Level {
  /** What is drawn: the crowd for level 0, else what `add` returned; null where nothing is drawn. */
  readonly object: Object3D | null;
  /** World units from the camera to the instance, divided by the camera's zoom, from which on the level is drawn. */
  distance: number;
  /**
   * Where levels go by size: share of the height of the picture that the character, as it stands at rest, takes at the instance's
   * scale, 0 to 1, below which the level is drawn. Null where they go by distance.
   */
  screenShare: number | null;
  /**
   * By how much of the distance an instance must come nearer again before the level before is drawn: 0 to 1. Not used while levels
   * fade.
   */
  hysteresis: number;
  /**
   * Poses a second of instances at this level; 0 for one in every frame. Where several cameras see an instance, the highest of
   * their levels' rates holds, and the lower of that and the instance's own.
   */
  poseRate: number;
  /** Whether what is attached to joints is drawn at this level. Behind a level at which it is not, it is not either. */
  attachments: boolean;
}

/** A level that begins farther away is never reached: squares of larger distances are no numbers of 32 bits. */
const FARTHEST = 1e18;

/** What lies flat counts as this high, as a share of how long it is. */
const FLAT = 0.1;

const _box = /*@__PURE__*/ new Box3();
const _sphere = /*@__PURE__*/ new Sphere();
const _vector = /*@__PURE__*/ new Vector3();

/** The levels of detail of a crowd: from where on each is drawn. The first is the crowd's own mesh. */
export class LevelTable implements LODSelector {
  /** Level by which shadow maps are coarser than what the camera sees. */
  shadowLevel = 0;
  /** Share of a level's distance over which instances pass over to it, before it begins; 0 if they do at once. */
  dissolve = 0;

  /**
   * For each level the squared distance from which on it is drawn. Where levels go by size, distances are in half heights of the
   * instance on a screen whose height is 2 at a distance of 1, so that both are compared alike.
   */
  readonly enter: Float32Array = new Float32Array(MAX_LEVELS + 1);
  /** The same for instances that are at this level already. */
  readonly stay: Float32Array = new Float32Array(MAX_LEVELS + 1);

  /** For each level the distance from which on instances pass over to it, and by how many steps in a unit: 0 for none. */
  readonly fadeStart: Float32Array = new Float32Array(MAX_LEVELS + 1);
  readonly fadeRate: Float32Array = new Float32Array(MAX_LEVELS + 1);

  /**
   * The level that is drawn at the start of each level: the level itself or, where levels fade, a coarser one that starts at the
   * same distance.
   */
  readonly reached: Uint8Array = new Uint8Array(MAX_LEVELS + 1);

  /** For each level its poses a second, as numbers that shaders can hold; 0 for one in every frame. */
  readonly poseRates: Float32Array = new Float32Array(MAX_LEVELS);

  /** Goes up when `update` finds that something has changed. */
  version = 0;

  private updated: readonly Level[] | null = null;
  private updatedShadow = 0;
  /** From near to far. A new array at each change. */
  levels: readonly Level[];
  /** How high the character stands, and of what that was measured. */
  private height = 0;
  private measured: [BufferGeometry, BoneTexture] | null = null;
  /** Levels as each camera sees them that shows the crowd, and not only its shadow. */
  private readonly chosen = new WeakMap<Camera, CameraLevels>();

  /** @param listOf See `LODSelector`. */
  constructor(
    private readonly crowd: SkinnedInstancedMesh,
    readonly listOf: (mesh: object) => ListNumber,
  ) {
    this.levels = [
      { object: crowd, distance: 0, screenShare: null, hysteresis: 0, poseRate: 0, attachments: true },
    ];
  }

  get count(): number {
    return this.levels.length;
  }

  /** Whether there are other levels than the crowd's own mesh. */
  get isUsed(): boolean {
    return this.levels.length > 1;
  }

  /**
   * Whether instances pass over from level to level.
   *
   * @param capacity The most instances there can be: where their ids are too large, entries of lists have room for nothing else.
   */
  fadesFor(capacity: number): boolean {
    return this.isUsed && this.dissolve > 0 && capacity <= ID_MASK;
  }

  /** The level to which instances pass over from a level that they are at: the next one that is ever drawn. */
  nextTo(level: number): number {
    return this.reached[level + 1];
  }

  /** Whether levels go by the share of the picture's height. */
  get byScreen(): boolean {
    return this.isUsed && this.levels[1].screenShare !== null;
  }

  /** Half the height of the character as it stands at rest, in radii of the sphere around all of its poses. */
  get halfHeight(): number {
    const { geometry, boneTexture, crowd } = this.crowd;
    if (this.measured?.[0] !== geometry || this.measured[1] !== boneTexture) {
      this.measured = [geometry, boneTexture];
      const { x, y, z } = boxAtRest(geometry, boneTexture, _box).getSize(_vector);
      this.height = Math.max(y, FLAT * x, FLAT * z);
    }
    const { radius } = crowd.boundsOfPoses(_box).getBoundingSphere(_sphere);
    return this.height > 0 && radius > 0 && radius < Infinity ? this.height / 2 / radius : 1;
  }

  /** Whether instances at any level are posed less often than frames are drawn. Brings `poseRates` up to date. */
  get hasPoseRates(): boolean {
    const { levels, poseRates } = this;
    let some = false;
    for (let i = 0; i < levels.length; i++) {
      poseRates[i] = levels[i].poseRate;
      if (!(poseRates[i] > 0 && poseRates[i] < Infinity)) poseRates[i] = 0;
      else some = true;
    }
    return some;
  }

  /** The levels at which what is attached is drawn: bit `1 << level`. */
  get attachedLevels(): number {
    const { levels } = this;
    let bits = 0;
    for (let i = 0; i < levels.length && levels[i].attachments; i++) if (this.hasContent(i)) bits |= 1 << i;
    return bits;
  }

  /** The levels at which anything is drawn: bit `1 << level`. */
  get drawnLevels(): number {
    let bits = 0;
    for (let i = 0; i < this.count; i++) if (this.hasContent(i)) bits |= 1 << i;
    return bits;
  }

  measure(): CameraLevels {
    return new CameraLevels();
  }

  listsFor(capacity: number, kinds: KindSplitter | null): SplitLists {
    return new SplitLists(capacity, this, new SeenLevels(capacity, this), kinds);
  }

  /** At which level a camera sees each instance. */
  chosenFor(lodCamera: Camera, matrixWorld: Matrix4, capacity: number): CameraLevels {
    let chosen = this.chosen.get(lodCamera);
    if (chosen === undefined) {
      chosen = new CameraLevels();
      this.chosen.set(lodCamera, chosen);
    }
    chosen.update(this, lodCamera, matrixWorld, capacity);
    return chosen;
  }

  /** Adds a level behind those that are as far or nearer. */
  add(level: Level): void {
    const { levels } = this;
    const place = levels.findIndex((other, i) => i > 0 && startOf(other) > startOf(level));
    const at = place < 0 ? levels.length : place;
    this.levels = [...levels.slice(0, at), level, ...levels.slice(at)];
  }

  remove(level: Level): void {
    this.levels = this.levels.filter((other) => other !== level);
  }

  /** Number of the level that an object draws, -1 if it draws none. */
  indexOf(object: Object3D): number {
    const { levels } = this;
    for (let i = 0; i < levels.length; i++) if (levels[i].object === object) return i;
    return -1;
  }

  /** Whether anything is drawn at a level. */
  hasContent(level: number): boolean {
    return level === 0 || (level < this.count && this.levels[level].object !== null);
  }

  /** Whether instances at a level have to be posed. */
  isPosed(level: number): boolean {
    return this.hasContent(level) && (this.levels[level].object as { isPosed?: boolean }).isPosed !== false;
  }

  /**
   * The level in shadow maps of an instance that the camera sees at a level: coarser by `shadowLevel`, but never so coarse
   * that nothing is drawn, unless the camera sees nothing either.
   */
  inShadow(level: number): number {
    if (!this.hasContent(level)) return level;
    let shadow = Math.min(level + this.shadowLevel, this.count - 1);
    while (shadow > level && !this.hasContent(shadow)) shadow--;
    return shadow;
  }

  /**
   * Poses a second of an instance at a level, see `poseRates`: the higher of both where it is passing over.
   *
   * @param code The level at which the camera sees it, with `FADING` if it is passing over.
   * @param inShadow Whether it is drawn into a shadow map.
   */
  poseRateOf(code: number, inShadow: boolean): number {
    const level = code & LEVEL_MASK;
    if (level >= this.count) return 0;
    const rate = this.poseRates[inShadow ? this.inShadow(level) : level];
    if (code < FADING) return rate;
    const next = this.poseRateOf(this.nextTo(level), inShadow);
    return rate === 0 || next === 0 ? 0 : Math.max(rate, next);
  }

  /**
   * Brings `enter`, `stay` and what fades up to what the levels are now.
   *
   * @returns `version`.
   */
  update(): number {
    const { levels, updated, enter, stay, dissolve, fadeStart, fadeRate } = this;
    let same = updated === levels && this.updatedShadow === this.shadowLevel;
    this.updated = levels;
    this.updatedShadow = this.shadowLevel;
    let before = 0;
    for (let i = 1; i < levels.length; i++) {
      // One that cannot be drawn yet is passed over.
      const next =
        (levels[i].object as { isReady?: boolean } | null)?.isReady === false ? levels[i + 1] : levels[i];
      const start = next === undefined ? Infinity : startOf(next);
      // Where levels fade into each other, there is nothing that could flicker.
      const back = dissolve > 0 || start === Infinity ? start : start - start * levels[i].hysteresis;
      // Three levels at once cannot be drawn: the levels before have to be there wholly first.
      const begin = Math.max(start - start * dissolve, before);
      const rate = dissolve > 0 && begin < start ? FADE_STEPS / (start - begin) : 0;
      const from = rate > 0 ? begin : 0;
      before = Math.max(before, start);
      same &&=
        enter[i] === Math.fround(start * start) &&
        stay[i] === Math.fround(back * back) &&
        fadeStart[i] === Math.fround(from) &&
        fadeRate[i] === Math.fround(rate);
      enter[i] = start * start;
      stay[i] = back * back;
      fadeStart[i] = from;
      fadeRate[i] = rate;
    }
    if (same) return this.version;
    enter.fill(Infinity, levels.length);
    stay.fill(Infinity, levels.length);
    fadeStart.fill(0, levels.length);
    fadeRate.fill(0, levels.length);
    const { reached } = this;
    for (let i = 0; i <= MAX_LEVELS; i++) {
      let at = i;
      while (dissolve > 0 && at + 1 < levels.length && enter[at + 1] <= enter[i]) at++;
      reached[i] = at;
    }
    return ++this.version;
  }
}

/** Where a level starts, in the measure that all levels of its table have; at infinity if that is nowhere. */
function startOf({ distance, screenShare }: Level): number {
  const start = screenShare === null ? distance : 1 / screenShare;
  return start < FARTHEST ? start : Infinity;
}

/** Box around the vertices in the rest pose. */
function boxAtRest(geometry: BufferGeometry, boneTexture: BoneTexture, target: Box3): Box3 {
  target.makeEmpty();
  if (boneTexture.binding !== null) {
    expandByArray(target, boneTexture.data.restBounds);
    return target;
  }
  const { position, skinIndex, skinWeight } = geometry.attributes;
  const points = Float32Array.from(plainArray(position, 3));
  const skin = { joints: plainArray(skinIndex, 4), shares: plainArray(skinWeight, 4) };
  carry(points, skin, restMatrices(boneTexture), 1);
  for (let at = 0; at < points.length; at += 3)
    if (!Number.isNaN(points[at + 1])) target.expandByPoint(_vector.fromArray(points, at));
  return target;
}
