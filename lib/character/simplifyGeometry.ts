import { Box3, type BufferGeometry, Vector3 } from 'three';
import { AFFINE_SIZE } from '../constants.js';
import { isSingular } from '../utils/affine.js';
import { type Attribute, isOfVertices, pickCorners, picked, plainArray, weld } from '../utils/geometries.js';
import { runAll, runInSlices, type SliceOptions, type Steps } from '../utils/slices.js';
import { carry, type Followed, posers, restMatrices } from './crowdGeometry.js';

/** What is used of meshoptimizer's `MeshoptSimplifier`, which the user brings along. */
export interface Simplifier {
  /** Its `simplifyWithAttributes`: what is left of the indices, and the error. */
  simplifyWithAttributes(
    indices: Uint32Array,
    positions: Float32Array,
    positionsStride: number,
    attributes: Float32Array,
    attributesStride: number,
    weights: number[],
    locked: Uint8Array | null,
    targetIndexCount: number,
    targetError: number,
    flags?: ('ErrorAbsolute' | 'Prune' | 'Regularize' | 'Permissive')[],
  ): [Uint32Array, number];
}

/** What `simplifyGeometry` returns. */
export interface Simplified {
  /** Has the groups, parts, joints and morph targets of the one that was simplified. */
  geometry: BufferGeometry;
  /**
   * How far the surface is off, as the simplifier estimates it: a share of the longest side of the character's box at rest. In poses
   * it may be two to three times that.
   */
  error: number;
  /** Triangles that are left. */
  triangles: number;
  /** For each vertex the one that it is in the geometry that was simplified. */
  vertices: Uint32Array;
}

/** No error is too large: how many triangles shall be left decides. */
const ANY_ERROR = 10;
/** Which share of those is too few, and how often another error is tried then. */
const FEW = 0.95;
const SEARCH_STEPS = 4;

type Result = [indices: Uint32Array, error: number];

/**
 * A geometry of fewer triangles, by meshoptimizer's simplifier, which your page brings along:
 * `import { MeshoptSimplifier } from 'meshoptimizer'`, and `await MeshoptSimplifier.ready`. Vertices are some of those that there
 * were, with joints, weights and all other attributes; parts and groups for materials stay.
 *
 * @param ratio Share of the triangles that shall be left. More are if the simplifier finds no way.
 * @throws If the ratio is out of range, or the simplifier is not ready.
 *
 * @category See
 */
export function simplifyGeometry(source: BufferGeometry, ratio: number, simplifier: Simplifier): Simplified {
  return runAll(simplifySteps(source, ratio, simplifier));
}

/**
 * {@link simplifyGeometry} in slices of some milliseconds each, so that a page stays responsive meanwhile; the simplifier itself is one
 * slice. The geometry must not be changed until the promise settles.
 *
 * @throws What `simplifyGeometry` throws, and the signal's reason when it aborts.
 *
 * @category See
 */
export async function simplifyGeometryAsync(
  source: BufferGeometry,
  ratio: number,
  simplifier: Simplifier,
  options: SliceOptions = {},
): Promise<Simplified> {
  return runInSlices(simplifySteps(source, ratio, simplifier), options);
}

