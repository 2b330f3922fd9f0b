import type { Texture, WebGLRenderer } from 'three';
import type { InstancePlayback } from '../playback/InstancePlayback.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import type { PoseTracks } from '../tracks/PoseTracks.js';
import { trackLayout } from '../tracks/trackTexels.js';
import type { PosedCrowd } from './PoseSource.js';
import { type PoseCounts, type PosePassInput, WebGLPosePass } from './WebGLPosePass.js';

/** What a renderer's palette was made of, to notice when it no longer holds. */
interface Posed {
  clock: number;
  /** What the clock is relative to: it goes back to zero now and then. */
  origin: number;
  version: number;
  edits: number;
  count: number;
  boneTexture: BoneTexture;
}

/** The poses of all that share one playback: a crowd and what is attached to it. */
export class WebGLPoses {
  private pass: WebGLPosePass | null = null;
  private readonly posed = new WeakMap<WebGLRenderer, Posed>();
  private readonly input: PosePassInput;

  private readonly counts: PoseCounts = {
    nodes: 0,
    joints: 0,
    morphGroups: 0,
    layers: 1,
    edited: false,
    palette: 'exact',
    hasShortKeys: false,
  };

  constructor({ boneTexture, playback, edits }: PosedCrowd) {
    const tracks = boneTexture.data.tracks as PoseTracks;
    this.input = {
      tracks: boneTexture,
      shortKeys: boneTexture.shortKeys,
      layout: trackLayout(tracks),
      played: playback.actions.plain,
      masks: null,
      edits,
      clock: 0,
      lastClock: 0,
      posedCount: 0,
    };
    this.counts.layers = playback.layers.count;
    countPoses(tracks, this.counts);
  }

  /** The three textures of the palette; none before the crowd was first posed. */
  get textures(): readonly Texture[] {
    return this.pass?.textures ?? NONE;
  }

  /** Instances in a row of the palette. */
  get perRow(): number {
    return this.pass?.perRow ?? 1;
  }

  /** Poses the crowd for a renderer, if anything has changed since it last was. */
  update(renderer: WebGLRenderer, crowd: PosedCrowd): void {
    const { playback, boneTexture, count, palette } = crowd;
    const { clock, version } = playback;
    const { origin } = playback.time;
    const { version: edits } = crowd.edits;
    const { input } = this;
    // Asked of the input, since another renderer may have posed the crowd by another bone texture meanwhile.
    if (input.tracks !== boneTexture) {
      const tracks = boneTexture.data.tracks as PoseTracks;
      input.tracks = boneTexture;
      input.shortKeys = boneTexture.shortKeys;
      input.layout = trackLayout(tracks);
      countPoses(tracks, this.counts);
    }
    this.counts.edited = crowd.edits.isUsed;
    this.counts.palette = palette;
    const pass = this.passFor(playback);

    const last = this.posed.get(renderer);
    const keeps = last !== undefined && last.boneTexture === boneTexture && pass.isPosed(renderer);
    const same = keeps && last.clock === clock && last.version === version && last.edits === edits;
    if (same && last.count >= count) return;

    input.played = playback.actions.plain;
    input.masks = playback.layers.count > 1 ? playback.layers.masks : null;
    input.clock = clock;
    input.lastClock = last?.clock ?? 0;
    // When the clock has gone back, nothing can be said of the time between.
    const spreads = keeps && playback.rates.inUse && clock >= last.clock && origin === last.origin;
    input.posedCount = spreads ? last.count : 0;
    pass.run(renderer, count, input);
    if (last === undefined) this.posed.set(renderer, { clock, origin, version, edits, count, boneTexture });
    else Object.assign(last, { clock, origin, version, edits, count, boneTexture });
  }

  dispose(): void {
    this.pass?.dispose();
    this.pass = null;
  }

  /** The pass that there is, or a new one if the crowd is not as it was. */
  private passFor({ capacity }: InstancePlayback): WebGLPosePass {
    const { pass, counts } = this;
    if (pass?.suits(capacity, counts)) return pass;
    pass?.dispose();
    this.pass = new WebGLPosePass(capacity, { ...counts });
    return this.pass;
  }
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
    const made = new WebGLPoses(crowd);
    poses = made;
    known.set(playback, made);
    const actions = playback.actions.plain;
    actions.addEventListener('dispose', function dispose() {
      made.dispose();
      if (known.get(playback) === made) known.delete(playback);
      actions.removeEventListener('dispose', dispose);
    });
  }
  return poses;
}

/** The palette of a crowd; no textures before it was first posed. */
export function paletteOf({ playback }: PosedCrowd): readonly Texture[] {
  return known.get(playback)?.textures ?? NONE;
}
