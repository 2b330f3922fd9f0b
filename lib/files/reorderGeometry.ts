import { BufferAttribute, type BufferGeometry } from 'three';
import { pickCorners } from '../utils/geometries.js';
import type { StoredLevel } from './addLevelsOf.js';
import type { MeshoptEncoderLike } from './GltfWriter.js';

/** The geometry with triangles and vertices in an order that compresses well, group by group, and levels of it; vertices that nothing has are left out. */
export function reorderGeometry(
  source: BufferGeometry,
  levels: readonly StoredLevel[],
  encoder: MeshoptEncoderLike,
): { geometry: BufferGeometry; levels: StoredLevel[] } {
  const corners = Uint32Array.from(source.index?.array ?? Array(source.attributes.position.count).keys());
  const { groups } = source;
  for (const { start, count } of groups.length > 0 ? groups : [{ start: 0, count: corners.length }]) {
    const own = corners.slice(start, start + count);
    const [places] = encoder.reorderMesh(own, true, true);
    const old = new Uint32Array(places.length);
    places.forEach((to, from) => {
      if (to !== 0xffffffff) old[to] = from;
    });
    for (let i = 0; i < count; i++) corners[start + i] = old[own[i]];
  }
  // The simplifier takes the first of vertices that are alike, which may be one that no triangle of the whole has.
  const all = [...corners, ...levels.flatMap(({ indices }) => [...(indices ?? [])])];
  const { geometry, vertices } = pickCorners(source, all);
  geometry.setIndex([...(geometry.index?.array.subarray(0, corners.length) ?? [])]);
  geometry.groups = groups;
  const places = new Map(vertices.map((vertex, place) => [vertex, place]));
  const indices = (level: StoredLevel) =>
    level.indices?.map((vertex) => places.get(vertex) as number) ?? null;
  return { geometry, levels: levels.map((level) => ({ ...level, indices: indices(level) })) };
}

/** What numbers become, by the names of their attributes; those of `Int8Array` are between -1 and 1, all others from 0. Positions stay. */
const SHORTER = [
  [/^(normal|tangent)$/, Int8Array],
  [/^uv[123]?$/, Uint16Array],
  [/^(color|skinWeight)$/, Uint8Array],
] as const;

/** Makes integers of normals, texture coordinates, colours and weights where these are between -1 or 0 and 1. */
export function quantizeGeometry(geometry: BufferGeometry): void {
  for (const [name, source] of Object.entries(geometry.attributes)) {
    const [, Numbers] = SHORTER.find(([names]) => names.test(name)) ?? [];
    const { array, itemSize, count } = source as BufferAttribute;
    if (Numbers === undefined || !(array instanceof Float32Array) || 'data' in source) continue;
    const least = Numbers === Int8Array ? -1 : 0;
    if (array.some((value) => !(value >= least && value <= 1))) continue;
    const target = new BufferAttribute(new Numbers(array.length), itemSize, true);
    const sums = name === 'skinWeight';
    for (let i = 0; i < count; i++) {
      const own = array.subarray(i * itemSize, (i + 1) * itemSize);
      const sum = sums ? own.reduce((all, value) => all + value, 0) || 1 : 1;
      own.forEach((value, k) => {
        target.setComponent(i, k, value / sum);
      });
      // What rounding takes from weights, the strongest gets back.
      const shares = target.array.subarray(i * itemSize, (i + 1) * itemSize) as Uint8Array;
      const left = sums ? 255 - shares.reduce((all, share) => all + share, 0) : 255;
      if (left < 255) shares[own.indexOf(Math.max(...own))] += left;
    }
    geometry.setAttribute(name, target);
  }
}
