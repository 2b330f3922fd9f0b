import { type PerspectiveCamera, Vector3 } from 'three';
import { orderOf, partsOf } from '../features.js';
import type { CrowdProgram } from './CrowdProgram.js';

const _middle = /*@__PURE__*/ new Vector3();
const _outermost = /*@__PURE__*/ new Vector3();

/**
 * Puts a camera before the outermost instance, which is then the one nearest to it, with all others behind: so that a picture
 * shows somebody whatever was called before. Adds somebody where nobody is visible.
 */
export function faceSomebody(program: CrowdProgram, camera: PerspectiveCamera): void {
  const { crowd, dice, scene } = program;
  // Levels that begin sooner may leave nobody where the last of them draws nothing.
  if (program.levels.some(({ nothing }) => nothing)) orderOf(crowd).maxTriangles = Infinity;
  scene.updateMatrixWorld();
  let visible = program.ids.filter((id) => crowd.getVisibleAt(id));
  if (visible.length === 0) {
    const id = crowd.addInstance();
    program.edits.delete(id);
    crowd.setMatrixAt(id, dice.place());
    crowd.instanceMatrix.needsUpdate = true;
    visible = [id];
  }
  crowd.views.updateGroups();
  let found = -1;
  let farthest = -1;
  for (const id of visible) {
    _middle.fromArray(crowd.views.groups.spheres, id * 4).applyMatrix4(crowd.matrixWorld);
    const { x, z } = _middle;
    const distance = Math.hypot(x, z);
    if (distance <= farthest) continue;
    farthest = distance;
    found = id;
    _outermost.copy(_middle);
  }
  partsOf(crowd).setVisibleAt(found, 'Body', true);
  const outwards = _middle.copy(_outermost).setY(0).normalize().multiplyScalar(4.5);
  camera.position
    .copy(_outermost)
    .add(outwards)
    .setY(_outermost.y + 0.7);
  camera.lookAt(_outermost);
  camera.updateMatrixWorld();
}
