import type { BufferGeometry, Object3D } from 'three';
import { ownInstanced } from '../backends/ownInstanced.js';
import { type Simplified, type Simplifier, simplifyGeometry } from '../character/simplifyGeometry.js';
import { Crowd } from '../crowd/Crowd.js';
import { checkAreOptions, checkOptions, isWithin } from '../utils/checkOptions.js';
import { describe } from '../utils/describe.js';
import { guardedLevel, LEVEL_CHECKS, type Level } from '../views/Level.js';
import { createLevel, type LevelOptions } from './createLevel.js';
import { EditableMesh } from './EditableMesh.js';
import { LevelMesh, type LevelNumbers } from './LevelMesh.js';
import { OwnedResources } from './OwnedResources.js';

const NAME = 'SkinnedInstancedMesh';

/**
 * From where on a level of detail is drawn: a distance in world units as in three.js's `LOD`, or a share of the height of the
 * picture, below which an instance is small enough for it.
 */
export type LevelStart = number | LevelShare;

/** Where a level begins, by size. */
export interface LevelShare {
  /** Of the height of the picture, above 0. */
  screenShare: number;
}

/** A level of detail that `addSimplifiedLevels` makes: either `distance` or `screenShare` says where it begins. */
export interface SimplifiedLevelOptions extends LevelOptions {
  /** Share of the crowd's triangles that shall be left: above 0, up to 1. */
  ratio: number;
  /** World units from the camera. */
  distance?: number;
  /** Share of the height of the picture. */
  screenShare?: number;
  /** See `addLevel`. @default 0 */
  hysteresis?: number;
}

/** What `addSimplifiedLevels` tells of a level that it made. */
export interface SimplifiedLevel extends Omit<Simplified, 'geometry' | 'vertices'> {
  /** What draws it. */
  level: LevelMesh;
}

/** A crowd that is drawn in less detail where it is far away. */
export abstract class LeveledMesh extends EditableMesh {
  /** Is itself what is drawn near the camera. @internal */
  override get level(): number {
    return 0;
  }

  /** The levels of detail from near to far. The first is the crowd itself. */
  get levels(): readonly Level[] {
    const { levels } = this.crowd;
    if (levels.levels[0].object !== this) levels.begin(this);
    return levels.levels;
  }

  /**
   * By how many levels shadow maps are coarser than what the camera sees. They are never so coarse that nothing is drawn.
   * @default 0
   */
  get shadowLevel(): number {
    return this.crowd.levels.shadowLevel;
  }

  /** Takes effect in the next frame. */
  set shadowLevel(value: number) {
    if (!(Number.isInteger(value) && value >= 0)) {
      throw new Error(`${NAME}.shadowLevel: ${value} is no number of levels; use 0, 1, 2, ….`);
    }
    this.crowd.levels.shadowLevel = value;
  }

  /**
   * Share of a level's distance over which instances fade into it, before it begins: with 0.1 and a level at 50, from 45 on. Both
   * levels are drawn there, each at some of the instance's pixels, more and more of them at the coarser one, in a pattern that
   * stands still on the screen; a last level of nothing fades instances out. There is no memory in it, so that `hysteresis` is not
   * used; how far an instance has faded goes by its distance from each camera, and by how much sooner `maxTriangles` lets levels
   * begin. Shadow maps take the one level or the other, from half way on the coarser. There are 64 steps; where the CPU makes the
   * lists, 32 with a capacity above 131,072, half of that each time it doubles, and none above 4,194,304.
   *
   * @default 0
   */
  get levelFade(): number {
    return this.crowd.levels.fade;
  }

  /** @throws If it is no share, 0 to 1. Going from 0 or to it compiles the materials anew. */
  set levelFade(value: number) {
    if (!isWithin(value, 1)) {
      throw new Error(`${NAME}.levelFade: ${describe(value)} is no share of a distance; use 0 to 1.`);
    }
    this.crowd.levels.fade = value;
    this.prepareDraw();
  }

