import type {
  AnimationClip,
  BufferGeometry,
  Camera,
  Group,
  JSONMeta,
  Object3D,
  Raycaster,
  Scene,
  Texture,
  WebGLRenderer,
} from 'three';
import {
  AttachedBindMode,
  Box3,
  type Color,
  type InstancedBufferAttribute,
  InstancedMesh,
  type Material,
  Matrix4,
  MeshDepthMaterial,
  MeshDistanceMaterial,
  Sphere,
  type Vector3,
} from 'three';
import { type Influences, variantCode } from '../../shaders/ShaderVariant.js';
import { requireNodeBackend } from '../backends/nodeBackend.js';
import { patchMaterial, releaseVariant } from '../backends/WebGLBackend.js';
import {
  PARAM_CLOCK,
  PARAM_MORPH_TEXEL,
  PARAM_PARTS,
  PARAM_PARTS_PER_ROW,
  PARAM_ROWS,
  PARAM_SHADOW_VARIANT,
  PARAM_STRIDE,
  PARAM_VARIANT,
} from '../constants.js';
import { INSTANCE_ATTRIBUTES } from '../playback/instanceLayout.js';
import { collectRig } from '../poses/Rig.js';
import { BoneTexture } from '../texture/BoneTexture.js';
import type { BakeOptions } from '../texture/bake.js';
import { growJointBoxes, jointBoxesContain } from '../texture/jointBoxes.js';
import { createPoseMix } from '../texture/PoseMix.js';
import { warnOnce } from '../utils/warnOnce.js';
import { CrowdSkeleton } from './CrowdSkeleton.js';
import { crowdBox, crowdSphere } from './crowdBounds.js';
import { createCrowdGeometry, setPlaybackAttributes } from './crowdGeometry.js';
import { InstanceParts } from './InstanceParts.js';
import { mergeParts } from './mergeParts.js';
import { type CrowdIntersection, raycastCrowd } from './raycastCrowd.js';
import { resizedAttribute } from './resizedAttribute.js';
import { SocketedInstancedMesh } from './SocketedInstancedMesh.js';
import { morphVertex, skinVertex } from './skinVertex.js';

const NAME = 'SkinnedInstancedMesh';

/** How a crowd is drawn. */
export interface SkinnedInstancedMeshOptions {
  /** Joints that a vertex follows at most; its strongest are kept. @default 4 */
  influences?: Influences;
  /** The same in shadow maps, where two or one are often enough. @default influences */
  shadowInfluences?: Influences;
  /** Whether two baked frames are mixed; else the nearest is shown. @default true */
  interpolate?: boolean;
}

/** Options of {@link SkinnedInstancedMesh.from}: how the character is merged, baked and drawn. */
export interface FromOptions extends SkinnedInstancedMeshOptions, BakeOptions {
  /** A bone texture baked before from the same character. The clips and bake options are then not used. */
  boneTexture?: BoneTexture;
  /** Leave out points, lines, sprites and instanced meshes under the root in place of an error. @default false */
  skipUnsupported?: boolean;
  /**
   * Whether materials that differ only in colour, roughness, metalness and emission become one, so that the character is
   * one draw call in place of one for each. Those it makes are the crowd's; nothing is changed in the ones merged.
   * @default false
   */
  mergeMaterials?: boolean;
  /** Names of parts that no instance shows to begin with, see `setPartVisibleAt`. @default [] */
  hiddenParts?: readonly string[];
}

const DEFAULTS = { influences: 4, interpolate: true } as const satisfies SkinnedInstancedMeshOptions;

const _pose = /*@__PURE__*/ createPoseMix();

