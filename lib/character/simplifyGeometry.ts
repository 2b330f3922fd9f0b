import type { BufferGeometry } from 'three';
import { pickCorners } from '../utils/geometries.js';
import { describe } from '../utils/messages.js';
import { runAll, runInSlices, type SliceOptions, type Steps } from '../utils/slices.js';
import { posers } from './crowdGeometry.js';
import { type Surface, surfaceOf } from './surfaces.js';

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
 * @throws If it is no geometry of triangles, or the ratio is out of range, or the simplifier is none.
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
  check(source, ratio, simplifier);
  const surface = surfaceOf(source);
  const { indices, positions, attributes, weights, locked } = surface;
  const run = (target: number, limit: number): Result => {
    try {
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
    } catch (error) {
      // What it throws before its code is there says nothing to a user.
      if (!(error instanceof TypeError)) throw error;
      throw new Error(
        `simplifyGeometry: the simplifier does not work; await MeshoptSimplifier.ready before.`,
        {
          cause: error,
        },
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
