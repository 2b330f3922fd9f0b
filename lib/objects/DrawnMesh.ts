import type { BufferGeometry, Camera, GeometryGroup, Group, Material, Scene, WebGLRenderer } from 'three';
import { AttachedBindMode, InstancedMesh, Matrix4 } from 'three';
import type { Influences } from '../../shaders/ShaderVariant.js';
import { backendOf } from '../backends/backendOf.js';
import type { CrowdSkeleton } from '../backends/CrowdSkeleton.js';
import { endAllDraws, endDraw } from '../backends/webgl/WebGLBackend.js';
import type { Crowd } from '../crowd/Crowd.js';
import type { Palette } from '../crowd/Palette.js';
import type { JointEdits } from '../edits/JointEdits.js';
import type { ColorTexels } from '../instances/ColorTexels.js';
import type { InstanceMatrices } from '../instances/InstanceMatrices.js';
import type { InstanceMorphs } from '../instances/InstanceMorphs.js';
import type { InstanceParts } from '../instances/InstanceParts.js';
import type { InstanceSeeds } from '../instances/InstanceSeeds.js';
import type { InstanceUniforms } from '../instances/InstanceUniforms.js';
import type { InstanceVisibility } from '../instances/InstanceVisibility.js';
import type { CrowdMotions } from '../motion/CrowdMotions.js';
import type { InstancePlayback } from '../playback/InstancePlayback.js';
import type { PoseSource } from '../sources/PoseSource.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import type { CrowdViews } from '../views/CrowdViews.js';
import type { View } from '../views/View.js';
import type { ViewInfo } from '../views/ViewInfo.js';
import type { SkinnedInstancedMeshEventMap } from './crowdTypes.js';

/** Draws the instances of a crowd: what three.js and its renderers look for on such an object. */
export abstract class DrawnMesh extends InstancedMesh<
  BufferGeometry,
  Material | Material[],
  SkinnedInstancedMeshEventMap
> {
  /** For type testing: crowds, and what is attached to them. @internal */
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
  /** Has no bones. Assignments are ignored: `SkeletonUtils.clone` would give a clone that of its source. @internal */
  declare readonly skeleton: CrowdSkeleton;

  /** What this mesh shares with those that are attached to it. @internal */
  crowd: Crowd;
  /** @internal */
  poseSource: PoseSource | null = null;
  /** @internal */
  declare view: View | null;
  /** @internal */
  declare readonly views: CrowdViews;
  /** @internal */
  matrices: InstanceMatrices | null = null;
  /** @internal */
  colorTexels: ColorTexels | null = null;
  /** @internal */
  previousMatrices: InstanceMatrices | null = null;
  /** What moves the vertices; null where nothing does. @internal */
  motions: CrowdMotions | null = null;

  /** The clips that instances can play. */
  abstract readonly boneTexture: BoneTexture;
  /** @internal */
  abstract readonly morphs: InstanceMorphs;
  /** Joints that a vertex follows at most. */
  abstract readonly influences: Influences;
  /** The same in shadow maps. */
  abstract readonly shadowInfluences: Influences;
  /** Whether two baked frames are mixed; else the nearest is shown. */
  abstract readonly interpolate: boolean;
  /** Whether clips move the geometry's morph targets. */
  abstract readonly clipsMorph: boolean;
  /** @internal */
  abstract readonly parts: InstanceParts | null;
  /** @internal */
  abstract readonly instanceUniforms: InstanceUniforms | null;

  /** @internal */
  constructor(geometry: BufferGeometry, material: Material | Material[], crowd: Crowd) {
    super(geometry, material, 0);
    this.crowd = crowd;
  }

  /** The most instances there can be; `count` may be any number up to it. */
  get capacity(): number {
    return this.crowd.capacity;
  }

  /** Seconds by which the crowd was advanced in all. */
  get elapsed(): number {
    return this.playback.elapsed;
  }

  /** Seconds on the shared clock since it last went back to zero, which it does unseen every 16 seconds. */
  get clock(): number {
    return this.playback.clock;
  }

  /** Number of the level of detail that it draws; null for what is drawn of all levels. @internal */
  get level(): number | null {
    return null;
  }

  /** @internal */
  get playback(): InstancePlayback {
    return this.crowd.playback;
  }

  /** @internal */
  get seeds(): InstanceSeeds {
    return this.crowd.seeds;
  }

  /** @internal */
  get visibility(): InstanceVisibility {
    return this.crowd.visibility;
  }

  /** How the skinning matrices of instances are kept, with encoding 'tracks'. */
  get palette(): Palette {
    return this.crowd.palette;
  }

  /** @internal */
  get edits(): JointEdits {
    return this.crowd.edits;
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
    backendOf(renderer).prepare(renderer, this, scene, camera, material, part);
  }

  /** As `onBeforeRender`, for shadow maps of WebGLRenderer. */
  override onBeforeShadow(
    renderer: WebGLRenderer,
    _object: unknown,
    camera: Camera,
    light: Camera,
    _geometry: BufferGeometry,
    material: Material,
  ): void {
    backendOf(renderer).prepareShadow(renderer, this, light, camera, material);
  }

  /**
   * What a camera saw when it last drew the crowd, of all its levels together: for figures to be shown. Under WebGPU only the
   * GPU knows; see {@link DrawnMesh.readViewInfo}.
   *
   * @param camera Also that of a light's shadow.
   * @returns Null if the camera has not drawn the crowd lately, or all of it is drawn whatever the camera sees.
   */
  getViewInfo(camera: Camera): ViewInfo | null {
    return this.view === null && this.views.isUsed ? this.views.infoOf(camera) : null;
  }

  /**
   * What a camera saw when it last drew the crowd, for measuring and debugging. Under WebGPU that is known to the GPU alone,
   * and reading it takes some frames: do not wait for it in a program that runs.
   *
   * @param camera Also that of a light's shadow.
   */
  async readViewInfo(renderer: object, camera: Camera): Promise<ViewInfo> {
    const read = backendOf(renderer).readView?.(renderer, this, camera);
    if (read) return await read;
    const { count, view } = this;
    const visible = view?.count ?? count;
    const levels = [visible];
    return this.getViewInfo(camera) ?? { visible, levels, triangles: this.views.trianglesOf(levels) };
  }

  /**
   * Lets `count` be that of all instances again. Call it from a hook of your own put in its place, at any rate if you render in
   * hooks: a crowd that is drawn once more in the middle of a draw is then drawn on as it was to be.
   */
  override onAfterRender(): void {
    endDraw(this);
    this.geometry.indirect = null;
  }

  /** The same for shadow maps of WebGLRenderer. */
  override onAfterShadow(): void {
    endDraw(this);
  }

  /** Called at each update, when nothing is being drawn. @internal */
  endDraws(): void {
    endAllDraws(this);
  }
}
