import type { BufferGeometry, Material } from 'three';
import { ALL_LEVELS, type Influences, MAX_LEVELS } from '../../constants.js';
import type { Crowd } from '../../core/Crowd.js';
import type { CrowdFeature, FeaturedCrowd } from '../../core/CrowdFeature.js';
import { refuseInstanced } from '../../core/drawnCrowds.js';
import type { AttachedMesh, CrowdMesh } from '../../crowd/CrowdMesh.js';
import type { SkinnedInstancedMesh } from '../../crowd/SkinnedInstancedMesh.js';
import type { ListNumber } from '../../culling/LODSelector.js';
import { isWithin } from '../../utils/messages.js';
import type { JointAttachment } from '../attachments/JointAttachment.js';
import type { KindMesh } from '../kinds/CrowdKinds.js';
import { LevelMesh } from './LevelMesh.js';
import { type Level, LevelTable } from './LevelTable.js';

const NAME = 'CrowdLevels';

/**
 * From where on a level of detail is drawn: a distance in world units as in three.js's `LOD`, or a share of the height of the
 * picture: where the character, as it stands at rest and at the instance's scale, takes less of it.
 */
export type LevelStart =
  | number
  | {
      /** 0 to 1. */
      screenShare: number;
    };

/** A geometry with its material, as `createLevel` makes it of an object. */
export interface LevelSource {
  /** Skinned to the joints of the crowd. */
  geometry: BufferGeometry;
  /** One, or one for each group of the geometry. */
  material: Material | Material[];
}

/** Makes a level that is drawn in a way of its own, such as `Impostor`. */
export interface LevelMaker<M extends LevelMesh = LevelMesh> {
  /** Called by `CrowdLevels.add`. */
  createMesh(crowd: SkinnedInstancedMesh): M;
}

/** How a level of detail is drawn. */
export interface LevelOptions {
  /**
   * By which share of the distance an instance must come nearer again before the level before is drawn, so that levels do not
   * flicker. 0 to 1. Not used where levels fade. @default 0
   */
  hysteresis?: number;
  /** One material, or one for each group of the geometry. @default that of the level, or the crowd's for a geometry */
  material?: Material | Material[];
  /** Joints that a vertex follows at most. @default those of the crowd */
  influences?: Influences;
  /** The same in shadow maps. @default the crowd's, or `influences` if that is given */
  shadowInfluences?: Influences;
  /**
   * Poses a second of instances at this level, which are spread evenly over frames; 0 for one in every frame. One that moves or comes
   * nearer is posed at once. Of this and `setPoseRateAt`, the lower rate holds; where several cameras see an instance, the
   * highest of their levels'. `levels[0].poseRate` is that of the crowd itself. @default 0
   */
  poseRate?: number;
  /** Whether what is attached to joints is drawn at this level, and at those behind it. @default true */
  attachments?: boolean;
  /** Whether instances at this level cast shadows. @default as the crowd */
  castShadow?: boolean;
  /** Whether they receive shadows. @default as the crowd */
  receiveShadow?: boolean;
}

/** How a level of an attachment is drawn. */
export type AttachmentLevelOptions = Pick<LevelOptions, 'material' | 'castShadow' | 'receiveShadow'>;

/** How instances pass over from level to level. */
export interface CrowdLevelsOptions {
  /** See {@link CrowdLevels.dissolve}. @default 0 */
  dissolve?: number;
  /** See {@link CrowdLevels.shadowLevel}. @default 0 */
  shadowLevel?: number;
}

/**
 * Levels of detail of a crowd: instances are drawn in other geometries where they are far away, as three.js's `LOD` does with
 * objects. They keep all they have: their poses, also in the middle of fades, colours, parts, morph influences. Rays still hit
 * the crowd's own geometry.
 *
 * ```ts
 * const levels = new CrowdLevels(crowd, { dissolve: 0.1 });
 * levels.add(simplifyGeometry(crowd.geometry, 0.3, MeshoptSimplifier).geometry, 20);
 * levels.add(createLevel(crowd, far.scene), 60, { influences: 1, poseRate: 15 });
 * levels.add(null, 200);
 * ```
 *
 * @category See
 */
export class CrowdLevels implements CrowdFeature {
  private readonly table: LevelTable;

  /** @throws If the crowd has levels already. */
  constructor(
    /** The crowd that has the levels. */
    readonly crowd: SkinnedInstancedMesh,
    { dissolve = 0, shadowLevel = 0 }: CrowdLevelsOptions = {},
  ) {
    this.table = new LevelTable(crowd, (mesh) => this.listOf(mesh as CrowdMesh));
    crowd.use(this);
    this.dissolve = dissolve;
    this.shadowLevel = shadowLevel;
    crowd.views.splitter = this.table;
    crowd.prepareDraw();
  }

