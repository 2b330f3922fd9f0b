import { type InstancedBufferAttribute, Matrix4, Vector3 } from 'three';
import {
  EDIT_KIND,
  EDIT_MODELS,
  EDIT_NODE,
  EDIT_SLOT,
  EDIT_STRIDE,
  EDIT_VALUE,
  HEADER_CHANGED,
  HEADER_COUNTS,
  HEADER_FIRST,
  HEADER_TEXELS,
  KIND_LOOK_AT,
  SLOT_PROPORTION,
} from '../../../shaders/editLayout.js';
import type { EditModel } from '../../animation/mixPose.js';
import type { PoseEditor } from '../../animation/PoseSource.js';
import type { PoseTracks } from '../../animation/PoseTracks.js';
import { InstanceTexture } from '../../instances/InstanceTexture.js';
import type { InstanceTransforms } from '../../instances/InstanceTransforms.js';
import type { Clock } from '../../playback/Clock.js';
import { editLocal, editModel, mixLiveNode } from './applyEdits.js';
import { EditExtent } from './EditExtent.js';
import { EditLists } from './EditLists.js';
import { LivePoses, sameNodes } from './LivePoses.js';

const HEADER_STRIDE = HEADER_TEXELS * 4;

/** Place of a texture among `EditStore.textures`. */
const HEADERS = 0;
const EDITS = 1;
const LIVE = 2;

const _inverse = /*@__PURE__*/ new Matrix4();
const _target = /*@__PURE__*/ new Vector3();
const _place = /*@__PURE__*/ new Float32Array(3);

/** Never the same, also among stores: poses that were made by another are no longer right. */
let _version = 0;

/** The edits and live poses of all instances, and what shaders read of them. */
export class EditStore implements PoseEditor {
  readonly lists: EditLists;
  readonly live: LivePoses;
  version = ++_version;
  isUsed = false;
  extent: EditExtent | null = null;
  /** Headers, edits, live poses. */
  readonly textures: InstanceTexture[] = [];
  /** The matrices that targets were last put relative to. */
  private placed: InstancedBufferAttribute | null = null;
  private placedVersion = 0;
  /** `time.origin` when headers were last written. */
  private origin: number;

  constructor(
    private capacity: number,
    readonly tracks: PoseTracks,
    private readonly places: InstanceTransforms,
    private readonly time: Clock,
  ) {
    this.lists = new EditLists(capacity);
    this.live = new LivePoses(capacity, tracks.parents.length);
    this.textures[HEADERS] = new InstanceTexture(capacity, HEADER_STRIDE);
    this.listTextures();
    this.origin = time.origin;
  }

  get extentVersion(): number {
    return this.extent?.version ?? 0;
  }

  private get widened(): EditExtent {
    this.extent ??= new EditExtent(this.tracks);
    return this.extent;
  }

  /**
   * Gives an instance an edit; that of the same node, kind and slot makes way.
   *
   * @param edit `EDIT_STRIDE` numbers; the target of a look-at is in the crowd's space.
   */
  set(index: number, edit: ArrayLike<number>): void {
    const { lists } = this;
    const place = lists.set(index, edit);
    if ((edit[EDIT_KIND] & KIND_LOOK_AT) === KIND_LOOK_AT) {
      for (let i = 0; i < 3; i++) lists.pool.numbers[place * 3 + i] = edit[EDIT_VALUE + i];
      this.placeTarget(index, place);
    }
    this.widened.addEdit(edit, 0);
    this.changed(index);
  }

  remove(index: number, node: number, kind: number, slot: number): void {
    if (this.lists.remove(index, node, kind, slot)) this.lost(index);
  }

  clear(index: number, node?: number, slot?: number): void {
    if (this.lists.clear(index, node, slot)) this.lost(index);
  }

  copyProportions(from: number, to: number): void {
    this.clear(to, undefined, SLOT_PROPORTION);
    const { pool } = this.lists;
    for (let i = 0; i < this.lists.locals(from); i++) {
      const at = (this.lists.first(from) + i) * EDIT_STRIDE;
      if (pool.data[at + EDIT_SLOT] === SLOT_PROPORTION) this.set(to, pool.data.slice(at, at + EDIT_STRIDE));
    }
  }

