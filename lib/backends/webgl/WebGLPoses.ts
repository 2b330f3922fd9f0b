import type { Texture, WebGLRenderer } from 'three';
import type { BoneTexture } from '../../animation/BoneTexture.js';
import type { PoseTracks } from '../../animation/PoseTracks.js';
import { trackLayout } from '../../animation/trackTexels.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { InstanceList, type PoseRequest, SMALL } from '../../culling/InstanceList.js';
import type { InstancePlayback } from '../../playback/InstancePlayback.js';
import { PoseDirtyTracker } from '../PoseDirtyTracker.js';
import type { MatrixTexture } from './MatrixTexture.js';
import { type PoseCounts, runPasses, WebGLPosePass } from './WebGLPosePass.js';

/** Of an instance without a place in the palette, and a place without an instance. */
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
  private tracker!: PoseDirtyTracker;
  private pass: WebGLPosePass | null = null;
  /** What the pass is made for. */
  private boneTexture: BoneTexture | null = null;
  private layout = {} as ReturnType<typeof trackLayout>;
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
  private placeOf: Float32Array = new Float32Array(0);
  private instanceOf = new InstanceList(0, true);
  /** Goes up when an instance gets another place. */
  private rowsVersion = 0;
  /** The instance that is posed next at each place, as a list and as the pass reads it. */
  private due: Float32Array = new Float32Array(0);
  private dueList = new InstanceList(0);
  /** Whether each instance below `size` has the place of its own number, so that nobody has to look places up. */
  private inOrder = true;
  /** Where the search for a place goes on. */
  private hand = 0;
  /** For how many moments few places were in use. */
  private idle = 0;

  /** For whom they are made. */
  private renderer: WeakRef<WebGLRenderer> | null = null;

  constructor(capacity: number) {
    this.resize(capacity);
  }

  /** Makes room for another number of instances, in the palette that there is: that goes by who is seen. */
  resize(capacity: number): void {
    this.tracker = new PoseDirtyTracker(capacity);
    this.setSize(this.size > capacity ? 0 : this.size);
  }

  get capacity(): number {
    return this.tracker.capacity;
  }

  /** How many instances were posed at this moment. */
  get count(): number {
    return this.tracker.count;
  }

  /** The palette; no textures before the crowd was first posed. */
  get textures(): readonly Texture[] {
    return this.pass?.target.textures ?? [];
  }

  /** The instance of each place in the palette, as a texture; null where that is its number. */
  get instances(): Texture | null {
    return this.inOrder ? null : this.instanceOf.texture.plain;
  }

  /** A list of instances, by their places in the palette. */
  placed(list: InstanceList): InstanceList {
    return this.inOrder ? list : list.rows(this.placeOf, this.rowsVersion);
  }

  /** Instances in a row of the palette. */
  get perRow(): number {
    return this.pass?.perRow ?? 1;
  }

  /** Has a renderer make the programs that pose a crowd. */
  compile(renderer: WebGLRenderer, crowd: DrawnCrowd): void {
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
    crowd: DrawnCrowd,
    requested: readonly (PoseRequest | null)[] | null,
    isDrawing: boolean,
    matrices: MatrixTexture,
  ): void {
    const pass = this.passFor(crowd);
    // It may be one of those that wait, where a crowd is drawn in the middle of its own draw.
    if (isDrawing) runPasses(renderer, true);
    this.prepareEdits(renderer, crowd);
    this.moveTo(renderer, crowd);
    if (!pass.isPosed(renderer)) this.tracker.clear();
    const { tracker } = this;
    matrices.takeMoved(tracker);
    const requests = requested ?? ALL;
    this.ask(requests, crowd);
    if (tracker.askedCount > this.size) {
      this.grow(pass, renderer.capabilities.maxTextureSize);
      this.ask(requests, crowd);
    }
    if (tracker.dueCount === 0) return;
    const { due, dueList } = this;
    const places = this.placeOf;
    let firstDue = this.size;
    let lastDue = 0;
    for (let word = 0; word < tracker.due.length; word++) {
      for (let rest = tracker.due[word]; rest !== 0; rest &= rest - 1) {
        const id = word * 32 + 31 - Math.clz32(rest & -rest);
        if (places[id] < 0) this.place(id);
        const place = places[id];
        due[place] = id;
        if (place < firstDue) firstDue = place;
        if (place > lastDue) lastDue = place;
      }
    }
    // To pose a small palette whole once a quarter is asked for takes less than a new list of who is due.
    const posesAll =
      tracker.posedAt === null && due.length < SMALL && tracker.askedCount > due.length * SHARE_IN_USE;
    dueList.assign(posesAll ? this.instanceOf.data : due, due.length);
    due.fill(NONE);
    dueList.texture.prepare(renderer);
    this.instanceOf.texture.prepare(renderer);
    pass.wait(renderer, crowd, this.layout, dueList, firstDue, lastDue, matrices.texture);
    if (isDrawing) runPasses(renderer, true);
  }

  dispose(): void {
    this.pass?.dispose();
    this.pass = null;
    this.setSize(0);
  }

  /** Where nothing is edited yet that may be, has those programs made while others are used. */
  private prepareEdits(renderer: WebGLRenderer, { crowd: { poseEdits } }: DrawnCrowd): void {
    if (this.isReadyForEdits || poseEdits === null) return;
    this.isReadyForEdits = true;
    if (!poseEdits.isUsed) new WebGLPosePass({ ...this.counts, edited: true }).compile(renderer);
  }

  /** The pass that there is, or a new one if the crowd is not as it was. */
  private passFor({ boneTexture, playback, crowd }: DrawnCrowd): WebGLPosePass {
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
  private moveTo(renderer: WebGLRenderer, crowd: DrawnCrowd): void {
    const { tracker, size } = this;
    if (this.renderer?.deref() !== renderer) {
      this.renderer = new WeakRef(renderer);
      tracker.clear();
    }
    const { askedCount } = tracker;
    if (!tracker.moveTo(crowd)) return;
    if (askedCount === 0 || askedCount > size * SHARE_IN_USE) this.idle = 0;
    else if (++this.idle > PATIENCE) this.setSize(0);
  }

  /** Finds out which of those that are asked for have to be posed. */
  private ask(requests: readonly (PoseRequest | null)[], crowd: DrawnCrowd): void {
    this.tracker.begin();
    for (let i = 0; i < requests.length; i++) this.tracker.add(requests[i], crowd);
  }

  /** Gives an instance a place that nobody has who is asked for: there are at least as many as these. */
  private place(id: number): void {
    const { instanceOf, placeOf, size, tracker } = this;
    this.inOrder = false;
    this.rowsVersion++;
    for (;;) {
      const at = this.hand;
      this.hand = (at + 1) % size;
      const former = instanceOf.get(at);
      if (former !== NONE && (tracker.asked[former >> 5] & (1 << (former & 31))) !== 0) continue;
      if (former !== NONE) {
        placeOf[former] = NONE;
        tracker.lose(former);
      }
      placeOf[id] = at;
      instanceOf.set(at, id);
      return;
    }
  }

  /** Makes room for all who are asked for. Places are those of the beginning then. */
  private grow(pass: WebGLPosePass, maxTextureSize: number): void {
    const { capacity } = this;
    const { askedCount } = this.tracker;
    const grown = askedCount > this.size ? this.size * 2 : this.size;
    const wanted = Math.ceil(Math.max(askedCount * SPARE, grown, MIN_SIZE));
    const size = wanted > capacity / 2 ? capacity : wanted;
    pass.setSize(size, maxTextureSize);
    this.setSize(size);
  }

  private setSize(size: number): void {
    this.size = size;
    this.hand = this.idle = 0;
    this.rowsVersion++;
    this.instanceOf.dispose();
    this.dueList.dispose();
    this.placeOf = new Float32Array(size > 0 ? this.capacity : 0).fill(NONE);
    for (let id = 0; id < size; id++) this.placeOf[id] = id;
    this.dueList = new InstanceList(size);
    this.due = new Float32Array(size).fill(NONE);
    this.instanceOf = new InstanceList(size, true);
    this.instanceOf.assignAll();
    this.inOrder = true;
    this.tracker.clear();
  }
}

const known = /*@__PURE__*/ new WeakMap<InstancePlayback, WebGLPoses>();

/** The poses of a crowd, which it shares with all that has the same playback; they go when that is disposed. */
export function posesOf({ playback }: DrawnCrowd): WebGLPoses {
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
