import {
  type DataTexture,
  type IUniform,
  type Texture,
  Vector2,
  Vector3,
  Vector4,
  type WebGLRenderer,
} from 'three';
import type { LayersGLSL } from '../../../shaders/mixTracks.glsl.js';
import { composeStepGLSL, type PoseEditGLSL, sampleStepGLSL } from '../../../shaders/posePass.glsl.js';
import type { TrackLayout } from '../../animation/trackTexels.js';
import type { PoseEditor } from '../../crowd/CrowdFeature.js';
import type { InstanceRuns } from '../../culling/InstanceList.js';
import { PassStep } from './PassStep.js';

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

/** What a pass reads. */
export interface PosePassInput {
  /** `trackTexels` as a texture. */
  tracks: Texture;
  /** Keys of 16 bits; null if there are none. */
  shortKeys: Texture | null;
  layout: TrackLayout;
  /** What the instances play, see `ActionTexels`. */
  played: DataTexture;
  /** Where layers over the base show, see `LayersOver`; null if there are none. */
  masks: Texture | null;
  /** What edits poses; null while nothing does. */
  edits: PoseEditor | null;
  /** The instance of each row, see `PoseRows`; null if that is its own number. */
  instances: Texture | null;
  clock: number;
  epoch: number;
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
const MAX_WIDTH = 2048;
/** Instances in a row at most. */
const MAX_PER_ROW = 256;
/** Rows of a local matrix, each in a texture of its own. */
const ROWS = 3;

const _viewport = /*@__PURE__*/ new Vector4();

/**
 * Poses every instance of a crowd once, into textures that hold the rows of its skinning matrices: a palette. The first of
 * two steps makes the local matrix of each node, the second multiplies those from the root down to each joint.
 */
export class WebGLPosePass {
  /** Instances in a row of the palette; a power of two. */
  perRow = 1;
  private readonly sample: PassStep;
  private readonly compose: PassStep;
  /** Names of textures that both steps read of a crowd. */
  private readonly inputs = ['tracks', 'shortKeys', 'played', 'masks', 'instances'];
  private readonly trackLayout = new Vector3();
  private readonly passLayout: Vector4;
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
    this.passLayout = new Vector4(nodes, this.entries, joints, 1);
    const common: Record<string, IUniform> = {
      tracks: { value: null },
      trackLayout: { value: this.trackLayout },
      passLayout: { value: this.passLayout },
      played: { value: null },
      clock: { value: new Vector2() },
      instances: { value: null },
      hasInstances: { value: false },
    };
    const edits = edited ? editGLSL() : null;
    for (const name of edits?.textures ?? []) common[name] = { value: null };
    this.inputs.push(...(edits?.textures ?? []));
    const step = (name: string, textures: number, shader: string, uniforms: object) =>
      new PassStep(name, textures, shader, { ...common, ...uniforms });
    const define = hasShortKeys ? '#define SHORT_KEYS\n' : '';
    this.sample = step(
      'CrowdSampleStep',
      ROWS,
      define + sampleStepGLSL(layers, layers > 1 ? overGLSL() : null, edits),
      {
        masks: { value: null },
        shortKeys: { value: null },
      },
    );
    this.compose = step('CrowdComposeStep', PALETTE_TEXTURES, composeStepGLSL(edits), {
      locals: { value: this.sample.textures },
    });
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
    const wider = Math.max(this.entries, this.columns);
    const fitting = (width: number) => 2 ** Math.max(0, Math.floor(Math.log2(width / wider)));
    const most = fitting(maxSize);
    let perRow = Math.min(MAX_PER_ROW, fitting(Math.min(MAX_WIDTH, maxSize)));
    while (perRow < most && capacity > perRow * maxSize) perRow *= 2;
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
    if (size > perRow * maxSize) {
      throw new Error(
        `SkinnedInstancedMesh: this device has room for poses of ${perRow * maxSize} instances of ${this.counts.joints} joints, not of ${size}; make several crowds.`,
      );
    }
    this.size = size;
    this.capacity = capacity;
    this.maxSize = maxSize;
    this.perRow = this.passLayout.w = perRow;
    const height = Math.max(1, Math.ceil(size / perRow));
    this.sample.setSize(this.entries * perRow, height);
    this.compose.setSize(this.columns * perRow, height);
  }

  /** Has a renderer make its programs. */
  compile(renderer: WebGLRenderer): void {
    this.sample.compile(renderer);
    this.compose.compile(renderer);
  }

  /** Whether a renderer has a palette from this pass; one that has lost its context has not. */
  isPosed(renderer: WebGLRenderer): boolean {
    const { target } = this.compose;
    return (
      (renderer.properties.get(target) as { __webglFramebuffer?: unknown }).__webglFramebuffer !== undefined
    );
  }

  /**
   * Poses instances of some of the first `count` rows, or of all of them. May be called while the renderer draws, also into a shadow map: what it was about
   * to draw into is put back.
   *
   * @param runs Rows that are posed; null for all.
   * @throws If the renderer is not in the middle of a `render`.
   */
  run(renderer: WebGLRenderer, count: number, input: PosePassInput, runs: InstanceRuns | null): void {
    const { sample, compose } = this;
    const { tracks, layout, played, masks, clock, epoch, edits } = input;
    // Uniforms that both steps have are the same objects.
    const { uniforms } = sample;
    uniforms.tracks.value = tracks;
    this.trackLayout.set(layout.nodes, layout.joints, layout.clips);
    uniforms.shortKeys.value = input.shortKeys;
    uniforms.played.value = played;
    uniforms.masks.value = masks;
    uniforms.clock.value.set(clock, epoch);
    uniforms.instances.value = input.instances;
    uniforms.hasInstances.value = input.instances !== null;
    if (edits !== null) {
      const { textures } = editGLSL();
      for (let i = 0; i < textures.length; i++) uniforms[textures[i]].value = edits.textures[i].plain;
    }

    const target = renderer.getRenderTarget();
    const face = renderer.getActiveCubeFace();
    const level = renderer.getActiveMipmapLevel();
    const gl = renderer.getContext();
    // Shadow maps set a viewport of their own, which setting the target would replace by the whole of it.
    const viewport = gl.getParameter(gl.VIEWPORT) as Int32Array;
    const { xr } = renderer;
    const xrEnabled = xr.enabled;
    xr.enabled = false;

    const rows = Math.ceil(count / this.perRow);
    try {
      sample.draw(renderer, rows, runs);
      compose.draw(renderer, rows, runs);
    } finally {
      renderer.setRenderTarget(target, face, level);
      xr.enabled = xrEnabled;
      renderer.state.viewport(_viewport.fromArray(viewport));
      // Renderers keep materials of shaders until they are disposed: a crowd that was dropped must not stay with them.
      for (const name of this.inputs) uniforms[name].value = null;
    }
  }

  dispose(): void {
    this.sample.dispose();
    this.compose.dispose();
  }
}
