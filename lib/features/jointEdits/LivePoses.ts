import { type Object3D, Quaternion, type Skeleton, Vector3 } from 'three';
import {
  HEADER_FADE_RATE,
  HEADER_FADE_START,
  HEADER_FROM,
  HEADER_LIVE,
  HEADER_TO,
  LIVE_HAS,
  LIVE_TEXELS,
  livePerRow,
} from '../../../shaders/editLayout.js';
import type { PoseTracks } from '../../animation/PoseTracks.js';
import {
  RAMP_FROM,
  RAMP_RATE,
  RAMP_SIZE,
  RAMP_START,
  RAMP_TO,
  rampAt,
  rampDone,
  rampTo,
  setRamp,
} from '../../playback/actionNumbers.js';
import { resized, swapItems } from '../../utils/attributes.js';
import { listNames } from '../../utils/messages.js';
import { ItemPool } from './EditLists.js';

/**
 * Poses that instances were given by hand, in one texture: local transforms of all nodes, for those instances that have one.
 * How much of a pose shows changes over time. One that no longer shows at all gives its place back.
 */
export class LivePoses {
  readonly pool: ItemPool;
  /** Place of each instance's pose in the pool; -1 for none. */
  private places: Int32Array;

  /** @param nodes Nodes of a pose. */
  constructor(
    capacity: number,
    readonly nodes: number,
  ) {
    this.pool = new ItemPool(livePerRow(nodes), nodes * LIVE_TEXELS * 4, RAMP_SIZE);
    this.places = new Int32Array(capacity).fill(-1);
  }

  /** Where an instance's pose is; -1 if it has none. */
  placeOf(index: number): number {
    return this.places[index];
  }

  /** How much of its pose an instance shows. */
  weightOf(index: number, now: number): number {
    const place = this.places[index];
    return place < 0 ? 0 : rampAt(this.pool.numbers, place * RAMP_SIZE, now);
  }

  /**
   * Gives an instance a pose, which the caller writes from where this says.
   *
   * @param fade Seconds that it takes to show; undefined to leave a pose that shows already, or is about to, as it is.
   */
  give(index: number, now: number, fade: number | undefined): number {
    if (this.places[index] < 0) this.places[index] = this.take();
    // What is new is at 0, as what has left.
    if (fade === 0 || this.isLeaving(index)) this.ramp(index, now, 1, fade ?? 0);
    this.pool.texture.changed(this.places[index]);
    return this.places[index] * this.pool.stride;
  }

  /** Lets an instance's pose go within some seconds, or sooner if it is about to. Returns whether it has one. */
  leave(index: number, now: number, fade: number): boolean {
    if (this.places[index] < 0) return false;
    // Crowds that are told in every frame would never be done with it.
    if (this.isLeaving(index) && this.endOf(this.places[index]) <= now + fade) return true;
    if (fade > 0) this.ramp(index, now, 0, fade);
    else this.drop(index);
    return true;
  }

  /** Gives back the places of poses that no longer show, and calls back with their instances. */
  endLeft(now: number, callback: (index: number) => void): void {
    const { places, pool } = this;
    for (let index = 0, left = pool.held; left > 0; index++) {
      if (places[index] < 0) continue;
      left--;
      if (!this.isLeaving(index) || rampDone(pool.numbers, places[index] * RAMP_SIZE, now) < 1) continue;
      this.drop(index);
      callback(index);
    }
  }

  /** Writes what shaders read of an instance; times are relative to `origin`. */
  writeHeader(index: number, now: number, origin: number, out: Float32Array, at: number): void {
    const { numbers } = this.pool;
    const place = this.places[index];
    out[at + HEADER_LIVE] = place + 1;
    out.fill(0, at + HEADER_FROM, at + HEADER_FROM + RAMP_SIZE);
    if (place < 0) return;
    const from = place * RAMP_SIZE;
    out[at + HEADER_FROM] = numbers[from + RAMP_FROM];
    out[at + HEADER_TO] = numbers[from + RAMP_TO];
    out[at + HEADER_FADE_START] = numbers[from + RAMP_START] - origin;
    out[at + HEADER_FADE_RATE] = rampDone(numbers, from, now) === 1 ? 0 : numbers[from + RAMP_RATE];
  }

  resize(capacity: number): void {
    for (let i = capacity; i < this.places.length; i++) this.drop(i);
    this.places = resized(this.places, capacity, -1);
  }

  swap(i: number, j: number): void {
    swapItems(this.places, i, j, 1);
  }

  /**
   * Gives an instance the pose of one among others.
   *
   * @param nodeOf Node here of each node there; below zero for none.
   */
  copyFrom(source: LivePoses, index: number, nodeOf: (node: number) => number): void {
    this.drop(index);
    const from = source.places[index];
    if (from < 0) return;
    const to = this.take();
    this.places[index] = to;
    const ramp = source.pool.numbers.subarray(from * RAMP_SIZE, (from + 1) * RAMP_SIZE);
    this.pool.numbers.set(ramp, to * RAMP_SIZE);
    const size = LIVE_TEXELS * 4;
    for (let node = 0; node < source.nodes; node++) {
      const at = from * source.pool.stride + node * size;
      const here = nodeOf(node);
      if (here >= 0) {
        this.pool.texture.data.set(
          source.pool.texture.data.subarray(at, at + size),
          to * this.pool.stride + here * size,
        );
      }
    }
    this.pool.texture.changed(to);
  }

