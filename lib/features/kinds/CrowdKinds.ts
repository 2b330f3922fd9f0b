import type { Raycaster } from 'three';
import type { BoneTexture } from '../../animation/BoneTexture.js';
import type { PoseTracks } from '../../animation/PoseTracks.js';
import type { Character } from '../../character/assembleCharacter.js';
import { ALL_LEVELS } from '../../constants.js';
import type { Crowd, DrawOptions } from '../../core/Crowd.js';
import type { CrowdFeature, FeaturedCrowd } from '../../core/CrowdFeature.js';
import { refuseInstanced } from '../../core/drawnCrowds.js';
import { CrowdMesh } from '../../crowd/CrowdMesh.js';
import type { SkinnedInstancedMesh } from '../../crowd/SkinnedInstancedMesh.js';
import { type ListNumber, listOfKind } from '../../culling/LODSelector.js';
import { SplitLists } from '../../culling/SplitLists.js';
import { checkIndex, forEachInstance, type Instances } from '../../instances/instanceRange.js';
import { HEADER_PHASE } from '../../playback/instanceLayout.js';
import type { CrowdIntersection } from '../../queries/raycastCrowd.js';
import type { InstanceParts } from '../../surface/InstanceParts.js';
import { resized } from '../../utils/attributes.js';
import { describe } from '../../utils/messages.js';
import { LevelMesh } from '../levels/LevelMesh.js';
import { bodyTexels, fitBody, rebindGeometry } from './fitBody.js';

/** Kinds that fit into a byte. */
const MAX_KINDS = 256;

/** How a kind is drawn. */
export interface KindOptions extends Pick<DrawOptions, 'influences' | 'shadowInfluences'> {
  /** By how much it strides longer than the crowd's character, if it has other proportions. @default as its joints are farther apart */
  scale?: number;
  /** Gives where its hips are in clips, from `retargetBody`; called with each bone texture of the crowd. */
  hips?: (boneTexture: BoneTexture) => Float32Array;
}

/**
 * Draws the instances of one kind in the geometry and the materials of another character: what `CrowdKinds.add` returns, a child of
 * the crowd. All that instances have is the crowd's, but for parts, which are those of the character: `new InstanceParts(mesh)`.
 * What is attached to it, by `new JointAttachment(mesh, …)`, only instances of the kind have. `castShadow`, `receiveShadow`,
 * `renderOrder` and `layers` are the crowd's until they are set. Its `dispose` removes the kind.
 *
 * @category Crowd
 */
export class KindMesh extends LevelMesh {
  override readonly type: string = 'KindMesh';
  /** For type testing. */
  readonly isKindMesh = true;

  /** Gives what poses it by a bone texture of the crowd, where its proportions are others. @internal */
  bodyFor!: (boneTexture: BoneTexture) => BoneTexture | null;
  /** @internal */
  body: BoneTexture | null = null;

  override get boneTexture(): BoneTexture {
    return this.body ?? super.boneTexture;
  }

  /** @internal */
  override prepareBoneTexture(boneTexture: BoneTexture): void {
    this.body = this.bodyFor(boneTexture);
  }

  /** Those of its own character. @internal */
  override get parts(): InstanceParts | null {
    return this.instanceParts;
  }

  override raycast(raycaster: Raycaster, intersects: CrowdIntersection[]): void {
    CrowdMesh.prototype.raycast.call(this, raycaster, intersects);
  }

  /** @internal */
  override copyFor(owner: CrowdMesh): KindMesh {
    const mesh = new KindMesh(owner, this.geometry, this.material, this);
    mesh.bodyFor = this.bodyFor;
    mesh.body = this.body;
    const { meshes } = this.views.kinds as CrowdKinds;
    (owner.views.kinds as CrowdKinds | null)?.insert(mesh, meshes.indexOf(this));
    return mesh;
  }
}

/**
 * Several characters in one crowd: kinds of instances. They have one list, one clock, one culling, and poses of one skeleton, whose
 * clips are those of the crowd's own character; each kind has its own geometry, materials and parts, and is one more draw call for
 * each of its materials. Instances begin as kind 0, the crowd's own character.
 *
 * ```ts
 * const crowd = new SkinnedInstancedMesh(character, 1_000);
 * const kinds = new CrowdKinds(crowd);
 * const rogue = kinds.add(bakeCharacter(root, []));
 * kinds.setKindAt(3, rogue);
 * ```
 *
 * @category Crowd
 */
export class CrowdKinds implements CrowdFeature {
  /** By id the number of its kind. @internal */
  kinds: Uint8Array;
  /** @internal */
  version = 0;
  /** By number what draws each kind, the crowd first; undefined where one was removed. */
  readonly meshes: readonly (CrowdMesh | undefined)[];
  /** By kind how many instances there are of it, and of how many and for which version that was counted. */
  private readonly counts = new Float64Array(MAX_KINDS);
  private counted = 0;
  private countedVersion = -1;
  /** What shaders know the kinds by. */
  private told: object | null = null;

