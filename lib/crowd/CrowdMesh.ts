import type {
  Camera,
  Color,
  GeometryGroup,
  Group,
  JSONMeta,
  Mesh,
  Raycaster,
  Scene,
  WebGLRenderer,
} from 'three';
import {
  AttachedBindMode,
  type BufferGeometry,
  InstancedMesh,
  type Material,
  Matrix4,
  MeshDepthMaterial,
  MeshDistanceMaterial,
  VSMShadowMap,
} from 'three';
import type { SkinnedInstancedMeshEventMap } from '../actions/InstanceMixer.js';
import type { BoneTexture } from '../animation/BoneTexture.js';
import { sourceOf } from '../animation/PoseSource.js';
import { type CharacterPart, createCrowdGeometry, fitColumns, jointsOf } from '../character/crowdGeometry.js';
import { ALL_LEVELS, type Influences, NO_CASTING, NO_RECEIVING, NO_TANGENTS } from '../constants.js';
import { backendOf, backends } from '../core/Backend.js';
import type { Crowd, DrawnCrowd, DrawOptions, MeshMotions } from '../core/Crowd.js';
import { type CrowdFeature, copyFeatures, type MeshFeature, sameKind } from '../core/CrowdFeature.js';
import { CrowdSkeleton } from '../core/CrowdSkeleton.js';
import { goesByInstanceLayers } from '../core/drawnCrowds.js';
import { followMoves } from '../core/instancePlaces.js';
import { MorphInfluences } from '../core/MorphInfluences.js';
import type { CrowdViews } from '../culling/CrowdViews.js';
import type { ListNumber } from '../culling/LODSelector.js';
import { checkColor, InstanceColors } from '../instances/InstanceColors.js';
import type { InstanceVisibility } from '../instances/InstanceVisibility.js';
import { checkIndex, forEachInstance, type Instances } from '../instances/instanceRange.js';
import { MatrixTexels } from '../instances/MatrixTexels.js';
import type { InstancePlayback } from '../playback/InstancePlayback.js';
import { CrowdBounds } from '../queries/crowdBounds.js';
import { type CrowdIntersection, raycastCrowd } from '../queries/raycastCrowd.js';
import type { InstanceParts } from '../surface/InstanceParts.js';
import type { InstanceUniforms } from '../surface/InstanceUniforms.js';
import { warnOnce } from '../utils/messages.js';
import { ACCESSORS, type MeshFields } from './accessors.js';
import { checkDrawn, checkMatrix, isPlain } from './checkMatrix.js';

const MAKE_MORPHS = 'make a new InstanceMorphs(crowd) first.';

/** What a group has not of what others have: `NO_CASTING` and the like, which `mergeParts` has put there. */
const lacksOf = ({ userData }: BufferGeometry, group: GeometryGroup | null): number =>
  group === null ? 0 : (userData.lacks?.[group.materialIndex ?? 0] ?? 0);

/** Ends the draw of a view, and of a group that lacks something. */
function showWhole(fields: MeshFields): void {
  (fields.skeleton as CrowdSkeleton).drawnCount = null;
  fields.isUnshaded = false;
  if (fields.tangents) fields.geometry.setAttribute('tangent', fields.tangents);
  fields.tangents = undefined;
}

const _nothing = /*@__PURE__*/ new Matrix4().makeScale(0, 0, 0);

/**
 * Draws the instances of a crowd: what three.js and its renderers look for on such an object. It is a crowd itself, what is
 * attached to its joints, or a level of detail.
 *
 * @category Crowd
 */
export abstract class CrowdMesh extends InstancedMesh<
  BufferGeometry,
  Material | Material[],
  SkinnedInstancedMeshEventMap