  /** Takes an instance's pose away. */
  drop(index: number): void {
    const place = this.places[index];
    if (place < 0) return;
    this.pool.give(place, 1);
    this.places[index] = -1;
  }

  /** When the pose of a place has come to the weight that it goes to. */
  private endOf(place: number): number {
    const { numbers } = this.pool;
    return numbers[place * RAMP_SIZE + RAMP_START] + 1 / numbers[place * RAMP_SIZE + RAMP_RATE];
  }

  private isLeaving(index: number): boolean {
    return this.pool.numbers[this.places[index] * RAMP_SIZE + RAMP_TO] === 0;
  }

  private ramp(index: number, now: number, to: number, seconds: number): void {
    rampTo(this.pool.numbers, this.places[index] * RAMP_SIZE, now, to, seconds);
  }

  /** A place for an instance's pose, in which there is nothing. */
  private take(): number {
    const place = this.pool.take(1);
    setRamp(this.pool.numbers, place * RAMP_SIZE, 0);
    this.pool.texture.data.fill(0, place * this.pool.stride, (place + 1) * this.pool.stride);
    return place;
  }
}

const _position = /*@__PURE__*/ new Vector3();
const _quaternion = /*@__PURE__*/ new Quaternion();
const _scale = /*@__PURE__*/ new Vector3();
let _pose = /*@__PURE__*/ new Float32Array(0);

/**
 * The local transforms of objects as a live pose, which holds until the next one is read: those of the same names as nodes of the
 * tracks. The root is left at rest, since the place where an instance stands takes the place of the root's own.
 *
 * @param root An object with others below it, or a skeleton, whose bones are taken.
 * @throws If a transform is not finite, or nothing has the name of a node.
 */
export function readPose(root: Object3D | Skeleton, tracks: PoseTracks): Float32Array {
  const { first, next } = nodeNames(tracks);
  const { rest, names } = tracks;
  const stride = LIVE_TEXELS * 4;
  if (_pose.length !== names.length * stride) _pose = new Float32Array(names.length * stride);
  const out = _pose.fill(0);
  let found = 0;
  const write = (node: number) => {
    _quaternion.toArray(out, node * stride);
    _position.toArray(out, node * stride + 4);
    out[node * stride + LIVE_HAS] = 1;
    _scale.toArray(out, node * stride + 8);
  };
  const poseNode = (object: Object3D) => {
    let node = first.get(object.name) ?? -1;
    // Of several nodes of one name, each object poses the next.
    while (node >= 0 && out[node * stride + LIVE_HAS] !== 0) node = next[node];
    if (node < 0) return;
    if (object.matrixAutoUpdate) {
      _position.copy(object.position);
      _quaternion.copy(object.quaternion);
      _scale.copy(object.scale);
    } else {
      object.matrix.decompose(_position, _quaternion, _scale);
    }
    const { x, y, z, w } = _quaternion;
    const size = x * x + y * y + z * z + w * w;
    const sum = _position.x + _position.y + _position.z + _scale.x + _scale.y + _scale.z;
    if (!(size > 0 && Number.isFinite(size + sum))) {
      throw new Error(
        `"${names[node]}" has position ${_position.toArray()}, quaternion ${_quaternion.toArray()} and scale ${_scale.toArray()}; use finite numbers.`,
      );
    }
    write(node);
    found++;
  };
  _position.fromArray(rest, 0);
  _quaternion.fromArray(rest, 3);
  _scale.fromArray(rest, 7);
  write(0);
  if ('bones' in root) for (const bone of root.bones) poseNode(bone);
  else if (root.name === names[0]) {
    if (root.name !== '') found++;
    for (const child of root.children) child.traverse(poseNode);
  } else root.traverse(poseNode);
  if (found > 0) return out;
  throw new Error(
    `Nothing in the pose has the name of a joint or of a node above one: ${listNames(names.filter((name) => name !== ''))}.`,
  );
}

const known = /*@__PURE__*/ new WeakMap<
  PoseTracks,
  {
    /** First node of each name. */
    first: Map<string, number>;
    /** For each node the next of its name; -1 if there is none. */
    next: Int32Array;
  }
>();

/** Nodes without a name are not among them. */
export function nodeNames(tracks: PoseTracks) {
  let names = known.get(tracks);
  if (names === undefined) {
    names = { first: new Map(), next: new Int32Array(tracks.names.length).fill(-1) };
    for (let node = tracks.names.length - 1; node >= 0; node--) {
      const name = tracks.names[node];
      if (name === '') continue;
      names.next[node] = names.first.get(name) ?? -1;
      names.first.set(name, node);
    }
    known.set(tracks, names);
  }
  return names;
}

/** A function that gives for each node of some tracks the node of the same name in others; -1 if there is none. */
export function sameNodes(from: PoseTracks, to: PoseTracks): (node: number) => number {
  if (from === to) return (node) => node;
  const { first } = nodeNames(to);
  return (node) => (node === 0 ? 0 : (first.get(from.names[node]) ?? -1));
}