  /** @throws If the crowd has kinds already, or instanced attributes of the user's own. */
  constructor(
    /** The crowd whose instances they are. */
    readonly crowd: SkinnedInstancedMesh,
  ) {
    refuseInstanced('CrowdKinds', crowd.geometry);
    crowd.use(this);
    this.kinds = new Uint8Array(wholeWords(crowd.capacity));
    this.meshes = [crowd];
    crowd.views.kinds = this;
    crowd.views.dropViews();
    this.changed();
  }

  /**
   * Adds a character. It may be baked without clips: `bakeCharacter(root, [])`.
   *
   * @param character Has the joints of the crowd's, by name, which are turned alike at rest, but may be as far apart as they like:
   * what clips say of translations is lengthened. What is attached to the crowd itself then shows on its own character alone. Joints
   * that the crowd has not follow those above them. For humanoids with other joints there is `retargetBody`.
   * @returns The mesh that draws the kind. Nothing of the character is changed, or freed with it.
   * @throws If it has another skeleton, or one that is turned or bound otherwise.
   *
   * @example
   * ```ts
   * const rogue = kinds.add(bakeCharacter(root, []));
   * new InstanceParts(rogue).setVisibleAt(3, 'Hood', false); // parts of a kind are its own
   * ```
   */
  add(character: Character, options: KindOptions = {}): KindMesh {
    const { crowd, meshes } = this;
    const { boneTexture } = crowd;
    const { name, parts, material } = character;
    if (boneTexture.binding !== null || character.boneTexture.binding !== null)
      throw new Error('CrowdKinds: a vertex texture poses no other vertices; make a second crowd.');
    refuseInstanced('CrowdKinds', character.geometry);
    let kind = meshes.indexOf(undefined);
    if (kind < 0) kind = meshes.length;
    if (kind === MAX_KINDS)
      throw new Error(`CrowdKinds: there can be ${MAX_KINDS} kinds, the crowd's own included.`);
    const bodyFor = (other: BoneTexture) => fitBody(character.boneTexture, other, options);
    const body = bodyFor(boneTexture);
    const { written } = crowd.crowd;
    if (body && written?.plays) written.refuse();
    const geometry = rebindGeometry(character.geometry, character.boneTexture, body ?? boneTexture);
    const mesh = new KindMesh(crowd, geometry, material, options);
    mesh.bodyFor = bodyFor;
    mesh.body = body;
    mesh.name = name;
    mesh.characterParts = parts;
    this.insert(mesh, kind);
    return mesh;
  }

  /** @internal */
  insert(mesh: KindMesh, kind: number): void {
    const meshes = this.meshes as (CrowdMesh | undefined)[];
    meshes[kind] = mesh;
    mesh.removed = () => {
      meshes[kind] = undefined;
      this.meshesCopied();
      this.changed();
    };
    this.changed();
  }

  /**
   * Removes a kind, and disposes its mesh; its instances are of kind 0 then.
   *
   * @throws If there is no such kind, or it is the crowd's own.
   */
  remove(kind: KindMesh | number): void {
    const number = this.checkKind(kind);
    if (number === 0) throw new Error('CrowdKinds: kind 0 is the crowd itself.');
    this.meshes[number]?.dispose();
  }

  /**
   * Gives instances a kind. They play on from where they are.
   *
   * @param kind What `add` returned, the crowd itself, or its number.
   * @throws If there is no such instance or kind.
   *
   * @example
   * ```ts
   * kinds.setKindAt({ start: 0, count: 50 }, rogue).setKindAt(7, 0); // 7 is of the crowd's own character again
   * ```
   */
  setKindAt(instances: Instances, kind: CrowdMesh | number): this {
    const number = this.checkKind(kind);
    forEachInstance(instances, this.crowd.visibility, (index) => this.set(index, number));
    return this;
  }

  /**
   * The number of an instance's kind, its place in `meshes`.
   *
   * @throws If there is no such instance.
   */
  getKindAt(index: number): number {
    checkIndex(index, this.crowd.visibility);
    return this.kinds[index];
  }

  /** Lets all instances be of the crowd's own character again. */
  dispose(): void {
    const { crowd } = this;
    const { views } = crowd;
    if (views.kinds !== this) return;
    for (const mesh of this.meshes.slice(1)) mesh?.dispose();
    views.kinds = null;
    views.dropViews();
    crowd.crowd.drop(this);
    crowd.prepareDraw();
  }

  resize(capacity: number): void {
    this.kinds = resized(this.kinds.subarray(0, capacity), wholeWords(capacity));
    this.version++;
  }

  swap(i: number, j: number): void {
    const kind = this.kinds[i];
    this.set(i, this.kinds[j]);
    this.set(j, kind);
  }

