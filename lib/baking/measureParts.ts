import { type BufferGeometry, type Mesh, Vector3 } from 'three';
import type { ScenePart } from '../character/collectParts.js';
import { AFFINE_SIZE } from '../constants.js';
import { growJointBoxes, type JointBoxes } from '../poses/jointBoxes.js';
import type { Rig } from '../poses/Rig.js';
import { drawnVertices } from '../utils/geometries.js';
import type { Steps } from '../utils/steps.js';
import { warnOnce } from '../utils/warnOnce.js';
import { PoseSampler } from './PoseSampler.js';

/** Vertices that are read in one step, of geometry without morph targets. */
const VERTICES = 512;

/** Grows the boxes of joints by the vertices of a part that follow them. */
export function* growPartBoxes(
  boxes: JointBoxes,
  { mesh, geometry, joints, mirrorJoints, rigid }: ScenePart,
): Steps<void> {
  const { count } = geometry.getAttribute('position');
  const step = Math.ceil(VERTICES / (1 + (geometry.morphAttributes.position?.length ?? 0)));
  let isLost = false;
  for (let from = 0; from < count; from += step) {
    const to = Math.min(count, from + step);
    if (growJointBoxes(boxes, geometry, joints, rigid, from, to)) isLost = true;
    if (mirrorJoints !== null) growJointBoxes(boxes, geometry, mirrorJoints, rigid, from, to);
    yield 0;
  }
  if (isLost) warnOfLost(mesh, geometry);
}

/** three.js draws the other triangles without a word, unless it is asked for bounds. */
function warnOfLost({ name, type }: Mesh, geometry: BufferGeometry): void {
  const position = geometry.getAttribute('position');
  const drawn = drawnVertices(geometry);
  const place = new Vector3();
  for (let vertex = 0; vertex < position.count; vertex++) {
    const { x, y, z } = place.fromBufferAttribute(position, vertex);
    if (drawn[vertex] === 0 || Number.isFinite(x + y + z)) continue;
    warnOnce(
      `Vertex ${vertex} of ${type} "${name}" is at ${x}, ${y}, ${z}, so that its triangles are not drawn; mend the positions.`,
    );
    return;
  }
}

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
