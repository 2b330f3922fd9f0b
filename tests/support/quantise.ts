import type { BufferGeometry } from 'three';
import { type NumberArray, shareAttribute } from '../../lib/utils/geometries.js';

/** Writes normals as bytes, weights too, and uvs as 16-bit numbers, as compressed files have them. */
export function quantise(geometry: BufferGeometry): void {
  const kinds: Record<string, NumberArray> = { normal: Int8Array, uv: Uint16Array, skinWeight: Uint8Array };
  for (const [name, Shares] of Object.entries(kinds)) {
    const source = geometry.getAttribute(name);
    if (source === undefined || source.normalized) continue;
    const shares = shareAttribute(Shares, source.count, source.itemSize);
    for (let i = 0; i < source.count; i++) {
      let rest = 1;
      for (let k = source.itemSize - 1; k >= 0; k--) {
        const value = source.getComponent(i, k);
        // Weights are in order, and add up to one.
        const share = name !== 'skinWeight' ? value : k === 0 ? rest : Math.floor(value * 255) / 255;
        shares.setComponent(i, k, share);
        rest -= share;
      }
    }
    geometry.setAttribute(name, shares);
  }
}