  reset(index: number): void {
    this.set(index, 0);
  }

  boneTextureReplaced(): void {
    this.poseBodies();
  }

  /** @internal */
  copyAt(from: number, to: number): void {
    this.set(to, this.kinds[from]);
  }

  /** @internal */
  copy({ kinds }: CrowdKinds): void {
    // Copies of the other's meshes come with its children.
    for (const mesh of this.meshes.slice(1)) mesh?.dispose();
    this.kinds = kinds.slice();
    this.version++;
  }

  /** @internal */
  cloneFor(crowd: FeaturedCrowd): CrowdKinds | null {
    const mesh = (crowd as Crowd).mesh as CrowdMesh as SkinnedInstancedMesh;
    return mesh.isSkinnedInstancedMesh ? new CrowdKinds(mesh) : null;
  }

  /** Lets instances whose kind there is no more be of the crowd's own; children may not have been copied. @internal */
  meshesCopied(): void {
    this.kinds.forEach((kind, id) => {
      if (this.meshes[kind] === undefined) this.reset(id);
    });
  }

  /** @internal */
  listOf(mesh: CrowdMesh): ListNumber {
    // Another one, once there is room for more instances, or there are other layers.
    if (this.crowd.playback.texels.texture !== this.told) this.tellAll();
    const list = this.crowd.views.splitter?.listOf(mesh) ?? ALL_LEVELS;
    return list === 0 ? 0 : listOfKind(list, this.kindOf(mesh));
  }

  /** @internal */
  shows(mesh: CrowdMesh, id: number): boolean {
    const kind = this.kindOf(mesh);
    return kind < 0 || kind === this.kinds[id];
  }

  /** @internal */
  meshOf(id: number): CrowdMesh | undefined {
    return this.meshes[this.kinds[id]];
  }

  /** @internal */
  shareOf(kind: number): number {
    const { counts, kinds, crowd } = this;
    const { count } = crowd.visibility;
    if (this.version !== this.countedVersion || count !== this.counted) {
      this.countedVersion = this.version;
      this.counted = count;
      counts.fill(0);
      for (let id = 0; id < count; id++) counts[kinds[id]]++;
    }
    return counts[kind] / (count || 1);
  }

  /** @internal */
  listsFor(capacity: number): SplitLists {
    return new SplitLists(capacity, null, null, this);
  }

  /** The kind whose instances a mesh draws; -1 for all: what is attached to the crowd itself. */
  private kindOf(mesh: CrowdMesh): number {
    const kind = this.meshes.indexOf(mesh);
    if (kind >= 0) return kind;
    const { owner, isJointAttachment } = mesh as CrowdMesh & { isJointAttachment?: boolean };
    // Joints of bodies with other proportions are elsewhere.
    const isOnAll = isJointAttachment && owner === this.crowd && this.crowd.crowd.bodies === null;
    return owner === undefined || isOnAll ? -1 : this.kindOf(owner);
  }

  private set(index: number, kind: number): void {
    if (this.kinds[index] === kind) return;
    this.kinds[index] = kind;
    this.tell(index);
    this.version++;
  }

  private checkKind(kind: CrowdMesh | number): number {
    const number = typeof kind === 'number' ? kind : this.meshes.indexOf(kind);
    if (this.meshes[number] !== undefined) return number;
    throw new Error(`CrowdKinds: there is no kind ${describe(kind)}; use the crowd, or what add() returned.`);
  }

  /** Call when there are other kinds. */
  private changed(): void {
    this.version++;
    this.poseBodies();
    for (const one of this.meshes) one?.prepareDraw();
  }

  /** Lets the pass know of bodies with other proportions, if there are any. */
  private poseBodies(): void {
    const { crowd } = this.crowd;
    const bodies = this.meshes.map((mesh) => (mesh ?? this.crowd).boneTexture.data.tracks as PoseTracks);
    crowd.bodies?.dispose();
    crowd.bodies = bodies.some((body) => body?.fits) ? bodyTexels(bodies) : null;
    this.tellAll();
  }

  private tellAll(): void {
    this.told = this.crowd.playback.texels.texture;
    for (let id = 0; id < this.crowd.capacity; id++) this.tell(id);
  }

  /** Lets shaders know of which kind an instance is. */
  private tell(id: number): void {
    const { bodies, playback, written } = this.crowd.crowd;
    if (bodies === null) return;
    // Whatever the GPU has been told of the instance it does not read again.
    if (written?.plays) written.refuse();
    const { texels } = playback;
    const { data, stride } = texels.texture;
    const at = id * stride + HEADER_PHASE;
    data[at] = (this.kinds[id] * bodies.image.height) / this.meshes.length + (data[at] % 1);
    texels.changed(id);
  }
}

/** By whole words, which shaders read. */
const wholeWords = (bytes: number): number => (bytes + 3) & ~3;