function* simplifySteps(source: BufferGeometry, ratio: number, simplifier: Simplifier): Steps<Simplified> {
  if (!(ratio > 0 && ratio <= 1)) {
    throw new Error(
      `simplifyGeometry: ratio is ${ratio}; use a share of the triangles, above 0 and up to 1.`,
    );
  }
  const surface = surfaceOf(source);
  const { indices, positions, attributes, weights, locked } = surface;
  const given = [indices, positions, 3, attributes, weights.length, weights, locked] as const;
  const run = (target: number, limit: number): Result => {
    try {
      return simplifier.simplifyWithAttributes(...given, target, limit, [
        'ErrorAbsolute',
        'Prune',
        'Permissive',
      ]);
    } catch (cause) {
      // What it throws before its code is there says nothing to a user.
      if (!(cause instanceof TypeError)) throw cause;
      throw new Error(
        'simplifyGeometry: the simplifier does not work; await MeshoptSimplifier.ready before.',
        { cause },
      );
    }
  };
  yield 0.4;
  const wanted = Math.max(1, Math.floor((ratio * indices.length) / 3)) * 3;
  let best = run(wanted, ANY_ERROR);
  yield 0.8;
  // Where nothing can collapse any more, pieces go as a whole. If the last one was too large, less error leaves as many as wanted.
  let [, high] = best;
  let low = high / 4;
  const steps = best[0].length < wanted * FEW ? SEARCH_STEPS : 0;
  for (let step = 0; step < steps; step++) {
    const middle = Math.sqrt(low * high);
    const next = run(0, middle);
    if (next[0].length > wanted) low = middle;
    else {
      high = middle;
      best = next;
    }
    yield 0.8;
  }
  const [left, error] = best;
  return { ...gather(source, surface, left), error };
}

/** Makes a geometry of the corners that are left. */
function gather(
  source: BufferGeometry,
  { vertices: known, starts: runs, runs: runOf }: Surface,
  corners: Uint32Array,
): Omit<Simplified, 'error'> {
  const lists: number[][] = runs.map(() => []);
  corners.forEach((corner, k) => {
    // Where groups meet, corners of a triangle may be of several: it goes with the first.
    lists[runOf[corners[k - (k % 3)]]].push(known[corner]);
  });

  const { geometry, vertices } = pickCorners(source, lists.flat());
  const poser = posers.get(source);
  if (poser !== undefined) posers.set(geometry, poser);
  const starts = [0];
  for (const { length } of lists) starts.push(starts[starts.length - 1] + length);
  /** Where a corner of the source is now that begins a run, or ends the last. */
  const placeOf = (corner: number) => starts[runs.indexOf(corner / 3)] ?? starts[runs.length];
  for (const { start, count, materialIndex } of source.groups) {
    const first = placeOf(start);
    const left = placeOf(start + count) - first;
    if (left > 0) geometry.addGroup(first, left, materialIndex);
  }
  return { geometry, triangles: starts[runs.length] / 3, vertices: Uint32Array.from(vertices) };
}

/** The triangles of a geometry, as a simplifier takes them. */
interface Surface {
  indices: Uint32Array;
  /** As shares of the character's size. No vertex is where one of another part is, so that none collapses into it. */
  positions: Float32Array;
  /** What shall change as little as positions, so many numbers a vertex as there are `weights`. */
  attributes: Float32Array;
  weights: number[];
  /** 1 for vertices that must stay; null if none must. */
  locked: Uint8Array | null;
  /** For each vertex the one that it is in the geometry. */
  vertices: number[];
  /** Where runs of triangles begin that are in the same groups. */
  starts: number[];
  /** For each vertex the run that its triangles belong to. */
  runs: number[];
}

/** How much of the character's size a change of an attribute by 1 counts for. */
const WEIGHTS: Record<string, number> = { normal: 0.5, uv: 0.5, color: 0.5 };
/** The same for a change of joints by as much as the joints are apart. */
const JOINT_WEIGHT = 1;
/** How far apart vertices of two parts may be that meet, as a share of the character's size: tools that quantise move them. */
const NEAR = 1e-4;
/** How far each part is moved away from the one before it: a few steps of a float32. */
const APART = 2 ** -22;

/**
 * Takes the triangles of a geometry, in the rest pose if it is a crowd's: parts, rigid ones and those that a tool has quantised, are
 * modelled each in a place and size of its own. Vertices that are alike are one, and those of several runs of triangles several.
 */
