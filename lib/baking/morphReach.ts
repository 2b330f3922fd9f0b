import type { BufferGeometry } from 'three';
import { AFFINE_SIZE } from '../constants.js';
import type { Rig } from '../poses/Rig.js';
import type { ScenePart } from './collectParts.js';
import { PoseSampler } from './PoseSampler.js';
import type { Steps } from './runBake.js';

/** Vertices between two steps. */
const VERTICES = 512;

/** How far a morph target at full influence moves a vertex of a character at rest at most, in scene units. */
export function* morphReach(rig: Rig, parts: readonly ScenePart[]): Steps<number> {
  let most = 0;
  let pose: Float64Array | null = null;
  for (const { geometry, joints } of parts) {
    const reach = yield* geometryReach(geometry);
    if (reach === 0) continue;
    if (pose === null) {
      pose = new Float64Array(rig.jointNames.length * AFFINE_SIZE);
      new PoseSampler(rig).sample(0, pose);
    }
    // Those of quantised files have units of their own, which their nodes or bones bring to those of the scene.
    let scale = 0;
    for (const joint of joints) {
      const at = joint * AFFINE_SIZE;
      // What is hidden at rest by a scale of 0 may grow in a clip: it then has the size at which it was bound.
      if (at >= 0) scale = Math.max(scale, scaleOf(pose, at) || scaleOf(rig.jointInverses, at));
    }
    most = Math.max(most, reach * scale);
  }
  return most;
}

/** How much longer a matrix makes an axis at most. */
function scaleOf(m: Float64Array, at: number): number {
  let most = 0;
  for (let axis = at; axis < at + 3; axis++)
    most = Math.max(most, Math.hypot(m[axis], m[axis + 4], m[axis + 8]));
  return most;
}

/** The same in the units of a geometry. */
function* geometryReach(geometry: BufferGeometry): Steps<number> {
  const base = geometry.getAttribute('position');
  const relative = geometry.morphTargetsRelative;
  let most = 0;
  for (const target of geometry.morphAttributes.position ?? []) {
    for (let vertex = 0; vertex < target.count; vertex++) {
      const x = target.getX(vertex) - (relative ? 0 : base.getX(vertex));
      const y = target.getY(vertex) - (relative ? 0 : base.getY(vertex));
      const z = target.getZ(vertex) - (relative ? 0 : base.getZ(vertex));
      most = Math.max(most, Math.hypot(x, y, z));
      if (vertex % VERTICES === 0) yield 0;
    }
  }
  return most;
}
