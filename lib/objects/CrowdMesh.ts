import type { BufferGeometry } from 'three';
import { type Material, MeshDepthMaterial, MeshDistanceMaterial } from 'three';
import type { Influences } from '../../shaders/ShaderVariant.js';
import { goesByInstanceLayers } from '../backends/DrawnCrowd.js';
import { leaveMaterials, poseAhead, releaseMaterials, updateDraw } from '../backends/webgl/WebGLBackend.js';
import { createCrowdGeometry, setPlaybackAttributes } from '../character/crowdGeometry.js';
import { jointsOf } from '../character/crowdSkin.js';
import type { Crowd } from '../crowd/Crowd.js';
import { CharacterParts } from '../instances/CharacterParts.js';
import { CharacterUniforms } from '../instances/CharacterUniforms.js';
import { InstanceColors } from '../instances/InstanceColors.js';
import type { InstanceData } from '../instances/InstanceData.js';
import { InstanceMorphs } from '../instances/InstanceMorphs.js';
import type { InstanceParts } from '../instances/InstanceParts.js';
import type { InstanceUniforms } from '../instances/InstanceUniforms.js';
import { MatrixTexels } from '../instances/MatrixTexels.js';
import { CrowdBounds } from '../queries/crowdBounds.js';
import { sourceOf } from '../sources/sources.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import { releaseBuffers } from '../utils/releaseBuffers.js';
import { attachCopies } from './attachCopies.js';
import { checkOptions, checkSameJoints, warnOfOtherMorphs } from './checks.js';
import type { DrawOptions } from './crowdTypes.js';
import { DrawnMesh } from './DrawnMesh.js';
import { guardProperties } from './guardProperties.js';

/** A mesh that is attached to another mesh of its crowd. */
export interface AttachedMesh extends CrowdMesh {
  /** Becomes attached to a mesh, and one of the meshes of its crowd. */
  attachTo(owner: CrowdMesh): void;
  /** Called when the first part of an instance of the owner was shown, or the last one hidden. */
  ownerShown(index: number, shown: boolean): void;
}

const NAME = 'SkinnedInstancedMesh';

/** What instances look like in a mesh that draws them. {@link SkinnedInstancedMesh} adds what a crowd does in time. */
export abstract class CrowdMesh extends DrawnMesh {
  /** @internal */
  readonly wardrobe: CharacterParts;
  /** @internal */
  readonly uniforms: CharacterUniforms;
  /** What the instances look like in this mesh. @internal */
  readonly looks: readonly InstanceData[];
  /** Meshes attached to joints of this one. A new array at each change, so that loops are not disturbed. @internal */
  attachments: readonly AttachedMesh[] = [];
  /** @internal */
  readonly bounds = new CrowdBounds(this);
  /** @internal */
  readonly morphs: InstanceMorphs;
  protected readonly colors: InstanceColors;
  private options: Required<DrawOptions>;
  /** Whether the mesh is becoming a copy of another, so that materials need not be prepared for what is in between. */
  protected copying = false;

  /**
   * @param geometry Has `skinIndex` and `skinWeight` for the joints of the crowd's bone texture. It is copied.
   * @internal
   */
  constructor(geometry: BufferGeometry, material: Material | Material[], crowd: Crowd, options: DrawOptions) {
    const checked = checkOptions(options);
    super(createCrowdGeometry(geometry, crowd.boneTexture, checked.influences, NAME), material, crowd);
    this.options = checked;
    this.colors = new InstanceColors(this);
    this.morphs = new InstanceMorphs(this);
    this.wardrobe = new CharacterParts(this.geometry, this);
    this.uniforms = new CharacterUniforms(this);
    this.looks = [this.colors, this.wardrobe, this.uniforms, this.morphs, new MatrixTexels(this)];
    this.customDepthMaterial = new MeshDepthMaterial();
    this.customDistanceMaterial = new MeshDistanceMaterial();
    this.fitGeometry(this.geometry);
    guardProperties(this);
    const { layers } = this;
    // Cameras ask it before they draw the mesh, which they also have to do for instances on other layers.
    layers.test = ({ mask }) => {
      const others = goesByInstanceLayers(this) ? this.crowd.layers.union : 0;
      return ((layers.mask | others) & mask) !== 0;
    };
    crowd.add(this);
    this.prepareDraw();
  }

  /** @internal */
  get parts(): InstanceParts | null {
    return this.wardrobe.worn;
  }

  /** @internal */
  get instanceUniforms(): InstanceUniforms | null {
    return this.uniforms.numbers;
  }

  /**
   * The clips that instances can play. Another one may take its place, baked of the same skeleton: instances go on in the
   * clips of the same names, as many seconds into them and as fast; those whose clip it has not take the rest pose. What
   * is attached comes along. A bone texture that `SkinnedInstancedMesh.from` baked still is the crowd's, and freed when the
   * crowd is disposed; one that is assigned is yours.
   *
   * @throws If it was baked for another skeleton.
   */
  get boneTexture(): BoneTexture {
    return this.crowd.boneTexture;
  }

  /** It may be of another encoding, which compiles the materials anew. */
  set boneTexture(value: BoneTexture) {
    this.crowd.setBoneTexture(value, `${NAME}.boneTexture`);
  }

  /** Joints that a vertex follows at most. */
  get influences(): Influences {
    return this.options.influences;
  }