  /** From near to far. The first is the crowd itself. */
  get levels(): readonly Level[] {
    return this.table.levels;
  }

  /**
   * By how many levels shadow maps are coarser than what the camera sees. They are never so coarse that nothing is drawn.
   * @default 0
   */
  get shadowLevel(): number {
    return this.table.shadowLevel;
  }

  /** Takes effect in the next frame. */
  set shadowLevel(value: number) {
    if (!(Number.isInteger(value) && value >= 0))
      throw new Error(`${NAME}: shadowLevel is ${value}; use 0, 1, 2, ….`);
    this.table.shadowLevel = value;
  }

  /**
   * Share of a level's distance over which instances fade into it, before it begins: with 0.1 and a level at 50, from 45 on. Both
   * levels are drawn there, each at some of the instance's pixels, more and more of them at the coarser one, in a pattern that
   * stands still on the screen; a last level of nothing fades instances out. The fade depends on the present
   * distance from each camera alone, and on how much nearer `maxTriangles` has moved the levels, so `hysteresis` is ignored. Shadow maps take the one level or the other, from half way on the coarser. There are 64 steps; where the CPU makes the
   * lists, 32 with a capacity above 131,072, half of that each time it doubles, and none above 4,194,304.
   *
   * @default 0
   */
  get dissolve(): number {
    return this.table.dissolve;
  }

  /** @throws If it is no share, 0 to 1. Going from 0 or to it compiles the materials anew. */
  set dissolve(value: number) {
    checkShare('dissolve', value);
    this.table.dissolve = value;
    this.crowd.prepareDraw();
  }

  /**
   * Draws instances in another geometry from a distance on.
   *
   * @param source A geometry for the joints of the crowd's bone texture, which is copied; or what `createLevel(crowd, object)`
   * makes of the meshes under an object.
   * @param start Where the level begins. All levels of a crowd go by distance, or all by size.
   * @returns The mesh that draws the level, a child of the crowd.
   * @throws If a number is out of range, or there are too many levels.
   *
   * @example
   * ```ts
   * levels.add(farGeometry, { screenShare: 0.1 }, { influences: 1, castShadow: false, poseRate: 15 });
   * ```
   */
  add(source: BufferGeometry | LevelSource, start: LevelStart, options?: LevelOptions): LevelMesh;
  /** From there on nothing is drawn: no instances, no shadows, nothing attached. */
  add(source: null, start: LevelStart, options?: LevelOptions): null;
  /**
   * From there on instances are impostors. What is attached to joints is not drawn there.
   *
   * @example
   * ```ts
   * levels.add(new Impostor({ clips: ['Idle', 'Walk'] }), { screenShare: 0.03 }, { hysteresis: 0.1 });
   * ```
   */
  add<M extends LevelMesh>(source: LevelMaker<M>, start: LevelStart, options?: LevelOptions): M;
  add(
    source: BufferGeometry | LevelSource | null,
    start: LevelStart,
    options?: LevelOptions,
  ): LevelMesh | null;
  add(
    source: BufferGeometry | LevelSource | LevelMaker | null,
    start: LevelStart,
    options: LevelOptions = {},
  ): LevelMesh | null {
    const { crowd, table } = this;
    const maker = (source as LevelMaker | null)?.createMesh === undefined ? null : (source as LevelMaker);
    const { hysteresis = 0, poseRate = 0 } = options;
    // Nobody is posed for what is made so.
    const attachments = maker === null && options.attachments !== false;
    const from = startOf(start);
    checkShare('hysteresis', hysteresis);
    if (table.count === MAX_LEVELS)
      throw new Error(`${NAME}: there can be ${MAX_LEVELS} levels, the crowd itself included.`);
    if (table.isUsed && table.byScreen !== (from.screenShare !== null)) {
      const [has, is] = table.byScreen ? ['screenShare', 'distance'] : ['distance', 'screenShare'];
      throw new Error(`${NAME}: the crowd's other levels go by ${has}, this one by ${is}; use one for all.`);
    }
    let object: LevelMesh | null = null;
    if (maker !== null) {
      object = maker.createMesh(crowd);
      setShadows(object, options);
    } else if (source !== null) {
      object = meshOf(crowd, source as LevelSource, options);
    }
    this.insert({ object, ...from, hysteresis, poseRate, attachments });
    return object;
  }