/**
 * A crowd of animated characters in one draw call per material: an `InstancedMesh` whose instances play clips of a
 * {@link BoneTexture}, each its own at its own time, posed in the vertex shader.
 *
 * An instance with matrix M playing clip C at time t looks like a clone of the baked root with `matrix` M whose
 * `AnimationMixer` plays C at t. Instances that play nothing stand in the rest pose.
 *
 * Materials passed in gain an `onBeforeCompile` that other meshes do not notice; one set by the user still runs. The
 * geometry is copied; change `mesh.geometry`, not the one passed in.
 *
 * ```ts
 * const crowd = SkinnedInstancedMesh.from(gltf.scene, gltf.animations, 10_000);
 * scene.add(crowd);
 * crowd.setMatrixAt(0, matrix);
 * crowd.play(0, 'Run', { timeScale: 1.1 });
 * renderer.setAnimationLoop(() => {
 *   timer.update();
 *   crowd.update(timer.getDelta());
 *   renderer.render(scene, camera);
 * });
 * ```
 */
export class SkinnedInstancedMesh extends SocketedInstancedMesh {
  override readonly type: string = 'SkinnedInstancedMesh';
  /** For type testing. */
  readonly isSkinnedInstancedMesh = true;
  /** Makes three.js bind `skeleton.boneTexture` and the draw parameters at each draw. */
  readonly isSkinnedMesh = true;
  /** As `SkinnedMesh` has it; crowds know no other mode. */
  readonly bindMode = AttachedBindMode;
  /** Not a transform: three.js uploads it at each draw, and the crowd's shaders read their parameters from it. */
  readonly bindMatrix = new Matrix4();
  /** The identity, where three.js looks for it. */
  readonly bindMatrixInverse = new Matrix4();
  /**
   * Stands in for a skeleton; it has no bones.
   *
   * @internal
   */
  skeleton: CrowdSkeleton;

  /** The clips that instances can play. */
  boneTexture: BoneTexture;
  /** Joints that a vertex follows at most. */
  readonly influences: Influences;
  /** The same in shadow maps. */
  readonly shadowInfluences: Influences;

  /** Matrices of the frame before, which node materials keep for motion vectors. */
  previousInstanceMatrix: InstancedBufferAttribute | null = null;

  private mix: boolean;
  private ownsBoneTexture = false;
  /** Materials and textures that merging made. */
  private owned: { dispose(): void }[] = [];
  private poseBounds: Box3 | null = null;
  /** What `boundingBox` and `boundingSphere` were computed for, to notice when they no longer hold. */
  private readonly computed = {
    box: null as Box3 | null,
    sphere: null as Sphere | null,
    version: -1,
    count: -1,
  };

  /**
   * @param geometry Geometry of a skinned mesh, with `skinIndex` and `skinWeight`. It is copied.
   * @param material One material, or one for each group of the geometry.
   * @param boneTexture Baked from the skinned mesh's character.
   * @param count Number of instances, and the most there can be.
   * @throws If the geometry and the bone texture do not fit together.
   */
  constructor(
    geometry: BufferGeometry,
    material: Material | Material[],
    boneTexture: BoneTexture,
    count: number,
    options: SkinnedInstancedMeshOptions = {},
  ) {
    checkArguments(boneTexture, count);
    const influences = checkInfluences(options.influences ?? DEFAULTS.influences, 'influences');
    super(createCrowdGeometry(geometry, boneTexture, influences, NAME), material, count);

    this.partPaths = numberedParts(this.geometry);
    this.influences = influences;
    this.shadowInfluences = checkInfluences(options.shadowInfluences ?? influences, 'shadowInfluences');
    this.mix = options.interpolate ?? DEFAULTS.interpolate;
    this.boneTexture = boneTexture;
    this.skeleton = new CrowdSkeleton(() => this.prepareDraw());
    this.customDepthMaterial = new MeshDepthMaterial();
    this.customDistanceMaterial = new MeshDistanceMaterial();

    this.adoptGeometry(this.geometry);
    this.guardProperties();
    this.prepareDraw();
  }

