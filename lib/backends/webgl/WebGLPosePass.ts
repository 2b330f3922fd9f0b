import { type Texture, Vector4, type WebGLRenderer } from 'three';
import type { LayersGLSL } from '../../../shaders/mixTracks.glsl.js';
import { composeStepGLSL, type PoseEditGLSL, sampleStepGLSL } from '../../../shaders/posePass.glsl.js';
import type { PosedCrowd } from '../../animation/PoseSource.js';
import type { TrackLayout } from '../../animation/trackTexels.js';
import { FEW_RUNS } from '../../constants.js';
import type { InstanceRuns } from '../../culling/InstanceList.js';
import { beginSteps, PassStep, SETTING_ROWS, SETTING_RUNS, SETTINGS, uploadTexture } from './PassStep.js';

/** How many textures a palette is made of. */
export const PALETTE_TEXTURES = 3;

/** What a pass is made for: how many of each kind an instance has. */
export interface PoseCounts {
  /** Nodes that have tracks. */
  nodes: number;
  joints: number;
  /** Groups of four morph targets. */
  morphGroups: number;
  /** Layers that clips play on, with the base. */
  layers: number;
  /** Whether keys are of 16 bits. */
  hasShortKeys: boolean;
  /** Whether poses are edited. */
  edited: boolean;
}

let poseEditGLSL: PoseEditGLSL | null = null;

/** Lets passes pose crowds whose poses are edited. */
export function registerPoseEditGLSL(glsl: PoseEditGLSL): void {
  poseEditGLSL = glsl;
}

/** @throws If the page has not imported it. */
function editGLSL(): PoseEditGLSL {
  if (poseEditGLSL !== null) return poseEditGLSL;
  throw new Error(
    "WebGLRenderer draws joint edits of the entry 'skinned-instanced-mesh': import JointEdits from there.",
  );
}

let layersGLSL: LayersGLSL | null = null;

/** Lets passes pose crowds that have layers over the base. */
export function registerLayersGLSL(glsl: LayersGLSL): void {
  layersGLSL = glsl;
}

/** @throws If the page has not imported it. */
function overGLSL(): LayersGLSL {
  if (layersGLSL !== null) return layersGLSL;
  throw new Error(
    "WebGLRenderer draws layers of the entry 'skinned-instanced-mesh': import AnimationLayers from there.",
  );
}

/** Texels that a row of a target takes at most, unless so many rows would be too many; every device has room for them. */
const MAX_WIDTH = 1024;
/** Instances in a row at most. */
const MAX_PER_ROW = 128;
/** Rows of a local matrix, each in a texture of its own. */
const ROWS = 3;

const _viewport = /*@__PURE__*/ new Vector4();
const _before = /*@__PURE__*/ new Vector4();

/**
 * Poses every instance of a crowd once, into textures that hold the rows of its skinning matrices: a palette. The first of
 * two steps makes the local matrix of each node, the second multiplies those from the root down to each joint.
 */
export class WebGLPosePass {
  /** Instances in a row of the palette; a power of two. */
  perRow = 1;
  private readonly sample: PassStep;
  private readonly compose: PassStep;
  private readonly settings = new Float32Array(SETTINGS);
  /** Textures that the steps read. */
  private readonly inputs: Texture[] = [];
  private readonly entries: number;
  private readonly columns: number;
  private size = -1;
  private capacity = -1;
  private maxSize = -1;

  /** Call `resize` before anything else. */
  constructor(readonly counts: PoseCounts) {
    const { nodes, joints, morphGroups, layers, edited, hasShortKeys } = counts;
    this.entries = nodes + morphGroups;
    this.columns = joints + morphGroups;
    this.settings.set([nodes, this.entries, joints]);
    const edits = edited ? editGLSL() : null;
    const over = layers > 1 ? overGLSL() : null;
    const samplers = ['runs', 'tracks', 'instances', 'played', ...(edits?.textures ?? [])];
    if (hasShortKeys) samplers.push('shortKeys');
    if (over !== null) samplers.push('masks');
    for (let row = 0; row < ROWS; row++) samplers.push(`locals[${row}]`);
    const define = hasShortKeys ? '#define SHORT_KEYS\n' : '';
    this.sample = new PassStep(ROWS, define + sampleStepGLSL(layers, over, edits), samplers);
    this.compose = new PassStep(PALETTE_TEXTURES, composeStepGLSL(edits), samplers);
  }

  /** The palette. */
  get textures(): Texture[] {
    return this.compose.textures;
  }

  /** Whether it is for such characters. */
  suits(counts: PoseCounts): boolean {
    for (const key in counts) {
      if (counts[key as keyof PoseCounts] !== this.counts[key as keyof PoseCounts]) return false;
    }
    return true;
  }