function surfaceOf(source: BufferGeometry): Surface {
  const { attributes: all, index, morphAttributes } = source;
  const drawn = [...Object.values(all), ...Object.values(morphAttributes).flat()].filter(isOfVertices);
  const numbers = drawn.map((attribute) => plainArray(attribute, attribute.itemSize));
  const same = runAll(weld(numbers, all.position.count));
  const indices = Uint32Array.from(
    { length: index?.count ?? same.length },
    (_, i) => same[index?.getX(i) ?? i],
  );
  const starts = groupRuns(source, indices.length / 3);
  const places = new Int32Array(same.length * starts.length).fill(-1);
  const vertices: number[] = [];
  const runs: number[] = [];
  for (let i = 0, run = 0; i < indices.length; i++) {
    if (i / 3 === starts[run + 1]) run++;
    const key = indices[i] * starts.length + run;
    if (places[key] < 0) {
      places[key] = vertices.push(indices[i]) - 1;
      runs.push(run);
    }
    indices[i] = places[key];
  }

  const names = Object.keys(WEIGHTS).filter((name) => name in all);
  const columns = names.map((name) => pick(all[name], vertices));
  const weights = names.flatMap((name) => Array<number>(all[name].itemSize).fill(WEIGHTS[name]));
  const positions = pick(all.position, vertices);
  const points = [positions];
  const { skinIndex, skinWeight } = all;
  if (skinIndex !== undefined && skinWeight !== undefined) {
    const skin = { joints: pick(skinIndex, vertices, 4), shares: pick(skinWeight, vertices, 4) };
    toRest(source, skin, positions, 'normal' in all ? columns[0] : null);
    points.push(followedPoints(skin, positions));
    columns.push(points[1]);
    weights.push(JOINT_WEIGHT, JOINT_WEIGHT, JOINT_WEIGHT);
  }
  const box = new Box3().setFromArray(positions);
  const extent = Math.max(...box.getSize(new Vector3()).toArray()) || 1;
  const min = box.min.toArray();
  for (const list of points) for (let i = 0; i < list.length; i++) list[i] = (list[i] - min[i % 3]) / extent;

  const attributes = new Float32Array(vertices.length * weights.length);
  let first = 0;
  for (const column of columns) {
    const size = column.length / vertices.length;
    for (let vertex = 0, from = 0; vertex < vertices.length; vertex++)
      for (let i = 0; i < size; i++) attributes[vertex * weights.length + first + i] = column[from++];
    first += size;
  }
  const { partIndex } = all;
  const parts = partIndex && vertices.map((vertex) => partIndex.getX(vertex));
  for (let vertex = 0; parts && vertex < parts.length; vertex++)
    positions[vertex * 3] += parts[vertex] * APART;
  const locked = parts ? lockSeams(indices, positions, parts) : null;
  return { indices, positions, attributes, weights, locked, vertices, starts, runs };
}

/** The numbers that an attribute has for some vertices. */
const pick = (attribute: Attribute, vertices: readonly number[], size = attribute.itemSize): Float32Array =>
  Float32Array.from(plainArray(picked(attribute, vertices), size));

/** Carries vertices of a crowd's geometry to where they are in the rest pose; those of others stay. */
function toRest(
  source: BufferGeometry,
  skin: Followed,
  positions: Float32Array,
  normals: Float32Array | null,
): void {
  const { boneTexture } = posers.get(source) ?? {};
  if (!boneTexture?.reader) return;
  const matrices = restMatrices(boneTexture);
  const places = boneTexture.jointNames.map((_, joint) => joint * AFFINE_SIZE);
  const whole = places.find((at) => !isSingular(matrices, at)) ?? 0;
  // What the rest pose hides by flattening it, clips show as large as all else.
  for (const at of places) if (isSingular(matrices, at)) matrices.copyWithin(at, whole, whole + AFFINE_SIZE);
  carry(positions, skin, matrices, 1);
  if (normals !== null) carry(normals, skin, matrices, 0);
}