  /**
   * A crowd of `count` instances of the character under `root`, with all its meshes and materials.
   *
   * @param root E.g. `gltf.scene`; nothing in it is changed but for the materials, see the class.
   * @param clips E.g. `gltf.animations`.
   * @throws What {@link BoneTexture.bake} throws, and if there is something under `root` that cannot be instanced.
   */
  static from(
    root: Object3D,
    clips: readonly AnimationClip[],
    count: number,
    options: FromOptions = {},
  ): SkinnedInstancedMesh {
    const caller = `${NAME}.from`;
    const boneTexture = options.boneTexture ?? BoneTexture.bake(root, clips, options);
    const rig = collectRig(root, [], options.morphTargets);
    const names = boneTexture.jointNames;
    // Behind the joints there may be sockets.
    if (names.length < rig.jointNames.length || rig.jointNames.some((name, i) => name !== names[i])) {
      throw new Error(
        `${caller}: the bone texture was baked for another skeleton (${names.length} joints from "${names[0]}", ` +
          `not ${rig.jointNames.length} from "${rig.jointNames[0]}"); bake one from this root.`,
      );
    }

    if (rig.unsupported.length > 0 && options.skipUnsupported !== true) {
      const [first] = rig.unsupported;
      throw new Error(
        `${caller}: "${first.name}" (${first.type}) cannot be drawn as part of a character; remove or hide it, or pass skipUnsupported: true.`,
      );
    }

    const { geometry, material, owned } = mergeParts(
      rig.parts,
      rig.morphNames.length,
      options.mergeMaterials === true,
    );
    const crowd = new SkinnedInstancedMesh(geometry, material, boneTexture, count, options);
    if (geometry !== rig.parts[0].geometry) geometry.dispose();

    const [{ mesh }] = rig.parts;
    crowd.name = root.name;
    crowd.castShadow = rig.parts.some((part) => part.mesh.castShadow);
    crowd.receiveShadow = rig.parts.some((part) => part.mesh.receiveShadow);
    crowd.frustumCulled = mesh.frustumCulled;
    crowd.renderOrder = mesh.renderOrder;
    crowd.layers.mask = mesh.layers.mask;
    crowd.ownsBoneTexture = options.boneTexture === undefined;
    crowd.owned = owned;
    crowd.partPaths = rig.parts.map((part) => namesUp(part.mesh, root));
    for (const part of options.hiddenParts ?? []) crowd.setPartVisibleAt(crowd.all, part, false);
    if (rig.morphNames.length > 0) {
      crowd.morphTargetInfluences = [...rig.morphRest];
      crowd.morphTargetDictionary = Object.fromEntries(rig.morphNames.map((name, i) => [name, i]));
    }
    return crowd;
  }

  /**
   * Makes room for more instances, or gives room back. What the instances are and play stays; new ones have the identity
   * matrix and play nothing. `instanceMatrix` and the like become other objects. Costs an upload of everything, so grow by
   * doubling.
   *
   * @throws If `count` instances would not fit.
   */
  setCapacity(capacity: number): this {
    if (!(Number.isInteger(capacity) && capacity >= this.count)) {
      throw new Error(
        `${NAME}.setCapacity: capacity is ${capacity}; use a whole number from count, which is ${this.count}.`,
      );
    }
    if (capacity === this.capacity) return this;
    const { geometry, instanceMatrix, instanceColor, morphTexture, playback } = this;
    // Renderers let go of the buffers of a mesh that is disposed, and make new ones for one that is drawn after all.
    this.dispatchEvent({ type: 'dispose' });
    geometry.dispose();

    this.instanceMatrix = resizedAttribute(instanceMatrix, capacity);
    const identity = new Matrix4();
    for (let i = instanceMatrix.count; i < capacity; i++) identity.toArray(this.instanceMatrix.array, i * 16);
    if (instanceColor !== null) {
      this.instanceColor = resizedAttribute(instanceColor, capacity);
      for (let i = instanceColor.count; i < capacity; i++) this.instanceColor.setXYZ(i, 1, 1, 1);
    }
    this.previousInstanceMatrix?.dispose();
    this.previousInstanceMatrix = null;

    this.replacePlayback(this.createPlayback(capacity).copy(playback));
    if (this.parts !== null)
      this.replaceParts(new InstanceParts(capacity, this.parts.count).copy(this.parts));
    this.takeMorphs(morphTexture);
    morphTexture?.dispose();
    this.adoptGeometry(geometry);
    this.forgetBounds();
    this.prepareDraw();
    this.shareAgain();
    return this;
  }

