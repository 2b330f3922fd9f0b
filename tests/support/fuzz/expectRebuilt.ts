import { Vector3 } from 'three';
import { expect } from 'vitest';
import { levelsOf } from '../levels.js';
import type { CrowdMesh, SkinnedInstancedMesh } from '../library.js';
import { getVertexPosition } from '../library.js';
import type { CrowdProgram } from './CrowdProgram.js';
import { expectSeen } from './expectSeen.js';
import { meshOf } from './kinds.js';
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
  const drawnBy = (one: SkinnedInstancedMesh) => ids.flatMap((id) => positions(meshOf(one, id), [id]));
  expectClose(drawnBy(crowd), drawnBy(fresh.crowd), 'vertices');
  attached.forEach(({ mesh }, i) => {
    expectClose(positions(mesh, ids), positions(fresh.attached[i].mesh, ids), `attachment ${i}`);
  });
  const vertices = verticesOf(crowd, ids);
  expectInBounds(crowd, vertices);
  expectSeen(program, vertices);
  expect(levelNumbers(crowd)).toEqual(levelNumbers(fresh.crowd));
  const [heard, expected] = [eventsOf(crowd), eventsOf(fresh.crowd)];
  // Events do not fire again after the clock was turned back.
  if (program.latest <= crowd.elapsed - 1) expect(heard).toEqual(expected);
  program.latest = Math.max(program.latest, crowd.elapsed);
  fresh.crowd.dispose();
}

/** Where five vertices of each instance are. */
function positions(mesh: CrowdMesh, ids: readonly number[]): number[] {
  const { count } = mesh.geometry.getAttribute('position');
  const at = new Vector3();
  return ids.flatMap((id) =>
    [0, 1, 2, 3, 4].flatMap((i) => getVertexPosition(mesh, id, Math.floor((i * count) / 5), at).toArray()),
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

/** By id, vertices of each instance that is visible, in the crowd's space. */
function verticesOf(crowd: SkinnedInstancedMesh, ids: readonly number[]): Map<number, Vector3[]> {
  return new Map(
    ids
      .filter((id) => crowd.getVisibleAt(id))
      .map((id) => {
        const mesh = meshOf(crowd, id);
        const { count } = mesh.geometry.getAttribute('position');
        const vertices = Array.from({ length: Math.ceil(count / 17) }, (_, i) => i * 17);
        return [id, vertices.map((i) => getVertexPosition(mesh, id, i, new Vector3()))];
      }),
  );
}

/** Expects vertices to be within the bounds of the crowd and the sphere of their instance. */
function expectInBounds(
  crowd: SkinnedInstancedMesh,
  vertices: ReadonlyMap<number, readonly Vector3[]>,
): void {
  crowd.computeBoundingBox();
  crowd.computeBoundingSphere();
  const box = crowd.boundingBox!.clone().expandByScalar(1e-3);
  const sphere = crowd.boundingSphere!;
  crowd.views.updateGroups();
  const { spheres } = crowd.views.groups;
  const middle = new Vector3();
  for (const [id, own] of vertices) {
    const reach = spheres[id * 4 + 3] + 1e-3;
    middle.fromArray(spheres, id * 4);
    own.forEach((at, i) => {
      if (!box.containsPoint(at) || sphere.distanceToPoint(at) > 1e-3)
        throw new Error(`vertex ${i * 17} of ${id} is outside of the bounds`);
      if (at.distanceTo(middle) > reach)
        throw new Error(`vertex ${i * 17} of ${id} is outside of its sphere`);
    });
  }
}

/** What levels of detail have. */
function levelNumbers(crowd: SkinnedInstancedMesh): unknown[] {
  return levelsOf(crowd).levels.map(({ object, ...numbers }) => ({
    ...numbers,
    castShadow: object?.castShadow,
  }));
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
