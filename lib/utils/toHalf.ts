import { DataUtils } from 'three';

const _bits = /*@__PURE__*/ new Uint32Array(1);
const _float = /*@__PURE__*/ (() => new Float32Array(_bits.buffer))();

/** The nearest half float, as its bits. `DataUtils.toHalfFloat` rounds towards zero, which doubles the largest error. */
export function toHalf(value: number): number {
  _float[0] = value;
  _bits[0] += 0xfff + ((_bits[0] >>> 13) & 1);
  return DataUtils.toHalfFloat(_float[0]);
}