  /** Whether two baked frames are mixed; else the nearest is shown. */
  get interpolate(): boolean {
    return this.mix;
  }

  /** Changing it compiles the materials anew. */
  set interpolate(value: boolean) {
    if (value === this.mix) return;
    this.releaseVariants();
    this.mix = value;
    this.prepareDraw();
    for (const attachment of this.attachments) attachment.interpolate = value;
  }

  /**
   * Position of a vertex as the instance shows it now, morph targets and instance matrix applied: in the crowd's local
   * space. For the world's, apply `matrixWorld`.
   *
   * @param vertex Index into the attributes of `geometry`.
   */
  getVertexPositionAt(index: number, vertex: number, target: Vector3): Vector3 {
    this.checkIndex(index, 'getVertexPositionAt');
    this.playback.pose(index, this.mix, _pose);
    const { geometry, morphTexture, morphTargetInfluences = [] } = this;
    const added = new Float64Array(this.clipsMorph ? this.boneTexture.morphNames.length : 0);
    if (this.clipsMorph) this.boneTexture.readMorphs(_pose, added);
    morphVertex(geometry, morphTexture, morphTargetInfluences, added, index, vertex, target);
    skinVertex(this.geometry, this.boneTexture, _pose, this.influences, vertex, target);
    return target.applyMatrix4(_instanceMatrix.fromArray(this.instanceMatrix.array, index * 16));
  }

  /**
   * Places an instance; set `instanceMatrix.needsUpdate` afterwards, as with `InstancedMesh`.
   *
   * @throws If there is no such instance.
   */
  override setMatrixAt(index: number, matrix: Matrix4): this {
    this.checkIndex(index, 'setMatrixAt');
    super.setMatrixAt(index, matrix);
    return this;
  }

  /**
   * Colours an instance; set `instanceColor.needsUpdate` afterwards, as with `InstancedMesh`.
   *
   * @throws If there is no such instance.
   */
  override setColorAt(index: number, color: Color): this {
    this.checkIndex(index, 'setColorAt');
    super.setColorAt(index, color);
    return this;
  }

  /** Box around every pose that any instance may take, at the place where it stands. */
  override computeBoundingBox(): void {
    this.boundingBox ??= new Box3();
    crowdBox(this.instanceMatrix, this.count, this.boundsOfPoses(), this.boundingBox);
    this.rememberBounds();
  }

  /** Sphere around every pose that any instance may take, at the place where it stands. */
  override computeBoundingSphere(): void {
    this.boundingSphere ??= new Sphere();
    crowdSphere(this.instanceMatrix, this.count, this.boundsOfPoses(), this.boundingSphere);
    this.rememberBounds();
  }

  /**
   * Also lets go of bounds that the mesh computed itself once instances were moved (`instanceMatrix.needsUpdate`) or
   * `count` changed, so that nothing is culled by where it once stood. Bounds set by the user stay.
   */
  override updateMatrixWorld(force?: boolean): void {
    const { computed, instanceMatrix } = this;
    if (computed.version !== instanceMatrix.version || computed.count !== this.count) {
      if (this.boundingBox !== null && this.boundingBox === computed.box) this.boundingBox = null;
      if (this.boundingSphere !== null && this.boundingSphere === computed.sphere) this.boundingSphere = null;
    }
    super.updateMatrixWorld(force);
  }

  /** Intersects the instances as they are posed now; hits carry `instanceId`, and the name of the `part`. */
  override raycast(raycaster: Raycaster, intersects: CrowdIntersection[]): void {
    raycastCrowd(this, raycaster, intersects, this.boundsOfPoses());
  }

  /** Does nothing: a crowd is bound to its bone texture. `SkeletonUtils.clone` calls it. */
  bind(): void {}