  /** Gives an instance a live pose. */
  setPose(index: number, pose: Float32Array, fade: number | undefined): void {
    const { live } = this;
    const at = live.give(index, this.time.elapsed, fade);
    live.pool.texture.data.set(pose, at);
    this.widened.addPose(pose, 0);
    this.changed(index);
  }

  leavePose(index: number, fade: number): void {
    if (this.live.leave(index, this.time.elapsed, fade)) this.lost(index);
  }

  /** Brings all that shaders read up to the present time and to where the instances stand. */
  update(): void {
    const { places, lists, live, capacity } = this;
    const { attribute } = places;
    if (attribute !== this.placed || attribute.version !== this.placedVersion) {
      this.placed = attribute;
      this.placedVersion = attribute.version;
      if (lists.lookAts > 0) for (let i = 0; i < capacity; i++) this.place(i);
    }
    const { origin, elapsed } = this.time;
    live.endLeft(elapsed, this.lost);
    if (origin === this.origin) return;
    this.origin = origin;
    // Times in the headers are times of the clock, also of instances whose edits have ended.
    const { data } = this.textures[HEADERS];
    for (let i = 0; i < capacity; i++) {
      const isEdited = lists.locals(i) + lists.models(i) > 0 || live.placeOf(i) >= 0;
      if (isEdited || data[i * HEADER_STRIDE + HEADER_CHANGED] !== 0) this.changed(i);
    }
  }

  /** Applies an instance's live pose and edits to the local transform of one node. */
  applyLocal(index: number, node: number, trs: Float64Array): void {
    this.applyLive(index, node, trs);
    this.applyNode(index, node, null, trs);
  }

  /** Applies an instance's live pose to the local transform of one node. */
  applyLive(index: number, node: number, trs: Float64Array): void {
    const { live } = this;
    const weight = live.weightOf(index, this.time.elapsed);
    if (weight > 0)
      mixLiveNode(live.pool.texture.data, live.placeOf(index) * live.pool.stride, node, weight, trs);
  }

  /** Applies the edits of one slot, or of all, to the local transform of one node. */
  applyNode(index: number, node: number, slot: number | null, trs: Float64Array): void {
    const { lists } = this;
    const { data } = lists.pool;
    const end = (lists.first(index) + lists.locals(index)) * EDIT_STRIDE;
    for (let at = lists.first(index) * EDIT_STRIDE; at < end; at += EDIT_STRIDE) {
      if (data[at + EDIT_NODE] === node && (data[at + EDIT_SLOT] === slot || slot === null))
        editLocal(data, at, trs);
    }
  }

  /** Whether a node has edits of its matrix relative to the root. */
  hasModelEdits(index: number, node: number): boolean {
    const { lists } = this;
    const { data } = lists.pool;
    const first = lists.first(index) + lists.locals(index);
    for (let i = 0; i < lists.models(index); i++) {
      if (data[(first + i) * EDIT_STRIDE + EDIT_NODE] === node) return true;
    }
    return false;
  }

  /** What is to be applied to an instance's matrices relative to the root, parents first; undefined for nothing. */
  modelEdits(index: number): EditModel | undefined {
    const { lists } = this;
    if (lists.models(index) === 0) return undefined;
    const { data } = lists.pool;
    let at = (lists.first(index) + lists.locals(index)) * EDIT_STRIDE;
    const end = at + lists.models(index) * EDIT_STRIDE;
    return (node, model, to) => {
      for (; at < end && data[at + EDIT_NODE] === node; at += EDIT_STRIDE) editModel(data, at, model, to);
    };
  }

  /** Puts the targets that an instance looks at relative to where it stands now. */
  place(index: number): void {
    const { lists } = this;
    if (lists.lookAts === 0) return;
    const first = lists.first(index) + lists.locals(index);
    const end = first + lists.models(index);
    let moved = false;
    for (let place = first; place < end; place++) moved = this.placeTarget(index, place) || moved;
    if (moved) this.changed(index);
  }

