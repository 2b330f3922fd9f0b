import { Box3, BufferAttribute, BufferGeometry, Matrix4, Vector3 } from 'three';
import { createPoseMix } from '../animation/PoseMix.js';
import { AFFINE_SIZE } from '../constants.js';
import { affineToMatrix4, isSingular } from '../utils/affine.js';
import { floatsOf, isOfVertices, sharingCopy } from '../utils/geometries.js';
import { posers } from './crowdGeometry.js';

/** The triangles of one part of a character, as a simplifier takes them. */
export interface Surface {
  indices: Uint32Array;
  /** As shares of the character's size. */
  positions: Float32Array;
  /** What shall change as little as positions, so many numbers a vertex as there are `weights`. */
  attributes: Float32Array;
  weights: number[];
  /** 1 for vertices that must stay; null if none must. */
  locked: Uint8Array | null;
  /** For each vertex the one that it is in the geometry. */
  vertices: number[];
  /** For each vertex the run of `groupRuns` that its triangles belong to. */
  runs: number[];
}

/** How much of the character's size a change of an attribute by 1 counts for. */
const WEIGHTS: Record<string, number> = { normal: 0.5, uv: 0.5, color: 0.5 };
/** The same for a change of joints by as much as the joints are apart. */
const JOINT_WEIGHT = 1;

/** Corners of all triangles, where vertices that are alike in all attributes are one. */
export function weldedIndex({ index, attributes, morphAttributes }: BufferGeometry): Uint32Array {
  const all = [...Object.values(attributes), ...Object.values(morphAttributes).flat()].filter(isOfVertices);
  const { count } = attributes.position;
  const known = new Map<string, number>();
  const same = Uint32Array.from({ length: count }, (_, vertex) => {
    let key = '';
    for (const attribute of all) {
      for (let i = 0; i < attribute.itemSize; i++) key += `${attribute.getComponent(vertex, i)},`;
    }
    const first = known.get(key);
    if (first !== undefined) return first;
    known.set(key, vertex);
    return vertex;
  });
  return Uint32Array.from({ length: index?.count ?? count }, (_, i) => same[index?.getX(i) ?? i]);
}

/** Takes the parts of a geometry apart, and vertices too that triangles of several runs of `groupRuns` have in common. */
export function surfacesOf(source: BufferGeometry, index: Uint32Array): Surface[] {
  const geometry = atRest(source);
  const { attributes } = geometry;
  const runs = groupRuns(geometry, index.length / 3);
  const found = new Map<number, Corners>();
  for (let i = 0, run = 0; i < index.length; i++) {
    if (i / 3 === runs[run + 1]) run++;
    const part = attributes.partIndex?.getX(index[i - (i % 3)]) ?? 0;
    const open: Corners = found.get(part) ?? { vertices: [], runs: [], indices: [], places: new Map() };
    found.set(part, open);
    const key = index[i] * runs.length + run;
    let place = open.places.get(key);
    if (place === undefined) {
      place = open.vertices.push(index[i]) - 1;
      open.runs.push(run);
      open.places.set(key, place);
    }
    open.indices.push(place);
  }

  const box = new Box3();
  for (const vertex of index) box.expandByPoint(_point.fromBufferAttribute(attributes.position, vertex));
  const joints = jointCentres(geometry, index);
  const surfaces = Array.from(found.values(), (corners) => surfaceOf(corners, geometry, box, joints));
  lockSeams(surfaces);
  return surfaces;
}

/** The corners of the triangles of one part. */
interface Corners extends Pick<Surface, 'vertices' | 'runs'> {
  indices: number[];
  /** Where in `vertices` one is that triangles of a run have. */
  places: Map<number, number>;
}

const _point = /*@__PURE__*/ new Vector3();
const _sum = /*@__PURE__*/ new Vector3();

/**
 * A crowd's geometry with positions and normals of the rest pose: parts, rigid ones and those that a tool has quantised, are modelled each
 * in a place and size of its own. All others as they are.
 */
function atRest(source: BufferGeometry): BufferGeometry {
  const { reader, jointNames } = posers.get(source)?.boneTexture ?? {};
  if (!reader || !jointNames) return source;
  reader.pose(createPoseMix());
  const pose = new Float64Array(AFFINE_SIZE);
  const matrices = jointNames.map((_, joint) => {
    reader.jointMatrix(joint, pose, 0);
    return isSingular(pose, 0) ? null : affineToMatrix4(pose, 0, new Matrix4());
  });
  // What the rest pose hides by flattening it, clips show as large as all else.
  const other = matrices.find(Boolean) ?? new Matrix4();
  const { attributes } = source;
  const geometry = sharingCopy(source);
  for (const [name, carry] of [
    ['position', 'applyMatrix4'],
    ['normal', 'transformDirection'],
  ] as const) {
    if (!(name in attributes)) continue;
    const target = floatsOf(attributes[name]).clone();
    for (let vertex = 0; vertex < target.count; vertex++) {
      _sum.set(0, 0, 0);
      eachJoint(source, vertex, (joint, weight) => {
        _point.fromBufferAttribute(target, vertex)[carry](matrices[joint] ?? other);
        _sum.addScaledVector(_point, weight);
      });
      target.setXYZ(vertex, ..._sum.toArray());
    }
    geometry.setAttribute(name, target);
  }
  return geometry;
}

/**
 * Where runs of triangles begin that are in the same groups. Groups may overlap: those of an outline and of what it is around are of
 * the same triangles.
 */
