import type { Mesh } from 'three';
import { plainArray } from '../poses/jointBoxes.js';

/** Computes normals of a mesh from its triangles as they are posed. */
export class SmoothNormals {
  /** For each vertex the first that lies and is lit as it does at rest: what is between them is smooth. */
  private readonly same: Uint32Array;
  private readonly index: ArrayLike<number>;

  constructor({ geometry }: Mesh) {
    const position = plainArray(geometry.getAttribute('position'), 3);
    const normal = geometry.hasAttribute('normal') ? plainArray(geometry.getAttribute('normal'), 3) : null;
    const count = position.length / 3;
    this.index = geometry.index?.array ?? Uint32Array.from({ length: count }, (_, i) => i);
    const known = new Map<string, number>();
    this.same = Uint32Array.from({ length: count }, (_, vertex) => {
      // Without normals, three.js would compute them of the triangles that share a vertex.
      if (normal === null) return vertex;
      const at = vertex * 3;
      const lit = [0, 1, 2].map((i) => Math.round(normal[at + i] * 1000));
      const key = `${position[at]},${position[at + 1]},${position[at + 2]},${lit}`;
      const first = known.get(key);
      if (first !== undefined) return first;
      known.set(key, vertex);
      return vertex;
    });
  }

  /**
   * Writes the normals of the mesh, of any length: each is the sum of its triangles', by their areas.
   *
   * @param first Vertex at which the mesh begins in these.
   * @param side -1 if the mesh's matrix mirrors, so that three.js draws the other side of each triangle; else 1.
   */
  compute(positions: Float32Array, normals: Float32Array, first: number, side: 1 | -1): void {
    const { same, index } = this;
    const offset = first * 3;
    normals.fill(0, offset, offset + same.length * 3);
    for (let i = 0; i + 2 < index.length; i += 3) {
      const a = offset + index[i] * 3;
      const b = offset + index[i + 1] * 3;
      const c = offset + index[i + 2] * 3;
      const ux = positions[b] - positions[a];
      const uy = positions[b + 1] - positions[a + 1];
      const uz = positions[b + 2] - positions[a + 2];
      const vx = positions[c] - positions[a];
      const vy = positions[c + 1] - positions[a + 1];
      const vz = positions[c + 2] - positions[a + 2];
      const nx = uy * vz - uz * vy;
      const ny = uz * vx - ux * vz;
      const nz = ux * vy - uy * vx;
      for (let corner = 0; corner < 3; corner++) {
        const at = offset + same[index[i + corner]] * 3;
        normals[at] += side * nx;
        normals[at + 1] += side * ny;
        normals[at + 2] += side * nz;
      }
    }
    for (let vertex = 0; vertex < same.length; vertex++) {
      if (same[vertex] === vertex) continue;
      const from = offset + same[vertex] * 3;
      normals.copyWithin(offset + vertex * 3, from, from + 3);
    }
  }
}
