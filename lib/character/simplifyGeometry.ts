import type { BufferGeometry } from 'three';
import { pickVertices } from '../utils/geometries.js';
import { describe } from '../utils/messages.js';
import { posers } from './crowdGeometry.js';
import { groupRuns, type Surface, surfacesOf, weldedIndex } from './surfaces.js';

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

/** Errors that are tried to find the one that leaves as many triangles as are wanted, where there are several parts. */
const SEARCH_STEPS = 12;
const LEAST_ERROR = 1e-5;
/** No error is too large: how many triangles shall be left decides. */
const ANY_ERROR = 10;

type Result = [indices: Uint32Array, error: number];

/**
 * A geometry of fewer triangles, by meshoptimizer's simplifier, which your page brings along:
 * `import { MeshoptSimplifier } from 'meshoptimizer'`, and `await MeshoptSimplifier.ready`. Vertices are some of those that there
 * were, with joints, weights and all other attributes; parts and groups for materials stay.
 *
 * @param ratio Share of the triangles that shall be left. More are if the simplifier finds no way.
 * @throws If it is no geometry of triangles, or the ratio is out of range, or the simplifier is none.
 *
 * @category See
 */
export function simplifyGeometry(source: BufferGeometry, ratio: number, simplifier: Simplifier): Simplified {
  check(source, ratio, simplifier);
  const index = weldedIndex(source);
  const surfaces = surfacesOf(source, index);
  const wanted = Math.max(1, Math.floor((ratio * index.length) / 3)) * 3;
  const run = (surface: Surface, target: number, limit: number): Result => {
    const { indices, positions, attributes, weights, locked } = surface;
    return simplifier.simplifyWithAttributes(
      indices,
      positions,
      3,
      attributes,
      weights.length,
      weights,
      locked,
      target,
      limit,
      ['ErrorAbsolute', 'Prune', 'Permissive'],
    );
  };
  try {
    const [only] = surfaces;
    const results = surfaces.length === 1 ? [run(only, wanted, ANY_ERROR)] : search(surfaces, wanted, run);
    return gather(source, surfaces, results, groupRuns(source, index.length / 3));
  } catch (error) {
    // What it throws before its code is there says nothing to a user.
    if (!(error instanceof TypeError)) throw error;
    throw new Error(`simplifyGeometry: the simplifier does not work; await MeshoptSimplifier.ready before.`, {
      cause: error,
    });
  }
}

function check(source: BufferGeometry, ratio: number, simplifier: Simplifier): void {
  if (source?.isBufferGeometry !== true || !source.hasAttribute('position')) {
    throw new Error(`simplifyGeometry: ${describe(source)} is no geometry with positions.`);
  }
  if (!(ratio > 0 && ratio <= 1)) {
    throw new Error(
      `simplifyGeometry: ratio is ${ratio}; use a share of the triangles, above 0 and up to 1.`,
    );
  }
  if (typeof simplifier?.simplifyWithAttributes === 'function') return;
  throw new Error(
    `simplifyGeometry: simplifier is ${describe(simplifier)}; pass MeshoptSimplifier of the package meshoptimizer.`,
  );
}

/**
 * Simplifies all parts up to one error, so that those with large triangles keep them: the one that leaves as many triangles as
 * are wanted, or the nearest number that there is.
 */
function search(
  surfaces: readonly Surface[],
  wanted: number,
  run: (surface: Surface, target: number, limit: number) => Result,
): Result[] {
  let low = Math.log(LEAST_ERROR);
  let high = Math.log(ANY_ERROR);
  let best: Result[] = surfaces.map(({ indices }) => [indices, 0]);
  let nearest = Infinity;
  for (let step = 0; step < SEARCH_STEPS; step++) {
    const middle = (low + high) / 2;
    const results = surfaces.map((surface) => run(surface, 0, Math.exp(middle)));
    const left = results.reduce((sum, [indices]) => sum + indices.length, 0);
    if (left > wanted) low = middle;
    else high = middle;
    // Twice as many are as far off as half, and none are farther than any.
    const off = Math.abs(Math.log(left / wanted));
    if (off >= nearest) continue;
    nearest = off;
    best = results;
  }
  return best;
}

/** Makes a geometry of the vertices that are left. */
function gather(
  source: BufferGeometry,
  surfaces: readonly Surface[],
  results: readonly Result[],
  runs: readonly number[],
): Simplified {
  const places = new Map<number, number>();
  const lists: number[][] = runs.map(() => []);
  surfaces.forEach(({ vertices, runs: runOf }, i) => {
    const [indices] = results[i];
    indices.forEach((corner, k) => {
      const vertex = vertices[corner];
      let place = places.get(vertex);
      if (place === undefined) {
        place = places.size;
        places.set(vertex, place);
      }
      // Where groups meet, corners of a triangle may be of several: it goes with the first.
      lists[runOf[indices[k - (k % 3)]]].push(place);
    });
  });

  const vertices = [...places.keys()];
  const geometry = pickVertices(source, vertices);
  const poser = posers.get(source);
  if (poser !== undefined) posers.set(geometry, poser);
  geometry.setIndex(lists.flat());
  const starts = [0];
  for (const { length } of lists) starts.push(starts[starts.length - 1] + length);
  /** Where a corner of the source is now that begins a run, or ends the last. */
  const placeOf = (corner: number) => starts[runs.indexOf(corner / 3)] ?? starts[runs.length];
  for (const { start, count, materialIndex } of source.groups) {
    const first = placeOf(start);
    const left = placeOf(start + count) - first;
    if (left > 0) geometry.addGroup(first, left, materialIndex);
  }
  const error = Math.max(...results.map(([, off]) => off));
  return { geometry, error, triangles: starts[runs.length] / 3, vertices: Uint32Array.from(vertices) };
}
