import { PerspectiveCamera, Vector3 } from 'three';
import { expect } from 'vitest';
import type { View } from '../../../lib/culling/InstanceList.js';
import type { LevelTable } from '../../../lib/features/levels/LevelTable.js';
import { orderOf } from '../features.js';
import { levelsOf } from '../levels.js';
import type { CrowdMesh, SkinnedInstancedMesh } from '../library.js';
import type { CrowdProgram } from './CrowdProgram.js';
import { meshesOf, meshOf } from './kinds.js';

/** Share of a distance by which it may differ from where a level begins. */
const NEARLY = 1e-4;

const _at = /*@__PURE__*/ new Vector3();
const _middle = /*@__PURE__*/ new Vector3();
const _eye = /*@__PURE__*/ new Vector3();

let frame = 0;

/** Cameras that go on looking at a crowd whatever is called, so that what was kept for them must not be out of date. */
export const createCameras = (): PerspectiveCamera[] =>
  [0, 1, 2].map((k) => new PerspectiveCamera(30 + k * 10, 1, 0.1, 40));

/**
 * Expects whoever has a vertex in the picture to be drawn, at the level that its distance asks for, unless nothing is drawn there;
 * and nobody where nobody may be.
 *
 * @param vertices By id, the vertices of those that are visible, in the crowd's space.
 */
export function expectSeen(program: CrowdProgram, vertices: ReadonlyMap<number, readonly Vector3[]>): void {
  const { crowd, cameras } = program;
  const { maxVisible, maxTriangles } = orderOf(crowd);
  orderOf(crowd).maxTriangles = Infinity;
  crowd.updateMatrixWorld();
  cameras.forEach((camera, k) => {
    camera.position.set(3 * k + Math.sin(program.log.length), 1, 8 - 6 * k);
    camera.lookAt(k, 0, 0);
    camera.updateMatrixWorld();
    orderOf(crowd).maxVisible = 0;
    expect(crowd.views.of(camera, crowd.matrixWorld, frame++).of().count, 'of nobody').toBe(0);
    orderOf(crowd).maxVisible = Infinity;
    expectSeenBy(crowd, camera, vertices, k);
    // What was kept for the camera must not be out of date when nothing else has changed.
    const levelFade = levelsOf(crowd).dissolve;
    levelsOf(crowd).dissolve = levelFade === 0 ? 0.5 : 0;
    expectSeenBy(crowd, camera, vertices, k);
    levelsOf(crowd).dissolve = levelFade;
  });
  Object.assign(orderOf(crowd), { maxVisible, maxTriangles });
}

function expectSeenBy(
  crowd: SkinnedInstancedMesh,
  camera: PerspectiveCamera,
  vertices: ReadonlyMap<number, readonly Vector3[]>,
  k: number,
): void {
  const { seen, levels, drawnBy } = seenBy(crowd, camera);
  for (const [id, own] of vertices) {
    const at = levelsAt(crowd, id, camera);
    if (at === null) continue;
    const { allowed, needed } = at;
    const isInPicture = own.some((vertex) => {
      _at.copy(vertex).applyMatrix4(crowd.matrixWorld).project(camera);
      return Math.max(Math.abs(_at.x), Math.abs(_at.y), Math.abs(_at.z)) < 0.999;
    });
    const isDrawn = allowed.every((level) => isDrawnAt(crowd, level));
    const what = `${id} of camera ${k}, level ${allowed}`;
    if (isInPicture && isDrawn && !seen.has(id)) throw new Error(`${what}, is in the picture and not drawn`);
    if (!seen.has(id)) continue;
    const mesh = meshOf(crowd, id);
    const drawn = [...drawnBy].filter(([, ids]) => ids.has(id)).map(([one]) => one);
    if (drawn.some((one) => one !== mesh) || (mesh !== crowd && drawn.length === 0))
      throw new Error(`${what}, is drawn by ${drawn.map((one) => one.type)} and not by ${mesh.type}`);
    if (mesh !== crowd) continue;
    const listed = levels.flatMap((ids, level) => (ids.has(id) ? [level] : []));
    const missing = needed.filter((level) => isDrawnAt(crowd, level) && !listed.includes(level));
    if (listed.every((level) => allowed.includes(level)) && listed.length > 0 && missing.length === 0)
      continue;
    throw new Error(`${what}, is drawn at ${listed}`);
  }
}

const isDrawnAt = (crowd: SkinnedInstancedMesh, level: number): boolean =>
  levelsOf(crowd).levels[level]?.object != null;

/** Who is drawn for a camera, and who at each level at which something is. */
function seenBy(crowd: SkinnedInstancedMesh, camera: PerspectiveCamera) {
  const { levels } = levelsOf(crowd);
  const view = crowd.views.of(camera, crowd.matrixWorld, frame++);
  const idsBy = (mesh: CrowdMesh | null) => new Set(mesh === null ? [] : idsOf(view.of(mesh.list)));
  return {
    seen: new Set(idsOf(view.of())),
    levels: levels.map(({ object }) => idsBy(object as CrowdMesh | null)),
    drawnBy: new Map(meshesOf(crowd).map((mesh) => [mesh, idsBy(mesh)])),
  };
}

/** An entry has behind the id, as a fraction, which pixels are drawn; an id may be in the lists of two levels. */
function idsOf({ list, count, start = 0 }: View): number[] {
  return Array.from({ length: count }, (_, i) => Math.floor(list.get(start + i)));
}

/** Levels at which an instance may be drawn, and at which it has to be; null at the very border of one. */
function levelsAt(
  crowd: SkinnedInstancedMesh,
  id: number,
  camera: PerspectiveCamera,
): { allowed: number[]; needed: number[] } | null {
  const { spheres } = crowd.views.groups;
  const { levels, dissolve } = levelsOf(crowd);
  _middle.fromArray(spheres, id * 4).applyMatrix4(crowd.matrixWorld);
  let distance = _middle.distanceTo(_eye.setFromMatrixPosition(camera.matrixWorld));
  if (levels.length > 1 && levels[1].screenShare !== null) {
    // In half heights of the picture.
    const { halfHeight } = crowd.views.splitter as LevelTable;
    const half = spheres[id * 4 + 3] * halfHeight * crowd.matrixWorld.getMaxScaleOnAxis();
    distance /= half * camera.projectionMatrix.elements[5];
  }
  const starts = levels.map(({ distance: from, screenShare }) =>
    screenShare === null ? from : 1 / screenShare,
  );
  if (starts.some((start) => Math.abs(distance - start) < NEARLY * start)) return null;
  const level = starts.filter((start, i) => i > 0 && start < distance).length;
  const next = starts[level + 1];
  if (next === undefined) return { allowed: [level], needed: [level] };
  const both = [level, level + 1];
  if (dissolve === 0) {
    const isKept = distance > next * (1 - levels[level + 1].hysteresis - NEARLY);
    return isKept ? { allowed: both, needed: [] } : { allowed: [level], needed: [level] };
  }
  const from = Math.max(next * (1 - dissolve), starts[level]);
  if (distance < from - NEARLY * next) return { allowed: [level], needed: [level] };
  // In the first step of many it has not begun.
  const isWithin = distance > from + (next - from) / 32;
  return { allowed: both, needed: isWithin ? both : [level] };
}