> {
  /** For type testing: crowds, and what is attached to them. @internal */
  readonly isCrowdMesh = true;
  /**
   * Makes three.js bind `skeleton.boneTexture` and the draw parameters at each draw. Not so while WebGPURenderer draws the
   * crowd in a material that cannot pose it. @internal
   */
  isSkinnedMesh: boolean = true;
  /** As `SkinnedMesh` has it; crowds know no other mode. @internal */
  readonly bindMode = AttachedBindMode;
  /** Not a transform: three.js uploads it at each draw, and the crowd's shaders read their parameters from it. @internal */
  readonly bindMatrix = new Matrix4();
  /** The identity, where three.js looks for it. @internal */
  readonly bindMatrixInverse = new Matrix4();
  /** Has no bones. Assignments are ignored: `SkeletonUtils.clone` would give a clone that of its source. @internal */
  declare readonly skeleton: CrowdSkeleton;
  /** @internal */
  declare fields: MeshFields | undefined;

  /** What moves the vertices; null where nothing does. @internal */
  motions: MeshMotions | null = null;
  /** Makes `motions`, with those of what the mesh is attached to. @internal */
  instanceMotions: { with(followed: MeshMotions | null): MeshMotions | null } | null = null;
  /** The mesh that this one is attached to. @internal */
  declare readonly owner?: CrowdMesh;
  /** Parts of the character; those of another geometry have numbers for names. @internal */
  characterParts: readonly CharacterPart[] = [];
  /** What instances show of them; null for all. @internal */
  instanceParts: InstanceParts | null = null;
  /**
   * What `new InstanceUniforms(mesh)` made; null without.
   *
   * @category Dress and attach
   */
  uniforms: InstanceUniforms | null = null;
  /** What the instances look like in this mesh, with what features made of it, see `addMeshFeature`. @internal */
  readonly appearance: Partial<MeshFeature>[];
  /** Meshes that draw the instances of this one. A new array at each change, so that loops are not disturbed. @internal */
  attachments: readonly AttachedMesh[] = [];
  /** @internal */
  readonly playback: InstancePlayback;
  /** @internal */
  readonly views: CrowdViews;
  /** @internal */
  readonly visibility: InstanceVisibility;
  /** @internal */
  readonly bounds: CrowdBounds = new CrowdBounds(this);
  /** @internal */
  readonly morphs: MorphInfluences;
  /** @internal */
  readonly colors: InstanceColors;
  /** @internal */
  readonly texels: MatrixTexels;
  protected options: Required<DrawOptions>;
  /** In which shadows are drawn, until others are assigned, which are the user's to dispose. */
  private readonly depths = [new MeshDepthMaterial(), new MeshDistanceMaterial()];
  /** Whether the mesh is becoming a copy of another, so that materials need not be prepared for what is in between. */
  private copying = false;

  /**
   * @param geometry Has `skinIndex` and `skinWeight` for the joints of the crowd's bone texture. It is copied.
   * @param crowd What this mesh shares with those that are attached to it.
   * @param same A mesh in which instances look the same: what they look like is that one's. Null if it is this one's own.
   * @internal
   */
  constructor(
    geometry: BufferGeometry,
    material: Material | Material[],
    /** @internal */
    readonly crowd: Crowd,
    { influences = 4, shadowInfluences = influences, interpolate = true }: DrawOptions,
    same: CrowdMesh | null = null,
  ) {
    // Not in a static block, for which bundlers would keep the class where nobody uses it.
    if (!Object.hasOwn(CrowdMesh.prototype, 'skeleton'))
      Object.defineProperties(CrowdMesh.prototype, ACCESSORS);
    super(createCrowdGeometry(geometry, crowd, influences), material, 0);
    this.playback = crowd.playback;
    this.views = crowd.views;
    this.visibility = crowd.visibility;
    this.options = { influences, shadowInfluences, interpolate };
    this.colors = same?.colors ?? new InstanceColors(this);
    this.morphs = same?.morphs ?? new MorphInfluences(this);
    this.texels = same?.texels ?? new MatrixTexels();
    this.appearance = same ? [] : [this.colors, this.texels];
    [this.customDepthMaterial, this.customDistanceMaterial] = this.depths;
    this.fitGeometry(this.geometry);
    const fields = this.fields as MeshFields;
    fields.count = crowd.count;
    fields.skeleton = new CrowdSkeleton(() => this.beginFrame());
    const { layers } = this;
    // Cameras ask it before they draw the mesh, which they also have to do for instances on other layers.
    layers.test = ({ mask }) =>
      (layers.mask & mask) !== 0 || (((crowd.layers?.union ?? 0) & mask) !== 0 && goesByInstanceLayers(this));
    crowd.members = [...crowd.members, this];
    this.prepareDraw();
  }

  /**
   * The most instances there can be, at least one; `count` may be any number up to it.
   *
   * @category Place
   */
  get capacity(): number {
    return this.crowd.capacity;
  }

  /**
   * Seconds by which the crowd was advanced in all.
   *
   * @category Play and blend
   */
  get elapsed(): number {
    return this.playback.time.elapsed;
  }

  /** Seconds since the epoch of the shared clock began. @internal */
  get clock(): number {
    return this.playback.time.time;
  }

  /** Which instances it draws. @internal */
  get list(): ListNumber {
    const { kinds, splitter } = this.views;
    return (kinds ?? splitter)?.listOf(this) ?? ALL_LEVELS;
  }

  /**
   * What was made with the crowd: `new JointEdits(crowd)` and the like.
   *
   * @category Dress and attach
   */
  get features(): readonly CrowdFeature[] {
    return this.crowd.features;
  }

  /**
   * Called by a feature that is made with the crowd.
   *
   * @throws If the crowd has one of its kind already.
   *
   * @category Dress and attach
   */
  use(feature: CrowdFeature): void {
    this.crowd.use(feature);
  }

  /**
   * What `new InstanceParts(mesh)` made; null without.
   *
   * @category Dress and attach
   */
  get parts(): InstanceParts | null {
    return this.instanceParts;
  }

  /** @internal */
  get instanceUniforms(): DrawnCrowd['instanceUniforms'] {
    return this.uniforms?.numbers ?? null;
  }

  /**
   * The clips that instances can play; `setBoneTexture` puts others in their place.
   *
   * @category Play and blend
   */
  get boneTexture(): BoneTexture {
    return this.owner?.boneTexture ?? this.crowd.boneTexture;
  }

  /**
   * Joints that a vertex follows at most.
   *
   * @category See
   */
  get influences(): Influences {
    return this.options.influences;
  }

  /**
   * The same in shadow maps.
   *
   * @category See
   */
  get shadowInfluences(): Influences {
    return this.options.shadowInfluences;
  }

  /**
   * Whether two baked frames are mixed; else the nearest is shown. Encoding 'tracks' has no such frames, and always mixes.
   *
   * @category See
   */
  get interpolate(): boolean {
    return this.options.interpolate || !sourceOf(this).hasFrames;
  }

  /** Changing it compiles the materials anew. */
  set interpolate(value: boolean) {
    if (value === this.options.interpolate) return;
    this.options = { ...this.options, interpolate: value };
    this.prepareDraw();
    for (const attachment of this.attachments) attachment.interpolate = value;
  }

  /**
   * Places an instance; set `instanceMatrix.needsUpdate` afterwards, as with `InstancedMesh`. An object that stands for it goes there.
   *
   * @param matrix May turn, move and scale, but not mirror: all instances are one draw call, in which the GPU takes
   * triangles for back or front by one rule. Mirrored ones belong in a crowd of their own whose `scale.x` is -1.
   * @throws If there is no such instance, or the matrix is not of finite numbers.
   *
   * @category Place
   */
  override setMatrixAt(index: number, matrix: Matrix4): this {
    const { visibility } = this.crowd;
    const { elements } = matrix;
    // Once a frame for each that moves: names of methods are put together only where one of them throws.
    if (!visibility.has(index)) checkIndex(index, visibility);
    if (!isPlain(elements)) checkMatrix(matrix);
    matrix.toArray(this.instanceMatrix.array, index * 16);
    this.crowd.objects?.placed(index);
    return this;
  }

  /**
   * Where an instance stands, relative to the crowd, in `matrix`.
   *
   * @throws If there is no such instance, or it was deleted.
   *
   * @category Place
   */
  override getMatrixAt(index: number, matrix: Matrix4): Matrix4 {
    checkIndex(index, this.visibility);
    return super.getMatrixAt(index, matrix);
  }

  /**
   * Colours an instance, or each of a range. It shows at once: unlike `InstancedMesh`, there is no `needsUpdate` to set, and only what changed is uploaded.
   *
   * @throws If there is no such instance, or the colour is not of finite numbers.
   *
   * @category Dress and attach
   */
  override setColorAt(instances: Instances, color: Color): this {
    checkColor(color);
    const { r, g, b } = color;
    // What programs call thousands of times in a frame makes no closure.
    if (typeof instances === 'number') {
      checkIndex(instances, this.visibility);
      this.colors.set(instances, r, g, b);
    } else forEachInstance(instances, this.visibility, (index) => this.colors.set(index, r, g, b));
    return this;
  }

  /**
   * The colour that an instance's materials are multiplied by, in `color`.
   *
   * @throws If there is no such instance, or it was deleted.
   *
   * @category Dress and attach
   */
  override getColorAt(index: number, color: Color): Color {
    checkIndex(index, this.visibility);
    return super.getColorAt(index, color);
  }

  /**
   * As `InstancedMesh.setMorphAt`, once there is a `new InstanceMorphs(crowd)`: gives an instance influences of its own, to
   * which its clips add theirs. They show at once. Instances that were never given any have those of the character as it was baked.
   *
   * @param object Has as many `morphTargetInfluences` as the crowd, whose `morphTargetDictionary` names them.
   * @throws If there is no `InstanceMorphs` or no such instance, or there are more or fewer influences, or one is not finite.
   *
   * @category Dress and attach
   */
  override setMorphAt(index: number, object: Mesh): this {
    checkIndex(index, this.visibility);
    const { ofInstances } = this.morphs;
    if (ofInstances === null) throw new Error(`setMorphAt needs influences by instance; ${MAKE_MORPHS}`);
    ofInstances.prepare(object);
    super.setMorphAt(index, object);
    if (this.morphTexture !== null) this.morphTexture.needsUpdate = true;
    return this;
  }

  /**
   * The morph influences of an instance, without what its clips add, in `object.morphTargetInfluences`.
   *
   * @throws If there is no such instance, or it was deleted.
   *
   * @category Dress and attach
   */
  override getMorphAt(index: number, object: Mesh): void {
    checkIndex(index, this.visibility);
    if (this.morphTexture === null) object.morphTargetInfluences = [...(this.morphTargetInfluences ?? [])];
    else super.getMorphAt(index, object);
  }

  /**
   * Box around every pose that any instance may take, at the place where it stands.
   *
   * @category Ask
   */
  override computeBoundingBox(): void {
    this.bounds.computeBox();
  }

  /**
   * Sphere around every pose that any instance may take, at the place where it stands.
   *
   * @category Ask
   */
  override computeBoundingSphere(): void {
    this.bounds.computeSphere();
  }

  /**
   * Also lets go of bounds that the mesh computed itself once instances were moved (`instanceMatrix.needsUpdate`) or
   * `count` changed, so that nothing is culled by where it once stood. Bounds set by the user stay.
   */
  override updateMatrixWorld(force?: boolean): void {
    this.bounds.dropStale();
    // Objects that stand for instances, which are below it, place these now.
    super.updateMatrixWorld(force);
    followMoves(this);
  }

  /**
   * Intersects the instances as they are posed now; hits carry `instanceId`, and the name of the `part`. Those of instances that
   * are objects have these as their `object`.
   *
   * @category Ask
   */
  override raycast(raycaster: Raycaster, intersects: CrowdIntersection[]): void {
    this.bounds.dropStale();
    raycastCrowd(this, raycaster, intersects);
  }

  /** Does nothing: a crowd is bound to its bone texture. `SkeletonUtils.clone` calls it. */
  bind(): void {}

  /**
   * What `InstancedMesh.toJSON` writes: the instances in the pose the geometry was modelled in, those that are hidden or were
   * deleted scaled to nothing. Bone texture and playback are not part of three.js's JSON format; a warning says so.
   */
  override toJSON(meta?: JSONMeta): ReturnType<InstancedMesh['toJSON']> {
    warnOnce(
      `SkinnedInstancedMesh: three.js's JSON has no baked animation; the crowd is written as an InstancedMesh.`,
    );
    const still = new InstancedMesh(this.geometry, this.material, 0).copy(this as InstancedMesh, false);
    // three.js would draw all levels of detail at once.
    still.children = this.children.filter((child) => !(child as { isLevelMesh?: boolean }).isLevelMesh);
    still.uuid = this.uuid;
    still.geometry = this.geometry.clone();
    for (let i = 0; i < this.count; i++) {
      if (!this.visibility.isDrawn(i)) still.setMatrixAt(i, _nothing);
    }
    return still.toJSON(meta);
  }

  /** Whether clips move the geometry's morph targets. @internal */
  get clipsMorph(): boolean {
    const { morphNames } = this.boneTexture;
    return morphNames.length > 0 && morphNames.length === this.geometry.morphAttributes.position?.length;
  }

  /**
   * Becomes a mesh of the same instances of the same character, playing on from here; bone texture and materials are
   * shared. What was attached stays, if the character has the joints for it.
   *
   * @throws If something is attached to it that the source has no joint for.
   */
  override copy(source: this, recursive = true): this {
    if (source === this) return this;
    this.crowd.checkBoneTexture(source.boneTexture, this);
    const { morphTexture, instanceColor } = this;

    this.copying = true;
    this.options = source.options;
    this.crowd.copy(source.crowd);
    super.copy(source, false);
    // three.js has put clones in their places.
    this.morphTexture = morphTexture;
    instanceColor?.dispose();
    this.becomeCopy(source, recursive);
    for (const feature of [...this.features]) {
      feature.meshesCopied?.(sameKind(source.features, feature) ?? null, recursive);
    }
    return this;
  }

  /**
   * Takes over what instances look like in another mesh, of whose crowd this one's is a copy, and what hangs on it.
   *
   * @internal
   */
  becomeCopy(source: this, recursive = true): void {
    this.copying = true;
    this.options = source.options;
    this.characterParts = source.characterParts;
    copyFeatures(this.appearance, source.appearance, this.capacity, (one) => one.cloneForMesh?.(this));
    this.bounds.drop();
    this.bounds.dropCopied(source.bounds);
    this.copying = false;
    this.instancesResized();
    for (const child of recursive ? source.children : []) {
      const attached = source.attachments.find((one) => one === child);
      if (attached === undefined) this.add(child.clone());
      else attached.copyTo(this);
    }
  }

  /**
   * Frees what the mesh allocated, and disposes what is attached to it. Materials, and a bone texture passed in, belong to
   * the user.
   */
  override dispose(): this {
    for (const attachment of this.attachments) attachment.dispose();
    super.dispose();
    this.free();
    return this;
  }

  /** Frees what the mesh has beside the instances. */
  protected free(): void {
    for (const backend of backends) backend.release?.(this);
    this.geometry.dispose();
    for (const data of [...this.appearance]) data.dispose?.();
    for (const material of this.depths) material.dispose();
  }

  /** Brings materials and draw parameters up to what the mesh is now. @internal */
  prepareDraw(): void {
    if (this.copying) return;
    for (let i = 0; i < backends.length; i++) backends[i].update?.(this);
  }

  /** @internal */
  instancesResized(): void {
    if (this.count > this.capacity) this.count = this.capacity;
    this.bounds.dropStale();
    this.prepareDraw();
  }

  /** @internal */
  checkBoneTexture(boneTexture: BoneTexture): void {
    checkSameJoints(jointsOf(this.geometry), this.boneTexture, boneTexture);
    if (this.clipsMorph) warnOfOtherMorphs(this.boneTexture, boneTexture);
  }

  /** @internal */
  prepareBoneTexture(_boneTexture: BoneTexture): void {}
  /** @internal */
  boneTextureReplaced(): void {
    fitColumns(this.geometry, this.crowd);
    this.bounds.drop();
    this.prepareDraw();
  }

  /** Called when other motions move the vertices, of this mesh or of what it is attached to. @internal */
  motionsChanged(): void {
    const followed = this.owner?.motions ?? null;
    this.motions = this.instanceMotions?.with(followed) ?? followed?.attached(this) ?? null;
    this.prepareDraw();
    for (const attachment of this.attachments) attachment.motionsChanged();
  }

  /** Called by three.js in each frame, before it asks for programs. @internal */
  beginFrame(): void {
    this.prepareDraw();
    for (let i = 0; i < backends.length; i++) backends[i].beginFrame?.(this);
  }

  /** Called when the geometry is another one. @internal */
  geometryReplaced(source: BufferGeometry): void {
    this.fitGeometry(this.geometry);
    this.bounds.drop();
    const numbered = source.hasAttribute('partIndex');
    if (!numbered) this.characterParts = [];
    for (const feature of this.appearance) feature.geometryReplaced?.(numbered);
    this.prepareDraw();
    for (const attachment of this.attachments) attachment.ownerReplaced?.();
  }

  /** three.js draws morph targets only of objects that have influences, so the mesh gets some. */
  protected fitGeometry({ morphAttributes: { position = [] } }: BufferGeometry): void {
    if (position.length === 0 || this.morphTargetInfluences?.length === position.length) return;
    this.morphTargetInfluences = position.map(() => 0);
    this.morphTargetDictionary = Object.fromEntries(position.map(({ name }, i) => [name || String(i), i]));
  }

  /**
   * Poses the crowd under `scene.overrideMaterial`, and under WebGPURenderer at all. Call it from a hook of your own put
   * in its place, as the last: what is drawn, also of the geometry, is taken down here.
   */
  override onBeforeRender(
    renderer: WebGLRenderer,
    scene: Scene,
    camera: Camera,
    _geometry: BufferGeometry,
    material: Material,
    group: Group | GeometryGroup | null,
  ): void {
    // three.js passes a part of the geometry, whatever its types say.
    const part = group as GeometryGroup | null;
    this.crowd.places.drawnBy(renderer);
    if (this.owner === undefined && (group === null || material === (this.material as Material[])[0]))
      checkDrawn(this.crowd);
    // Only `InstanceParts` sees to it.
    if (this.instanceParts === null)
      for (const { hidden } of this.characterParts)
        if (hidden)
          warnOnce('SkinnedInstancedMesh: hidden parts are shown; new InstanceParts(crowd) hides them.');
    if (this.morphTexture !== null && this.morphs.ofInstances === null)
      warnOnce(`SkinnedInstancedMesh: no instance has its influences of a morphTexture; ${MAKE_MORPHS}`);
    if (material.transparent && this.count > 1 && !this.views.isOrdered)
      warnOnce(
        'SkinnedInstancedMesh: transparent instances are drawn by id; new DrawOrder(crowd, { sortObjects: true }) draws far ones first.',
      );
    const fields = this.fields as MeshFields;
    const { isLeftOut } = fields;
    fields.isLeftOut = false;
    const lacks = lacksOf(fields.geometry, part);
    showWhole(fields);
    fields.isUnshaded = (lacks & NO_RECEIVING) > 0;
    if (lacks & NO_TANGENTS) {
      // three.js derives them where the geometry has none.
      fields.tangents = this.geometry.getAttribute('tangent');
      this.geometry.deleteAttribute('tangent');
    }
    backendOf(renderer).prepare(renderer, this, scene, camera, material, part);
    fields.isLeftOut = isLeftOut;
  }

  /** As `onBeforeRender`, for shadow maps. Groups of meshes that cast no shadow are left out. */
  override onBeforeShadow(
    renderer: WebGLRenderer,
    _object: unknown,
    camera: Camera,
    light: Camera,
    _geometry: BufferGeometry,
    material: Material,
    group: Group | GeometryGroup | null,
  ): void {
    const part = group as GeometryGroup | null;
    backendOf(renderer).prepareShadow(renderer, this, light, camera, material, part);
    const lacks = lacksOf(this.geometry, part);
    // three.js has in maps of variance also what receives alone.
    const isReceiver = this.receiveShadow && renderer.shadowMap.type === VSMShadowMap;
    (this.fields as MeshFields).isLeftOut =
      !(this.castShadow && !(lacks & NO_CASTING)) && !(isReceiver && !(lacks & NO_RECEIVING));
  }

  /**
   * Lets `count` be that of all instances again. Call it from a hook of your own put in its place, at any rate if you render in
   * hooks: a crowd that is drawn once more in the middle of a draw is then drawn on as it was to be.
   */
  override onAfterRender(): void {
    this.geometry.indirect = null;
    this.endDraw();
  }

  /** The same for shadow maps. */
  override onAfterShadow(): void {
    (this.fields as MeshFields).isLeftOut = false;
    this.endDraw();
  }

  private endDraw(): void {
    // First: a backend may go on with another draw.
    showWhole(this.fields as MeshFields);
    for (let i = 0; i < backends.length; i++) backends[i].endDraw?.(this);
  }

  /** Called at each update, when nothing is being drawn. @internal */
  endDraws(): void {
    const fields = this.fields as MeshFields;
    fields.isLeftOut = false;
    showWhole(fields);
    for (let i = 0; i < backends.length; i++) backends[i].endAllDraws?.(this);
  }
}

