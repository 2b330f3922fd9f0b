import type { Texture, WebGLRenderer } from 'three';
import type { BoneTexture } from '../../animation/BoneTexture.js';
import type { PosedCrowd } from '../../animation/PoseSource.js';
import type { PoseTracks } from '../../animation/PoseTracks.js';
import { type TrackLayout, trackLayout } from '../../animation/trackTexels.js';
import { FEW_RUNS } from '../../constants.js';
import { InstanceRuns } from '../../culling/InstanceList.js';
import type { PoseRequest } from '../../culling/View.js';
import type { InstancePlayback } from '../../playback/InstancePlayback.js';
import { PaletteRows } from './PaletteRows.js';
import { PoseDirtyTracker } from './PoseDirtyTracker.js';
import { type PoseCounts, WebGLPosePass } from './WebGLPosePass.js';

/** The poses of all that share one playback: a crowd and what is attached to it. */
export class WebGLPoses {
  private pass: WebGLPosePass | null = null;
  private readonly posed = new WeakMap<WebGLRenderer, PoseDirtyTracker>();
  /** The instances of a pass, where they are not all in a row. */
  private runs: InstanceRuns | null = null;
  private rows: PaletteRows | null = null;
  /** Who posed them first, and whether others did too: of what they see nothing is known here. */
  private renderer: WeakRef<WebGLRenderer> | null = null;
  private shared = false;
  /** What the pass is made for. */
  private boneTexture: BoneTexture | null = null;
  private layout = {} as TrackLayout;
  /** Whether the programs were made that pose the crowd once something is edited. */
  private isReadyForEdits = false;

  private readonly counts: PoseCounts = {
    nodes: 0,
    joints: 0,
    morphGroups: 0,
    layers: 1,
    edited: false,
    hasShortKeys: false,
  };

  /** The three textures of the palette; none before the crowd was first posed. */
  get textures(): readonly Texture[] {
    return this.pass?.textures ?? NONE;
  }

  /** The row of each instance, by `PaletteRows`; null if that is its own number. */
  get rowOf(): Texture | null {
    return this.rows?.texture?.plain ?? null;
  }

  /** Instances in a row of the palette. */
  get perRow(): number {
    return this.pass?.perRow ?? 1;
  }

  /** How many instances a renderer has posed as they are now. */
  posedCount(renderer: WebGLRenderer): number {
    return this.posed.get(renderer)?.count ?? 0;
  }

  /** Has a renderer make the programs that pose a crowd. */
  compile(renderer: WebGLRenderer, crowd: PosedCrowd): void {
    this.passFor(crowd).compile(renderer);
    this.prepareEdits(renderer, crowd);
  }

  /**
   * Poses those instances for a renderer that are wanted, and are not posed yet as they are now.
   *
   * @param requested See `PoseSource.update`.
   */
  update(
    renderer: WebGLRenderer,
    crowd: PosedCrowd,
    requested: readonly PoseRequest[] | null,
    isDrawing: boolean,
  ): void {
    const { boneTexture } = crowd;
    const { capacity } = crowd.playback;
    this.renderer ??= new WeakRef(renderer);
    if (this.renderer.deref() !== renderer) this.shared = true;
    const places = this.placesFor(capacity);
    const pass = this.passFor(crowd);
    this.prepareEdits(renderer, crowd);
    const { maxTextureSize } = renderer.capabilities;
    const perRow = pass.perRowFor(capacity, maxTextureSize) * 2;
    if (requested === null || this.shared) places.grow(capacity, perRow);
    pass.resize(places.size, capacity, maxTextureSize);

    let rows = this.posed.get(renderer);
    if (rows?.capacity !== capacity) {
      rows = new PoseDirtyTracker(capacity, boneTexture);
      this.posed.set(renderer, rows);
    }
    if (!pass.isPosed(renderer)) rows.clear();
    const { askedCount } = rows;
    if (rows.moveTo(crowd) && !this.shared) places.shrink(askedCount);
    addAll(rows, requested, crowd);
    if (places.grow(rows.askedCount, perRow)) {
      pass.resize(places.size, capacity, maxTextureSize);
      rows.clear();
      addAll(rows, requested, crowd);
    }
    const { dueCount } = rows;
    if (dueCount === 0) return;

    try {
      if (!places.isWhole) {
        places.assign(rows.due, rows.asked, rows.lose);
        places.texture?.prepare(renderer, hasTexture);
        places.instanceOf?.prepare(renderer, hasTexture);
      }
      this.run(renderer, crowd, pass, rows, places.isWhole ? rows.due : places.due, isDrawing);
    } catch (error) {
      rows.clear();
      throw error;
    }
  }

