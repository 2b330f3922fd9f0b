import type { Texture, WebGLRenderer } from 'three';
import type { BoneTexture } from '../../animation/BoneTexture.js';
import type { PosedCrowd } from '../../animation/PoseSource.js';
import type { PoseTracks } from '../../animation/PoseTracks.js';
import { type TrackLayout, trackLayout } from '../../animation/trackTexels.js';
import { PARAM_LISTED } from '../../constants.js';
import { InstanceList, SMALL } from '../../culling/InstanceList.js';
import type { PoseRequest } from '../../culling/View.js';
import type { InstancePlayback } from '../../playback/InstancePlayback.js';
import { type PoseCounts, runPasses, WebGLPosePass } from './WebGLPosePass.js';

/** Of an instance without a place in the palette, a place without an instance, and an instance that was never asked for. */
const NONE = -1;
/** Room for those who come into view next, in shares of those who are seen. */
const SPARE = 1.25;
/** Small crowds have a place for each instance. */
const MIN_SIZE = 128;
/** Once so small a share of the places was in use for so many moments, they are given back. */
const SHARE_IN_USE = 0.25;
const PATIENCE = 120;

/** Asks for all instances. */
const ALL: readonly null[] = [null];

/**
 * The poses of all that share one playback: a crowd and what is attached to it. Instances get places in a palette as cameras
 * see them, and lose them to others once they are not seen any more, so that memory goes by who is seen.
 */
export class WebGLPoses {
  /** How many instances were posed at this moment. */
  count = 0;

  private pass: WebGLPosePass | null = null;
  /** What the pass is made for. */
  private boneTexture: BoneTexture | null = null;
  private layout = {} as TrackLayout;
  private readonly counts: PoseCounts = {
    nodes: 0,
    joints: 0,
    morphGroups: 0,
    layers: 1,
    edited: false,
    hasShortKeys: false,
    hasLongChains: false,
  };
  /** Whether the programs were made that pose the crowd once something is edited. */
  private isReadyForEdits = false;

  /** How many places there are, the place of each instance, and the instance of each place. */
  private size = 0;
  private placeOf = new InstanceList(0, true);
  private instanceOf: Int32Array = new Int32Array(0);
  /** The instance that is posed next at each place, as a list and as the pass reads it, and between which places these are. */
  private due: Float32Array = new Float32Array(0);
  private dueList = new InstanceList(0);
  private firstDue = 0;
  private lastDue = NONE;
  /** Whether each instance below `size` has the place of its own number: shaders look up no places where a crowd is drawn whole. */
  private inOrder = true;
  /** Where the search for a place goes on. */
  private hand = 0;
  /** For how many moments few places were in use. */
  private idle = 0;

  /** The moment: what poses are made of, and for whom. */
  private renderer: WeakRef<WebGLRenderer> | null = null;
  private clock = 0;
  private lastClock = 0;
  private origin = 0;
  private version = -1;
  private edits = -1;
  /** Who was asked for last, so that all meshes of a crowd can ask for the same. */
  private last: PoseRequest | null = null;
  private lastVersion = -1;

  /**
   * Bit `id & 31` of word `id >> 5`: who has been posed at this moment, who was asked for, and who at the moment before. Words are
   * signed: the upper half of unsigned ones are no small integers to V8, which allocates each that a function returns.
   */
  private posed!: Int32Array;
  private asked!: Int32Array;
  private askedBefore!: Int32Array;
  private askedCount = 0;
  /** Seconds of the clock at which each instance was posed; not kept before instances have rates. */
  private posedAt: Float32Array | null = null;
  /** The highest of the rates at which cameras want each instance posed, and when one has asked for it; not kept without rates. */
  private requestedRates: Float32Array | null = null;
  private askedAt: Float32Array | null = null;

  constructor(public capacity: number) {
    this.resize(capacity);
  }