/** @throws If one of the joints is another one in the bone texture that shall take the place of the present one. */
function checkSameJoints(
  joints: Iterable<number>,
  { jointNames: before }: BoneTexture,
  { jointNames: after }: BoneTexture,
): void {
  for (const joint of joints) {
    if (after[joint] === before[joint]) continue;
    throw new Error(
      `The bone texture was baked for another skeleton: its joint ${joint} is "${after[joint]}", ` +
        `and the geometry's is "${before[joint]}"; bake one from this character.`,
    );
  }
}

/** Another bone texture may have other morph targets, as its clips decide whether meshes share them. */
function warnOfOtherMorphs(
  { morphNames: { length: before } }: BoneTexture,
  { morphNames: { length: after } }: BoneTexture,
): void {
  if (after === 0 || after === before) return;
  warnOnce(
    `SkinnedInstancedMesh: clips of the bone texture move ${after} morph targets, but the geometry has ${before}, which they do not move; ` +
      'make a character of it, by assembleCharacter(root, boneTexture).',
  );
}

/**
 * A mesh that draws the instances of another mesh, whose child it is: what is attached to joints, and levels of detail. Its poses are
 * those of its crowd, which renderers compute once and each mesh looks up by the number of the instance: `palette.glsl.ts`, `palette.tsl.ts`.
 */
export interface AttachedMesh extends CrowdMesh {
  readonly owner: CrowdMesh;
  /** How it is drawn, as far as its owner does not say it. Undefined as long as three.js's own constructors run. @internal */
  drawn?: Partial<Pick<CrowdMesh, 'castShadow' | 'receiveShadow' | 'renderOrder' | 'frustumCulled'>>;
  /** From which level of the crowd on it is not shown. @internal */
  hiddenFrom?: number;
  /** Called when the owner has another geometry. */
  ownerReplaced?(): void;
  /** Makes its like for a copy of its owner. @internal */
  copyTo(owner: CrowdMesh): CrowdMesh;
}
