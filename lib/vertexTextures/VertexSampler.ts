import { type BufferGeometry, Matrix3, Vector3 } from 'three';
import type { ScenePart } from '../animation/Rig.js';
import { readPose } from '../baking/frames.js';
import type { RigPoser } from '../baking/RigPoser.js';
import { AFFINE_SIZE } from '../constants.js';
import { plainArray, weld } from '../utils/geometries.js';
import { inRuns, type Steps } from '../utils/slices.js';

const _sum = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);

/** Reads where all vertices of an object are, as the nodes of a poser stand, relative to where its root is at rest. */
export class VertexSampler {
  readonly vertices: number;
  readonly positions: Float32Array;
  /** Null if they are not asked for. */
  readonly normals: Float32Array | null;
  private readonly palette: Float64Array;

  private constructor(
    private readonly poser: RigPoser,
    readonly parts: readonly ScenePart[],
    /** Whether code writes into the geometries, and influences of meshes. */
    private readonly isWritten: boolean,
    /** What computes the normals of each part; null where they are read. */
    private readonly smooth: readonly (SmoothNormals | null)[],
    hasNormals: boolean,
  ) {
    this.vertices = parts.reduce((sum, { geometry }) => sum + geometry.attributes.position.count, 0);
    this.positions = new Float32Array(this.vertices * 3);
    this.normals = hasNormals ? new Float32Array(this.vertices * 3) : null;
    this.palette = new Float64Array(poser.rig.jointInverses.length);
  }

  /** Reads what does not move. */
  static *of(
    poser: RigPoser,
    parts: readonly ScenePart[],
    normals: 'source' | 'computed' | 'none',
    isWritten: boolean,
  ): Steps<VertexSampler> {
    const smooth: (SmoothNormals | null)[] = [];
    for (const { geometry } of parts) {
      // Where there are none to be read, they are computed too.
      const isComputed = normals === 'computed' || !geometry.hasAttribute('normal');
      smooth.push(isComputed && normals !== 'none' ? yield* smoothNormals(geometry) : null);
    }
    return new VertexSampler(poser, parts, isWritten, smooth, normals !== 'none');
  }

  /**
   * Writes all vertices.
   *
   * @param where Says in an error what is posed.
   * @throws If a mesh has another number of vertices than at rest, or a position is not finite.
   */
  *sample(where: string): Steps<void> {
    const { poser, parts, positions, normals, smooth } = this;
    readPose(poser, this.palette);
    const influences = poser.morphs();
    let first = 0;
    for (const [i, part] of parts.entries()) {
      const computed = smooth[i];
      yield* this.samplePart(part, computed === null ? normals : null, first, influences, where);
      const side = poser.nodes[part.node].matrixWorld.determinant() < 0 ? -1 : 1;
      if (computed !== null && normals !== null) yield* computed(positions, normals, first, side);
      first += part.geometry.attributes.position.count;
    }
    yield* inRuns(positions.length, (start, end) => {
      for (let i = start; i < end; i++) {
        if (Math.abs(positions[i]) < 1e30) continue;
        throw new Error(`${where} puts vertex ${Math.floor(i / 3)} at ${positions[i]}.`);
      }
    });
  }

  private samplePart(
    { mesh, node, geometry: source, joints, morphOffset, morphCount }: ScenePart,
    normals: Float32Array | null,
    first: number,
    influences: readonly number[],
    where: string,
  ): Steps<void> {
    const { poser, palette, positions, isWritten } = this;
    const geometry = isWritten ? mesh.geometry : source;
    const { skinIndex, skinWeight, position } = source.attributes;
    const { count } = position;
    const own = isWritten
      ? (mesh.morphTargetInfluences ?? [])
      : influences.slice(morphOffset, morphOffset < 0 ? 0 : morphOffset + morphCount);
    const fields = Object.entries({ position: positions, ...(normals && { normal: normals }) });
    for (const [name] of fields) checkCount(geometry, mesh.name, name, count, where);
    // three.js turns normals by the inverse transpose of the mesh's matrix, and so what vertices are turned by needs this besides.
    const linear = new Matrix3().setFromMatrix4(poser.nodes[node].matrixWorld);
    const turn = linear.clone().transpose().premultiply(linear).invert().elements;
    return inRuns(count, (start, end) => {
      for (const [name, target] of fields)
        target.set(morphed(geometry, name, own, start, end), (first + start) * 3);
      const indices = plainArray(skinIndex, 4, start, end);
      const weights = plainArray(skinWeight, 4, start, end);
      for (let vertex = 0; vertex < end - start; vertex++) {
        _sum.fill(0);
        for (let i = vertex * 4; i < vertex * 4 + 4; i++) {
          if (weights[i] === 0) continue;
          const from = joints[indices[i]] * AFFINE_SIZE;
          for (let k = 0; k < AFFINE_SIZE; k++) _sum[k] += weights[i] * palette[from + k];
        }
        const at = (first + start + vertex) * 3;
        carry(_sum, positions, at, 1);
        if (normals === null) continue;
        carry(_sum, normals, at, 0);
        const [x, y, z] = [normals[at], normals[at + 1], normals[at + 2]];
        for (let k = 0; k < 3; k++) normals[at + k] = turn[k] * x + turn[k + 3] * y + turn[k + 6] * z;
      }
    });
  }
}

