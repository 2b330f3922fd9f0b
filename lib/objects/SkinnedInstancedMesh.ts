import type {
  AnimationClip,
  BufferGeometry,
  Camera,
  Group,
  JSONMeta,
  Object3D,
  Raycaster,
  Scene,
  WebGLRenderer,
} from 'three';
import {
  AttachedBindMode,
  InstancedBufferAttribute,
  InstancedMesh,
  type Material,
  Matrix4,
  MeshDepthMaterial,
  MeshDistanceMaterial,
  type Vector3,
} from 'three';
import type { Influences } from '../../shaders/ShaderVariant.js';
import { backendOf } from '../backends/backendOf.js';
import { CrowdSkeleton } from '../backends/CrowdSkeleton.js';
import { poseAhead, updateDraw } from '../backends/webgl/WebGLBackend.js';
import type { BakeOptions } from '../baking/BakeOptions.js';
import { findUnsupported } from '../baking/collectParts.js';
import { collectRig } from '../baking/collectRig.js';
import {
  createCrowdGeometry,
  removePlaybackAttributes,
  setPlaybackAttributes,
} from '../character/crowdGeometry.js';
import { mergeParts } from '../character/mergeParts.js';
import { PARAM_CLOCK } from '../constants.js';
import type { InstanceMatrices } from '../instances/InstanceMatrices.js';
import { createPoseMix } from '../poses/PoseMix.js';
import { CrowdBounds } from '../queries/crowdBounds.js';
import { morphVertex, skinVertex } from '../queries/posedVertex.js';
import { type CrowdIntersection, raycastCrowd } from '../queries/raycastCrowd.js';
import { BoneTexture } from '../texture/BoneTexture.js';
import { releaseBuffers } from '../utils/releaseBuffers.js';
import { resizedAttribute } from '../utils/resizedAttribute.js';
import { warnOnce } from '../utils/warnOnce.js';
import { numberedParts } from './PartedInstancedMesh.js';
import { SocketedInstancedMesh } from './SocketedInstancedMesh.js';

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
 * `AnimationMixer` plays C at t. Instances that play nothing stand in the rest pose. M must not mirror, see
 * {@link SkinnedInstancedMesh.setMatrixAt}.
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
  /** @internal */
  readonly isCrowdMesh = true;
  /**
   * Makes three.js bind `skeleton.boneTexture` and the draw parameters at each draw. Not so while WebGPURenderer draws the
   * crowd in a material that cannot pose it.
   */
  isSkinnedMesh: boolean = true;
  /** As `SkinnedMesh` has it; crowds know no other mode. */
  readonly bindMode = AttachedBindMode;
  /** Not a transform: three.js uploads it at each draw, and the crowd's shaders read their parameters from it. */
  readonly bindMatrix = new Matrix4();
  /** The identity, where three.js looks for it. */
  readonly bindMatrixInverse = new Matrix4();
  /**
   * Stands in for a skeleton; it has no bones. Assignments are ignored: `SkeletonUtils.clone` would give a clone that of
   * its source.
   *
   * @internal
   */
  declare readonly skeleton: CrowdSkeleton;

  /**
   * Matrices and colours as texels, while node materials have no vertex attributes left for them.
   *
   * @internal
   */
  matrices: InstanceMatrices | null = null;
  /**
   * Matrices of the frame before, which node materials keep for motion vectors.
   *
   * @internal
   */
  previousMatrices: InstanceMatrices | null = null;

  private texture: BoneTexture;
  private most: Influences;
  private mostInShadows: Influences;
  private mix: boolean;
  /** Materials and textures that were made for this crowd, whatever it draws with now. */
  private owned: { dispose(): void }[] = [];
  private readonly bounds = new CrowdBounds(this);
  /** Whether the crowd is in the middle of becoming another one, so that materials need not be prepared for it. */
  private changing = false;

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
    this.most = influences;
    this.mostInShadows = checkInfluences(options.shadowInfluences ?? influences, 'shadowInfluences');
    this.mix = options.interpolate ?? DEFAULTS.interpolate;
    this.texture = boneTexture;
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
   * @param clips E.g. `gltf.animations`; without any, the crowd stands in its rest pose.
   * @throws What {@link BoneTexture.bake} throws, and if there is something under `root` that cannot be instanced.
   */
  static from(
    root: Object3D,
    clips: readonly AnimationClip[],
    count: number,
    options: FromOptions = {},
  ): SkinnedInstancedMesh {
    const caller = `${NAME}.from`;
    // What cannot be drawn is refused before the time is spent on baking.
    checkCount(count);
    if (options.skipUnsupported !== true) refuseUnsupported(root, caller);
    const boneTexture = options.boneTexture ?? BoneTexture.bake(root, clips, options);
    checkArguments(boneTexture, count);
    const { flips } = boneTexture.data;
    const { rig, parts } = collectRig(root, { morphing: options.morphTargets, flips });
    const names = boneTexture.jointNames;
    // Behind the joints there may be sockets.
    if (names.length < rig.jointNames.length || rig.jointNames.some((name, i) => name !== names[i])) {
      throw new Error(
        `${caller}: the bone texture was baked for another skeleton (${names.length} joints from "${names[0]}", ` +
          `not ${rig.jointNames.length} from "${rig.jointNames[0]}"); bake one from this root.`,
      );
    }

    const { geometry, material, owned } = mergeParts(
      parts,
      rig.morphNames.length,
      options.mergeMaterials === true,
    );
    const crowd = new SkinnedInstancedMesh(geometry, material, boneTexture, count, options);
    if (geometry !== parts[0].geometry) geometry.dispose();

    const [{ mesh }] = parts;
    crowd.name = root.name;
    crowd.castShadow = parts.some((part) => part.mesh.castShadow);
    crowd.receiveShadow = parts.some((part) => part.mesh.receiveShadow);
    crowd.frustumCulled = mesh.frustumCulled;
    crowd.renderOrder = mesh.renderOrder;
    crowd.layers.mask = mesh.layers.mask;
    crowd.owned = options.boneTexture === undefined ? [...owned, boneTexture] : owned;
    crowd.partPaths = parts.map((part) => namesUp(part.mesh, root));
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
  override setCapacity(capacity: number): this {
    if (this.owner !== null) {
      this.owner.setCapacity(capacity);
      return this;
    }
    if (!(Number.isInteger(capacity) && capacity >= this.count)) {
      throw new Error(
        `${NAME}.setCapacity: capacity is ${capacity}; use a whole number from count, which is ${this.count}.`,
      );
    }
    if (capacity === this.capacity) return this;
    const { geometry, instanceMatrix, playback } = this;
    releaseBuffers(geometry, [instanceMatrix, this.instanceColor]);
    this.instanceMatrix = resizedAttribute(instanceMatrix, capacity, IDENTITY);
    this.replacePlayback(this.createPlayback(capacity).copy(playback));
    this.resizeLooks();
    this.adoptGeometry(geometry);
    this.forgetBounds();
    this.prepareDraw();
    this.shareAgain();
    return this;
  }

  /**
   * The clips that instances can play. Another one may take its place, baked of the same skeleton: instances go on in the
   * clips of the same names, as many seconds into them and as fast; those whose clip it has not take the rest pose. What
   * is attached comes along. A bone texture that {@link SkinnedInstancedMesh.from} baked still is the crowd's, and freed
   * when the crowd is disposed; one that is assigned is yours.
   *
   * @throws If it was baked for another skeleton.
   */
  get boneTexture(): BoneTexture {
    return this.texture;
  }

  set boneTexture(value: BoneTexture) {
    if (value === this.texture) return;
    if (this.owner !== null) {
      this.owner.boneTexture = value;
      return;
    }
    const caller = `${NAME}.boneTexture`;
    if (!value?.isBoneTexture) throw new Error(`${caller}: ${String(value)} is no BoneTexture.`);
    this.checkBoneTexture(value, caller);
    const before = this.texture;
    this.takeBoneTexture(value);
    const lost = this.playback.changeClips(before.clipTable, value.clipTable);
    if (lost.size > 0) {
      const names = [...lost].map((name) => `"${name}"`).join(', ');
      warnOnce(`${caller}: the new one has no ${names}; instances that played it stand in the rest pose.`);
    }
  }

  /** Joints that a vertex follows at most. */
  get influences(): Influences {
    return this.most;
  }

  /** The same in shadow maps. */
  get shadowInfluences(): Influences {
    return this.mostInShadows;
  }

  /** Whether two baked frames are mixed; else the nearest is shown. Encoding 'tracks' has no such frames, and always mixes. */
  get interpolate(): boolean {
    return this.mix || this.posedByPass;
  }

  /** Changing it compiles the materials anew. */
  set interpolate(value: boolean) {
    if (value === this.mix) return;
    this.mix = value;
    this.prepareDraw();
    for (const attachment of this.attachments) attachment.interpolate = value;
  }

  /**
   * Position of a vertex as the instance shows it now, morph targets and instance matrix applied: in the crowd's local
   * space. For the world's, apply `matrixWorld`.
   *
   * @param vertex Index into the attributes of `geometry`.
   * @throws If there is no such instance or vertex.
   */
  getVertexPositionAt(index: number, vertex: number, target: Vector3): Vector3 {
    this.checkIndex(index, 'getVertexPositionAt');
    const vertices = this.geometry.getAttribute('position').count;
    if (!(Number.isInteger(vertex) && vertex >= 0 && vertex < vertices)) {
      throw new Error(
        `${NAME}.getVertexPositionAt: no vertex ${vertex}; the geometry has ${vertices}, 0 to ${vertices - 1}.`,
      );
    }
    this.playback.pose(index, this.interpolate, _pose);
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
   * @param matrix May turn, move and scale, but not mirror: all instances are one draw call, in which the GPU takes
   * triangles for back or front by one rule. Mirrored ones belong in a crowd of their own whose `scale.x` is -1.
   * @throws If there is no such instance, or the matrix is not of finite numbers.
   */
  override setMatrixAt(index: number, matrix: Matrix4): this {
    this.checkIndex(index, 'setMatrixAt');
    checkMatrix(matrix);
    super.setMatrixAt(index, matrix);
    return this;
  }

  /** Box around every pose that any instance may take, at the place where it stands. */
  override computeBoundingBox(): void {
    this.bounds.computeBox();
  }

  /** Sphere around every pose that any instance may take, at the place where it stands. */
  override computeBoundingSphere(): void {
    this.bounds.computeSphere();
  }

  /**
   * Also lets go of bounds that the mesh computed itself once instances were moved (`instanceMatrix.needsUpdate`) or
   * `count` changed, so that nothing is culled by where it once stood. Bounds set by the user stay.
   */
  override updateMatrixWorld(force?: boolean): void {
    this.bounds.dropStale();
    super.updateMatrixWorld(force);
  }

  /** Intersects the instances as they are posed now; hits carry `instanceId`, and the name of the `part`. */
  override raycast(raycaster: Raycaster, intersects: CrowdIntersection[]): void {
    this.bounds.dropStale();
    raycastCrowd(this, raycaster, intersects, this.bounds.ofPoses());
  }

  /** Does nothing: a crowd is bound to its bone texture. `SkeletonUtils.clone` calls it. */
  bind(): void {}

  /**
   * Becomes a crowd of the same instances of the same character, playing on from here; bone texture and materials are
   * shared. What was attached stays, if the character has the joints for it.
   *
   * @throws If this crowd is attached to another, or something is attached to it that the source has no joint for.
   */
  override copy(source: SkinnedInstancedMesh, recursive?: boolean): this {
    if (source === this) return this;
    if (this.owner !== null) {
      throw new Error(
        `${NAME}.copy: this crowd is attached to another, which it shares instances with; clone the source instead.`,
      );
    }
    this.checkAttachments(source.boneTexture, `${NAME}.copy`);
    const { attachments, morphTexture } = this;
    const first = this.children.length;

    // Instances of another number need buffers of another size, which renderers only make for other attributes.
    releaseBuffers(this.geometry, [this.instanceMatrix, this.instanceColor]);
    this.instanceMatrix.dispose?.();
    this.instanceColor?.dispose?.();
    this.instanceMatrix = new InstancedBufferAttribute(new Float32Array(0), 16);

    // What is attached here cannot follow before all is there.
    this.attachments = [];
    this.changing = true;
    this.most = source.most;
    this.mostInShadows = source.mostInShadows;
    this.mix = source.mix;
    this.replaceBoneTexture(source.texture);
    this.replaceParts(null);
    super.copy(source, recursive);
    this.replacePlayback(this.createPlayback(this.capacity).copy(source.playback));
    this.copyParts(source);
    this.morphTexture = morphTexture;
    this.takeMorphs(source.morphTexture);
    this.resizeLooks();
    this.adoptGeometry(this.geometry);
    this.forgetBounds();
    this.bounds.dropCopied(source.bounds);
    this.changing = false;
    this.prepareDraw();

    this.attachments = attachments;
    this.passOnBoneTexture();
    this.shareAgain();
    for (const attachment of attachments) attachment.count = this.count;
    this.adoptCopies(source, first);
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
    removePlaybackAttributes(still.geometry);
    return still.toJSON(meta);
  }

  /**
   * Frees what the crowd allocated: instance buffers, its copy of the geometry, its shadow materials, and the bone
   * texture and merged materials that {@link SkinnedInstancedMesh.from} made. Materials, and a bone texture passed in, belong to the user.
   */
  override dispose(): this {
    for (const attachment of this.attachments) attachment.dispose();
    this.detach();
    super.dispose();
    this.playback.dispose();
    this.geometry.dispose();
    this.parts?.dispose();
    for (const made of this.owned) made.dispose();
    this.matrices?.dispose();
    this.previousMatrices?.dispose();
    this.customDepthMaterial?.dispose();
    this.customDistanceMaterial?.dispose();
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
    backendOf(renderer).prepare(renderer, this, scene, material);
  }

  /** As `onBeforeRender`, for shadow maps of WebGLRenderer. */
  override onBeforeShadow(renderer: WebGLRenderer): void {
    backendOf(renderer).prepareShadow(renderer, this);
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

  protected override swapLooks(i: number, j: number): void {
    super.swapLooks(i, j);
    this.previousMatrices?.swap(i, j);
  }

  protected override clockMoved(): void {
    this.bindMatrix.elements[PARAM_CLOCK] = this.playback.clock;
  }

  protected override replaceBoneTexture(boneTexture: BoneTexture): void {
    this.texture = boneTexture;
    this.forgetBounds();
    this.prepareDraw();
  }

  /** Whether a pass of its own poses the instances, rather than each vertex. */
  private get posedByPass(): boolean {
    return this.boneTexture.encoding === 'tracks';
  }

  protected override prepareDraw(): void {
    if (!this.changing) updateDraw(this);
  }

  protected override adoptGeometry(geometry: BufferGeometry): void {
    setPlaybackAttributes(geometry, this.playback);
    this.adoptMorphs(geometry);
  }

  /** Assignments that three.js leaves unchecked, and that would draw garbage, go through here. */
  private guardProperties(): void {
    let { geometry, material, count } = this;
    const skeleton = new CrowdSkeleton(() => {
      this.prepareDraw();
      poseAhead(this);
    });

    Object.defineProperty(this, 'geometry', {
      enumerable: true,
      get: () => geometry,
      set: (value: BufferGeometry) => {
        if (value === geometry) return;
        const made = createCrowdGeometry(value, this.boneTexture, this.influences, `${NAME}.geometry`);
        removePlaybackAttributes(geometry);
        geometry.dispose();
        geometry = made;
        this.adoptGeometry(made);
        this.forgetBounds();
        const otherParts = this.matchParts(made, value.hasAttribute('partIndex'));
        this.prepareDraw();
        if (otherParts) this.shareAgain();
      },
    });
    Object.defineProperty(this, 'skeleton', { enumerable: true, get: () => skeleton, set: () => {} });
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

  protected override forgetBounds(): void {
    this.bounds.drop();
  }
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
const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

function checkArguments(boneTexture: BoneTexture, count: number): void {
  if (!boneTexture?.isBoneTexture) {
    throw new Error(
      `${NAME}: boneTexture is ${String(boneTexture)}; pass what BoneTexture.bake(root, clips) returns.`,
    );
  }
  checkCount(count);
}

function checkCount(count: number): void {
  if (!(Number.isInteger(count) && count >= 0)) {
    throw new Error(`${NAME}: count is ${count}; use a whole number of instances.`);
  }
}

function refuseUnsupported(root: Object3D, caller: string): void {
  // What is no object at all, baking names.
  const [first] = root?.isObject3D ? findUnsupported(root) : [];
  if (first === undefined) return;
  throw new Error(
    `${caller}: "${first.name}" (${first.type}) cannot be drawn as part of a character; remove or hide it, or pass skipUnsupported: true.`,
  );
}

/** @throws If a matrix would be drawn as garbage. */
function checkMatrix({ elements: m }: Matrix4): void {
  const determinant =
    m[0] * (m[5] * m[10] - m[6] * m[9]) -
    m[4] * (m[1] * m[10] - m[2] * m[9]) +
    m[8] * (m[1] * m[6] - m[2] * m[5]);
  if (determinant < 0) {
    warnOnce(
      `${NAME}.setMatrixAt: a matrix mirrors, and its instance will be drawn inside out; put mirrored instances in a crowd of their own whose scale.x is -1.`,
    );
  }
  if (Number.isFinite(determinant + m[12] + m[13] + m[14])) return;
  throw new Error(`${NAME}.setMatrixAt: the matrix is ${m.join(', ')}; use finite numbers.`);
}

function checkInfluences(value: number, option: string): Influences {
  if (value === 1 || value === 2 || value === 4) return value;
  throw new Error(`${NAME}: ${option} is ${value}; use 1, 2 or 4.`);
}