  /** Becomes a crowd of the same instances, playing on from here; bone texture and materials are shared. */
  override copy(source: SkinnedInstancedMesh, recursive?: boolean): this {
    super.copy(source, recursive);
    this.boneTexture = source.boneTexture;
    this.replacePlayback(this.createPlayback(this.capacity).copy(source.playback));
    this.mix = source.mix;
    this.partPaths = source.partPaths;
    const { parts } = source;
    this.replaceParts(parts === null ? null : new InstanceParts(this.capacity, parts.count).copy(parts));
    this.takeMorphs(source.morphTexture);
    this.adoptGeometry(this.geometry);
    this.forgetBounds();
    this.update(0);
    this.prepareDraw();
    for (const attachment of source.attachments) {
      const copied = this.children[source.children.indexOf(attachment)] as SkinnedInstancedMesh | undefined;
      if (copied?.isSkinnedInstancedMesh === true) this.adopt(copied);
    }
    return this;
  }

  /** A crowd of its own with the same instances, playing on from here. Materials and bone texture are shared. */
  override clone(recursive?: boolean): this {
    const { geometry, material, boneTexture, capacity } = this;
    const Class = this.constructor as typeof SkinnedInstancedMesh;
    return new Class(geometry, material, boneTexture, capacity, this).copy(this, recursive) as this;
  }

  /**
   * What `InstancedMesh.toJSON` writes: the instances in the pose the geometry was modelled in. Bone texture and
   * playback are not part of three.js's JSON format; a warning says so.
   */
  override toJSON(meta?: JSONMeta): ReturnType<InstancedMesh['toJSON']> {
    warnOnce(
      `${NAME}.toJSON: three.js's JSON has no place for baked animation; the crowd is written as an InstancedMesh.`,
    );
    const still = new InstancedMesh(this.geometry, this.material, 0).copy(this as InstancedMesh, true);
    still.uuid = this.uuid;
    still.geometry = this.geometry.clone();
    for (const { name } of INSTANCE_ATTRIBUTES) still.geometry.deleteAttribute(name);
    return still.toJSON(meta);
  }

  /**
   * Frees what the crowd allocated: instance buffers, its copy of the geometry, its shadow materials, and the bone
   * texture and merged materials that {@link SkinnedInstancedMesh.from} made. Materials, and a bone texture passed in, belong to the user.
   */
  override dispose(): this {
    for (const attachment of [...this.attachments]) attachment.dispose();
    if (this.owner === null) {
      super.dispose();
      this.playback.dispose();
    } else this.detach();
    this.geometry.dispose();
    this.parts?.dispose();
    for (const made of this.owned) made.dispose();
    this.previousInstanceMatrix?.dispose();
    this.customDepthMaterial?.dispose();
    this.customDistanceMaterial?.dispose();
    if (this.ownsBoneTexture) this.boneTexture.dispose();
    return this;
  }

  /**
   * Poses the crowd under `scene.overrideMaterial`, and under WebGPURenderer at all. Call it from a hook of your own put
   * in its place.
   */
  override onBeforeRender(
    renderer: WebGLRenderer,
    scene: Scene,
    _camera: Camera,
    _geometry: BufferGeometry,
    material: Material,
    _group: Group,
  ): void {
    this.prepareUploads(renderer);
    if ((renderer as { isWebGLRenderer?: boolean }).isWebGLRenderer === true) {
      if ((material as { isNodeMaterial?: boolean }).isNodeMaterial === true) {
        throw new Error(
          `${NAME}: WebGLRenderer cannot pose a crowd in a node material ("${material.name || material.type}"), not with a nodes handler either; use WebGPURenderer, with forceWebGL: true if need be.`,
        );
      }
      patchMaterial(material, 'color', this.bindMatrix.elements[PARAM_VARIANT]);
      this.checkTextureSize(renderer);
    } else {
      this.prepareDraw();
      requireNodeBackend().prepare(renderer, this, scene, material);
    }
  }

