import {
  type BufferGeometry,
  type Camera,
  type DataTexture,
  type GeometryGroup,
  type Group,
  type Material,
  PlaneGeometry,
  type Scene,
  type WebGLRenderer,
} from 'three';
import type { BoneTexture } from '../../animation/BoneTexture.js';
import type { PosedCrowd, PoseSource } from '../../animation/PoseSource.js';
import { PARAM_MORPH_TEXEL, PARAM_ROWS } from '../../constants.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import type { CrowdMesh } from '../../crowd/CrowdMesh.js';
import type { SkinnedInstancedMesh } from '../../crowd/SkinnedInstancedMesh.js';
import { actionsRowBits, firstAction } from '../../playback/instanceLayout.js';
import { followJoint } from '../../utils/geometries.js';
import { LevelMesh } from '../levels/LevelMesh.js';
import { ImpostorAtlas, type ImpostorOptions } from './ImpostorAtlas.js';

/** Clips that have tiles without being asked for. */
const MAX_CLIPS = 8;

/**
 * The last level of detail of a crowd: two triangles for each instance, with a picture of the character from the nearest of 36
 * directions, in the phase of its clip. It is lit, casts and receives shadows, and has the instance's colour. For figures of
 * at most about 30 pixels.
 *
 * ```ts
 * levels.add(coarse, { screenShare: 0.1 });
 * levels.add(new Impostor({ clips: ['Idle', 'Walk', 'Run', 'Die'] }), { screenShare: 0.03 });
 * ```
 *
 * The renderer draws the pictures, 36 of them in each frame that shows the crowd; until all are there, instances stay at the level
 * before. They take about 3.3 MB a clip, 4 under `WebGPURenderer`.
 *
 * It shows the crowd's own character. Instances of other kinds, see `CrowdKinds`, are drawn there in a geometry, or not at all, as
 * `CrowdLevels.addToKind` says.
 *
 * @category See
 */
export class Impostor {
  /** For `levels.add`. */
  constructor(
    /** As they were passed in. */
    readonly options: ImpostorOptions = {},
  ) {}

  /** Called by `CrowdLevels.add`. */
  createMesh(crowd: SkinnedInstancedMesh): ImpostorMesh {
    return new ImpostorMesh(crowd, this.options);
  }
}

/** What says where the quads are: their shaders alone. */
const impostorSource: PoseSource = {
  name: 'impostor',
  hasFrames: false,
  setParameters({ playback: { layers } }, parameters) {
    parameters[PARAM_ROWS] = actionsRowBits(layers.length);
    parameters[PARAM_MORPH_TEXEL] = firstAction(layers.length);
  },
  pose() {},
  expandBounds(crowd, target) {
    target.union((crowd as PosedCrowd & ImpostorMesh).owner.bounds.ofPoses());
  },
};

/** The table that shaders read of a mesh. */
export const tableOf = (mesh: DrawnCrowd): DataTexture =>
  (mesh as DrawnCrowd & Partial<ImpostorMesh>).tiles?.table ?? mesh.boneTexture;

/**
 * Draws the impostors of a crowd, see `Impostor`.
 *
 * @category See
 */
export class ImpostorMesh extends LevelMesh {
  override readonly type: string = 'ImpostorMesh';
  /** For type testing. */
  readonly isImpostorMesh = true;
  /** @internal */
  declare readonly tiles: ImpostorAtlas;
  /** @internal */
  declare readonly impostorOptions: ImpostorOptions;

  /** @internal */
  constructor(crowd: CrowdMesh, options: ImpostorOptions) {
    if (crowd.boneTexture.binding !== null)
      throw new Error('Impostors show characters with joints, and this crowd shows a vertex texture.');
    checkClips(crowd.boneTexture, options);
    const tiles = new ImpostorAtlas(crowd as SkinnedInstancedMesh, options);
    // Two triangles; shaders know where they are.
    const quad = followJoint(new PlaneGeometry(2, 2).deleteAttribute('uv'), 0);
    super(crowd, quad, tiles.material, { influences: 1 });
    this.tiles = tiles;
    this.impostorOptions = options;
    tiles.dress(this.customDepthMaterial as Material, true);
    tiles.dress(this.customDistanceMaterial as Material, true);
    this.prepareDraw();
  }

  /** @internal */
  get poseSource(): PoseSource {
    return impostorSource;
  }

  /** Until its tiles are drawn, instances are drawn at the level before. */
  get isReady(): boolean {
    return this.tiles?.isReady === true;
  }

  /** Bytes of the tiles on the GPU. */
  get byteLength(): number {
    return this.tiles.byteLength;
  }

  /** Draws the tiles anew, over some frames: after a texture or another field of the crowd's materials was changed. */
  refresh(): this {
    this.tiles.refresh();
    return this;
  }

  /** Nobody has to be posed for it. @internal */
  get isPosed(): boolean {
    return false;
  }

  /** Tiles show what was modelled. @internal */
  override get parts(): null {
    return null;
  }

  /** @internal */
  override get instanceUniforms(): null {
    return null;
  }

  /** @internal */
  override motionsChanged(): void {}

  /** @internal */
  override checkBoneTexture(boneTexture: BoneTexture): void {
    checkClips(boneTexture, this.impostorOptions);
  }

  /** @internal */
  override copyFor(owner: CrowdMesh): ImpostorMesh {
    return new ImpostorMesh(owner, this.impostorOptions);
  }

  /** @internal */
  override onBeforeRender(
    renderer: WebGLRenderer,
    scene: Scene,
    camera: Camera,
    geometry: BufferGeometry,
    material: Material,
    group: Group | GeometryGroup | null,
  ): void {
    this.tiles.advance(renderer);
    super.onBeforeRender(renderer, scene, camera, geometry, material, group as Group);
  }

  protected override free(): void {
    super.free();
    this.tiles.dispose();
  }
}

/** @throws If there are no such clips, or too many. */
function checkClips({ clips, clipTable }: BoneTexture, options: ImpostorOptions): void {
  for (const clip of options.clips ?? []) clipTable.indexOf(clip);
  if (options.clips !== undefined || clips.length <= MAX_CLIPS) return;
  throw new Error(
    `The character has ${clips.length} clips, of about 3.3 MB each; say which ones are seen from afar: new Impostor({ clips: ["${clips[0].name}", …] }).`,
  );
}