  /**
   * Instances in a row, where there are so many.
   *
   * @param maxSize Texels that a side of a texture may have on the device.
   */
  perRowFor(capacity: number, maxSize: number): number {
    const width = Math.max(this.entries, this.columns) * 2;
    let perRow = 1;
    while (
      perRow * width <= maxSize &&
      ((perRow < MAX_PER_ROW && perRow * width <= MAX_WIDTH) || capacity > perRow * 2 * (maxSize >> 1))
    )
      perRow *= 2;
    return perRow;
  }

  /**
   * Makes room for poses of `size` of `capacity` instances. Nothing is compiled anew; what was posed may be lost.
   *
   * @throws If the device has no room for so many.
   */
  resize(size: number, capacity: number, maxSize: number): void {
    if (size === this.size && capacity === this.capacity && maxSize === this.maxSize) return;
    const perRow = this.perRowFor(capacity, maxSize);
    const most = perRow * 2 * (maxSize >> 1);
    if (size > most) {
      throw new Error(
        `SkinnedInstancedMesh: this device has room for poses of ${most} instances of ${this.counts.joints} joints, not of ${size}; make several crowds.`,
      );
    }
    this.size = size;
    this.capacity = capacity;
    this.maxSize = maxSize;
    this.perRow = this.settings[3] = perRow;
    const height = Math.max(1, Math.ceil(size / 2 / perRow)) * 2;
    this.sample.setSize(this.entries * perRow, height);
    this.compose.setSize(this.columns * perRow, height);
  }

  /** Has a renderer make its programs. */
  compile(renderer: WebGLRenderer): void {
    this.sample.programFor(renderer);
    this.compose.programFor(renderer);
  }

  /** Whether a renderer has a palette from this pass; one that has lost its context has not. */
  isPosed(renderer: WebGLRenderer): boolean {
    const { target } = this.compose;
    return (
      (renderer.properties.get(target) as { __webglFramebuffer?: unknown }).__webglFramebuffer !== undefined
    );
  }

  /**
   * Poses pairs of instances, see `InstanceRuns`. May be called while the renderer draws, also into a shadow map: what it was about to draw into is
   * put back.
   *
   * @param layout Of the crowd's tracks.
   * @param instances The instance of each row, see `PaletteRows`; null if that is its own number.
   * @param runs Those that are posed.
   * @param isDrawing Whether the renderer draws. Shadow maps and arrays of cameras then have a viewport of their own.
   */
  run(
    renderer: WebGLRenderer,
    { boneTexture, playback, crowd }: PosedCrowd,
    layout: TrackLayout,
    instances: Texture | null,
    runs: InstanceRuns,
    isDrawing: boolean,
  ): void {
    const { sample, compose, settings, perRow, inputs } = this;
    const { shortKeys } = boneTexture;
    const { time, over } = playback;
    const { height } = sample.target;
    const isLong = runs.count > FEW_RUNS;
    settings[4] = layout.nodes;
    settings[5] = layout.joints;
    settings[6] = layout.clips;
    settings[7] = instances === null ? 0 : 1;
    settings[8] = playback.clock;
    settings[9] = time.epoch;
    settings[SETTING_ROWS] = perRow;
    settings[SETTING_ROWS + 1] = height;
    settings[SETTING_ROWS + 2] = isLong ? 1 : 0;
    if (!isLong) settings.set(runs.few, SETTING_RUNS);

    // Samplers without a texture must have one of their kind bound.
    inputs[0] = isLong ? runs.texture.plain : boneTexture;
    inputs[1] = boneTexture;
    inputs[2] = instances ?? boneTexture;
    inputs[3] = playback.actions.plain;
    let read = 4;
    if (this.counts.edited)
      for (const texture of crowd.poseEdits?.textures ?? []) inputs[read++] = texture.plain;
    if (shortKeys !== null) inputs[read++] = shortKeys;
    if (over !== null) inputs[read++] = over.masks;
    // First: an upload takes the place of what was bound.
    for (let i = 0; i < read; i++) uploadTexture(renderer, inputs[i]);
    for (let i = 0; i < ROWS; i++) inputs[read + i] = sample.textures[i];

    const target = renderer.getRenderTarget();
    const face = renderer.getActiveCubeFace();
    const level = renderer.getActiveMipmapLevel();
    if (isDrawing) {
      const gl = renderer.getContext();
      _before.fromArray(gl.getParameter(gl.VIEWPORT) as Int32Array);
    }
    _viewport.set(0, 0, sample.target.width, height);
    try {
      beginSteps(renderer);
      sample.draw(renderer, settings, inputs, read, runs.count, _viewport);
      compose.draw(renderer, settings, inputs, read + ROWS, runs.count, _viewport.setZ(compose.target.width));
    } finally {
      renderer.setRenderTarget(target, face, level);
      if (isDrawing) renderer.state.viewport(_before);
    }
  }

  dispose(): void {
    this.sample.dispose();
    this.compose.dispose();
  }
}