  /**
   * Draws instances in another geometry from a distance on, as three.js's `LOD` does with objects. Instances keep all they
   * have: their poses, also in the middle of fades, colours, parts, morph influences. Rays still hit the crowd's own geometry.
   *
   * @param character What holds the meshes of the level, e.g. `gltf.scene` of another file, or one node of it. Its joints are
   * found by name, in whatever order, and its meshes are the parts of the same names; a part that it has no mesh for is not
   * drawn. Or a geometry for the joints of the crowd's bone texture. It is copied.
   * @param start Where the level begins. All levels of a crowd go by distance, or all by size.
   * @param hysteresis By which share of the distance an instance must come nearer again before the level before is drawn, so
   * that levels do not flicker. 0 to 1. Not used where levels fade, see `levelFade`.
   * @returns The mesh that draws the level, a child of this one.
   * @throws If a joint or part is none of the crowd's, a number is out of range, or there are too many levels.
   */
  addLevel(
    character: Object3D | BufferGeometry,
    start: LevelStart,
    hysteresis?: number,
    options?: LevelOptions,
  ): LevelMesh;
  /** From there on nothing is drawn: no instances, no shadows, nothing attached. */
  addLevel(character: null, start: LevelStart, hysteresis?: number, options?: LevelOptions): null;
  addLevel(
    character: Object3D | BufferGeometry | null,
    start: LevelStart,
    hysteresis = 0,
    options: LevelOptions = {},
  ): LevelMesh | null {
    const caller = `${NAME}.addLevel`;
    const numbers = checkLevel(start, hysteresis, options, caller);
    this.crowd.levels.check(numbers.screenShare, caller);
    if (character === null) {
      this.crowd.levels.add(guardedLevel({ object: null, ...numbers }));
      return null;
    }
    const { geometry, material, owned } = createLevel(this, character, options, caller);
    checkInstanced(this.geometry, caller);
    checkInstanced(geometry, caller);
    const { boneTexture, interpolate } = this;
    const influences = options.influences ?? this.influences;
    const shadowInfluences = options.shadowInfluences ?? options.influences ?? this.shadowInfluences;
    const drawn = { influences, shadowInfluences, interpolate };
    const crowd = new Crowd(boneTexture, 0);
    const level = new LevelMesh(geometry, material, crowd, drawn, numbers, new OwnedResources(owned));
    level.name = this.name;
    level.castShadow = options.castShadow ?? this.castShadow;
    level.receiveShadow = options.receiveShadow ?? this.receiveShadow;
    level.renderOrder = this.renderOrder;
    level.layers.mask = this.layers.mask;
    level.attachTo(this);
    this.add(level);
    return level;
  }

  /**
   * A geometry of fewer triangles, by meshoptimizer's simplifier, which your page brings along:
   * `import { MeshoptSimplifier } from 'meshoptimizer'`, and `await MeshoptSimplifier.ready`. Vertices are some of those that
   * there were, with joints, weights and all other attributes; parts and groups for materials stay.
   *
   * @param ratio Share of the triangles that shall be left, above 0 and up to 1. There are more if the simplifier finds no way.
   * @throws If the ratio is out of range, or the simplifier is none or not ready.
   */
  static simplify(geometry: BufferGeometry, ratio: number, simplifier: Simplifier): Simplified {
    return simplifyGeometry(geometry, ratio, simplifier, `${NAME}.simplify`);
  }