function checkCount(geometry: BufferGeometry, mesh: string, name: string, count: number, where: string) {
  const found = geometry.getAttribute(name)?.count ?? 0;
  if (found === count) return;
  throw new Error(
    `${where} gives mesh "${mesh}" ${found} vertices (${name}), it had ${count}; keep their number.`,
  );
}

/** A run of an attribute, with the morph targets that have influence. */
function morphed(
  { attributes, morphAttributes, morphTargetsRelative }: BufferGeometry,
  name: string,
  influences: readonly number[],
  start: number,
  end: number,
): Float32Array {
  const values = Float32Array.from(plainArray(attributes[name], 3, start, end));
  const morphs = morphAttributes[name as 'position'] ?? [];
  const rest =
    morphTargetsRelative || morphs.length === 0 ? 1 : influences.reduce((sum, own) => sum - own, 1);
  if (rest !== 1) for (let i = 0; i < values.length; i++) values[i] *= rest;
  morphs.forEach((morph, number) => {
    const influence = influences[number] ?? 0;
    if (influence === 0) return;
    const offsets = plainArray(morph, 3, start, end);
    for (let i = 0; i < values.length; i++) values[i] += influence * offsets[i];
  });
  return values;
}

/** Multiplies a vector of three numbers with an affine matrix; `w` is 1 for positions and 0 for directions. */
function carry(m: Float64Array, vectors: Float32Array, at: number, w: number): void {
  const [x, y, z] = [vectors[at], vectors[at + 1], vectors[at + 2]];
  for (let k = 0; k < 3; k++)
    vectors[at + k] = m[k * 4] * x + m[k * 4 + 1] * y + m[k * 4 + 2] * z + m[k * 4 + 3] * w;
}

const _a = /*@__PURE__*/ new Vector3();
const _b = /*@__PURE__*/ new Vector3();
const _c = /*@__PURE__*/ new Vector3();

/**
 * Computes normals of a mesh from its triangles as they are posed, of any length: each is the sum of its triangles', by their areas.
 *
 * @param first Vertex at which the mesh begins in these.
 * @param side -1 if the mesh's matrix mirrors, so that three.js draws the other side of each triangle; else 1.
 */
type SmoothNormals = (
  positions: Float32Array,
  normals: Float32Array,
  first: number,
  side: 1 | -1,
) => Steps<void>;

/** Finds which vertices of a geometry are the same at rest: what is between them is smooth. */
function* smoothNormals(geometry: BufferGeometry): Steps<SmoothNormals> {
  const position = plainArray(geometry.getAttribute('position'), 3);
  const normal = geometry.hasAttribute('normal') ? plainArray(geometry.getAttribute('normal'), 3) : null;
  const count = position.length / 3;
  const index = geometry.index?.array ?? Uint32Array.from({ length: count }, (_, vertex) => vertex);
  // Without normals, three.js would compute them of the triangles that share a vertex.
  const same =
    normal && (yield* weld([position, Array.from(normal, (value) => Math.round(value * 1000))], count));
  const firstOf = (vertex: number) => same?.[vertex] ?? vertex;

  return function* (positions, normals, first, side) {
    const offset = first * 3;
    normals.fill(0, offset, offset + count * 3);
    const add = (i: number) => {
      _a.fromArray(positions, offset + index[i] * 3);
      _b.fromArray(positions, offset + index[i + 1] * 3).sub(_a);
      _c.fromArray(positions, offset + index[i + 2] * 3).sub(_a);
      const { x, y, z } = _b.cross(_c);
      for (let corner = 0; corner < 3; corner++) {
        const at = offset + firstOf(index[i + corner]) * 3;
        normals[at] += side * x;
        normals[at + 1] += side * y;
        normals[at + 2] += side * z;
      }
    };
    yield* inRuns(Math.floor(index.length / 3), (start, end) => {
      for (let triangle = start; triangle < end; triangle++) add(triangle * 3);
    });
    yield* inRuns(count, (start, end) => {
      for (let vertex = start; vertex < end; vertex++) {
        const from = offset + firstOf(vertex) * 3;
        normals.copyWithin(offset + vertex * 3, from, from + 3);
      }
    });
  };
}
