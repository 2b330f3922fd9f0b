import { type Box3, PerspectiveCamera, Vector3 } from 'three';
import { expect } from 'vitest';
import type { View } from '../../../lib/views/View.js';
import type { CharacterMesh, SkinnedInstancedMesh } from '../library.js';
import type { CrowdProgram } from './CrowdProgram.js';
import { rebuilt } from './rebuilt.js';

/** Share of a position, or scene units below 1, by which sums of float32 may differ that were added in another order. */
const TOLERANCE = 2e-5;
const EVENTS = ['loop', 'finished', 'marker'] as const;
const DELTAS = [1 / 16, 0.5, 0.25];

/**
 * Expects the crowd of a program to stand, and to have events, as one made from scratch that is given what it has, and cameras to see it: whatever
 * was called before must have left nothing behind. Advances the program's crowd by a second.
 */
export function expectRebuilt(program: CrowdProgram): void {
  const { crowd, ids, attached } = program;
  // A clip that was begun beyond its end says so in the next update, which its saved state does not.
  crowd.update(1 / 64);
  const fresh = rebuilt(program);
  fresh.crowd.updateMatrixWorld();
  expectClose(positions(crowd, ids), positions(fresh.crowd, ids), 'vertices');
  attached.forEach(({ mesh }, i) => {
    expectClose(positions(mesh, ids), positions(fresh.attached[i].mesh, ids), `attachment ${i}`);
  });
  expectInBounds(crowd, ids);
  expectSeen(crowd, ids);
  const [heard, expected] = [eventsOf(crowd), eventsOf(fresh.crowd)];
  // Events do not fire again after the clock was turned back.
  if (program.latest <= crowd.elapsed - 1) expect(heard).toEqual(expected);
  program.latest = Math.max(program.latest, crowd.elapsed);
  fresh.crowd.dispose();
}

/** Where five vertices of each instance are. */
function positions(mesh: CharacterMesh, ids: readonly number[]): number[] {
  const { count } = mesh.geometry.getAttribute('position');
  const at = new Vector3();
  return ids.flatMap((id) =>
    [0, 1, 2, 3, 4].flatMap((i) => mesh.getVertexPositionAt(id, Math.floor((i * count) / 5), at).toArray()),
  );
}

function expectClose(actual: readonly number[], expected: readonly number[], what: string): void {
  expect(actual.length, what).toBe(expected.length);
  actual.forEach((value, i) => {
    const within = TOLERANCE * Math.max(1, Math.abs(expected[i]));
    if (!(Math.abs(value - expected[i]) <= within)) {
      throw new Error(`${what}: number ${i} is ${value}, that of a new crowd ${expected[i]}`);
    }
  });
}

function expectInBounds(crowd: SkinnedInstancedMesh, ids: readonly number[]): void {
  crowd.computeBoundingBox();
  const box = (crowd.boundingBox as Box3).clone().expandByScalar(1e-3);
  const { count } = crowd.geometry.getAttribute('position');
  const at = new Vector3();
  for (const id of ids) {
    if (!crowd.getVisibleAt(id)) continue;
    for (let vertex = 0; vertex < count; vertex += 17) {
      crowd.getVertexPositionAt(id, vertex, at);
      if (!box.containsPoint(at)) throw new Error(`vertex ${vertex} of ${id} is outside of the bounds`);
    }
  }
}

/** Whoever has a vertex in the picture is drawn, unless it is so far away that nothing is. */
function expectSeen(crowd: SkinnedInstancedMesh, ids: readonly number[]): void {
  if (crowd.maxVisible < Infinity) return;
  crowd.updateMatrixWorld();
  const { count } = crowd.geometry.getAttribute('position');
  const at = new Vector3();
  for (let k = 0; k < 3; k++) {
    const camera = new PerspectiveCamera(30 + k * 10, 1, 0.1, 40);
    camera.position.set(3 * k, 1, 8 - 6 * k);
    camera.lookAt(k, 0, 0);
    camera.updateMatrixWorld();
    const seen = seenBy(crowd, camera);
    for (const id of ids) {
      if (!crowd.getVisibleAt(id) || seen.has(id)) continue;
      for (let vertex = 0; vertex < count; vertex += 17) {
        crowd.getVertexPositionAt(id, vertex, at).applyMatrix4(crowd.matrixWorld).project(camera);
        if (Math.max(Math.abs(at.x), Math.abs(at.y), Math.abs(at.z)) > 0.999) continue;
        throw new Error(`${id} is in the picture of camera ${k}, and not drawn`);
      }
    }
  }
}

/** Who is drawn for a camera, or is too far away to be. */
function seenBy(crowd: SkinnedInstancedMesh, camera: PerspectiveCamera): Set<number> {
  const views = crowd.views.of(camera, crowd.matrixWorld, -1);
  const { levels } = crowd.crowd;
  const seen = new Set<number>();
  for (const id of idsOf(views.of(null))) seen.add(id);
  if (levels.levels.every((_, level) => levels.isDrawn(level))) return seen;
  const eye = new Vector3().setFromMatrixPosition(camera.matrixWorld);
  const nothingFrom = Math.min(
    ...levels.levels.filter((_, i) => !levels.isDrawn(i)).map((one) => one.distance),
  );
  for (let id = 0; id < crowd.count; id++) {
    const at = new Vector3()
      .fromArray(crowd.instanceMatrix.array, id * 16 + 12)
      .applyMatrix4(crowd.matrixWorld);
    // From the middle of an instance, which is not where it stands.
    if (at.distanceTo(eye) > nothingFrom - 3) seen.add(id);
  }
  return seen;
}

function idsOf({ list, count, isWhole = false }: View): number[] {
  return Array.from({ length: count }, (_, i) => (isWhole ? i : list.get(i)));
}

/** What happens in some updates. */
function eventsOf(crowd: SkinnedInstancedMesh): string[] {
  const heard: string[] = [];
  const listen = ({ type, instanceId, clip }: { type: string; instanceId: number; clip: string }) => {
    heard.push(`${type} ${instanceId} ${clip}`);
  };
  for (const type of EVENTS) crowd.addEventListener(type, listen);
  for (const delta of DELTAS) crowd.update(delta);
  for (const type of EVENTS) crowd.removeEventListener(type, listen);
  return heard.sort();
}
