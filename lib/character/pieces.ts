import type { Material, MeshPhysicalMaterial } from 'three';
import { type BufferAttribute, BufferGeometry, Float32BufferAttribute, Matrix3, Vector3 } from 'three';
import { linearDeterminant } from '../utils/affine.js';
import { sharingCopy } from '../utils/sharingCopy.js';
import type { ScenePart } from './collectParts.js';
import { picked } from './pickVertices.js';

/** Vertices of one part, all of which have the same joints to choose from. */
export interface Piece {
  /** Index of the part. */
  part: number;
  rig: ScenePart;
  /** Joint of the rig for each index that `skinIndex` may hold; for a rigid part its one joint. */
  joints: Int32Array;
  /** Whether triangles are turned around, as three.js does for a mesh whose matrix mirrors. */
  mirrored: boolean;
  geometry: BufferGeometry;
  runs: Run[];
}

/** A run of triangles that has one material. */
export interface Run {
  start: number;
  count: number;
  material: Material;
}

/**
 * A part as it is, or if its materials may be merged, a piece for each: they might share vertices, but not colours.
 *
 * @param copy Whether the part is meant or its mirrored copy, which few parts have.
 */
export function piecesOf(rig: ScenePart, part: number, copy: boolean, merging: boolean): Piece[] {
  const joints = copy ? rig.mirrorJoints : rig.joints;
  if (joints === null) return [];
  // Where there is a mirrored copy, each pose draws the one of the two whose triangles face the right way.
  const mirrored = rig.mirrorJoints === null ? isMirrored(rig) : copy;
  const geometry = withNormals(rig);
  const runs = runsOf(rig);
  if (!merging || runs.length < 2) return [{ part, rig, joints, mirrored, geometry, runs }];
  return runs.map((run) => ({
    part,
    rig,
    joints,
    mirrored,
    geometry: extract(geometry, run),
    runs: [{ ...run, start: 0 }],
  }));
}

/**
 * Gives pieces tangents where others have them: a geometry has them as a whole or not at all, and normal maps of the pieces without would
 * be read along those that fill in.
 */
export function giveTangents(pieces: readonly Piece[]): void {
  if (!pieces.some(({ geometry }) => geometry.hasAttribute('tangent'))) return;
  for (const piece of pieces) {
    const { geometry: source, runs } = piece;
    const isMapped = runs.some(({ material }) => {
      const { normalMap, clearcoatNormalMap, anisotropy } = material as MeshPhysicalMaterial;
      return normalMap || clearcoatNormalMap || anisotropy > 0;
    });
    if (!isMapped || source.hasAttribute('tangent') || !source.hasAttribute('uv')) continue;
    const geometry = sharingCopy(source);
    if (source.index === null) geometry.setIndex([...Array(source.getAttribute('position').count).keys()]);
    geometry.computeTangents();
    piece.geometry = geometry.setIndex(source.index);
  }
}

/** A new geometry of the triangles of one run. */
function extract(source: BufferGeometry, { start, count }: Run): BufferGeometry {
  const places = new Map<number, number>();
  const index: number[] = [];
  for (let k = start; k < start + count; k++) {
    const vertex = source.index ? source.index.getX(k) : k;
    let place = places.get(vertex);
    if (place === undefined) {
      place = places.size;
      places.set(vertex, place);
    }
    index.push(place);
  }

  const vertices = [...places.keys()];
  const geometry = new BufferGeometry();
  for (const [name, attribute] of Object.entries(source.attributes)) {
    geometry.setAttribute(name, picked(attribute, vertices));
  }
  for (const [name, targets] of Object.entries(source.morphAttributes)) {
    geometry.morphAttributes[name as 'position'] = targets.map((target) => picked(target, vertices));
  }
  geometry.morphTargetsRelative = source.morphTargetsRelative;
  geometry.setIndex(index);
  return geometry;
}

/** Whether a part's matrix mirrors. three.js then swaps front and back for the whole mesh; here only the part may be swapped. */
export function isMirrored({ model }: ScenePart): boolean {
  return linearDeterminant(model, 0) < 0;
}

/**
 * The part's geometry with normals, computed where there are none. three.js carries those of a rigid mesh by the inverse
 * transpose of its matrix, and those of a skinned one by the matrix; what lies between is done here.
 */
function withNormals({ geometry: source, rigid, model: m }: ScenePart): BufferGeometry {
  const linear = new Matrix3().set(m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]);
  const uneven = rigid && !isUniform(linear);
  if (source.hasAttribute('normal') && !uneven) return source;
  const geometry = source.clone();
  if (!geometry.hasAttribute('normal')) geometry.computeVertexNormals();
  if (uneven && linear.determinant() !== 0) {
    const inverse = linear.clone().invert();
    const normals = new Float32BufferAttribute(
      new Float32Array(geometry.getAttribute('normal').count * 3),
      3,
    );
    const normal = new Vector3();
    for (let i = 0; i < normals.count; i++) {
      normal.fromBufferAttribute(geometry.getAttribute('normal') as BufferAttribute, i);
      normal.applyMatrix3(linear.copy(inverse).transpose()).applyMatrix3(inverse);
      normals.setXYZ(i, normal.x, normal.y, normal.z);
    }
    geometry.setAttribute('normal', normals);
  }
  return geometry;
}

/** Whether a matrix scales all directions alike. */
function isUniform(matrix: Matrix3): boolean {
  const squares = matrix.clone().transpose().multiply(matrix).elements;
  const size = squares[0];
  return squares.every((value, i) => Math.abs(value - (i % 4 === 0 ? size : 0)) <= 1e-5 * size);
}

/** As three.js's renderers do: what the groups and the geometry's draw range have in common. */
function runsOf({ geometry, material }: ScenePart): Run[] {
  const { index, drawRange, groups } = geometry;
  const length = index ? index.count : geometry.getAttribute('position').count;
  const first = Math.max(drawRange.start, 0);
  const last = Math.min(drawRange.start + drawRange.count, length);
  const runOf = (start: number, end: number, one: Material): Run => {
    const from = Math.max(start, first);
    return { start: from, count: Math.max(Math.min(end, last) - from, 0), material: one };
  };
  if (!Array.isArray(material)) return [runOf(0, length, material)];

  return groups
    .map(({ start, count, materialIndex }) => runOf(start, start + count, material[materialIndex ?? 0]))
    .filter((run) => run.material && run.count > 0);
}
