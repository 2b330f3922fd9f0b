import type { Texture, WebGLRenderer } from 'three';
import type { PosedCrowd } from '../../animation/PoseSource.js';
import type { PoseTracks } from '../../animation/PoseTracks.js';
import { trackLayout } from '../../animation/trackTexels.js';
import { InstanceRuns } from '../../culling/InstanceList.js';
import type { PoseRequest } from '../../culling/View.js';
import type { InstancePlayback } from '../../playback/InstancePlayback.js';
import { PosedRows, type PosedState } from './PosedRows.js';
import { PoseRows } from './PoseRows.js';
import { type PoseCounts, type PosePassInput, WebGLPosePass } from './WebGLPosePass.js';

/** Lists of instances that are kept apart, so that a list which stays the same from frame to frame is sent once. */
const MAX_RUNS = 4;
/** From this share on, all between the first and the last that are posed are posed too. */
const DENSE = 0.7;

/** The poses of all that share one playback: a crowd and what is attached to it. */
export class WebGLPoses {
  private pass: WebGLPosePass | null = null;
  private readonly posed = new WeakMap<WebGLRenderer, PosedRows>();
  /** The instances of each pass at a moment: there may be several, when a camera sees some that none has seen before. */
  private readonly runs: InstanceRuns[] = [];
  private usedRuns = 0;
  private rows: PoseRows | null = null;
  /** Who posed them first, and whether others did too: of what they see nothing is known here. */
  private renderer: WeakRef<WebGLRenderer> | null = null;
  private shared = false;
  private readonly input: PosePassInput;
  /** What `update` poses by; kept here only so that no object is made for it. */
  private readonly state = {} as PosedState;

  private readonly counts: PoseCounts = {
    nodes: 0,
    joints: 0,
    morphGroups: 0,
    layers: 1,
    edited: false,
    hasShortKeys: false,
  };

  constructor({ boneTexture, playback }: PosedCrowd) {
    const tracks = boneTexture.data.tracks as PoseTracks;
    this.input = {
      tracks: boneTexture,
      shortKeys: boneTexture.shortKeys,
      layout: trackLayout(tracks),
      played: playback.actions.plain,
      masks: null,
      edits: null,
      instances: null,
      clock: 0,
      epoch: 0,
    };
    countPoses(tracks, this.counts);
  }

  /** The three textures of the palette; none before the crowd was first posed. */
  get textures(): readonly Texture[] {
    return this.pass?.textures ?? NONE;
  }

  /** The row of each instance, by `PoseRows`; null if that is its own number. */
  get rowOf(): Texture | null {
    return this.rows?.texture?.plain ?? null;
  }

  /** Pairs of instances in a row of the palette. */
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
    const { playback, boneTexture } = crowd;
    const { poseEdits } = crowd.crowd;
    const { clock, version, capacity } = playback;
    const { origin } = playback.time;
    const { input, state } = this;
    this.renderer ??= new WeakRef(renderer);
    if (this.renderer.deref() !== renderer) this.shared = true;
    const places = this.placesFor(capacity);
    const pass = this.passFor(crowd);
    const { maxTextureSize } = renderer.capabilities;
    const perRow = pass.perRowFor(capacity, maxTextureSize) * 2;
    if (requested === null || this.shared) places.grow(capacity, perRow);
    pass.resize(places.size, capacity, maxTextureSize);

    let rows = this.posed.get(renderer);
    if (rows?.capacity !== capacity) {
      rows = new PosedRows(capacity, boneTexture);
      this.posed.set(renderer, rows);
    }
    if (!pass.isPosed(renderer)) rows.clear();
    state.clock = clock;
    state.origin = origin;
    state.version = version;
    state.edits = poseEdits?.version ?? 0;
    state.boneTexture = boneTexture;
    if (!rows.isAt(state)) {
      // When the clock has gone back, nothing can be said of the time between.
      const runsOn = clock >= rows.clock && origin === rows.origin;
      if (!this.shared) places.shrink(rows.askedCount);
      rows.moveTo(state, runsOn && boneTexture === rows.boneTexture);
      this.usedRuns = 0;
    }
    addAll(rows, requested, crowd);
    if (places.grow(rows.askedCount, perRow)) {
      pass.resize(places.size, capacity, maxTextureSize);
      rows.clear();
      addAll(rows, requested, crowd);
    }
    const { dueCount } = rows;
    if (dueCount === 0) return;