  /** Makes room for another number of instances, in the palette that there is: that goes by who is seen. */
  resize(capacity: number): void {
    const words = Math.ceil(capacity / 32);
    this.capacity = capacity;
    this.posed = new Int32Array(words);
    this.asked = new Int32Array(words);
    this.askedBefore = new Int32Array(words);
    this.askedCount = 0;
    this.posedAt = this.requestedRates = this.askedAt = null;
    this.setSize(this.size > capacity ? 0 : this.size);
  }

  /** The palette; no textures before the crowd was first posed. */
  get textures(): readonly Texture[] {
    return this.pass?.target.textures ?? [];
  }

  /** The place of each instance in the palette, as a texture; null where that is its number. */
  get places(): Texture | null {
    return this.inOrder ? null : this.placeOf.texture.plain;
  }

  /** Instances in a row of the palette. */
  get perRow(): number {
    return this.pass?.perRow ?? 1;
  }

  /** Has a renderer make the programs that pose a crowd. */
  compile(renderer: WebGLRenderer, crowd: PosedCrowd): void {
    this.passFor(crowd).compile(renderer);
    this.prepareEdits(renderer, crowd);
  }

  /**
   * Poses those instances for a renderer that are wanted, and are not posed yet as they are now; at the next `runPasses` unless it
   * draws.
   *
   * @param requested See `PoseSource.update`.
   */
  update(
    renderer: WebGLRenderer,
    crowd: PosedCrowd,
    requested: readonly (PoseRequest | null)[] | null,
    isDrawing: boolean,
  ): void {
    const pass = this.passFor(crowd);
    // It may be one of those that wait, where a crowd is drawn in the middle of its own draw.
    if (isDrawing) runPasses(renderer, true);
    this.prepareEdits(renderer, crowd);
    this.moveTo(renderer, crowd);
    if (!pass.isPosed(renderer)) this.forget();
    const requests = requested ?? ALL;
    for (let i = 0; i < requests.length; i++) this.ask(requests[i], crowd);
    const isWhole = isDrawing && crowd.bindMatrix.elements[PARAM_LISTED] === 0;
    if (this.askedCount > this.size || (isWhole && !this.inOrder))
      this.grow(pass, renderer.capabilities.maxTextureSize);
    for (let i = 0; i < requests.length; i++) this.take(requests[i], crowd);
    const { due, dueList, firstDue, lastDue } = this;
    if (lastDue === NONE) return;
    this.lastDue = NONE;
    // To pose a small palette whole once a quarter is asked for takes less than a new list of who is due.
    const posesAll =
      this.posedAt === null && due.length < SMALL && this.askedCount > due.length * SHARE_IN_USE;
    dueList.assign(posesAll ? this.instanceOf : due, due.length);
    due.fill(NONE);
    dueList.texture.prepare(renderer, hasTexture);
    this.placeOf.texture.prepare(renderer, hasTexture);
    pass.wait(renderer, crowd, this.layout, dueList, firstDue, lastDue);
    if (isDrawing) runPasses(renderer, true);
  }

  dispose(): void {
    this.pass?.dispose();
    this.pass = null;
    this.setSize(0);
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
    if (this.boneTexture !== boneTexture) {
      const tracks = boneTexture.data.tracks as PoseTracks;
      this.boneTexture = boneTexture;
      this.layout = trackLayout(tracks);
      counts.nodes = tracks.parents.length;
      counts.joints = tracks.jointNodes.length;
      counts.morphGroups = tracks.morphRest.length / 4;
      counts.hasShortKeys = tracks.shorts !== null;
      counts.hasLongChains = this.layout.hasLongChains;
      this.version = -1;
      this.forget();
    }
    counts.layers = playback.layers.length;
    counts.edited = crowd.poseEdits?.isUsed === true;
    if (!this.pass?.suits(counts)) {
      this.pass?.dispose();
      this.pass = new WebGLPosePass({ ...counts });
      this.setSize(0);
    }
    return this.pass;
  }

