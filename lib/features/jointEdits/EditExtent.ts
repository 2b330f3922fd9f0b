import type { Box3 } from 'three';
import {
  EDIT_KIND,
  EDIT_NODE,
  EDIT_VALUE,
  KIND_ADD,
  KIND_LOOK_AT,
  KIND_MODEL,
  KIND_POSITION,
  KIND_SCALE,
  LIVE_HAS,
  LIVE_TEXELS,
} from '../../../shaders/editLayout.js';
import { createJointBoxes } from '../../animation/jointBoxes.js';
import type { PoseTracks } from '../../animation/PoseTracks.js';
import { largest, type PosedBeyondClips, posedBounds } from '../../animation/posedBounds.js';
import { TRS_SIZE } from '../../animation/Rig.js';

/** Never the same, also among crowds: bounds that were computed with another number no longer hold. */
let _version = 0;

const TURNED_IN_MODEL = 2;

/** Scales that differ by less, as shares, are the same in all directions. */
const EVEN = 1e-6;

/**
 * Where edits and live poses may put nodes, so that the bounds of a crowd hold them. It only grows; values that move on a
 * little each time make it grow by more than they ask for, so that bounds are not computed again and again.
 */
export class EditExtent implements PosedBeyondClips {
  /** Another one with each change. */
  version = ++_version;
  readonly posedBounds: typeof posedBounds = posedBounds;
  /** 1 for nodes that may be turned in any way, 2 for those that may be so relative to the root. */
  private readonly turned: Uint8Array;
  /** Boxes of local positions that take the place of those of the clips, and of what is added to them: 6 numbers a node. */
  private readonly positions: Float64Array;
  private readonly offsets: Float64Array;
  /** Largest scale that takes the place of the clips', and largest factor. */
  private readonly scales: Float64Array;
  private readonly factors: Float64Array;
  /** Boxes of positions relative to the root, and the largest distance that is added to them. */
  private readonly places: Float64Array;
  private readonly shifts: Float64Array;

  constructor(private readonly tracks: PoseTracks) {
    const nodes = tracks.parents.length;
    this.turned = new Uint8Array(nodes);
    this.positions = Float64Array.from(createJointBoxes(nodes));
    this.offsets = new Float64Array(nodes * 6);
    this.scales = new Float64Array(nodes);
    this.factors = new Float64Array(nodes).fill(1);
    this.places = Float64Array.from(createJointBoxes(nodes));
    this.shifts = new Float64Array(nodes);
  }

  /** Grows by an edit, of which any share may show. */
  addEdit(edits: ArrayLike<number>, at: number): void {
    const node = edits[at + EDIT_NODE];
    const kind = edits[at + EDIT_KIND];
    const value = at + EDIT_VALUE;
    const adds = (kind & KIND_ADD) !== 0;
    const property = kind & KIND_LOOK_AT;
    if (property === KIND_SCALE) {
      this.growNumber(adds ? this.factors : this.scales, node, largest(edits, value));
      this.turn(node);
    } else if (property !== KIND_POSITION) {
      if (kind & KIND_MODEL && this.turned[node] !== TURNED_IN_MODEL) {
        this.turnUnevenAbove(node);
        this.turn(node);
        this.turned[node] = TURNED_IN_MODEL;
      } else {
        this.turn(node);
      }
    } else if (!(kind & KIND_MODEL)) {
      this.growBox(adds ? this.offsets : this.positions, node, edits, value);
    } else if (adds) {
      this.growNumber(this.shifts, node, Math.hypot(edits[value], edits[value + 1], edits[value + 2]));
    } else {
      this.growBox(this.places, node, edits, value);
    }
  }

  /** Grows by a live pose, whose numbers begin at `at`. */
  addPose(live: Float32Array, at: number): void {
    for (let node = 1; node < this.turned.length; node++) {
      const from = at + node * LIVE_TEXELS * 4;
      if (live[from + LIVE_HAS] === 0) continue;
      this.growBox(this.positions, node, live, from + 4);
      this.growNumber(this.scales, node, largest(live, from + 8));
      this.turn(node);
    }
  }

  widen(node: number, range: Parameters<PosedBeyondClips['widen']>[1]): void {
    const { positions, offsets, scales, factors } = this;
    const { position } = range;
    for (let i = 0; i < 3; i++) {
      const at = node * 6 + i;
      position[i] = Math.min(position[i], positions[at]) + offsets[at];
      position[i + 3] = Math.max(position[i + 3], positions[at + 3]) + offsets[at + 3];
    }
    range.scale = Math.max(range.scale, scales[node]) * factors[node];
    if (this.turned[node] > 0) range.angle = Infinity;
  }

  expandByPlaces(node: number, radius: number, target: Box3): void {
    const { places, shifts } = this;
    if (places[node * 6] <= places[node * 6 + 3]) {
      const { min, max } = target;
      for (let i = 0; i < 3; i++) {
        min.setComponent(i, Math.min(min.getComponent(i), places[node * 6 + i] - radius));
        max.setComponent(i, Math.max(max.getComponent(i), places[node * 6 + 3 + i] + radius));
      }
    }
    // It moves along all that hangs on it.
    target.expandByScalar(shifts[node]);
  }

  private turn(node: number): void {
    if (this.turned[node] > 0) return;
    this.turned[node] = 1;
    this.version = ++_version;
  }

  /**
   * What is turned relative to the root may point along any of the directions in which nodes above it scale. Where these
   * scales differ, the bounds must not count on the directions.
   */
  private turnUnevenAbove(node: number): void {
    const { parents, rest } = this.tracks;
    for (let above = parents[node]; above >= 0; above = parents[above]) {
      const at = above * TRS_SIZE + 7;
      const size = largest(rest, at);
      const least = Math.min(Math.abs(rest[at]), Math.abs(rest[at + 1]), Math.abs(rest[at + 2]));
      if (least < size * (1 - EVEN)) this.turn(above);
    }
  }

  private growNumber(numbers: Float64Array, node: number, value: number): void {
    if (value <= numbers[node]) return;
    numbers[node] = numbers[node] > 0 ? value * 1.5 : value;
    this.version = ++_version;
  }

  private growBox(boxes: Float64Array, node: number, value: ArrayLike<number>, at: number): void {
    let grown = false;
    for (let i = 0; i < 3; i++) {
      const low = node * 6 + i;
      const high = low + 3;
      const v = value[at + i];
      if (v >= boxes[low] && v <= boxes[high]) continue;
      grown = true;
      if (boxes[low] > boxes[high]) boxes[low] = boxes[high] = v;
      else if (v < boxes[low]) boxes[low] = v - (boxes[high] - v);
      else boxes[high] = v + (v - boxes[low]);
    }
    if (grown) this.version = ++_version;
  }
}