    input.played = playback.actions.plain;
    input.masks = playback.over?.masks ?? null;
    input.edits = poseEdits;
    input.clock = clock;
    input.epoch = playback.time.epoch;
    try {
      if (!places.isWhole) {
        places.assign(rows.due, rows.asked, rows.lose);
        places.texture?.prepare(renderer, hasTexture);
        places.instanceOf?.prepare(renderer, hasTexture);
      }
      input.instances = places.instanceOf?.plain ?? null;
      this.run(renderer, pass, rows, places.isWhole ? rows.due : places.due, isDrawing);
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
    pass: WebGLPosePass,
    { dueCount, isTimed }: PosedRows,
    due: Int32Array,
    isDrawing: boolean,
  ): void {
    let word = 0;
    while (due[word] === 0) word++;
    let last = due.length - 1;
    while (due[last] === 0) last--;
    const first = (word * 32 + 31 - Math.clz32(due[word] & -due[word])) >> 1;
    const count = ((last * 32 + 31 - Math.clz32(due[last])) >> 1) + 1 - first;
    let runs: InstanceRuns | null = null;
    // Where there are few others between them, these are posed too, unless they are to keep their poses.
    if (isTimed ? dueCount < count * 2 : dueCount < count * 2 * DENSE) {
      runs = this.nextRuns((this.rows as PoseRows).size, pass.perRow);
      runs.assign(due, isTimed);
      runs.texture.prepare(renderer, hasTexture);
    }
    pass.run(renderer, this.input, runs, first, count, isDrawing);
  }

  private nextRuns(capacity: number, perRow: number): InstanceRuns {
    const at = this.usedRuns++ % MAX_RUNS;
    const runs = this.runs[at];
    if (runs?.capacity === capacity && runs.perRow === perRow) return runs;
    runs?.dispose();
    this.runs[at] = new InstanceRuns(capacity, perRow);
    return this.runs[at];
  }

  dispose(): void {
    this.pass?.dispose();
    this.pass = null;
    for (const runs of this.runs) runs.dispose();
    this.runs.length = 0;
    this.rows?.dispose();
    this.rows = null;
  }

  private placesFor(capacity: number): PoseRows {
    if (this.rows?.capacity !== capacity) {
      this.rows?.dispose();
      this.rows = new PoseRows(capacity);
    }
    return this.rows;
  }

  /** The pass that there is, or a new one if the crowd is not as it was. */
  private passFor({ boneTexture, playback, crowd }: PosedCrowd): WebGLPosePass {
    const { counts, input } = this;
    // Asked of the input, since another renderer may have posed the crowd by another bone texture meanwhile.
    if (input.tracks !== boneTexture) {
      const tracks = boneTexture.data.tracks as PoseTracks;
      input.tracks = boneTexture;
      input.shortKeys = boneTexture.shortKeys;
      input.layout = trackLayout(tracks);
      countPoses(tracks, counts);
    }
    counts.layers = playback.layers.length;
    counts.edited = crowd.poseEdits !== null;
    if (!this.pass?.suits(counts)) {
      this.pass?.dispose();
      this.pass = new WebGLPosePass({ ...counts });
    }
    return this.pass;
  }
}

/** Finds out who of those that are wanted has to be posed. */
function addAll(rows: PosedRows, requested: readonly PoseRequest[] | null, crowd: PosedCrowd): void {
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
    poses = new WebGLPoses(crowd);
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
