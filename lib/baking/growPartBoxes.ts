import { growJointBoxes, type JointBoxes } from '../poses/jointBoxes.js';
import type { ScenePart } from './collectParts.js';
import type { Steps } from './runBake.js';

/** Vertices that are read in one step, of geometry without morph targets. */
const VERTICES = 512;

/** Grows the boxes of joints by the vertices of a part that follow them. */
export function* growPartBoxes(
  boxes: JointBoxes,
  { geometry, joints, mirrorJoints, rigid }: ScenePart,
): Steps<void> {
  const { count } = geometry.getAttribute('position');
  const step = Math.ceil(VERTICES / (1 + (geometry.morphAttributes.position?.length ?? 0)));
  for (let from = 0; from < count; from += step) {
    const to = Math.min(count, from + step);
    growJointBoxes(boxes, geometry, joints, rigid, from, to);
    if (mirrorJoints !== null) growJointBoxes(boxes, geometry, mirrorJoints, rigid, from, to);
    yield 0;
  }
}
