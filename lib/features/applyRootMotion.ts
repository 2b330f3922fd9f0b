import { type ClipTable, MOTION_SIZE } from '../animation/ClipTable.js';
import { LOOP_PING_PONG } from '../constants.js';
import type { SkinnedInstancedMesh } from '../crowd/SkinnedInstancedMesh.js';
import {
  ACTION_START,
  ACTION_STARTED,
  type Actions,
  basePass,
  FINISHED,
  hasBit,
  intervalsOf,
  isMirrored,
  isReversed,
  mirrored,
  passesLeft,
  ROOT_MOTION,
  totalAt,
} from '../playback/actionNumbers.js';
import type { LayerActions } from '../playback/LayerActions.js';

/** A rigid motion over the ground: x, y, z, then the turn about y in radians. */
type Motion = Float64Array;

const _motion = /*@__PURE__*/ new Float64Array(MOTION_SIZE);
const _from = /*@__PURE__*/ new Float64Array(MOTION_SIZE);
const _to = /*@__PURE__*/ new Float64Array(MOTION_SIZE);
const _path = /*@__PURE__*/ new Float64Array(MOTION_SIZE);
const _power = /*@__PURE__*/ new Float64Array(MOTION_SIZE);

/**
 * Moves the instances that play with `rootMotion: true` by what their clips did in the last `delta` seconds, across loops and,
 * by weight, across fades. Call it after `update`; it writes into `instanceMatrix`.
 *
 * ```ts
 * crowd.update(delta);
 * applyRootMotion(crowd, delta);
 * ```
 *
 * @param delta Seconds, the same as for `update`.
 * @throws If it is not finite: instances would be nowhere for good.
 *
 * @category Play and blend
 */
export function applyRootMotion(mesh: SkinnedInstancedMesh, delta: number): void {
  if (!Number.isFinite(delta))
    throw new Error(`The delta is ${delta}; pass the seconds since the last frame.`);
  const { crowd, playback, count } = mesh;
  const matrices = mesh.instanceMatrix.array as Float32Array;
  const clips = mesh.boneTexture.clipTable;
  let moved = false;
  crowd.objects?.beforeMove();
  for (let index = 0; index < count; index++) {
    if (playback.time.isPaused(index) || !hasRootMotion(playback.layers, index)) continue;
    _motion.fill(0);
    for (const layer of playback.layers) addLayerMotion(layer, clips, index, playback.time.elapsed, delta);
    if (isStill(_motion)) continue;
    moveMatrix(matrices, index * 16, _motion);
    moved = true;
  }
  if (!moved) return;
  crowd.places.moved();
  crowd.objects?.afterMove();
}

/** Whether a clip that an instance plays, or fades out of, moves it. No closures: this is asked for each instance in each frame. */
function hasRootMotion(layers: readonly LayerActions[], index: number): boolean {
  for (const layer of layers) {
    const at = layer.at(index);
    for (let place = layer.count(index) - 1; place >= 0; place--)
      if (hasBit(layer.actions(place), at, ROOT_MOTION)) return true;
  }
  return false;
}

function isStill(motion: Motion): boolean {
  for (let i = 0; i < MOTION_SIZE; i++) if (motion[i] !== 0) return false;
  return true;
}

/**
 * Adds how the clips of a layer move an instance, each by its weight in the middle of that time. What the layer shows takes the place
 * of what those below it do, unless it is additive.
 */
function addLayerMotion(
  layer: LayerActions,
  clips: ClipTable,
  index: number,
  to: number,
  delta: number,
): void {
  const over = layer.share;
  const at = layer.at(index);
  const share = over === null ? 1 : over.shareAt(index, to - delta / 2) * over.motionShare;
  if (share <= 0) return;
  let weights = 0;
  for (let place = 0; place < layer.count(index); place++) weights += layer.weightOf(index, place, to);
  if (weights <= 0) return;
  const left = over?.additive === true ? 1 : 1 - Math.min(weights, 1) * share;
  for (let i = 0; i < MOTION_SIZE; i++) _motion[i] *= left;
  for (let place = 0; place < layer.count(index); place++) {
    const actions = layer.actions(place);
    if (!hasBit(actions, at, ROOT_MOTION)) continue;
    const { rootMotion } = clips.startingAt(actions[at + ACTION_START]);
    if (rootMotion === null) continue;
    const from = Math.max(to - delta, actions[at + ACTION_STARTED]);
    const weight = (layer.weightOf(index, place, (from + to) / 2) * share) / Math.max(weights, 1);
    addActionMotion(actions, at, rootMotion, weight, totalAt(actions, at, from), totalAt(actions, at, to));
  }
}

