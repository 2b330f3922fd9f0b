import { Box3, Object3D, PerspectiveCamera, Vector3, type WebGLRenderer } from 'three';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { TWINS } from '../support/captures.js';
import { type Drawing, drawingOf } from '../support/drawings.js';
import { orderOf } from '../support/features.js';
import { CrowdProgram, KINDS, type Kind } from '../support/fuzz/CrowdProgram.js';
import { faceSomebody } from '../support/fuzz/faceSomebody.js';
import { texturesOf } from '../support/fuzz/figure.js';
import { rebuilt } from '../support/fuzz/rebuilt.js';
import { levelsOf } from '../support/levels.js';
import { loseContext, passOverLost, restoreContext } from '../support/loseContext.js';
import { aim, changedPixels, createStage } from '../support/pictures.js';
import { watchProblems } from '../support/problems.js';
import { NIGHTLY, THOROUGH } from '../support/thorough.js';

const STEPS = 15;
const ROUNDS = THOROUGH ? 3 : 2;
/** Of the first kind; each has its own. */
const SEED = 1;
/** Pixels that a crowd changes at least; fewer, and nothing to speak of was compared. */
const LEAST = 500;
/**
 * Shades of 255 by which pictures may differ. With the same calls, textures and values of WebGL, one pixel was a shade darker in
 * the first of two frames of a material that blends.
 */
const SHADES = 1;
const MIDDLE = new Box3(new Vector3(-3, 0, -3), new Vector3(3, 2, 3));

// The nodes of both backends of WebGPURenderer are the same.
const twins = TWINS.filter((twin) => twin !== 'TSL on WebGL 2');
if (twins.length > 1) await import('skinned-instanced-mesh/vertex-textures/webgpu');

function createCamera(): PerspectiveCamera {
  const camera = new PerspectiveCamera(35, 1, 0.1, 60);
  aim(camera, [0, 2, 7], [0, 0.8, 0]);
  return camera;
}

/** Whether what a camera sees of a crowd depends on what it saw before. */
function hasMemory({ crowd }: CrowdProgram): boolean {
  const isLimited = orderOf(crowd).maxVisible < Infinity || orderOf(crowd).maxTriangles < Infinity;
  return (
    isLimited ||
    (levelsOf(crowd).dissolve === 0 && levelsOf(crowd).levels.some(({ hysteresis }) => hysteresis > 0))
  );
}

/** Has everybody posed in each frame, so that no pose is that of an earlier one. */
function poseAll(program: CrowdProgram): void {
  const { crowd, levels, ids } = program;
  program.nearPoseRate = 0;
  for (const level of [...levels, ...levelsOf(crowd).levels]) level.poseRate = 0;
  for (const id of ids) crowd.setPoseRateAt(id, 0);
}

describe.each(twins)('%s', (twin) => {
  let drawing: Drawing;
  let other: Drawing;
  // Lights keep one shadow map, so that each renderer has lights of its own.
  const [stage, otherStage] = [0, 1].map(() => createStage(MIDDLE));
  beforeAll(async () => {
    drawing = await drawingOf(twin);
    if (twin === 'GLSL') passOverLost(drawing.renderer as WebGLRenderer);
    other = await drawingOf('GLSL');
  });
  afterAll(() => {
    drawing.dispose();
    other.dispose();
  });

  /** Runs a program, and draws its crowd by two renderers meanwhile. Returns what the first holds in the end. */
  async function run(kind: Kind, compare: boolean) {
    const { scene, camera } = stage;
    const problems = watchProblems(drawing.renderer);
    const program = new CrowdProgram(SEED + KINDS.indexOf(kind), kind);
    const steady = createCamera();
    for (let round = 0; round < ROUNDS; round++) {
      program.run(STEPS);
      if (compare && twin === 'GLSL' && round === ROUNDS - 1) {
        await loseContext(drawing.renderer as WebGLRenderer);
        program.run(STEPS);
        await restoreContext(drawing.renderer as WebGLRenderer);
        // That the context was lost is one.
        problems();
      }
      await drawing.draw(scene, steady, program.scene);
      await other.draw(otherStage.scene, steady, program.scene);
      if (compare) await expectSamePictures(program, steady);
      expect(problems(), program.log.join(', ')).toEqual([]);
    }
    problems.stop();
    program.dispose();
    for (const { source } of KINDS) for (const texture of texturesOf(source)) texture.dispose();
    await drawing.draw(scene, camera, new Object3D());
    const { geometries, textures } = drawing.renderer.info.memory;
    return { geometries, textures };
  }

  /** Expects the picture of a program's crowd, that of one made from scratch, and that with the other way of culling to be one. */
  async function expectSamePictures(program: CrowdProgram, steady: PerspectiveCamera): Promise<void> {
    const { scene } = stage;
    const camera = hasMemory(program) ? createCamera() : steady;
    faceSomebody(program, camera);
    poseAll(program);
    const empty = await drawing.draw(scene, camera, new Object3D());
    const picture = await drawing.draw(scene, camera, program.scene);
    const { crowd } = rebuilt(program);
    const expected = await drawing.draw(scene, camera, crowd);
    const calls = program.log.join(', ');
    expect(changedPixels(empty, picture), `somebody is seen, after ${calls}`).toBeGreaterThan(LEAST);
    expect(changedPixels(expected, picture, SHADES), `like a new crowd, after ${calls}`).toBe(0);
    if (orderOf(crowd).maxVisible === Infinity && orderOf(crowd).maxTriangles === Infinity) {
      crowd.perObjectFrustumCulled = !crowd.perObjectFrustumCulled;
      const culled = await drawing.draw(scene, camera, crowd);
      expect(changedPixels(culled, picture, SHADES), `culled or not, after ${calls}`).toBe(0);
    }
    crowd.dispose();
  }

  const turn = KINDS.filter((_, i) => (i % 2 === 0) === (twin === 'GLSL'));
  const kinds = NIGHTLY ? KINDS : THOROUGH ? turn : turn.slice(-1);
  test.each(kinds)('after random calls $source, merged $merged, are drawn as from scratch', async (kind) => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    await run(kind, true);
    if (!THOROUGH) return;
    // What all crowds share is there now.
    const before = await run(kind, false);
    expect(await run(kind, false)).toEqual(before);
  });
});
