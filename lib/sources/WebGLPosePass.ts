import { type DataTexture, type Texture, Vector3, Vector4, type WebGLRenderer } from 'three';
import { composeStepGLSL, sampleStepGLSL } from '../../shaders/posePass.glsl.js';
import type { Palette } from '../crowd/Palette.js';
import type { JointEdits } from '../edits/JointEdits.js';
import type { TrackLayout } from '../tracks/trackTexels.js';
import type { InstanceRuns } from '../views/InstanceRuns.js';
import { PassStep } from './PassStep.js';

/** How many textures a palette is made of. */
export const PALETTE_TEXTURES: Record<Palette, number> = { exact: 3, compact: 2 };

/** What a pass is made for: how many of each kind an instance has, and how its palette is kept. */
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
  /** Whether any instance has edits, or a live pose. */
  edited: boolean;
  palette: Palette;
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
  /** Where layers over the base show, see `LayerTable`; null if there are none. */
  masks: DataTexture | null;
  /** Changes to the poses of single instances. */
  edits: JointEdits;
  clock: number;
}

/** Texels that a row of a target may take; every device has room for them. */
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
  readonly perRow: number;
  private readonly sample: PassStep;
  private readonly compose: PassStep;
  private readonly trackLayout = new Vector3();

  constructor(
    capacity: number,
    readonly counts: PoseCounts,
  ) {
    const { nodes, joints, morphGroups, layers, palette, edited, hasShortKeys } = counts;
    const entries = nodes + morphGroups;
    const columns = joints + morphGroups;
    const fitting = Math.floor(Math.log2(MAX_WIDTH / Math.max(entries, columns)));
    this.perRow = 2 ** Math.max(0, Math.min(Math.log2(MAX_PER_ROW), fitting));
    const height = this.rowsFor(capacity);
    const common = {
      tracks: { value: null },
      trackLayout: { value: this.trackLayout },
      passLayout: { value: new Vector4(nodes, entries, joints, this.perRow) },
      played: { value: null },
      clock: { value: 0 },
      editHeaders: { value: null },
      jointEdits: { value: null },
    };
    const step = (name: string, width: number, textures: number, shader: string, uniforms: object) =>
      new PassStep(name, width * this.perRow, height, textures, shader, { ...common, ...uniforms });
    const define = hasShortKeys ? '#define SHORT_KEYS\n' : '';
    this.sample = step('CrowdSampleStep', entries, ROWS, define + sampleStepGLSL(layers, edited), {
      masks: { value: null },
      shortKeys: { value: null },
      livePoses: { value: null },
      livePerRow: { value: 1 },
    });
    this.compose = step(
      'CrowdComposeStep',
      columns,
      PALETTE_TEXTURES[palette],
      composeStepGLSL(edited, palette),
      {
        locals: { value: this.sample.textures },
      },
    );
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

  /** Makes room for a number of instances. Nothing is compiled anew; what was posed may be lost. */
  resize(capacity: number): void {
    const height = this.rowsFor(capacity);
    this.sample.setHeight(height);
    this.compose.setHeight(height);
  }

  /** Whether a renderer has a palette from this pass; one that has lost its context has not. */
  isPosed(renderer: WebGLRenderer): boolean {
    const { target } = this.compose;
    return (
      (renderer.properties.get(target) as { __webglFramebuffer?: unknown }).__webglFramebuffer !== undefined
    );
  }

  /**
   * Poses some of the first `count` instances, or all of them. May be called while the renderer draws, also into a shadow map: what it was about
   * to draw into is put back.
   *
   * @param runs Those that are posed; null for all.
   * @throws If the renderer is not in the middle of a `render`.
   */
  run(renderer: WebGLRenderer, count: number, input: PosePassInput, runs: InstanceRuns | null): void {
    const { sample, compose } = this;
    const { tracks, layout, played, masks, clock, edits } = input;
    // Uniforms that both steps have are the same objects.
    const { uniforms } = sample;
    uniforms.tracks.value = tracks;
    this.trackLayout.set(layout.nodes, layout.joints, layout.clips);
    uniforms.shortKeys.value = input.shortKeys;
    uniforms.played.value = played;
    uniforms.masks.value = masks;
    uniforms.clock.value = clock;
    uniforms.editHeaders.value = edits.headers?.plain ?? null;
    uniforms.jointEdits.value = edits.edits?.plain ?? null;
    uniforms.livePoses.value = edits.live?.plain ?? null;
    uniforms.livePerRow.value = edits.live?.perRow ?? 1;

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
    }
  }

  private rowsFor(capacity: number): number {
    return Math.max(1, Math.ceil(capacity / this.perRow));
  }

  dispose(): void {
    this.sample.dispose();
    this.compose.dispose();
  }
}
