import { type Camera, Matrix4 } from 'three';
import { ID_BITS, ID_MASK } from '../../constants.js';
import type { CameraView } from '../../culling/CameraView.js';
import { entryOf, InstanceList } from '../../culling/InstanceList.js';
import { sortByCode } from '../../culling/sortIds.js';
import type { View } from '../../culling/View.js';
import type { CustomSort, DrawOrder, SortedInstance } from './DrawOrder.js';

const _toCamera = /*@__PURE__*/ new Matrix4();
let _ids = /*@__PURE__*/ new Uint32Array(0);
let _depths = /*@__PURE__*/ new Float32Array(0);
/** The bits of the depths, in whose place come codes that are in the same order. */
let _codes = /*@__PURE__*/ new Uint32Array(0);
/** By id, which of its pixels are drawn, see `FADE_STEPS`. */
let _fades = /*@__PURE__*/ new Uint8Array(0);

/** The instances of another view, in the order of their distance from the camera or in one that a function gives them. */
export class SortedView implements View {
  count = 0;
  readonly list: InstanceList;
  private turn = -1;
  private version = -1;
  private orderVersion = -1;
  /** Objects that functions sort. */
  private readonly pool: SortedInstance[] = [];
  private readonly sorted: SortedInstance[] = [];

  /** @param farFirst Whether the farthest is drawn first, as what is transparent has to be. */
  constructor(
    capacity: number,
    private readonly farFirst: boolean,
  ) {
    this.list = new InstanceList(capacity);
  }

  /**
   * Sorts the instances of a view anew. Costs nothing as long as neither it nor camera or crowd have changed.
   *
   * @param seen What the camera sees. A function that sorts may go by what has nothing to do with it: it is called in each frame.
   * @param spheres x, y, z and radius by id, in the crowd's space.
   */
  follow(
    { version, turn, camera }: CameraView,
    view: View,
    crowdMatrixWorld: Matrix4,
    spheres: Float32Array,
    { customSort: custom, version: orderVersion }: DrawOrder,
  ): void {
    const isSorted = version === this.version && orderVersion === this.orderVersion;
    if (isSorted && (custom === null || turn === this.turn)) return;
    this.turn = turn;
    this.version = version;
    this.orderVersion = orderVersion;
    const { count, list, start = 0, isWhole, isFading } = view;
    this.count = count;
    if (_ids.length < count) _ids = new Uint32Array(count);
    const ids = _ids;
    for (let i = 0; i < count; i++)
      ids[i] = isWhole ? i : isFading ? list.entries[start + i] & ID_MASK : list.get(start + i);
    if (_depths.length < spheres.length / 4) {
      _depths = new Float32Array(spheres.length / 4);
      _codes = new Uint32Array(_depths.buffer);
      _fades = new Uint8Array(_depths.length);
    }
    if (isFading) for (let i = 0; i < count; i++) _fades[ids[i]] = list.entries[start + i] >>> ID_BITS;
    const m = _toCamera.multiplyMatrices(camera.matrixWorldInverse, crowdMatrixWorld).elements;
    for (let i = 0; i < count; i++) {
      const id = ids[i];
      const at = id * 4;
      _depths[id] = -(m[2] * spheres[at] + m[6] * spheres[at + 1] + m[10] * spheres[at + 2] + m[14]);
    }
    if (custom === null) sortByCode(ids, count, codesOf(ids, count, this.farFirst));
    else this.sortCustom(ids, count, camera, custom);
    if (!isFading) {
      this.list.assign(ids, count);
      return;
    }
    for (let i = 0; i < count; i++) ids[i] = entryOf(ids[i], _fades[ids[i]]);
    this.list.assignFading(ids, count);
  }

  dispose(): void {
    this.list.dispose();
  }

  private sortCustom(ids: Uint32Array, count: number, camera: Camera, custom: CustomSort): void {
    const { pool, sorted } = this;
    while (pool.length < count) pool.push({ index: 0, z: 0 });
    sorted.length = count;
    for (let i = 0; i < count; i++) {
      sorted[i] = pool[i];
      sorted[i].index = ids[i];
      sorted[i].z = _depths[ids[i]];
    }
    custom(sorted, camera);
    for (let i = 0; i < count; i++) ids[i] = sorted[i].index;
  }
}

/** Whole numbers that are in the order of the depths, with 30 bits each. */
function codesOf(ids: Uint32Array, count: number, farFirst: boolean): Uint32Array {
  for (let i = 0; i < count; i++) {
    const id = ids[i];
    const bits = _codes[id];
    // Floats as they lie in memory are in order but for their signs, and below zero in reverse.
    const rising = bits >>> 31 === 0 ? bits ^ 0x80000000 : ~bits;
    _codes[id] = (farFirst ? ~rising : rising) >>> 2;
  }
  return _codes;
}
