import { Box3, Matrix4, Quaternion, Vector3 } from 'three';
import { AFFINE_SIZE } from '../constants.js';
import { TRS_SIZE } from '../poses/Rig.js';
import { affineToMatrix4, composeAffine } from '../utils/affine.js';
import {
  NODE_ENTRIES,
  type PoseTracks,
  ROTATION,
  SCALE,
  TRACK_ABSENT,
  TRACK_CONSTANT,
  TRACK_TEXEL,
  TRANSLATION,
} from './PoseTracks.js';

const _matrix = /*@__PURE__*/ new Matrix4();
const _corner = /*@__PURE__*/ new Vector3();

/**
 * A box that holds every vertex whatever mixture of clips plays.
 *
 * A mixture of rotations is no further from their middle than the furthest of them, as long as that is less than a right
 * angle (within it, shortest ways between rotations stay inside); so what hangs on a joint is moved from where the middle
 * puts it by no more than that angle does. Joints that turn more may point anywhere, and carry what hangs on them along a
 * sphere. A mixture of positions lies between them. What additive clips add comes on top.
 *
 * @param boxes Boxes of the vertices that follow each joint.
 * @param only Index of the one clip that plays, and plays alone; by default any mixture of all clips and the rest pose.
 */
export function reachBounds(tracks: PoseTracks, boxes: Float32Array, only?: number): Box3 {
  const { parents, before, inverses } = tracks;
  const nodes = Array.from(parents, (_, node) => rangeOf(tracks, node, only));
  // What hangs on a node, in the node's own space: a box around it, and how far it is from the node at most.
  const carried = nodes.map(() => new Box3());
  const far = new Float64Array(nodes.length);
  for (let joint = 0; joint * 6 < boxes.length; joint++) {
    if (boxes[joint * 6] > boxes[joint * 6 + 3]) continue;
    const node = tracks.jointNodes[joint];
    affineToMatrix4(inverses, joint * AFFINE_SIZE, _matrix);
    for (let i = 0; i < 8; i++) {
      _corner
        .set(
          boxes[joint * 6 + (i & 1) * 3],
          boxes[joint * 6 + 1 + ((i >> 1) & 1) * 3],
          boxes[joint * 6 + 2 + (i >> 2) * 3],
        )
        .applyMatrix4(_matrix);
      carried[node].expandByPoint(_corner);
      far[node] = Math.max(far[node], _corner.length());
    }
  }

  const bounds = new Box3();
  for (let node = parents.length - 1; node >= 0; node--) {
    if (carried[node].isEmpty()) continue;
    const { position, scale, angle, middle } = nodes[node];
    const reach = far[node] * scale;
    const around = new Box3(new Vector3(), new Vector3()).expandByScalar(reach);
    if (angle < Math.PI / 2) {
      const turned = carried[node].clone().applyMatrix4(middle);
      around.intersect(turned.expandByScalar(2 * Math.sin(angle / 2) * reach));
    }
    const placed = moved(around, position);
    const parent = parents[node];
    if (parent === -1) {
      bounds.copy(placed).applyMatrix4(affineToMatrix4(before, 0, _matrix));
      break;
    }
    carried[parent].union(placed);
    far[parent] = Math.max(far[parent], farthest(position) + reach);
  }
  return bounds;
}

interface NodeRange {
  /** Where the node may be in its parent's space. */
  position: Box3;
  /** The most it may be scaled by in any direction. */
  scale: number;
  /** By how much clips turn it away from its middle rotation at most; infinite where they scale it. */
  angle: number;
  /** Its middle rotation, and its scale. */
  middle: Matrix4;
}