  /** Goes on to the moment at which a crowd is, where nobody is posed yet. */
  private moveTo(renderer: WebGLRenderer, { playback, crowd: { poseEdits } }: PosedCrowd): void {
    const { clock, version } = playback;
    const { origin } = playback.time;
    const edits = poseEdits?.version ?? 0;
    const isSame = origin === this.origin && this.renderer?.deref() === renderer;
    if (isSame && clock === this.clock && version === this.version && edits === this.edits) return;
    // When the clock has gone back, nothing can be said of the time between.
    if (!isSame || clock < this.clock) this.forget();
    if (this.renderer?.deref() !== renderer) this.renderer = new WeakRef(renderer);
    this.lastClock = Math.fround(this.clock);
    this.clock = clock;
    this.origin = origin;
    this.version = version;
    this.edits = edits;
    this.last = null;
    this.count = 0;
    const { asked, askedBefore, askedCount, size } = this;
    if (askedCount === 0 || askedCount > size * SHARE_IN_USE) this.idle = 0;
    else if (++this.idle > PATIENCE) this.setSize(0);
    this.asked = askedBefore.fill(0);
    this.askedBefore = asked;
    this.askedCount = 0;
    this.posed.fill(0);
  }

  /** Forgets what was posed. */
  private forget(): void {
    this.posed.fill(0);
    this.posedAt?.fill(NONE);
    this.askedAt?.fill(NONE);
    this.last = null;
    this.count = 0;
  }

  /** Takes down who is asked for. */
  private ask(request: PoseRequest | null, crowd: PosedCrowd): void {
    if (request !== null && request === this.last && request.version === this.lastVersion) return;
    const { asked } = this;
    for (let word = 0; word < asked.length; word++) {
      const more = wordOf(request, crowd, word) & ~asked[word];
      if (more === 0) continue;
      asked[word] |= more;
      this.askedCount += ones(more);
    }
  }

  /** Finds out which of those that are asked for have to be posed, and takes it that they will be. */
  private take(request: PoseRequest | null, crowd: PosedCrowd): void {
    if (request !== null && request === this.last && request.version === this.lastVersion) return;
    this.last = request;
    this.lastVersion = request?.version ?? NONE;
    const { posed, due, capacity } = this;
    const { texels } = crowd.playback;
    if (request?.hasPoseRates === true && this.askedAt === null) {
      this.requestedRates = new Float32Array(capacity);
      this.askedAt = new Float32Array(capacity).fill(NONE);
    }
    if (texels.hasRates || request?.hasPoseRates === true)
      this.posedAt ??= new Float32Array(capacity).fill(NONE);
    const { posedAt } = this;
    const places = this.placeOf.data;
    const clock = Math.fround(this.clock);
    for (let word = 0; word < posed.length; word++) {
      for (let rest = wordOf(request, crowd, word) & ~posed[word]; rest !== 0; rest &= rest - 1) {
        const bit = rest & -rest;
        const id = word * 32 + 31 - Math.clz32(bit);
        if (places[id] < 0) this.place(id);
        else if (posedAt !== null && !this.isDue(id, posedAt[id], clock, request, crowd)) continue;
        if (posedAt !== null) posedAt[id] = clock;
        posed[word] |= bit;
        this.count++;
        const place = places[id];
        due[place] = id;
        if (this.lastDue === NONE) this.firstDue = this.lastDue = place;
        else if (place < this.firstDue) this.firstDue = place;
        else if (place > this.lastDue) this.lastDue = place;
      }
    }
  }

  /** Whether the pose of an instance is too old. */
  private isDue(
    id: number,
    at: number,
    clock: number,
    request: PoseRequest | null,
    { playback: { texels }, crowd: { poseEdits } }: PosedCrowd,
  ): boolean {
    const rate = request?.hasPoseRates === true ? this.rateOf(id, request, clock) : 0;
    // Whoever comes into view is posed at once.
    const isNew = at === NONE || (this.askedBefore[id >> 5] & (1 << (id & 31))) === 0;
    return isNew || texels.isDue(id, at, clock, rate) || poseEdits?.changedSince(id, at) === true;
  }

