import { type Camera, Group, type Mesh, type Object3D } from 'three';
import type { Drawing } from './drawings.js';
import { expectSamePicture } from './expectSamePicture.js';
import type { Pair } from './pair.js';
import { createStage, type LightKind } from './pictures.js';

/**
 * Share of the pixels that a character covers, with its shadow, that may differ. Measured: none for most, 5 of 7,203 for
 * the knight, whose shields lie one in another.
 */
export const BOUND = 0.0015;

/** Draws two objects on a stage, which must look the same. Returns the picture of the second. */
export async function expectSameDrawn(
  label: string,
  draw: Drawing['draw'],
  { scene, camera }: ReturnType<typeof createStage>,
  expected: Object3D,
  drawn: Object3D,
  bound = BOUND,
): Promise<Uint8Array> {
  const wanted = await draw(scene, camera, expected);
  const picture = await draw(scene, camera, drawn);
  expectSamePicture(label, wanted, picture, await draw(scene, camera, new Group()), bound);
  return picture;
}

/** What is compared: the character with its shadow, or that alone. */
export type Seen = 'all' | 'shadow alone';

/** Compares a character with three.js's on one stage. */
export async function comparePair(
  { draw }: Drawing,
  label: string,
  { reference, crowd, bounds }: Pair,
  light: LightKind,
  ...seen: Seen[]
): Promise<void> {
  const { scene, camera } = createStage(bounds, light);
  const empty = await draw(scene, camera, new Group());
  for (const what of seen.length > 0 ? seen : (['all'] as const)) {
    const drawn = (object: Object3D) =>
      what === 'all'
        ? draw(scene, camera, object)
        : unseen(object, camera, () => draw(scene, camera, object));
    expectSamePicture(
      `${label}, ${light}${what === 'all' ? '' : `, ${what}`}`,
      await drawn(reference.root),
      await drawn(crowd),
      empty,
      BOUND,
    );
  }
}

/**
 * Draws while a camera sees nothing of an object but its shadow. Its materials stay as they are: shaders are compiled anew
 * for one that writes no colours, and that takes longer than to draw.
 */
async function unseen<Drawn>(object: Object3D, camera: Camera, draw: () => Promise<Drawn>): Promise<Drawn> {
  const restore: (() => void)[] = [];
  object.traverse((node) => {
    const { geometry } = node as Mesh;
    if (geometry === undefined) return;
    const { onBeforeRender, onAfterRender } = node;
    const { start, count } = geometry.drawRange;
    // WebGPURenderer draws shadow maps in the middle of the first object that they fall on.
    const before: { start: number; count: number }[] = [];
    node.onBeforeRender = (...args) => {
      before.push({ ...geometry.drawRange });
      if (args[2] === camera) geometry.setDrawRange(0, 0);
      else geometry.setDrawRange(start, count);
      // Last: crowds take down there what they are about to draw.
      onBeforeRender.apply(node, args);
    };
    node.onAfterRender = (...args) => {
      Object.assign(geometry.drawRange, before.pop());
      onAfterRender.apply(node, args);
    };
    restore.push(() => Object.assign(node, { onBeforeRender, onAfterRender }));
  });
  try {
    return await draw();
  } finally {
    for (const one of restore) one();
  }
}