  /** Takes over what the instances of another store have; edits and poses go to the nodes of the same names. */
  take({ lists, live, tracks }: EditStore): void {
    const nodeOf = sameNodes(tracks, this.tracks);
    for (let i = 0; i < this.capacity; i++) {
      this.lists.copyFrom(lists, i, nodeOf);
      this.live.copyFrom(live, i, nodeOf);
      const first = this.lists.first(i);
      const end = first + this.lists.locals(i) + this.lists.models(i);
      for (let place = first; place < end; place++) {
        this.widened.addEdit(this.lists.pool.data, place * EDIT_STRIDE);
      }
      const pose = this.live.placeOf(i);
      if (pose >= 0) this.widened.addPose(this.live.pool.texture.data, pose * this.live.pool.stride);
      this.place(i);
      this.changed(i);
    }
  }

  resize(capacity: number): void {
    this.capacity = capacity;
    this.lists.resize(capacity);
    this.live.resize(capacity);
    this.textures[HEADERS].dispose();
    this.textures[HEADERS] = new InstanceTexture(capacity, HEADER_STRIDE);
    this.version = ++_version;
    for (let i = 0; i < capacity; i++) this.writeHeader(i);
  }

  swap(i: number, j: number): void {
    this.lists.swap(i, j);
    this.live.swap(i, j);
    for (const index of [i, j]) {
      this.place(index);
      this.changed(index);
    }
  }

  dispose(): void {
    for (const texture of this.textures) texture.dispose();
  }

  /** Whether an instance was changed since a time of the clock. */
  changedSince(index: number, time: number): boolean {
    return this.textures[HEADERS].data[index * HEADER_STRIDE + HEADER_CHANGED] >= time;
  }

  /** Lists and live poses take larger textures when they need room. */
  private listTextures(): void {
    this.textures[EDITS] = this.lists.pool.texture;
    this.textures[LIVE] = this.live.pool.texture;
  }

  /** Call when an instance was changed. */
  private changed(index: number): void {
    this.writeHeader(index);
    this.textures[HEADERS].changed(index);
    this.listTextures();
    this.version = ++_version;
    this.isUsed = true;
  }

  /** Call when something was taken from an instance: with the last edit, bounds need not reach further than clips do. */
  private readonly lost = (index: number): void => {
    this.changed(index);
    if (this.lists.pool.held + this.live.pool.held === 0) this.extent = null;
  };

  private writeHeader(index: number): void {
    const { lists, live } = this;
    const { elapsed, origin, time } = this.time;
    const { data } = this.textures[HEADERS];
    const at = index * HEADER_STRIDE;
    data[at + HEADER_FIRST] = lists.first(index);
    data[at + HEADER_COUNTS] = lists.locals(index) + lists.models(index) * EDIT_MODELS;
    data[at + HEADER_CHANGED] = time;
    live.writeHeader(index, elapsed, origin, data, at);
  }

  /** Returns whether it is somewhere else now. */
  private placeTarget(index: number, place: number): boolean {
    const { pool } = this.lists;
    const { data, numbers } = pool;
    const at = place * EDIT_STRIDE;
    if ((data[at + EDIT_KIND] & KIND_LOOK_AT) !== KIND_LOOK_AT) return false;
    _inverse.fromArray(this.places.attribute.array, index * 16).invert();
    _target
      .fromArray(numbers, place * 3)
      .applyMatrix4(_inverse)
      .toArray(_place);
    // An instance that is scaled to nothing has no inverse, and is not seen.
    if (!Number.isFinite(_place[0] + _place[1] + _place[2])) _place.fill(0);
    let same = true;
    for (let i = 0; i < 3; i++) same &&= data[at + EDIT_VALUE + i] === _place[i];
    if (same) return false;
    for (let i = 0; i < 3; i++) data[at + EDIT_VALUE + i] = _place[i];
    pool.texture.changed(place);
    return true;
  }
}
