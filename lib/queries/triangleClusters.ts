import type { BufferGeometry } from 'three';
import { SKIN_PART, type Skin, skinOf } from '../character/crowdGeometry.js';
import { plainArray } from '../utils/geometries.js';

/** Triangles of a patch, above which it is split. */
const MAX_TRIANGLES = 16;
/** How many times a patch is halved to make the patches that it consists of: into eight. */
const HALVINGS = 3;

/** Triangles that lie near each other. They are in `patches`, or if these are empty, in `triangles`. */
export interface TrianglePatch {
  patches: readonly TrianglePatch[];
  /** Where each triangle begins in the index, or among the vertices. */
  triangles: Uint32Array;
  /** Every vertex of `triangles`, once. */
  vertices: Uint32Array;
  /** Joints that any vertex of the patch follows. */
  joints: Uint16Array;
  /** Box of the vertices that follow each of the joints: min x y z, max x y z. */
  boxes: Float32Array;
}

/** Triangles that follow the same joint, of one part and one material, so that they stay together in every pose. */
export interface TriangleCluster extends TrianglePatch {
  part: number;
  materialIndex: number;
}

/** What a geometry's triangles are like, and the arrays they lie in. */
export interface Clusters {
  clusters: TriangleCluster[];
  positions: ArrayLike<number>;
  index: ArrayLike<number> | null;
  skin: Skin;
  /** To notice when the geometry was changed. */
  stamp: string;
}

const known = /*@__PURE__*/ new WeakMap<BufferGeometry, Clusters>();

/** The clusters of a crowd geometry, made anew when its positions, index or groups changed. */
export function clustersOf(geometry: BufferGeometry): Clusters {
  const stamp = stampOf(geometry);
  const before = known.get(geometry);
  if (before?.stamp === stamp) return before;

  const positions = plainArray(geometry.getAttribute('position'), 3);
  const index = geometry.index?.array ?? null;
  const skin = skinOf(geometry);
  const { joints, stride } = skin;
  const length = index === null ? positions.length / 3 : index.length;
  const groups =
    geometry.groups.length > 0 ? geometry.groups : [{ start: 0, count: length, materialIndex: 0 }];

  const lists = new Map<number, number[]>();
  for (const { start, count, materialIndex = 0 } of groups) {
    for (let i = start; i + 2 < Math.min(start + count, length); i += 3) {
      const at = (index === null ? i : index[i]) * stride;
      const key = (materialIndex * 4096 + joints[at + SKIN_PART]) * 65536 + joints[at];
      const list = lists.get(key);
      if (list === undefined) lists.set(key, [i]);
      else list.push(i);
    }
  }

  const morphs = (geometry.morphAttributes.position ?? []).map((morph) => plainArray(morph, 3));
  const made: Clusters = { clusters: [], positions, index, skin, stamp };
  for (const [key, triangles] of lists) {
    made.clusters.push({
      part: Math.floor(key / 65536) % 4096,
      materialIndex: Math.floor(key / 65536 / 4096),
      ...createPatch(triangles, made, morphs),
    });
  }
  known.set(geometry, made);
  return made;
}

function createPatch(
  triangles: readonly number[],
  clusters: Clusters,
  morphs: readonly ArrayLike<number>[],
): TrianglePatch {
  const all = verticesOf(triangles, clusters.index);
  const boxes = boxesOf(all, clusters, morphs);
  const isSplit = triangles.length > MAX_TRIANGLES;
  const pieces = isSplit ? halved(triangles, clusters, HALVINGS) : [];
  return {
    patches: pieces.map((piece) => createPatch(piece, clusters, morphs)),
    triangles: Uint32Array.from(isSplit ? [] : triangles),
    vertices: isSplit ? new Uint32Array(0) : all,
    joints: Uint16Array.from(boxes.keys()),
    boxes: Float32Array.from([...boxes.values()].flatMap(padded)),
  };
}

/** A box that is larger by a hair, so that no ray slips between two patches by the rounding of their boxes. */
function padded(box: readonly number[]): number[] {
  const hair = 1e-6 * Math.max(box[3] - box[0], box[4] - box[1], box[5] - box[2]);
  return box.map((value, i) => (i < 3 ? value - hair : value + hair));
}

/** Halves triangles so many times, each time across the longest side of the box around their first corners. */
function halved(triangles: readonly number[], clusters: Clusters, times: number): (readonly number[])[] {
  if (times === 0 || triangles.length <= MAX_TRIANGLES) return [triangles];
  const { positions, index } = clusters;
  const at = (triangle: number, axis: number) =>
    positions[(index === null ? triangle : index[triangle]) * 3 + axis];
  const sides = [0, 1, 2].map((axis) => {
    let [least, most] = [Infinity, -Infinity];
    for (const triangle of triangles) {
      least = Math.min(least, at(triangle, axis));
      most = Math.max(most, at(triangle, axis));
    }
    return most - least;
  });
  const axis = sides.indexOf(Math.max(...sides));
  const sorted = [...triangles].sort((a, b) => at(a, axis) - at(b, axis));
  const middle = sorted.length >> 1;
  return [sorted.slice(0, middle), sorted.slice(middle)].flatMap((half) => halved(half, clusters, times - 1));
}

function stampOf({ index, groups, attributes }: BufferGeometry): string {
  const position = attributes.position as { version?: number; data?: { version: number } };
  const version = position.version ?? position.data?.version;
  const grouped = groups.map(({ start, count, materialIndex }) => `${start}+${count}:${materialIndex}`);
  return [version, index?.version, index?.count, ...grouped].join();
}

function verticesOf(triangles: readonly number[], index: ArrayLike<number> | null): Uint32Array {
  const vertices = new Set<number>();
  for (const first of triangles) {
    for (let i = first; i < first + 3; i++) vertices.add(index === null ? i : index[i]);
  }
  return Uint32Array.from(vertices);
}

function boxesOf(
  vertices: Uint32Array,
  { positions, skin: { joints, stride, weights } }: Clusters,
  morphs: readonly ArrayLike<number>[],
): Map<number, number[]> {
  const boxes = new Map<number, number[]>();
  for (const vertex of vertices) {
    for (let i = 0; i < 4; i++) {
      if (!(weights[vertex * 4 + i] > 0)) break;
      const joint = joints[vertex * stride + i];
      let box = boxes.get(joint);
      if (box === undefined) {
        box = [Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity];
        boxes.set(joint, box);
      }
      for (let axis = 0; axis < 3; axis++) {
        const at = vertex * 3 + axis;
        let low = positions[at];
        let high = low;
        // Targets at full influence bound every smaller one.
        for (const morph of morphs) {
          low += Math.min(morph[at], 0);
          high += Math.max(morph[at], 0);
        }
        box[axis] = Math.min(box[axis], low);
        box[axis + 3] = Math.max(box[axis + 3], high);
      }
    }
  }
  return boxes;
}