/** Adds how an action's clip moves its instance from one total to another, by weight, as far as it has not finished before. */
function addActionMotion(
  actions: Actions,
  at: number,
  curve: Float32Array,
  weight: number,
  from: number,
  to: number,
): void {
  const intervals = intervalsOf(actions, at);
  if (intervals < 1 || hasBit(actions, at, FINISHED)) return;
  const reverse = isReversed(actions, at);
  const left = passesLeft(actions, at);
  const end = reverse ? Math.max(to, (1 - left) * intervals) : Math.min(to, left * intervals);
  if (reverse ? from <= end : from >= end) return;

  const first = reverse ? Math.ceil(from / intervals) - 1 : Math.floor(from / intervals);
  const last = reverse ? Math.floor(end / intervals) : Math.ceil(end / intervals) - 1;
  const base = basePass(actions, at);
  const a = mirrored(from - first * intervals, intervals, isMirrored(actions, at, base + first));
  const b = mirrored(end - last * intervals, intervals, isMirrored(actions, at, base + last));
  // In a ping-pong, each pass leads back what the one before it led.
  const passes = hasBit(actions, at, LOOP_PING_PONG) ? 0 : Math.abs(last - first);
  _path.fill(0);
  if (passes === 0) addPart(_path, curve, intervals, a, b);
  else {
    addPart(_path, curve, intervals, a, 0);
    addPasses(curve, intervals, reverse, passes);
    addPart(_path, curve, intervals, 0, b);
  }
  for (let i = 0; i < MOTION_SIZE; i++) _motion[i] += weight * _path[i];
}

/** Appends the way from one place in a clip to another. */
function addPart(path: Motion, curve: Float32Array, intervals: number, a: number, b: number): void {
  motionAt(curve, a, intervals, _from);
  motionAt(curve, b, intervals, _to);
  addStep(path, _from, _to);
}

/** Appends the way through so many whole passes, by doubling it: there may be billions of them. */
function addPasses(curve: Float32Array, intervals: number, reverse: boolean, passes: number): void {
  _power.fill(0);
  addPart(_power, curve, intervals, reverse ? intervals : 0, reverse ? 0 : intervals);
  _from.fill(0);
  for (let left = passes; left >= 1; left = Math.floor(left / 2)) {
    if (left % 2 === 1) addStep(_path, _from, _power);
    _to.set(_power);
    addStep(_power, _from, _to);
  }
}

/** Moves a matrix by a motion in its own space. */
function moveMatrix(matrix: Float32Array, at: number, [x, y, z, yaw]: Motion): void {
  const cos = Math.cos(yaw);
  const sin = Math.sin(yaw);
  for (let row = at; row < at + 3; row++) {
    const m0 = matrix[row];
    const m2 = matrix[row + 8];
    matrix[row + 12] += m0 * x + matrix[row + 4] * y + m2 * z;
    matrix[row] = m0 * cos - m2 * sin;
    matrix[row + 8] = m0 * sin + m2 * cos;
  }
}

function motionAt(curve: Float32Array, frame: number, intervals: number, out: Motion): void {
  const first = Math.min(Math.floor(frame), intervals - 1);
  const alpha = frame - first;
  const at = first * MOTION_SIZE;
  for (let i = 0; i < MOTION_SIZE; i++) {
    out[i] = curve[at + i] + (curve[at + MOTION_SIZE + i] - curve[at + i]) * alpha;
  }
}

/** Appends the way from one place on a curve to another. */
function addStep(path: Motion, from: Motion, to: Motion): void {
  const turn = path[3] - from[3];
  const cos = Math.cos(turn);
  const sin = Math.sin(turn);
  const x = to[0] - from[0];
  const z = to[2] - from[2];
  path[0] += cos * x + sin * z;
  path[1] += to[1] - from[1];
  path[2] += cos * z - sin * x;
  path[3] += to[3] - from[3];
}
