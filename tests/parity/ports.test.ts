import { Group, type PerspectiveCamera, type Scene } from 'three';
import { describe, expect, test } from 'vitest';
import { TWINS } from '../support/captures.js';
import { useDrawing } from '../support/drawings.js';
import { expectSamePicture } from '../support/expectSamePicture.js';

/** Share of the pixels that characters cover, with their shadows, that may differ. */
const BOUND = 0.001;
/** Seconds; clips end in the middle of one, not where rounding decides in which. */
const STEP = 0.01639;
const COUNT = 12;

interface Running {
  scene: Scene;
  camera: PerspectiveCamera;
  update(delta: number): unknown;
  unmount?(): Promise<void>;
}

async function react(
  load: Promise<Record<string, React.FunctionComponent<{ count: number }>>>,
): Promise<Running> {
  const { reactProgram } = await import('../ports/lib/reactProgram.js');
  const [Component] = Object.values(await load);
  return reactProgram(Component, COUNT);
}

describe.each(TWINS)('%s', (twin) => {
  const drawing = useDrawing(twin);

  test('a program of react-three-fiber and its port show the same', async () => {
    const sides = [
      await react(import('../ports/enemies/skinnedMesh.js')),
      await react(import('../ports/enemies/instances.js')),
    ];
    const js = [0, 0];
    const draws = [0, 0];
    for (const [moment, steps] of [40, 70, 60].entries()) {
      const pictures: Uint8Array[] = [];
      for (const [i, { scene, camera, update }] of sides.entries()) {
        for (let step = 0; step < steps; step++) {
          const start = performance.now();
          await update(STEP);
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
      expectSamePicture(`${moment}, ${twin}`, pictures[0], pictures[1], empty, BOUND);
    }
    const ms = js.map((time) => (time / 170).toFixed(2)).join(' → ');
    const calls = twin === 'GLSL' ? `${draws.join(' → ')} draw calls, ` : '';
    console.log(`${twin}: ${calls}${ms} ms a step`);
    if (twin === 'GLSL') expect(draws[1]).toBeLessThan(draws[0]);
    for (const { unmount } of sides) await unmount?.();
  });
});
