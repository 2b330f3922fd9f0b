import type { Object3D, Skeleton, Texture } from 'three';
import type { InstanceData } from '../instances/InstanceData.js';
import type { InstanceTexture } from '../instances/InstanceTexture.js';
import type { EditModel } from '../tracks/mixPose.js';
import type { PoseTracks } from '../tracks/PoseTracks.js';
import type { EditReach } from './EditReach.js';
import { type EditPlaces, EditStore, type EditTime } from './EditStore.js';
import { LIVE_TEXELS, SLOT_BY_HAND, SLOT_PROPORTION } from './editLayout.js';
import { poseNodes } from './poseNodes.js';

let _pose = /*@__PURE__*/ new Float32Array(0);

/**
 * Changes to the poses of single instances, on top of what their clips give: edits of joints, and live poses, which take the
 * place of the clips. Crowds of which no instance was ever changed have no store, and pay nothing.
 */
export class JointEdits implements InstanceData {
  private store: EditStore | null = null;

  /** @param tracks Of the bone texture; null if it has none, so that nothing can be edited. */
  constructor(
    private capacity: number,
    private tracks: PoseTracks | null,
    private readonly places: EditPlaces,
    private readonly time: EditTime,
  ) {}

  /** Whether the pass has to look for edits. Once it has to, it does so as long as the crowd lives. */
  get isUsed(): boolean {
    return this.store !== null;
  }

  /** Grows with each change of what shaders read. */
  get version(): number {
    return this.store?.version ?? 0;
  }

  /** What shaders read: which edits and which live pose each instance has. Another one after `resize`. */
  get headers(): InstanceTexture | null {
    return this.store?.headers ?? null;
  }

  /** Whether an instance's edits or live pose have changed since a time of the clock. Twin of `editedSince` in TSL. */
  changedSince(index: number, time: number): boolean {
    return this.store?.changedSince(index, time) ?? false;
  }

  /** The edits. Another one when there are more than it has room for. */
  get edits(): InstanceTexture | null {
    return this.store?.lists.pool.texture ?? null;
  }

  /** The live poses. Another one when there are more than it has room for. */
  get live(): InstanceTexture | null {
    return this.store?.live.texture ?? null;
  }

  /** Where nodes may be other than where clips put them; null if nothing was edited. */
  get reach(): EditReach | null {
    return this.store?.reach ?? null;
  }

  /** Bounds that were computed with another number no longer hold. */
  get reachVersion(): number {
    return this.store?.reach.version ?? 0;
  }

  /**
   * Gives an instance an edit; that of the same node, kind and slot makes way.
   *
   * @param edit `EDIT_STRIDE` numbers; the target of a look-at is in the crowd's space.
   */
  set(index: number, edit: ArrayLike<number>): void {
    this.need().set(index, edit);
  }

  /** Takes an edit from an instance. */
  remove(index: number, node: number, kind: number, slot: number = SLOT_BY_HAND): void {
    this.store?.remove(index, node, kind, slot);
  }

  /** Takes all edits by hand of a node from an instance, or those of all nodes. Its proportions stay. */
  clear(index: number, node?: number): void {
    this.store?.clear(index, node, SLOT_BY_HAND);
  }

  /** Takes its proportions from an instance. */
  clearProportions(index: number): void {
    this.store?.clear(index, undefined, SLOT_PROPORTION);
  }

  /** Gives an instance the proportions of another. */
  copyProportions(from: number, to: number): void {
    this.store?.copyProportions(from, to);
  }

  /**
   * Gives an instance the pose of an object or a skeleton.
   *
   * @param fade Seconds that it takes to show; undefined to leave a pose that shows already, or is about to, as it is.
   * @throws If nothing of it has the name of a node, or a transform is not finite.
   */
  setPose(index: number, root: Object3D | Skeleton, fade: number | undefined, caller: string): void {
    const store = this.need();
    const { tracks } = store;
    const size = tracks.parents.length * LIVE_TEXELS * 4;
    if (_pose.length !== size) _pose = new Float32Array(size);
    _pose.fill(0);
    if (poseNodes(root, tracks, _pose, 0, caller) === 0) {
      const names = tracks.names.filter((name) => name !== '').map((name) => `"${name}"`);
      throw new Error(
        `${caller}: nothing in the pose has the name of a joint or of a node above one: ${names.join(', ')}.`,
      );
    }
    store.setPose(index, _pose, fade);
  }

  /** Whether an instance has a live pose, however much of it shows. */
  hasLive(index: number): boolean {
    return (this.store?.live.placeOf(index) ?? -1) >= 0;
  }

  /** Lets an instance go back from its live pose to what its clips give. */
  leavePose(index: number, fade: number): void {
    this.store?.leavePose(index, fade);
  }

  /** Call before instances are posed: it brings all that shaders read up to the present time. */
  update(): void {
    this.store?.update();
  }

  /** Call before a renderer draws: one that has not got all of a texture must not be sent a part of it. */
  prepare(renderer: object, has: (texture: Texture, renderer: object) => boolean): void {
    this.headers?.prepare(renderer, has);
    this.edits?.prepare(renderer, has);
    this.live?.prepare(renderer, has);
  }

  /** Puts what an instance looks at relative to where it stands now. */
  place(index: number): void {
    this.store?.placeTargets(index);
  }

  /** Applies an instance's live pose and edits to local transforms. */
  applyLocals(index: number, trs: Float64Array): void {
    this.store?.applyLocals(index, trs);
  }

  /** Applies an instance's live pose to the local transform of one node, among those of all nodes. */
  applyLive(index: number, node: number, trs: Float64Array): void {
    this.store?.applyLive(index, node, trs);
  }

  /** Applies the edits of one slot to the local transform of one node. */
  applyNode(index: number, node: number, slot: number, trs: Float64Array): void {
    this.store?.applyNode(index, node, slot, trs);
  }

  /** Whether a node of an instance has edits of its matrix relative to the root. */
  hasModelEdits(index: number, node: number): boolean {
    return this.store?.hasModelEdits(index, node) ?? false;
  }

  /** Whether an instance has this edit, with these very numbers. */
  holds(index: number, edit: ArrayLike<number>): boolean {
    return this.store?.lists.holds(index, edit) ?? false;
  }

  /** What is to be applied to an instance's matrices relative to the root, parents first; undefined for nothing. */
  modelEdits(index: number): EditModel | undefined {
    return this.store?.modelEdits(index);
  }

  /**
   * Goes on with another bone texture: edits and poses go to the nodes of the same names.
   *
   * @param tracks Null if it has none: then they are lost.
   */
  setTracks(tracks: PoseTracks | null): void {
    const { store } = this;
    this.tracks = tracks;
    if (store === null || store.tracks === tracks) return;
    this.store = null;
    if (tracks !== null) this.need().take(store);
    store.dispose();
  }

  resize(capacity: number): void {
    this.capacity = capacity;
    this.store?.resize(capacity);
  }

  swap(i: number, j: number): void {
    this.store?.swap(i, j);
  }

  reset(index: number): void {
    this.store?.clear(index);
    this.leavePose(index, 0);
  }

  copy({ store }: JointEdits): void {
    this.store?.dispose();
    this.store = null;
    if (store !== null && this.tracks !== null) this.need().take(store);
  }

  dispose(): void {
    this.store?.dispose();
  }

  private need(): EditStore {
    const { capacity, tracks, places, time } = this;
    if (this.store === null) {
      if (tracks === null) throw new Error('JointEdits: there are no tracks whose nodes could be edited.');
      this.store = new EditStore(capacity, tracks, places, time);
    }
    return this.store;
  }
}