  /** As `onBeforeRender`, for shadow maps of WebGLRenderer. */
  override onBeforeShadow(renderer: WebGLRenderer): void {
    this.prepareUploads(renderer);
  }

  protected override createAttachment(
    geometry: BufferGeometry,
    material: Material | Material[],
  ): SkinnedInstancedMesh {
    const { boneTexture, capacity, interpolate } = this;
    return new SkinnedInstancedMesh(geometry, material, boneTexture, capacity, {
      interpolate,
      influences: 1,
    });
  }

  protected override clockMoved(): void {
    this.bindMatrix.elements[PARAM_CLOCK] = this.playback.clock;
  }

  protected override partsReplaced(): void {
    this.releaseVariants();
    this.prepareDraw();
  }

  /** A renderer that has not got all of a texture must not be sent a part of it. */
  private prepareUploads(renderer: WebGLRenderer): void {
    // Under WebGPURenderer there is no such property, nor a loss of context to notice.
    const { properties } = renderer as { properties?: WebGLRenderer['properties'] };
    const has = (texture: Texture) =>
      properties === undefined ||
      (properties.get(texture) as { __webglTexture?: unknown }).__webglTexture !== undefined;
    this.playback.state.prepare(renderer, has);
    this.playback.fades.prepare(renderer, has);
    this.parts?.texture.prepare(renderer, has);
  }

  private checkedRenderer: WebGLRenderer | null = null;

  private checkTextureSize(renderer: WebGLRenderer): void {
    if (this.checkedRenderer === renderer) return;
    this.checkedRenderer = renderer;
    const max = renderer.capabilities?.maxTextureSize;
    if (max === undefined) return;

    this.boneTexture.checkSize(max);
    if (this.morphTexture !== null && this.morphTexture.image.height > max) {
      throw new Error(
        `${NAME}: morph weights for ${this.morphTexture.image.height} instances need a texture of that height, this device takes ${max}; split the crowd.`,
      );
    }
  }

  private variantCodes() {
    const { encoding } = this.boneTexture;
    const interpolate = this.mix;
    const parts = this.parts !== null;
    const morphs = this.clipsMorph;
    const common = { encoding, interpolate, parts, morphs };
    return {
      color: variantCode({ ...common, influences: this.influences }),
      shadow: variantCode({ ...common, influences: this.shadowInfluences }),
    };
  }

  /** Lets go of the variants that the crowd draws with now. */
  private releaseVariants(): void {
    const { elements } = this.bindMatrix;
    for (const material of this.colorMaterials()) releaseVariant(material, elements[PARAM_VARIANT]);
    for (const material of this.shadowMaterials()) releaseVariant(material, elements[PARAM_SHADOW_VARIANT]);
  }

  private colorMaterials(): Material[] {
    return Array.isArray(this.material) ? this.material : this.material ? [this.material] : [];
  }

  private shadowMaterials(): Material[] {
    return [this.customDepthMaterial, this.customDistanceMaterial].filter(
      (material) => material !== undefined,
    );
  }

  /** Brings materials and draw parameters up to what the crowd is now. Costs a look-up per material. */
  protected override prepareDraw(): void {
    const { elements } = this.bindMatrix;
    const { layout } = this.boneTexture;
    const codes = this.variantCodes();
    elements[PARAM_CLOCK] = this.playback.clock;
    elements[PARAM_ROWS] = layout.height;
    elements[PARAM_STRIDE] = layout.stride;
    elements[PARAM_VARIANT] = codes.color;
    elements[PARAM_SHADOW_VARIANT] = codes.shadow;
    const { fades } = this.playback;
    const parts = this.parts?.texture;
    elements[PARAM_MORPH_TEXEL] = this.boneTexture.morphTexel;
    elements[PARAM_PARTS] = this.parts?.count ?? 0;
    elements[PARAM_PARTS_PER_ROW] = parts?.perRow ?? 1;
    this.skeleton.setTextures(this.boneTexture, fades.plain, (parts ?? fades).plain);

    const { material } = this;
    if (Array.isArray(material)) {
      for (const one of material) patchMaterial(one, 'color', codes.color);
    } else if (material) {
      patchMaterial(material, 'color', codes.color);
    }
    if (this.customDepthMaterial) patchMaterial(this.customDepthMaterial, 'shadow', codes.shadow);
    if (this.customDistanceMaterial) patchMaterial(this.customDistanceMaterial, 'shadow', codes.shadow);
  }

