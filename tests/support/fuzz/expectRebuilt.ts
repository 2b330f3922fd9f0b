import { type Box3, PerspectiveCamera, Vector3 } from 'three';
import { expect } from 'vitest';
import type { CharacterMesh, SkinnedInstancedMesh } from '../library.js';
import type { CrowdProgram } from './CrowdProgram.js';
import { rebuilt } from './rebuilt.js';

/** Share of a position, or scene units below 1, by which sums of float32 may differ that were added in another order. */
const TOLERANCE = 2e-5;
const EVENTS = ['loop', 'finished', 'marker'] as const;
const DELTAS = [1 / 16, 0.5, 0.25];

/**
 * Expects the crowd of a program to be, to happen and to be seen as one made from scratch that is given what it has: whatever
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
  expectSeen(crowd, fresh.crowd);
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

/** Bounds may be larger than they need be, so that more may be seen than of a new crowd, and never less. */
function expectSeen(crowd: SkinnedInstancedMesh, fresh: SkinnedInstancedMesh): void {
  if (crowd.maxVisible < Infinity) return;
  for (let k = 0; k < 3; k++) {
    const camera = new PerspectiveCamera(30 + k * 10, 1, 0.1, 40);
    camera.position.set(3 * k, 1, 8 - 6 * k);
    camera.lookAt(k, 0, 0);
    camera.updateMatrixWorld();
    const [seen, expected] = [seenBy(crowd, camera), seenBy(fresh, camera)];
    expect(seen).toEqual(expect.arrayContaining(expected));
  }
}

/** Who is drawn for a camera, each with its level. */
function seenBy(crowd: SkinnedInstancedMesh, camera: PerspectiveCamera): string[] {
  crowd.updateMatrixWorld();
  const views = crowd.views.of(camera, crowd.matrixWorld, -1);
  return crowd.levels.flatMap(({ object }, level) => {
    if (object === null) return [];
    const { list, count, isWhole = false } = views.of(level);
    return Array.from({ length: count }, (_, i) => `${isWhole ? i : list.get(i)} at ${level}`);
  });
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
