import { Box3, type BufferGeometry, Vector3 } from 'three';
import { isOfVertices } from '../utils/geometries.js';

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
export function surfacesOf(geometry: BufferGeometry, index: Uint32Array): Surface[] {
  const { attributes } = geometry;
  const runs = groupRuns(geometry, index.length / 3);
  const runOf = new Int32Array(index.length / 3);
  runs.forEach((start, i) => runOf.fill(i, start));
  const found = new Map<number, { surface: Surface; places: Map<number, number>; indices: number[] }>();
  for (let i = 0; i < index.length; i++) {
    const part = attributes.partIndex?.getX(index[i - (i % 3)]) ?? 0;
    let open = found.get(part);
    if (open === undefined) {
      open = { surface: emptySurface(), places: new Map(), indices: [] };
      found.set(part, open);
    }
    const run = runOf[Math.floor(i / 3)];
    const key = index[i] * runs.length + run;
    let place = open.places.get(key);
    if (place === undefined) {
      place = open.surface.vertices.push(index[i]) - 1;
      open.surface.runs.push(run);
      open.places.set(key, place);
    }
    open.indices.push(place);
  }

  const box = new Box3();
  for (const vertex of index) box.expandByPoint(_point.fromBufferAttribute(attributes.position, vertex));
  const surfaces = [...found.values()].map(({ surface, indices }) => {
    surface.indices = Uint32Array.from(indices);
    return surface;
  });
  const joints = jointCentres(geometry, index);
  for (const surface of surfaces) describe(surface, geometry, box, joints);
  lockSeams(surfaces);
  return surfaces;
}

const _point = /*@__PURE__*/ new Vector3();

function emptySurface(): Surface {
  const none = new Float32Array(0);
  return {
    indices: new Uint32Array(0),
    positions: none,
    attributes: none,
    weights: [],
    locked: null,
    vertices: [],
    runs: [],
  };
}

/**
 * Where runs of triangles begin that are in the same groups. Groups may overlap: those of an outline and of what it is around are of
 * the same triangles.
 */
export function groupRuns({ groups }: BufferGeometry, triangles: number): number[] {
  const ends = groups.flatMap(({ start, count }) => [start / 3, (start + count) / 3]);
  return [...new Set([0, ...ends])].filter((at) => at === 0 || at < triangles).sort((a, b) => a - b);
}

/** Writes positions and attributes of a surface. */
function describe(surface: Surface, geometry: BufferGeometry, box: Box3, joints: Vector3[]): void {
  const { attributes } = geometry;
  const size = box.getSize(_point);
  const extent = Math.max(size.x, size.y, size.z) || 1;
  const named = Object.keys(WEIGHTS).filter((name) => name in attributes);
  const { skinIndex, skinWeight, position } = attributes;
  const skinned = skinIndex !== undefined && skinWeight !== undefined;
  for (const name of named) {
    for (let i = 0; i < attributes[name].itemSize; i++) surface.weights.push(WEIGHTS[name]);
  }
  if (skinned) surface.weights.push(JOINT_WEIGHT, JOINT_WEIGHT, JOINT_WEIGHT);

  const stride = surface.weights.length;
  const count = surface.vertices.length;
  surface.positions = new Float32Array(count * 3);
  surface.attributes = new Float32Array(count * stride);
  surface.vertices.forEach((vertex, place) => {
    for (let i = 0; i < 3; i++) {
      surface.positions[place * 3 + i] =
        (position.getComponent(vertex, i) - box.min.getComponent(i)) / extent;
    }
    let at = place * stride;
    for (const name of named) {
      for (let i = 0; i < attributes[name].itemSize; i++) {
        surface.attributes[at++] = attributes[name].getComponent(vertex, i);
      }
    }
    if (!skinned) return;
    _point.set(0, 0, 0);
    for (let i = 0; i < Math.min(4, skinIndex.itemSize, skinWeight.itemSize); i++) {
      const weight = skinWeight.getComponent(vertex, i);
      if (weight > 0) _point.addScaledVector(joints[skinIndex.getComponent(vertex, i)], weight);
    }
    for (let i = 0; i < 3; i++) {
      surface.attributes[at++] = (_point.getComponent(i) - box.min.getComponent(i)) / extent;
    }
  });
}

/**
 * For each joint the middle of the vertices that follow it. Weighted by the joints of a vertex, these points change along the
 * surface as joints do, in three numbers however many joints there are.
 */
function jointCentres({ attributes }: BufferGeometry, index: Uint32Array): Vector3[] {
  const { position, skinIndex, skinWeight } = attributes;
  const centres: Vector3[] = [];
  const sums: number[] = [];
  if (skinIndex === undefined || skinWeight === undefined) return centres;
  for (const vertex of new Set(index)) {
    for (let i = 0; i < Math.min(4, skinIndex.itemSize, skinWeight.itemSize); i++) {
      const weight = skinWeight.getComponent(vertex, i);
      if (!(weight > 0)) continue;
      const joint = skinIndex.getComponent(vertex, i);
      centres[joint] ??= new Vector3();
      centres[joint].addScaledVector(_point.fromBufferAttribute(position, vertex), weight);
      sums[joint] = (sums[joint] ?? 0) + weight;
    }
  }
  centres.forEach((centre, joint) => {
    centre.divideScalar(sums[joint]);
  });
  return centres;
}

/** Locks the vertices along which parts meet, so that there are no gaps between them: each is simplified by itself. */
function lockSeams(surfaces: readonly Surface[]): void {
  if (surfaces.length < 2) return;
  const places = new Map<string, number>();
  const borders = surfaces.map((surface) => bordersOf(surface, places));
  const parts = new Map<number, number>();
  for (const border of borders) {
    for (const place of new Set(border.values())) parts.set(place, (parts.get(place) ?? 0) + 1);
  }
  surfaces.forEach((surface, i) => {
    for (const [vertex, place] of borders[i]) {
      if ((parts.get(place) as number) < 2) continue;
      surface.locked ??= new Uint8Array(surface.vertices.length);
      surface.locked[vertex] = 1;
    }
  });
}

/**
 * Vertices at edges that have a triangle on one side alone, with the number of the place where they are.
 *
 * @param places Number of each place, known by its coordinates; new ones are added.
 */
function bordersOf({ indices, positions }: Surface, places: Map<string, number>): Map<number, number> {
  const placeOf = Array.from({ length: positions.length / 3 }, (_, vertex) => {
    const key = positions.subarray(vertex * 3, vertex * 3 + 3).join();
    let place = places.get(key);
    if (place === undefined) {
      place = places.size;
      places.set(key, place);
    }
    return place;
  });
  const sides = new Map<string, number>();
  const keyOf = (i: number): string => {
    const a = placeOf[indices[i]];
    const b = placeOf[indices[i % 3 === 2 ? i - 2 : i + 1]];
    return a < b ? `${a},${b}` : `${b},${a}`;
  };
  for (let i = 0; i < indices.length; i++) sides.set(keyOf(i), (sides.get(keyOf(i)) ?? 0) + 1);
  const found = new Map<number, number>();
  for (let i = 0; i < indices.length; i++) {
    if (sides.get(keyOf(i)) !== 1) continue;
    for (const vertex of [indices[i], indices[i % 3 === 2 ? i - 2 : i + 1]]) {
      found.set(vertex, placeOf[vertex]);
    }
  }
  return found;
}