function rangeOf(tracks: PoseTracks, node: number, only: number | undefined): NodeRange {
  const { rest: trs, fixed, clips } = tracks;
  const isAlone = (property: number) =>
    only !== undefined && !clips[only].additive && hasTrack(tracks, only, node, property);
  const at = node * TRS_SIZE;
  if (!Number.isNaN(fixed[node * AFFINE_SIZE])) {
    const matrix = affineToMatrix4(fixed, node * AFFINE_SIZE, new Matrix4());
    const position = new Box3();
    position.expandByPoint(new Vector3().setFromMatrixPosition(matrix));
    const e = matrix.elements;
    const scale = Math.hypot(e[0], e[1], e[2], e[4], e[5], e[6], e[8], e[9], e[10]);
    return { position, scale, angle: 0, middle: matrix.setPosition(0, 0, 0) };
  }

  const position = new Box3();
  if (!isAlone(TRANSLATION)) position.expandByPoint(_corner.fromArray(trs, at));
  const added = new Box3().expandByPoint(_corner.set(0, 0, 0));
  let scale = Math.max(Math.abs(trs[at + 7]), Math.abs(trs[at + 8]), Math.abs(trs[at + 9]));
  let addedScale = 0;
  let addedAngle = 0;
  let scales = false;
  const turns = isAlone(ROTATION) ? [] : [new Quaternion().fromArray(trs, at + 3)];
  clips.forEach(({ additive }, clip) => {
    if (only !== undefined && clip !== only) return;
    let most = 0;
    forEachKey(tracks, clip, node, TRANSLATION, (x, y, z) => {
      (additive ? added : position).expandByPoint(_corner.set(x, y, z));
    });
    forEachKey(tracks, clip, node, SCALE, (x, y, z) => {
      const size = Math.max(Math.abs(x), Math.abs(y), Math.abs(z));
      if (additive) addedScale += size;
      else scale = Math.max(scale, size);
      if (additive ? size > 0 : !isSame([x, y, z], trs, at + 7)) scales = true;
    });
    forEachKey(tracks, clip, node, ROTATION, (x, y, z, w) => {
      if (additive) most = Math.max(most, 2 * Math.acos(Math.min(Math.abs(w), 1)));
      else turns.push(new Quaternion(x, y, z, w));
    });
    addedAngle += most;
  });
  position.min.add(added.min);
  position.max.add(added.max);

  const middle = middleOf(turns);
  const angle = turns.reduce((most, turn) => Math.max(most, turn.angleTo(middle)), 0) + addedAngle;
  const affine = new Float64Array(AFFINE_SIZE);
  composeAffine([0, 0, 0, ...middle.toArray(), trs[at + 7], trs[at + 8], trs[at + 9]] as never, 0, affine, 0);
  return {
    position,
    scale: scale + addedScale,
    angle: scales ? Infinity : angle,
    middle: affineToMatrix4(affine, 0, new Matrix4()),
  };
}

/** Mean of rotations, of which q and -q are the same. */
function middleOf(turns: readonly Quaternion[]): Quaternion {
  const [{ x, y, z, w }] = turns;
  const sum = [0, 0, 0, 0];
  for (const turn of turns) {
    const sign = turn.x * x + turn.y * y + turn.z * z + turn.w * w < 0 ? -1 : 1;
    sum[0] += sign * turn.x;
    sum[1] += sign * turn.y;
    sum[2] += sign * turn.z;
    sum[3] += sign * turn.w;
  }
  return new Quaternion(...(sum as [number, number, number, number])).normalize();
}

function isSame(values: readonly number[], other: Float64Array, at: number): boolean {
  return values.every((value, i) => Math.abs(value - other[at + i]) < 1e-6);
}

function entryOf(
  { table, parents, morphRest }: PoseTracks,
  clip: number,
  node: number,
  property: number,
): number {
  return table[(clip * (parents.length + morphRest.length / 4) + node) * NODE_ENTRIES + property];
}

function hasTrack(tracks: PoseTracks, clip: number, node: number, property: number): boolean {
  return entryOf(tracks, clip, node, property) !== TRACK_ABSENT;
}

function forEachKey(
  tracks: PoseTracks,
  clip: number,
  node: number,
  property: number,
  callback: (x: number, y: number, z: number, w: number) => void,
): void {
  const entry = entryOf(tracks, clip, node, property);
  if (entry === TRACK_ABSENT) return;
  const { keys } = tracks;
  const { stride, frames } = tracks.clips[clip];
  const count = entry & TRACK_CONSTANT ? 1 : frames;
  for (let frame = 0; frame < count; frame++) {
    const at = ((entry & TRACK_TEXEL) + frame * stride) * 4;
    callback(keys[at], keys[at + 1], keys[at + 2], keys[at + 3]);
  }
}

/** A box shifted to every place of another. */
function moved(box: Box3, places: Box3): Box3 {
  box.min.add(places.min);
  box.max.add(places.max);
  return box;
}

function farthest({ min, max }: Box3): number {
  const x = Math.max(Math.abs(min.x), Math.abs(max.x));
  const y = Math.max(Math.abs(min.y), Math.abs(max.y));
  const z = Math.max(Math.abs(min.z), Math.abs(max.z));
  return Math.hypot(x, y, z);
}