/**
 * For each joint there is the middle of the vertices that follow it. Weighted by the joints of a vertex, these points change along the
 * surface as joints do, in three numbers however many joints there are.
 */
function followedPoints(
  { joints, shares }: Record<keyof Followed, Float32Array>,
  positions: Float32Array,
): Float32Array {
  const sums = new Float64Array((joints.reduce((most, joint) => Math.max(most, joint), 0) + 1) * 4);
  for (let i = 0; i < joints.length; i++) {
    const joint = joints[i] * 4;
    for (let axis = 0; axis < 3; axis++) sums[joint + axis] += shares[i] * positions[(i >> 2) * 3 + axis];
    sums[joint + 3] += shares[i];
  }
  const points = new Float32Array(positions.length);
  for (let i = 0; i < joints.length; i++) {
    if (!(shares[i] > 0)) continue;
    const joint = joints[i] * 4;
    for (let axis = 0; axis < 3; axis++)
      points[(i >> 2) * 3 + axis] += (shares[i] * sums[joint + axis]) / sums[joint + 3];
  }
  return points;
}

/**
 * Where runs of triangles begin that are in the same groups. Groups may overlap: those of an outline and of what it is around are of
 * the same triangles.
 */
function groupRuns({ groups }: BufferGeometry, triangles: number): number[] {
  const ends = groups.flatMap(({ start, count }) => [start / 3, (start + count) / 3]);
  return [...new Set([0, ...ends])].filter((at) => at === 0 || at < triangles).sort((a, b) => a - b);
}

/**
 * Locks the vertices along which parts meet, so that there are no gaps between them, which are simplified each for itself. Null if there
 * are none.
 */
function lockSeams(
  indices: Uint32Array,
  positions: Float32Array,
  parts: readonly number[],
): Uint8Array | null {
  const border = bordersOf(indices, positions);
  // Of cells twice as wide, eight hold all that is near a vertex. Where several parts are it is -1.
  const cells = new Map<number, number>();
  const width = Math.ceil(0.5 / NEAR) + 3;
  const cellAt = (value: number) => Math.floor(value / NEAR / 2 + 1);
  const cellOf = (vertex: number, x: number, y: number, z: number) => {
    const at = vertex * 3;
    return (
      (cellAt(positions[at] + x) * width + cellAt(positions[at + 1] + y)) * width +
      cellAt(positions[at + 2] + z)
    );
  };
  for (const vertex of border)
    for (let x = -NEAR; x <= NEAR; x += 2 * NEAR)
      for (let y = -NEAR; y <= NEAR; y += 2 * NEAR)
        for (let z = -NEAR; z <= NEAR; z += 2 * NEAR) {
          const cell = cellOf(vertex, x, y, z);
          cells.set(cell, (cells.get(cell) ?? parts[vertex]) === parts[vertex] ? parts[vertex] : -1);
        }
  const met = [...border].filter((vertex) => cells.get(cellOf(vertex, 0, 0, 0)) === -1);
  if (met.length === 0) return null;
  const locked = new Uint8Array(parts.length);
  for (const vertex of met) locked[vertex] = 1;
  return locked;
}

/** Vertices at edges that have a triangle on one side alone. */
function bordersOf(indices: Uint32Array, positions: Float32Array): Set<number> {
  const { length } = positions;
  const same = runAll(weld([positions], length / 3));
  const after = (i: number) => indices[i % 3 === 2 ? i - 2 : i + 1];
  const edges = Array.from(indices, (corner, i) => {
    const a = same[corner];
    const b = same[after(i)];
    return a < b ? a * length + b : b * length + a;
  });
  const sides = new Map<number, number>();
  for (const edge of edges) sides.set(edge, (sides.get(edge) ?? 0) + 1);
  const found = new Set<number>();
  edges.forEach((edge, i) => {
    if (sides.get(edge) === 1) found.add(indices[i]).add(after(i));
  });
  return found;
}