  /** The same in shadow maps. */
  get shadowInfluences(): Influences {
    return this.options.shadowInfluences;
  }

  /** Whether two baked frames are mixed; else the nearest is shown. Encoding 'tracks' has no such frames, and always mixes. */
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
   * Whether instances that a camera does not see are left out, for each camera and each shadow map by itself: as
   * `BatchedMesh` has it. What is attached is left out with them. Not so where the bounds of one of the meshes do not hold,
   * that is where its `frustumCulled` is false, or where its geometry has instanced attributes of your own, which GPUs read
   * by the index at which an instance is drawn.
   *
   * With encodings other than `'tracks'` it is false to begin with: what instances play is then uploaded once more when it
   * changes, 32 bytes for each.
   *
   * @default true
   */
  get perObjectFrustumCulled(): boolean {
    return this.views.perObjectFrustumCulled;
  }

  /** Changing it compiles the materials anew. */
  set perObjectFrustumCulled(value: boolean) {
    this.views.perObjectFrustumCulled = value;
    this.prepareDraw();
  }

  /** Whether clips move the geometry's morph targets. */
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
  override copy(source: this, recursive?: boolean): this {
    if (source === this) return this;
    this.crowd.checkBoneTexture(source.boneTexture, `${NAME}.copy`, this);
    const { morphTexture, instanceColor } = this;
    const first = this.children.length;

    this.copying = true;
    this.options = source.options;
    this.poseSource = source.poseSource;
    this.crowd.copy(source.crowd);
    // Numbers of parts that the new geometry may not have.
    this.wardrobe.clear();
    super.copy(source, recursive);
    // three.js has put clones in their places.
    this.morphTexture = morphTexture;
    instanceColor?.dispose?.();
    this.looks.forEach((data, i) => {
      data.copy(source.looks[i]);
    });
    this.bounds.drop();
    this.bounds.dropCopied(source.bounds);
    this.copying = false;
    this.instancesResized();
    attachCopies(source, this, first);
    for (let i = 0; i < this.capacity; i++) this.shownChanged(i);
    return this;
  }

  /**
   * Frees what the mesh allocated, and disposes what is attached to it. Materials, and a bone texture passed in, belong to
   * the user.
   */
  override dispose(): this {
    for (const attachment of this.attachments) attachment.dispose();
    super.dispose();
    releaseMaterials(this);
    this.geometry.dispose();
    for (const data of this.looks) data.dispose();
    this.customDepthMaterial?.dispose();
    this.customDistanceMaterial?.dispose();
    return this;
  }

  /** Brings materials and draw parameters up to what the mesh is now. @internal */
  prepareDraw(): void {
    if (!this.copying) updateDraw(this);
  }

  /** Called before others take the place of its materials. @internal */
  leaveMaterials(): void {
    leaveMaterials(this);
  }

  /** What is attached to an instance of which nothing is drawn is not drawn either. @internal */
  shownChanged(index: number): void {
    for (const attachment of this.attachments) attachment.ownerShown(index, this.wardrobe.isAnyDrawn(index));
  }

  /** @internal */
  instancesResized(): void {
    if (this.count > this.capacity) this.count = this.capacity;
    setPlaybackAttributes(this.geometry, this.playback);
    this.bounds.drop();
    this.prepareDraw();
  }

  /** @internal */
  checkBoneTexture(boneTexture: BoneTexture, caller: string): void {
    checkSameJoints(jointsOf(this.geometry), this.boneTexture, boneTexture, caller);
    if (this.clipsMorph) warnOfOtherMorphs(this.boneTexture, boneTexture, caller);
  }

  /** @internal */
  prepareBoneTexture(_boneTexture: BoneTexture): void {}
  /** @internal */
  boneTextureReplaced(): void {
    this.bounds.drop();
    this.prepareDraw();
  }

  /** Called when other motions move the vertices. @internal */
  motionsChanged(): void {
    this.prepareDraw();
    for (const attachment of this.attachments) attachment.motionsChanged();
  }

  /** Called by three.js in each frame, before it asks for programs. @internal */
  beginFrame(): void {
    this.prepareDraw();
    poseAhead(this);
  }

  /** Called when the geometry is another one. @internal */
  geometryReplaced(source: BufferGeometry): void {
    this.fitGeometry(this.geometry);
    this.bounds.drop();
    const otherParts = this.wardrobe.fitGeometry(this.geometry, source.hasAttribute('partIndex'));
    this.prepareDraw();
    if (otherParts) for (let i = 0; i < this.capacity; i++) this.shownChanged(i);
  }

  /** Becomes one of the meshes of another crowd, with everything that is attached to it. @internal */
  joinCrowd(crowd: Crowd): void {
    releaseBuffers(this.geometry, [this.instanceMatrix, this.instanceColor]);
    this.enterCrowd(crowd);
    for (const data of this.looks) data.resize(crowd.capacity);
    this.instancesResized();
    for (const attachment of this.attachments) attachment.joinCrowd(crowd);
  }

  protected enterCrowd(crowd: Crowd): void {
    this.crowd.remove(this);
    this.crowd.events.move(this, crowd.events);
    this.crowd = crowd;
    crowd.add(this);
  }

  private fitGeometry(geometry: BufferGeometry): void {
    setPlaybackAttributes(geometry, this.playback);
    this.morphs.fitGeometry(geometry);
  }
}
