import { type Object3D, Quaternion, type Skeleton, Vector3 } from 'three';
import { LIVE_HAS, LIVE_TEXELS } from '../../../shaders/editLayout.js';
import type { PoseTracks } from '../../animation/PoseTracks.js';

const _position = /*@__PURE__*/ new Vector3();
const _quaternion = /*@__PURE__*/ new Quaternion();
const _scale = /*@__PURE__*/ new Vector3();

/** Where objects' transforms go. */
interface Target {
  tracks: PoseTracks;
  first: Map<string, number>;
  next: Int32Array;
  out: Float32Array;
  at: number;
  found: number;
}

const _target: Partial<Target> = {};

/**
 * Writes the local transforms of objects as a live pose: those of the same names as nodes of the tracks. The root is left
 * at rest, since the place where an instance stands takes the place of the root's own.
 *
 * @param root An object with others below it, or a skeleton, whose bones are taken.
 * @param out All zero; the pose begins at `at`.
 * @returns How many nodes were found.
 * @throws If a transform is not finite.
 */
export function poseNodes(
  root: Object3D | Skeleton,
  tracks: PoseTracks,
  out: Float32Array,
  at: number,
): number {
  const target = Object.assign(_target, nodeNames(tracks), { tracks, out, at, found: 0 }) as Target;
  const { rest } = tracks;
  _position.fromArray(rest, 0);
  _quaternion.fromArray(rest, 3);
  _scale.fromArray(rest, 7);
  write(target, 0);
  if ('bones' in root) {
    for (const bone of root.bones) poseNode(target, bone);
  } else if (root.name === tracks.names[0]) {
    if (root.name !== '') target.found++;
    for (const child of root.children) child.traverse((object) => poseNode(target, object));
  } else {
    root.traverse((object) => poseNode(target, object));
  }
  return target.found;
}

function poseNode(target: Target, object: Object3D): void {
  const { out, at, tracks } = target;
  let node = target.first.get(object.name) ?? -1;
  // Of several nodes of one name, each object poses the next.
  while (node >= 0 && out[at + node * LIVE_TEXELS * 4 + LIVE_HAS] !== 0) node = target.next[node];
  if (node < 0) return;
  if (object.matrixAutoUpdate) {
    _position.copy(object.position);
    _quaternion.copy(object.quaternion);
    _scale.copy(object.scale);
  } else {
    object.matrix.decompose(_position, _quaternion, _scale);
  }
  const { x, y, z, w } = _quaternion;
  const size = x * x + y * y + z * z + w * w;
  const sum = _position.x + _position.y + _position.z + _scale.x + _scale.y + _scale.z;
  if (!(size > 0 && Number.isFinite(size + sum))) {
    throw new Error(
      `"${tracks.names[node]}" has position ${_position.toArray()}, quaternion ${_quaternion.toArray()} and scale ${_scale.toArray()}; use finite numbers.`,
    );
  }
  write(target, node);
  target.found++;
}

function write({ out, at }: Target, node: number): void {
  const to = at + node * LIVE_TEXELS * 4;
  _quaternion.toArray(out, to);
  _position.toArray(out, to + 4);
  out[to + LIVE_HAS] = 1;
  _scale.toArray(out, to + 8);
}

const known = /*@__PURE__*/ new WeakMap<
  PoseTracks,
  {
    /** First node of each name. */
    first: Map<string, number>;
    /** For each node the next of its name; -1 if there is none. */
    next: Int32Array;
  }
>();

/** Nodes without a name are not among them. */
export function nodeNames(tracks: PoseTracks) {
  let names = known.get(tracks);
  if (names === undefined) {
    names = { first: new Map(), next: new Int32Array(tracks.names.length).fill(-1) };
    for (let node = tracks.names.length - 1; node >= 0; node--) {
      const name = tracks.names[node];
      if (name === '') continue;
      names.next[node] = names.first.get(name) ?? -1;
      names.first.set(name, node);
    }
    known.set(tracks, names);
  }
  return names;
}

/** A function that gives for each node of some tracks the node of the same name in others; -1 if there is none. */
export function sameNodes(from: PoseTracks, to: PoseTracks): (node: number) => number {
  if (from === to) return (node) => node;
  const { first } = nodeNames(to);
  return (node) => (node === 0 ? 0 : (first.get(from.names[node]) ?? -1));
}
