import { Matrix4, MeshBasicMaterial, PerspectiveCamera, Scene, WebGLRenderer } from 'three';
import { describe, expect, test } from 'vitest';
import { createNodeRenderer, TWINS, type Twin } from '../support/captures.js';
import { createKnight } from '../support/knight.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { changedPixels, picture } from '../support/pictures.js';

const COUNT = 40;
/** From here on instances are posed less often. */
const FAR = 30;

function createCrowd(rate: number) {
  const { root, clips } = createKnight();
  const crowd = SkinnedInstancedMesh.from(root, clips, COUNT, { encoding: 'tracks' });
  crowd.material = new MeshBasicMaterial();
  for (let i = 0; i < COUNT; i++) {
    crowd.setMatrixAt(i, new Matrix4().setPosition(((i % 8) - 3.5) * 1.2, 0, -Math.floor(i / 8)));
  }
  crowd.playAll((i) => i % clips.length, { time: (i) => i * 0.1 });
  crowd.addLevel(crowd.geometry, FAR, 0, { poseRate: rate });
  crowd.update(0.5);
  return crowd;
}

/** A camera in front of the crowd. */
function createCamera(distance: number) {
  const camera = new PerspectiveCamera(800 / distance, 1, 0.1, 1000);
  camera.position.set(0, 1, distance);
  camera.updateMatrixWorld();
  return camera;
}

type Draw = (camera: PerspectiveCamera, crowd: SkinnedInstancedMesh) => Promise<Uint8Array>;

async function drawingOf(twin: Twin): Promise<{ renderer: object; draw: Draw; dispose(): void }> {
  const scene = new Scene();
  if (twin === 'GLSL') {
    const renderer = new WebGLRenderer();
    return {
      renderer,
      draw: async (camera, crowd) => picture(renderer, scene, camera, crowd),
      dispose: () => renderer.dispose(),
    };
  }
  const { pictureNodes } = await import('../support/picturesNodes.js');
  const renderer = await createNodeRenderer(twin);
  return {
    renderer,
    draw: (camera, crowd) => pictureNodes(renderer, scene, camera, crowd),
    dispose: () => renderer.dispose(),
  };
}

// The WebGL 2 backend of WebGPURenderer poses all instances.
describe.each(TWINS.filter((twin) => twin !== 'TSL on WebGL 2'))('%s', (twin) => {
  test('far instances keep their poses, and have those of the moment in the frame in which they come near', async () => {
    const { renderer, draw, dispose } = await drawingOf(twin);
    const crowd = createCrowd(0.001);
    const other = createCrowd(0);
    const far = createCamera(100);
    const near = createCamera(15);
    const first = await draw(far, crowd);
    expect(changedPixels(first, await draw(far, other), 0)).toBe(0);
    // What changed at the time of a frame may have changed after it.
    for (const one of [crowd, other]) one.update(0.001);
    await draw(far, crowd);
    for (const one of [crowd, other]) one.update(0.3);
    const kept = await draw(far, crowd);
    expect(changedPixels(kept, first, 8), 'far').toBeLessThan(30);
    expect(changedPixels(await draw(far, other), first, 8), 'far, in every frame').toBeGreaterThan(100);
    expect((await crowd.readViewInfo(renderer, far)).posed, 'far').toBe(0);
    const came = await draw(near, crowd);
    expect(changedPixels(came, await draw(near, other), 0), 'near').toBe(0);
    expect((await crowd.readViewInfo(renderer, near)).posed, 'near').toBe(COUNT);

    // One that starts something else is posed at once.
    for (let frame = 0; frame < 5; frame++) {
      crowd.update(0.1);
      await draw(far, crowd);
    }
    crowd.play(3, 1, { time: 0.4 });
    crowd.update(0.001);
    await draw(far, crowd);
    expect((await crowd.readViewInfo(renderer, far)).posed, 'started').toBe(1);
    crowd.dispose();
    other.dispose();
    dispose();
  });

  test('the lower of the rates of an instance and its level holds, and the highest of two cameras', async () => {
    const { renderer, draw, dispose } = await drawingOf(twin);
    const crowd = createCrowd(10);
    crowd.setPoseRateAt({ start: 0, count: COUNT / 2 }, 0.001);
    const far = createCamera(100);
    const near = createCamera(15);
    const posedIn = async (frames: number, ...cameras: PerspectiveCamera[]): Promise<number> => {
      let posed = 0;
      for (let frame = 0; frame < frames; frame++) {
        crowd.update(1 / 40);
        for (const camera of cameras) await draw(camera, crowd);
        posed += (await crowd.readViewInfo(renderer, cameras[0])).posed ?? 0;
      }
      return posed;
    };
    await posedIn(2, far);
    // Half of them ten times in a second, the others not at all.
    expect(await posedIn(40, far)).toBe((COUNT / 2) * 10);
    expect(await posedIn(4, near)).toBe((COUNT / 2) * 4);
    expect(await posedIn(4, near, far)).toBe((COUNT / 2) * 4);
    crowd.levels[0].poseRate = 20;
    await posedIn(4, near);
    expect(await posedIn(4, near)).toBe((COUNT / 2) * 2);
    crowd.dispose();
    dispose();
  });
});
