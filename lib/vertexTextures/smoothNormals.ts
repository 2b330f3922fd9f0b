import type { Mesh } from 'three';
import { plainArray } from '../utils/geometries.js';
import { inRuns, type Steps } from '../utils/steps.js';

/** Computes normals of a mesh from its triangles as they are posed. */
export class SmoothNormals {
  private constructor(
    /** For each vertex the first that lies and is lit as it does at rest: what is between them is smooth. */
    private readonly same: Uint32Array,
    private readonly index: ArrayLike<number>,
  ) {}

  /** Finds which vertices of a mesh are the same. */
  static *of({ geometry }: Mesh): Steps<SmoothNormals> {
    const position = plainArray(geometry.getAttribute('position'), 3);
    const normal = geometry.hasAttribute('normal') ? plainArray(geometry.getAttribute('normal'), 3) : null;
    const count = position.length / 3;
    const same = new Uint32Array(count);
    yield* inRuns(count, (start, end) => {
      for (let vertex = start; vertex < end; vertex++) same[vertex] = vertex;
    });
    const index = geometry.index?.array ?? same.slice();
    // Without normals, three.js would compute them of the triangles that share a vertex.
    if (normal === null) return new SmoothNormals(same, index);
    yield 0;
    const known = new VertexTable(position, normal);
    yield* inRuns(count, (start, end) => {
      for (let vertex = start; vertex < end; vertex++) same[vertex] = known.firstLike(vertex);
    });
    return new SmoothNormals(same, index);
  }

  /**
   * Writes the normals of the mesh, of any length: each is the sum of its triangles', by their areas.
   *
   * @param first Vertex at which the mesh begins in these.
   * @param side -1 if the mesh's matrix mirrors, so that three.js draws the other side of each triangle; else 1.
   */
  *compute(positions: Float32Array, normals: Float32Array, first: number, side: 1 | -1): Steps<void> {
    const { same, index } = this;
    const offset = first * 3;
    normals.fill(0, offset, offset + same.length * 3);
    const add = (i: number) => {
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
    };
    yield* inRuns(Math.floor(index.length / 3), (start, end) => {
      for (let triangle = start; triangle < end; triangle++) add(triangle * 3);
    });
    yield* inRuns(same.length, (start, end) => {
      for (let vertex = start; vertex < end; vertex++) {
        if (same[vertex] === vertex) continue;
        const from = offset + same[vertex] * 3;
        normals.copyWithin(offset + vertex * 3, from, from + 3);
      }
    });
  }
}

/** Finds vertices again: a table that has its size from the beginning, since one that grows stops the page while it does. */
class VertexTable {
  /** Vertices by their hashes, from 1; 0 for none. */
  private readonly places: Uint32Array;
  private readonly floats = new Float32Array(3);
  private readonly bits = new Uint32Array(this.floats.buffer);

  constructor(
    private readonly position: ArrayLike<number>,
    private readonly normal: ArrayLike<number>,
  ) {
    this.places = new Uint32Array(2 ** Math.ceil(Math.log2(position.length / 3 + 1) + 1));
  }

  /** The first vertex that was asked for at the place of this one, with its normal. */
  firstLike(vertex: number): number {
    const { places } = this;
    let at = this.hashOf(vertex);
    for (; places[at] !== 0; at = (at + 1) % places.length) {
      if (this.isLike(places[at] - 1, vertex)) return places[at] - 1;
    }
    places[at] = vertex + 1;
    return vertex;
  }

  private hashOf(vertex: number): number {
    const { position, floats, bits, places } = this;
    // Zero is zero with either sign.
    for (let i = 0; i < 3; i++) floats[i] = position[vertex * 3 + i] + 0;
    let hash = 0x811c9dc5;
    for (let i = 0; i < 3; i++) hash = Math.imul(hash ^ bits[i], 0x9e3779b1) ^ (hash >>> 15);
    return ((hash ^ (hash >>> 16)) >>> 0) % places.length;
  }

  private isLike(a: number, b: number): boolean {
    const { position, normal } = this;
    for (let i = 0; i < 3; i++) {
      if (position[a * 3 + i] !== position[b * 3 + i]) return false;
      if (Math.round(normal[a * 3 + i] * 1000) !== Math.round(normal[b * 3 + i] * 1000)) return false;
    }
    return true;
  }
}