  /**
   * Makes levels of detail of the crowd's own geometry, see {@link LeveledMesh.simplify}, and adds them.
   *
   * ```ts
   * crowd.addSimplifiedLevels(MeshoptSimplifier, [
   *   { ratio: 0.3, distance: 20 },
   *   { ratio: 0.05, distance: 60, influences: 1 },
   * ]);
   * ```
   *
   * @returns For each the mesh, how many triangles are left, and by how much they are off.
   * @throws What `simplify` and `addLevel` throw. Then no level was added.
   */
  addSimplifiedLevels(simplifier: Simplifier, levels: readonly SimplifiedLevelOptions[]): SimplifiedLevel[] {
    const caller = `${NAME}.addSimplifiedLevels`;
    if (!Array.isArray(levels)) {
      throw new Error(`${caller}: levels is ${describe(levels)}; pass an array of { ratio, distance }.`);
    }
    const made = (levels as readonly SimplifiedLevelOptions[]).map((options, i) => {
      checkAreOptions(options, caller, `levels[${i}]`);
      const { ratio, distance = Number.NaN, screenShare, hysteresis = 0 } = options;
      const start = screenShare === undefined ? distance : { screenShare };
      const numbers = checkLevel(start, hysteresis, options, caller);
      this.crowd.levels.check(numbers.screenShare, caller, levels.length);
      return { start, hysteresis, options, ...simplifyGeometry(this.geometry, ratio, simplifier, caller) };
    });
    return made.map(({ geometry, start, hysteresis, options, error, triangles }) => {
      const level = this.addLevel(geometry, start, hysteresis, options);
      geometry.dispose();
      return { level, error, triangles };
    });
  }

  /**
   * Removes a level and disposes its mesh; instances are then drawn at the level before.
   *
   * @param level The level's mesh, or one of `levels`, or where it begins, as `LOD.removeLevel` takes it.
   * @returns Whether there was such a level. Level 0, which is the crowd itself, stays.
   */
  removeLevel(level: LevelMesh | Level | number): boolean {
    const found = this.levels.find((one, i) => {
      return i > 0 && (one === level || one.object === level || (one.screenShare ?? one.distance) === level);
    });
    if (found === undefined) return false;
    if (found.object === null) this.crowd.levels.remove(found);
    else (found.object as LevelMesh).dispose();
    return true;
  }

  /** @internal */
  override geometryReplaced(source: BufferGeometry): void {
    super.geometryReplaced(source);
    for (const { object } of this.crowd.levels.levels) {
      if (object instanceof LevelMesh) object.fitMorphs();
    }
  }

  override copy(source: this, recursive = true): this {
    if (source === this) return this;
    this.crowd.checkBoneTexture(source.boneTexture, `${NAME}.copy`, this);
    for (const level of this.levels.slice(1)) this.removeLevel(level);
    super.copy(source, recursive);
    this.shadowLevel = source.shadowLevel;
    this.levelFade = source.levelFade;
    this.levels[0].poseRate = source.levels[0].poseRate;
    if (recursive) {
      for (const level of source.levels)
        if (level.object === null) this.crowd.levels.add(guardedLevel(level));
    }
    return this;
  }
}

/** @throws If a geometry has an instanced attribute of the user's, of which each level would read the first values. */
function checkInstanced(geometry: BufferGeometry, caller: string): void {
  const own = ownInstanced(geometry);
  if (own === null) return;
  throw new Error(
    `${caller}: the instanced attribute "${own}" of your own is read by the index at which an instance is drawn, which is another one at each level; ` +
      'read it from a texture by instanceIndex() in your shader instead.',
  );
}

/** @throws If a number is out of range. */
function checkLevel(
  start: LevelStart,
  hysteresis: number,
  options: LevelOptions,
  caller: string,
): LevelNumbers {
  checkAreOptions(options, caller);
  const { poseRate = 0, attachments = true } = options;
  const numbers = { hysteresis, poseRate, attachments };
  checkOptions(numbers, LEVEL_CHECKS, caller);
  if (typeof start === 'number') {
    if (Number.isFinite(start)) return { ...numbers, distance: Math.abs(start), screenShare: null };
    throw new Error(`${caller}: the distance is ${start}; use a finite number.`);
  }
  if (typeof start !== 'object' || start === null) {
    throw new Error(`${caller}: start is ${describe(start)}; use a distance, or { screenShare }.`);
  }
  const { screenShare } = start;
  if (screenShare > 0 && Number.isFinite(screenShare)) return { ...numbers, distance: 0, screenShare };
  throw new Error(`${caller}: screenShare is ${screenShare}; use a share of the picture's height above 0.`);
}