export function groupRuns({ groups }: BufferGeometry, triangles: number): number[] {
  const ends = groups.flatMap(({ start, count }) => [start / 3, (start + count) / 3]);
  return [...new Set([0, ...ends])].filter((at) => at === 0 || at < triangles).sort((a, b) => a - b);
}

function surfaceOf(
  { vertices, runs, indices }: Corners,
  geometry: BufferGeometry,
  box: Box3,
  joints: Vector3[],
): Surface {
  const { attributes: all } = geometry;
  const extent = Math.max(...box.getSize(_point).toArray()) || 1;
  const share = (value: number, i: number) => (value - box.min.getComponent(i)) / extent;
  const named = Object.keys(WEIGHTS).filter((name) => name in all);
  const weights = named.flatMap((name) => Array<number>(all[name].itemSize).fill(WEIGHTS[name]));
  if (joints.length > 0) weights.push(JOINT_WEIGHT, JOINT_WEIGHT, JOINT_WEIGHT);
  const positions = new Float32Array(vertices.length * 3);
  const attributes = new Float32Array(vertices.length * weights.length);
  let at = 0;
  vertices.forEach((vertex, place) => {
    for (let i = 0; i < 3; i++) positions[place * 3 + i] = share(all.position.getComponent(vertex, i), i);
    for (const name of named)
      for (let i = 0; i < all[name].itemSize; i++) attributes[at++] = all[name].getComponent(vertex, i);
    if (joints.length === 0) return;
    _point.set(0, 0, 0);
    eachJoint(geometry, vertex, (joint, weight) => _point.addScaledVector(joints[joint], weight));
    for (let i = 0; i < 3; i++) attributes[at++] = share(_point.getComponent(i), i);
  });
  return {
    indices: Uint32Array.from(indices),
    positions,
    attributes,
    weights,
    locked: null,
    vertices,
    runs,
  };
}

/**
 * For each joint the middle of the vertices that follow it. Weighted by the joints of a vertex, these points change along the
 * surface as joints do, in three numbers however many joints there are.
 */
function jointCentres(geometry: BufferGeometry, index: Uint32Array): Vector3[] {
  const centres: Vector3[] = [];
  const sums: number[] = [];
  for (const vertex of new Set(index)) {
    eachJoint(geometry, vertex, (joint, weight) => {
      centres[joint] ??= new Vector3();
      centres[joint].addScaledVector(
        _point.fromBufferAttribute(geometry.attributes.position, vertex),
        weight,
      );
      sums[joint] = (sums[joint] ?? 0) + weight;
    });
  }
  centres.forEach((centre, joint) => {
    centre.divideScalar(sums[joint]);
  });
  return centres;
}

/** Calls back with the joints that a vertex follows. */
function eachJoint(
  { attributes: { skinIndex, skinWeight } }: BufferGeometry,
  vertex: number,
  visit: (joint: number, weight: number) => void,
): void {
  for (let i = 0; i < Math.min(4, skinIndex?.itemSize ?? 0, skinWeight?.itemSize ?? 0); i++) {
    const weight = skinWeight.getComponent(vertex, i);
    if (weight > 0) visit(skinIndex.getComponent(vertex, i), weight);
  }
}

/** How far apart vertices of two parts may be that meet, as a share of the character's size: tools that quantise move them. */
const NEAR = 1e-4;

/** Locks the vertices along which parts meet, so that there are no gaps between them: each is simplified by itself. */
function lockSeams(surfaces: readonly Surface[]): void {
  if (surfaces.length < 2) return;
  const borders = surfaces.map(bordersOf);
  // Of cells twice as wide, eight hold all that is near a vertex. Where several surfaces are it is null.
  const cells = new Map<string, Surface | null>();
  const cellOf = ({ positions }: Surface, vertex: number, corner: readonly number[]) =>
    corner.map((off, axis) => Math.floor(positions[vertex * 3 + axis] / NEAR / 2 + off)).join();
  surfaces.forEach((surface, i) => {
    for (const vertex of borders[i])
      for (let corner = 0; corner < 8; corner++) {
        const cell = cellOf(
          surface,
          vertex,
          [1, 2, 4].map((bit) => (corner & bit ? 0.5 : -0.5)),
        );
        cells.set(cell, (cells.has(cell) ? cells.get(cell) : surface) === surface ? surface : null);
      }
  });
  surfaces.forEach((surface, i) => {
    for (const vertex of borders[i]) {
      if (cells.get(cellOf(surface, vertex, [0, 0, 0])) !== null) continue;
      surface.locked ??= new Uint8Array(surface.vertices.length);
      surface.locked[vertex] = 1;
    }
  });
}

/** Vertices at edges that have a triangle on one side alone. */
function bordersOf({ indices, positions }: Surface): Set<number> {
  const geometry = new BufferGeometry().setAttribute('position', new BufferAttribute(positions, 3));
  const corners = weldedIndex(geometry.setIndex(new BufferAttribute(indices, 1)));
  const after = (i: number) => (i % 3 === 2 ? i - 2 : i + 1);
  const keyOf = (i: number) => [corners[i], corners[after(i)]].sort().join();
  const sides = new Map<string, number>();
  for (const i of indices.keys()) sides.set(keyOf(i), (sides.get(keyOf(i)) ?? 0) + 1);
  const found = new Set<number>();
  for (const i of indices.keys()) if (sides.get(keyOf(i)) === 1) found.add(indices[i]).add(indices[after(i)]);
  return found;
}
