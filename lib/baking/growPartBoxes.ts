import { type BufferGeometry, type Mesh, Vector3 } from 'three';
import { growJointBoxes, type JointBoxes } from '../poses/jointBoxes.js';
import { drawnVertices } from '../utils/drawnVertices.js';
import { warnOnce } from '../utils/warnOnce.js';
import type { ScenePart } from './collectParts.js';
import type { Steps } from './runBake.js';

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
      `BoneTexture.bake: vertex ${vertex} of ${type} "${name}" is at ${x}, ${y}, ${z}, so that its triangles are not drawn; mend the positions.`,
    );
    return;
  }
}
