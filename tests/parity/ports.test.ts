import { Group, type PerspectiveCamera, type Scene } from 'three';
import { describe, expect, test } from 'vitest';
import { TWINS } from '../support/captures.js';
import { useDrawing } from '../support/drawings.js';
import { expectSamePicture } from '../support/expectSamePicture.js';

/** Share of the pixels that characters cover, with their shadows, that may differ. */
const BOUND = 0.001;
/** A warp's way is exact here; three.js adds up the speed at the end of each frame, be it as short as these. */
const WARP_BOUND = 0.03;
/** Seconds; clips end in the middle of one, not where rounding decides in which. */
const STEP = 0.01639;
const COUNT = 12;

interface Running {
  scene: Scene;
  camera: PerspectiveCamera;
  update(delta: number): unknown;
  unmount?(): Promise<void>;
}

type Create = (count: number) => Running | Promise<Running>;

async function react(
  load: Promise<Record<string, React.FunctionComponent<{ count: number }>>>,
): Promise<Create> {
  const { reactProgram } = await import('../ports/lib/reactProgram.js');
  const [Component] = Object.values(await load);
  return (count) => reactProgram(Component, count);
}

const first = async (load: Promise<Record<string, Create>>) => Object.values(await load)[0];

/** Both versions of each program. */
const PORTS: Record<string, () => Promise<Create>[]> = {
  guards: () => [
    first(import('../ports/guards/skinnedMesh.js')),
    first(import('../ports/guards/instances.js')),
  ],
  duel: () => [first(import('../ports/duel/skinnedMesh.js')), first(import('../ports/duel/instances.js'))],
  runners: () => [
    first(import('../ports/runners/skinnedMesh.js')),
    first(import('../ports/runners/instances.js')),
  ],
  enemies: () => [
    react(import('../ports/enemies/skinnedMesh.js')),
    react(import('../ports/enemies/instances.js')),
  ],
};

describe.each(TWINS)('%s', (twin) => {
  const drawing = useDrawing(twin);

  test.each(Object.keys(PORTS))('the program "%s" and its port show the same', async (name) => {
    const creates = await Promise.all(PORTS[name]());
    const sides: Running[] = [];
    for (const create of creates) sides.push(await create(COUNT));
    const [parts, bound] = name === 'runners' ? [16, WARP_BOUND] : [1, BOUND];
    const js = [0, 0];
    const draws = [0, 0];
    for (const [moment, steps] of [40, 70, 60].entries()) {
      const pictures: Uint8Array[] = [];
      for (const [i, { scene, camera, update }] of sides.entries()) {
        for (let step = 0; step < steps; step++) {
          const start = performance.now();
          for (let part = 0; part < parts; part++) await update(STEP / parts);
          scene.updateMatrixWorld();
          js[i] += performance.now() - start;
        }
        camera.updateProjectionMatrix();
        camera.updateMatrixWorld();
        pictures.push(await drawing.draw(scene, camera, new Group()));
        draws[i] = drawing.renderer.info.render.calls;
      }
      const [{ scene, camera }] = sides;
      const { children } = scene;
      scene.children = children.slice(0, 4);
      const empty = await drawing.draw(scene, camera, new Group());
      scene.children = children;
      expectSamePicture(`${name}, ${moment}, ${twin}`, pictures[0], pictures[1], empty, bound);
    }
    const ms = js.map((time) => (time / 170).toFixed(2)).join(' → ');
    const calls = twin === 'GLSL' ? `${draws.join(' → ')} draw calls, ` : '';
    console.log(`${name}, ${twin}: ${calls}${ms} ms a step`);
    if (twin === 'GLSL') expect(draws[1]).toBeLessThan(draws[0]);
    for (const { unmount } of sides) await unmount?.();
  });
});
