import { type BufferGeometry, Vector3 } from 'three';
import { plainArray } from '../utils/geometries.js';
import { inRuns, type Steps } from '../utils/steps.js';

const _a = /*@__PURE__*/ new Vector3();
const _b = /*@__PURE__*/ new Vector3();
const _c = /*@__PURE__*/ new Vector3();

/** Computes normals of a mesh from its triangles as they are posed. */
export class SmoothNormals {
  private constructor(
    /** For each vertex the first that lies and is lit as it does at rest: what is between them is smooth. */
    private readonly same: Uint32Array,
    private readonly index: ArrayLike<number>,
  ) {}

  /** Finds which vertices of a geometry are the same. */
  static *of(geometry: BufferGeometry): Steps<SmoothNormals> {
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
    const known = new Map<string, number>();
    const keyOf = (vertex: number) => {
      let key = '';
      for (let i = vertex * 3; i < vertex * 3 + 3; i++)
        key += `${position[i] + 0} ${Math.round(normal[i] * 1000) + 0} `;
      return key;
    };
    yield* inRuns(count, (start, end) => {
      for (let vertex = start; vertex < end; vertex++) {
        const key = keyOf(vertex);
        same[vertex] = known.get(key) ?? vertex;
        if (same[vertex] === vertex) known.set(key, vertex);
      }
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
      _a.fromArray(positions, offset + index[i] * 3);
      _b.fromArray(positions, offset + index[i + 1] * 3).sub(_a);
      _c.fromArray(positions, offset + index[i + 2] * 3).sub(_a);
      const { x, y, z } = _b.cross(_c);
      for (let corner = 0; corner < 3; corner++) {
        const at = offset + same[index[i + corner]] * 3;
        normals[at] += side * x;
        normals[at + 1] += side * y;
        normals[at + 2] += side * z;
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