  protected override adoptGeometry(geometry: BufferGeometry): void {
    setPlaybackAttributes(geometry, this.playback);
    this.poseBounds = null;
    this.adoptMorphs(geometry);
  }

  /** Assignments that three.js leaves unchecked, and that would draw garbage, go through here. */
  private guardProperties(): void {
    let { geometry, material, count } = this;

    Object.defineProperty(this, 'geometry', {
      enumerable: true,
      get: () => geometry,
      set: (value: BufferGeometry) => {
        if (value === geometry) return;
        geometry = createCrowdGeometry(value, this.boneTexture, this.influences, `${NAME}.geometry`);
        this.adoptGeometry(geometry);
      },
    });
    Object.defineProperty(this, 'material', {
      enumerable: true,
      get: () => material,
      set: (value: Material | Material[]) => {
        material = value;
        this.prepareDraw();
      },
    });
    Object.defineProperty(this, 'count', {
      enumerable: true,
      get: () => count,
      set: (value: number) => {
        if (!(Number.isInteger(value) && value >= 0 && value <= this.capacity)) {
          throw new Error(
            `${NAME}.count: ${value} is not a whole number from 0 to the capacity of ${this.capacity}; make room with setCapacity(n) first.`,
          );
        }
        count = value;
        for (const attachment of this.attachments) attachment.count = value;
      },
    });
  }

  private boundsOfPoses(): Box3 {
    if (this.poseBounds === null) {
      const { boneTexture } = this;
      const boxes = boneTexture.createJointBoxes();
      const joints = Int32Array.from(boneTexture.jointNames, (_, i) => i);
      growJointBoxes(boxes, this.geometry, joints, false);
      const known = jointBoxesContain(boneTexture.jointBoxes, boxes);
      this.poseBounds = boneTexture.expandBounds(new Box3(), known ? undefined : boxes);
    }
    return this.poseBounds;
  }

  protected override forgetBounds(): void {
    this.computed.version = -1;
  }

  private rememberBounds(): void {
    const { computed } = this;
    computed.box = this.boundingBox;
    computed.sphere = this.boundingSphere;
    computed.version = this.instanceMatrix.version;
    computed.count = this.count;
  }
}

/** Numbers for names, as many as a crowd geometry has parts. */
function numberedParts(geometry: BufferGeometry): string[][] {
  const partIndex = geometry.getAttribute('partIndex');
  let most = 0;
  for (let vertex = 0; vertex < partIndex.count; vertex++) most = Math.max(most, partIndex.getX(vertex));
  return Array.from({ length: most + 1 }, (_, part) => [String(part)]);
}

/** Names of an object and those above it, below the root. */
function namesUp(object: Object3D, root: Object3D): string[] {
  const names: string[] = [];
  for (let node: Object3D | null = object; node !== null && node !== root; node = node.parent) {
    names.push(node.name);
  }
  return names.length === 0 ? [object.name] : names;
}

const _instanceMatrix = /*@__PURE__*/ new Matrix4();

function checkArguments(boneTexture: BoneTexture, count: number): void {
  if (!boneTexture?.isBoneTexture) {
    throw new Error(
      `${NAME}: boneTexture is ${String(boneTexture)}; pass what BoneTexture.bake(root, clips) returns.`,
    );
  }
  if (!(Number.isInteger(count) && count >= 0)) {
    throw new Error(`${NAME}: count is ${count}; use a whole number of instances.`);
  }
}

function checkInfluences(value: number, option: string): Influences {
  if (value === 1 || value === 2 || value === 4) return value;
  throw new Error(`${NAME}: ${option} is ${value}; use 1, 2 or 4.`);
}
