import { type Camera, Sphere, Vector3 } from 'three';
import { ALL_LEVELS, FADE_CODES, FADE_NEAR, FADE_STEPS } from '../../lib/constants.js';
import type { View } from '../../lib/culling/InstanceList.js';
import { levelsOf } from './levels.js';
import type { SkinnedInstancedMesh } from './library.js';

/** All pixels of an instance: a bit for each of 64 thresholds. */
export const ALL_PIXELS: bigint = (1n << 64n) - 1n;

let frame = 0;

/** What a camera sees of a crowd in the next frame; of a light's camera `viewer` is who the frame is drawn for. */
const viewOf = (crowd: SkinnedInstancedMesh, camera: Camera, viewer?: Camera) => {
  crowd.updateMatrixWorld();
  return crowd.views.of(camera, crowd.matrixWorld, frame++, viewer);
};

const entriesOf = ({ count, list, start = 0 }: View): number[] =>
  Array.from({ length: count }, (_, i) => list.get(start + i));

const idsOf = (view: View): number[] => entriesOf(view).map(Math.trunc);

/** Who is drawn for a camera. */
export const drawnFor = (crowd: SkinnedInstancedMesh, camera: Camera, viewer?: Camera): number[] =>
  idsOf(viewOf(crowd, camera, viewer).of(ALL_LEVELS, true));

/** The same, in the order of sorted crowds. */
export const sortedFor = (crowd: SkinnedInstancedMesh, camera: Camera, farFirst = false): number[] =>
  idsOf(viewOf(crowd, camera).inOrder(ALL_LEVELS, farFirst, crowd.matrixWorld, crowd.views));

/** Who is drawn at each level. */
export const levelsFor = (crowd: SkinnedInstancedMesh, camera: Camera, viewer?: Camera): number[][] => {
  const view = viewOf(crowd, camera, viewer);
  return levelsOf(crowd).levels.map(({ object }, level) =>
    object === null ? [] : idsOf(view.of(1 << level)),
  );
};

/** By level and id, the pixels that are drawn of an instance. */
export function pixelsFor(
  crowd: SkinnedInstancedMesh,
  camera: Camera,
  viewer?: Camera,
): Map<number, bigint>[] {
  const view = viewOf(crowd, camera, viewer);
  return levelsOf(crowd).levels.map(({ object }, level) => {
    const entries = object === null ? [] : entriesOf(view.of(1 << level));
    return new Map(
      entries.map((entry) => {
        const id = Math.trunc(entry);
        const fade = (entry - id) * FADE_CODES;
        const below = (1n << BigInt(fade % FADE_STEPS)) - 1n;
        return [id, fade === 0 ? ALL_PIXELS : fade < FADE_NEAR ? below : ALL_PIXELS ^ below] as const;
      }),
    );
  });
}

/** The sphere around an instance by which it is culled, in the world. */
export function sphereOf(crowd: SkinnedInstancedMesh, id: number): Sphere {
  const { spheres } = crowd.views.groups;
  return new Sphere(new Vector3().fromArray(spheres, id * 4), spheres[id * 4 + 3]).applyMatrix4(
    crowd.matrixWorld,
  );
}