  /**
   * Draws another geometry in the place of an attachment, or nothing, where the crowd is drawn at a level of detail or behind it. It
   * follows the same joint with the same offset. Rays still hit the attachment.
   *
   * ```ts
   * levels.add(coarseBody, 20);
   * levels.add(coarserBody, 60);
   * levels.addToAttachment(sword, coarseSword, 1);
   * levels.addToAttachment(sword, null, 2);
   * ```
   *
   * @param geometry In the space of the attachment's first one; it is copied. Null for nothing.
   * @param from Number of the crowd's level from which on it is drawn, 1 or more; such a level may be added later.
   * @returns The mesh that draws it, a child of the attachment; `dispose` removes it.
   * @throws If there can be no such level.
   */
  addToAttachment(
    attachment: JointAttachment,
    geometry: BufferGeometry,
    from: number,
    options?: AttachmentLevelOptions,
  ): LevelMesh;
  addToAttachment(attachment: JointAttachment, geometry: null, from: number): null;
  addToAttachment(
    attachment: JointAttachment,
    geometry: BufferGeometry | null,
    from: number,
    options: AttachmentLevelOptions = {},
  ): LevelMesh | null {
    const bound = geometry && attachment.bound(geometry);
    const level = this.addTo(attachment, bound, from, { ...options, influences: 1 });
    bound?.dispose();
    return level;
  }

  /**
   * Draws another geometry in the place of a kind's, or nothing, where the crowd is drawn at a level of detail or behind it. Where a
   * kind has none, it is drawn in its own geometry at all levels of the crowd that draw something.
   *
   * ```ts
   * levels.add(simplifyGeometry(crowd.geometry, 0.3, MeshoptSimplifier).geometry, 20);
   * levels.addToKind(rogue, simplifyGeometry(rogue.geometry, 0.3, MeshoptSimplifier).geometry, 1);
   * ```
   *
   * @param source As for `add`; by `createLevel(rogue, object)` too.
   * @param from Number of the crowd's level from which on it is drawn, 1 or more; such a level may be added later.
   * @throws If there can be no such level.
   */
  addToKind(
    kind: KindMesh,
    source: BufferGeometry | LevelSource | null,
    from: number,
    options: LevelOptions = {},
  ): LevelMesh | null {
    return this.addTo(kind, source, from, options);
  }

  private addTo(
    owner: AttachedMesh,
    source: BufferGeometry | LevelSource | null,
    from: number,
    options: LevelOptions,
  ): LevelMesh | null {
    if (!(Number.isInteger(from) && from >= 1 && from < MAX_LEVELS))
      throw new Error(`${NAME}: ${from} is no level of the crowd; use 1 to ${MAX_LEVELS - 1}.`);
    if (owner.crowd !== this.crowd.crowd)
      throw new Error(`${NAME}: "${owner.name}" is of another crowd, or of none any more.`);
    if (source !== null) return meshOf(owner, source, options, from);
    owner.hiddenFrom = from;
    return null;
  }

  /**
   * Removes a level and disposes its mesh; instances are then drawn at the level before.
   *
   * @param level The level's mesh, or one of `levels`, or where it begins, as `LOD.removeLevel` takes it.
   * @returns Whether there was such a level. Level 0, which is the crowd itself, stays.
   */
  remove(level: LevelMesh | Level | number): boolean {
    const found = this.levels.find((one, i) => {
      return i > 0 && (one === level || one.object === level || (one.screenShare ?? one.distance) === level);
    });
    if (found === undefined) return false;
    if (found.object === null) this.table.remove(found);
    else (found.object as LevelMesh).dispose();
    return true;
  }

  /** Removes all levels: the crowd is drawn as if there had been none. */
  dispose(): void {
    const { crowd } = this;
    if (crowd.views.splitter !== this.table) return;
    this.clear();
    for (const one of crowd.crowd.members) {
      (one as AttachedMesh).hiddenFrom = undefined;
      if (isInPlace(one)) one.dispose();
    }
    crowd.views.splitter = null;
    crowd.crowd.drop(this);
    crowd.prepareDraw();
  }

  /** @internal */
  cloneFor(crowd: FeaturedCrowd): CrowdLevels | null {
    const mesh = (crowd as Crowd).mesh as CrowdMesh as SkinnedInstancedMesh;
    return mesh.isSkinnedInstancedMesh ? new CrowdLevels(mesh) : null;
  }

  /** @internal */
  meshesCopied(source: CrowdLevels | null, recursive: boolean): void {
    const { crowd } = this;
    // Copies of what was there already have come behind it.
    const copies = crowd.children.slice(source === null ? 0 : -source.crowd.children.length);
    this.clear();
    if (source === null) return;
    this.dissolve = source.dissolve;
    this.shadowLevel = source.shadowLevel;
    Object.assign(this.levels[0], { poseRate: source.levels[0].poseRate });
    if (!recursive) return;
    for (const level of source.levels.slice(1)) {
      const place = source.crowd.children.indexOf(level.object as LevelMesh);
      if (level.object === null || place >= 0) this.insert({ ...level, object: copies[place] ?? null });
    }
  }