  /**
   * Poses instances.
   *
   * @param due Bits of the rows that are posed.
   */
  private run(
    renderer: WebGLRenderer,
    crowd: PosedCrowd,
    pass: WebGLPosePass,
    { dueCount, isTimed }: PoseDirtyTracker,
    due: Int32Array,
    isDrawing: boolean,
  ): void {
    const { size, instanceOf } = this.rows as PaletteRows;
    const runs = this.runsFor(size, pass.perRow);
    runs.assign(due, dueCount, isTimed);
    if (runs.count > FEW_RUNS) runs.texture.prepare(renderer, hasTexture);
    pass.run(renderer, crowd, this.layout, instanceOf?.plain ?? null, runs, isDrawing);
  }

  private runsFor(capacity: number, perRow: number): InstanceRuns {
    if (this.runs?.capacity !== capacity || this.runs.perRow !== perRow) {
      this.runs?.dispose();
      this.runs = new InstanceRuns(capacity, perRow);
    }
    return this.runs;
  }

  dispose(): void {
    this.pass?.dispose();
    this.pass = null;
    this.runs?.dispose();
    this.runs = null;
    this.rows?.dispose();
    this.rows = null;
  }

  private placesFor(capacity: number): PaletteRows {
    if (this.rows?.capacity !== capacity) {
      this.rows?.dispose();
      this.rows = new PaletteRows(capacity);
    }
    return this.rows;
  }

  /** Where nothing is edited yet that may be, has those programs made while others are used. */
  private prepareEdits(renderer: WebGLRenderer, { crowd: { poseEdits } }: PosedCrowd): void {
    if (this.isReadyForEdits || poseEdits === null) return;
    this.isReadyForEdits = true;
    if (!poseEdits.isUsed) new WebGLPosePass({ ...this.counts, edited: true }).compile(renderer);
  }

  /** The pass that there is, or a new one if the crowd is not as it was. */
  private passFor({ boneTexture, playback, crowd }: PosedCrowd): WebGLPosePass {
    const { counts } = this;
    // Asked here, since another renderer may have posed the crowd by another bone texture meanwhile.
    if (this.boneTexture !== boneTexture) {
      const tracks = boneTexture.data.tracks as PoseTracks;
      this.boneTexture = boneTexture;
      this.layout = trackLayout(tracks);
      countPoses(tracks, counts);
    }
    counts.layers = playback.layers.length;
    counts.edited = crowd.poseEdits?.isUsed === true;
    if (!this.pass?.suits(counts)) {
      this.pass?.dispose();
      this.pass = new WebGLPosePass({ ...counts });
    }
    return this.pass;
  }
}

/** Finds out who of those that are wanted has to be posed. */
function addAll(rows: PoseDirtyTracker, requested: readonly PoseRequest[] | null, crowd: PosedCrowd): void {
  rows.begin();
  if (requested === null) rows.add(null, crowd);
  else for (let i = 0; i < requested.length; i++) rows.add(requested[i], crowd);
}

function countPoses({ parents, jointNodes, morphRest, shorts }: PoseTracks, target: PoseCounts): void {
  target.nodes = parents.length;
  target.joints = jointNodes.length;
  target.morphGroups = morphRest.length / 4;
  target.hasShortKeys = shorts !== null;
}

const NONE: readonly Texture[] = [];

const known = /*@__PURE__*/ new WeakMap<InstancePlayback, WebGLPoses>();

/** The poses of a crowd, which it shares with all that has the same playback; they go when that is disposed. */
export function posesOf(crowd: PosedCrowd): WebGLPoses {
  const { playback } = crowd;
  let poses = known.get(playback);
  if (poses === undefined) {
    poses = new WebGLPoses();
    known.set(playback, poses);
    disposeWith(playback, poses);
  }
  return poses;
}

/** Disposes poses with what their instances play. That has other textures once there is room for another number of instances. */
function disposeWith(playback: InstancePlayback, poses: WebGLPoses): void {
  const actions = playback.actions.plain;
  actions.addEventListener('dispose', function dispose() {
    actions.removeEventListener('dispose', dispose);
    if (playback.mixes && playback.actions.plain !== actions) {
      disposeWith(playback, poses);
      return;
    }
    poses.dispose();
    known.delete(playback);
  });
}

/** The rows of a crowd's instances in its palette, see `WebGLPoses.rowOf`. */
export const rowsOf = ({ playback }: PosedCrowd): Texture | null => known.get(playback)?.rowOf ?? null;

/** The palette of a crowd; no textures before it was first posed. */
export function paletteOf({ playback }: PosedCrowd): readonly Texture[] {
  return known.get(playback)?.textures ?? NONE;
}

/** Whether WebGLRenderer has uploaded a texture. One function for all renderers, so that draws make none. */
export const hasTexture = (texture: Texture, renderer: object): boolean =>
  ((renderer as WebGLRenderer).properties.get(texture) as { __webglTexture?: unknown }).__webglTexture !==
  undefined;
