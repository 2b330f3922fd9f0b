import type { Sphere } from 'three';

/** By how much spheres are larger than they need be, since they are kept, and matrices applied, in float32. */
const MARGIN = 1e-6;

/**
 * Spheres around instances: that around a character, as their matrices place it.
 *
 * @param matrices Column by column, 16 numbers an instance.
 * @param start The first instance, and `end` the one after the last.
 * @param spheres Gets x, y, z and radius of each.
 */
export function instanceSpheres(
  matrices: Float32Array,
  start: number,
  end: number,
  { center: { x, y, z }, radius }: Sphere,
  spheres: Float32Array,
): void {
  for (let id = start; id < end; id++) {
    const m = id * 16;
    const ax = matrices[m];
    const ay = matrices[m + 1];
    const az = matrices[m + 2];
    const bx = matrices[m + 4];
    const by = matrices[m + 5];
    const bz = matrices[m + 6];
    const cx = matrices[m + 8];
    const cy = matrices[m + 9];
    const cz = matrices[m + 10];
    const px = ax * x + bx * y + cx * z + matrices[m + 12];
    const py = ay * x + by * y + cy * z + matrices[m + 13];
    const pz = az * x + bz * y + cz * z + matrices[m + 14];
    // The largest scale in any direction, squared, is at most the largest of these (Gershgorin): the same as the longest
    // column, unless the matrix shears.
    const ab = Math.abs(ax * bx + ay * by + az * bz);
    const ac = Math.abs(ax * cx + ay * cy + az * cz);
    const bc = Math.abs(bx * cx + by * cy + bz * cz);
    const a = ax * ax + ay * ay + az * az + ab + ac;
    const b = bx * bx + by * by + bz * bz + ab + bc;
    const c = cx * cx + cy * cy + cz * cz + ac + bc;
    const reach = radius * Math.sqrt(a > b ? (a > c ? a : c) : b > c ? b : c);
    const at = id * 4;
    spheres[at] = px;
    spheres[at + 1] = py;
    spheres[at + 2] = pz;
    spheres[at + 3] = reach + (reach + Math.abs(px) + Math.abs(py) + Math.abs(pz)) * MARGIN;
  }
}