  /** How often an instance is posed for its levels: where several cameras see it, as often as the one that needs it most. */
  private rateOf(id: number, { poseRates, levels }: PoseRequest, clock: number): number {
    const rates = this.requestedRates as Float32Array;
    const askedAt = this.askedAt as Float32Array;
    const rate = poseRates[levels?.[id] ?? 0];
    const highest = rates[id];
    const isHigher = rate !== 0 && (highest === 0 || highest > rate);
    if (isHigher && askedAt[id] >= this.lastClock) return highest;
    rates[id] = rate;
    askedAt[id] = clock;
    return rate;
  }

  /** Gives an instance a place that nobody has who is asked for: there are at least as many as these. */
  private place(id: number): void {
    const { instanceOf, asked, placeOf, size } = this;
    this.inOrder = false;
    for (;;) {
      const at = this.hand;
      this.hand = (at + 1) % size;
      const former = instanceOf[at];
      if (former !== NONE && (asked[former >> 5] & (1 << (former & 31))) !== 0) continue;
      if (former !== NONE) placeOf.set(former, NONE);
      placeOf.set(id, at);
      instanceOf[at] = id;
      return;
    }
  }

  /** Makes room for all who are asked for. Places are those of the beginning then. */
  private grow(pass: WebGLPosePass, maxTextureSize: number): void {
    const { capacity, askedCount } = this;
    const grown = askedCount > this.size ? this.size * 2 : this.size;
    const wanted = Math.ceil(Math.max(askedCount * SPARE, grown, MIN_SIZE));
    const size = wanted > capacity / 2 ? capacity : wanted;
    pass.setSize(size, maxTextureSize);
    this.setSize(size);
  }

  private setSize(size: number): void {
    this.size = size;
    this.hand = this.idle = 0;
    this.lastDue = NONE;
    this.placeOf.dispose();
    this.dueList.dispose();
    this.placeOf = new InstanceList(size > 0 ? this.capacity : 0, true);
    this.placeOf.data.fill(NONE);
    this.dueList = new InstanceList(size);
    this.due = new Float32Array(size).fill(NONE);
    this.instanceOf = Int32Array.from(this.due.keys());
    this.placeOf.data.set(this.instanceOf);
    this.inOrder = true;
    this.forget();
  }
}

/** A word of those that are asked for. */
const wordOf = (request: PoseRequest | null, { visibility, count }: PosedCrowd, word: number): number =>
  request === null ? firstBits(count - word * 32) : request.seen[word] & visibility.bits[word];

/** A word whose first bits are set. */
const firstBits = (count: number): number => (count >= 32 ? -1 : count <= 0 ? 0 : (1 << count) - 1);

/** How many bits of a word are set. */
function ones(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

const known = /*@__PURE__*/ new WeakMap<InstancePlayback, WebGLPoses>();

/** The poses of a crowd, which it shares with all that has the same playback; they go when that is disposed. */
export function posesOf({ playback }: PosedCrowd): WebGLPoses {
  let poses = known.get(playback);
  if (poses === undefined) {
    disposeWith(playback);
    poses = new WebGLPoses(playback.capacity);
    known.set(playback, poses);
  } else if (poses.capacity !== playback.capacity) poses.resize(playback.capacity);
  return poses;
}

/** Disposes poses with what their instances play. That has other textures once there is room for another number of instances. */
function disposeWith(playback: InstancePlayback): void {
  const actions = playback.actions.plain;
  actions.addEventListener('dispose', function dispose() {
    actions.removeEventListener('dispose', dispose);
    if (playback.mixes && playback.actions.plain !== actions) {
      disposeWith(playback);
      return;
    }
    known.get(playback)?.dispose();
    known.delete(playback);
  });
}

/** Whether WebGLRenderer has uploaded a texture. One function for all renderers, so that draws make none. */
export const hasTexture = (texture: Texture, renderer: object): boolean =>
  ((renderer as WebGLRenderer).properties.get(texture) as { __webglTexture?: unknown }).__webglTexture !==
  undefined;