  private insert(level: Level): void {
    this.table.add(level);
    const mesh = level.object as LevelMesh | null;
    if (mesh !== null) mesh.removed = () => this.table.remove(level);
    this.crowd.prepareDraw();
  }

  private clear(): void {
    for (const level of this.levels.slice(1)) this.remove(level);
  }

  /** See `LODSelector`. */
  private listOf(mesh: CrowdMesh): ListNumber {
    const { table } = this;
    const isPlaced = isInPlace(mesh);
    if (mesh instanceof LevelMesh && !isPlaced && !isKind(mesh)) {
      const level = table.indexOf(mesh);
      return level < 0 ? 0 : 1 << level;
    }
    if (!table.isUsed) return isPlaced ? 0 : ALL_LEVELS;
    if (mesh === this.crowd) return 1;
    const shown = isPlaced ? mesh.owner : mesh;
    if (isPlaced && !shown.attachments.includes(mesh)) return 0;
    const { drawnLevels } = table;
    const levels = this.levelsOf(mesh, shown) & drawnLevels;
    return levels === drawnLevels ? ALL_LEVELS : levels;
  }

  /** The levels at which it is this mesh that is drawn of an attachment or a kind: bit `1 << level`. */
  private levelsOf(mesh: CrowdMesh, owner: CrowdMesh): number {
    let bits = 0;
    for (let level = 0; level < MAX_LEVELS; level++) {
      let shown = owner;
      let from = 0;
      for (const one of owner.attachments) {
        if (!isInPlace(one) || one.from > level || one.from < from) continue;
        shown = one;
        from = one.from;
      }
      if (shown === mesh) bits |= 1 << level;
    }
    return bits & this.shownLevels(owner);
  }

  /** The levels at which something of an attachment or a kind is drawn. */
  private shownLevels(mesh: CrowdMesh): number {
    const { owner } = mesh;
    const ofCrowd = owner === undefined || owner === null || owner === this.crowd || isKind(owner);
    const all = isKind(mesh)
      ? (1 << MAX_LEVELS) - 1
      : ofCrowd
        ? this.table.attachedLevels
        : this.shownLevels(owner);
    const { hiddenFrom: from = Infinity } = mesh as AttachedMesh;
    return from < MAX_LEVELS ? all & ((1 << from) - 1) : all;
  }
}

/** Whether a mesh is drawn in the place of an attachment or a kind, from a level on. */
const isInPlace = (mesh: object): mesh is LevelMesh & { readonly from: number } =>
  mesh instanceof LevelMesh && mesh.from !== null;

const isKind = (mesh: object): boolean => (mesh as Partial<KindMesh>).isKindMesh === true;

/** Draws a level of a crowd, of a kind or of an attachment. */
function meshOf(
  owner: CrowdMesh,
  source: BufferGeometry | LevelSource,
  options: LevelOptions,
  from: number | null = null,
): LevelMesh {
  const isGeometry = (source as BufferGeometry).isBufferGeometry === true;
  const geometry = isGeometry ? (source as BufferGeometry) : (source as LevelSource).geometry;
  const material = options.material ?? (isGeometry ? owner.material : (source as LevelSource).material);
  if (isGeometry && Array.isArray(material) && geometry.groups.length === 0) {
    throw new Error(
      `${NAME}: the geometry "${geometry.name}" has no groups for ${material.length} materials; add groups, or pass one material.`,
    );
  }
  refuseInstanced(NAME, owner.geometry);
  refuseInstanced(NAME, geometry);
  const mesh = new LevelMesh(owner, geometry, material, options, from);
  setShadows(mesh, options);
  return mesh;
}

function setShadows(mesh: LevelMesh, { castShadow, receiveShadow }: AttachmentLevelOptions): void {
  if (castShadow !== undefined) mesh.castShadow = castShadow;
  if (receiveShadow !== undefined) mesh.receiveShadow = receiveShadow;
}

function startOf(start: LevelStart): Pick<Level, 'distance' | 'screenShare'> {
  const screenShare = typeof start === 'number' ? null : start.screenShare;
  const distance = typeof start === 'number' ? Math.abs(start) : 0;
  if (
    Number.isFinite(distance) &&
    (screenShare === null || (screenShare > 0 && Number.isFinite(screenShare)))
  )
    return { distance, screenShare };
  throw new Error(
    `${NAME}: a level begins at ${screenShare ?? start}; use a finite distance, or a screenShare above 0.`,
  );
}

function checkShare(name: string, value: number): void {
  if (isWithin(value, 1)) return;
  throw new Error(`${NAME}: ${name} is ${value}; use a share of the distance, 0 to 1.`);
}
