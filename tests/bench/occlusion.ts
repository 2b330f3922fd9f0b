import { Occlusion } from 'skinned-instanced-mesh/occlusion';
import { bakeCharacter, readViewInfo, SkinnedInstancedMesh } from 'skinned-instanced-mesh/webgpu';
import { HemisphereLight, Matrix4, PerspectiveCamera, Scene } from 'three';
import type { WebGPURenderer } from 'three/webgpu';
import { finisher } from '../../demos/benchmark/measure.js';
import { createCharacter } from '../../demos/character.js';
import { City } from '../../demos/city/streets.js';
import { createRenderer } from '../../demos/lib/createRenderer.js';
import { load } from '../../demos/lib/loadCharacter.js';

export interface OcclusionRow {
  name: string;
  /** Instances that are drawn, and milliseconds of a frame and of its JavaScript in the median: without and with occlusion. */
  visible: [number, number];
  frame: [number, number];
  js: [number, number];
}

const SIZE = { width: 800, height: 500 };
const ROUNDS = 3;

/** Frames of the demo's city with and without occlusion, in turn, so that whatever else the machine does slows down both. */
export async function measureOcclusion(count: number): Promise<OcclusionRow[]> {
  const created = await createRenderer('webgpu', { antialias: false });
  const renderer = created.renderer as WebGPURenderer;
  renderer.setSize(SIZE.width, SIZE.height);
  document.body.append(renderer.domElement);
  const finish = finisher(created);
  const { scene: models } = await load(new URL('../../demos/art/city.glb', import.meta.url));
  const city = new City(models, 12);
  // A coarse figure: a software renderer takes seconds over whole ones.
  const { root, clips } = createCharacter({ detail: 0.4 });
  const occlusion = new Occlusion(city.occluders);
  const crowds = [null, occlusion].map((used) => {
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), count);
    for (let i = 0; i < count; i++) crowd.setMatrixAt(i, city.placeOf(i, 0, new Matrix4()));
    crowd.playAll('Walk', { time: (i) => i % 7 });
    used?.add(crowd);
    return crowd;
  });
  const scene = new Scene().add(new HemisphereLight(0xffffff, 0x888888, 3), city.object, ...crowds);
  const camera = new PerspectiveCamera(60, SIZE.width / SIZE.height, 0.1, 1500);
  const street = city.road(city.blocks / 2);
  const edge = city.size / 2;

  const draw = async (drawn: SkinnedInstancedMesh) => {
    // What hides instances is rendered once a frame.
    await new Promise((resolve) => requestAnimationFrame(resolve));
    for (const crowd of crowds) crowd.visible = crowd === drawn;
    drawn.update(1 / 60);
    const start = performance.now();
    renderer.render(scene, camera);
    const js = performance.now() - start;
    await finish();
    return { js, frame: performance.now() - start };
  };
  const rows: OcclusionRow[] = [];
  for (const [name, from, to] of [
    ['in a street', [street, 1.7, -edge * 0.6], [street + 1, 1.6, 0]],
  ] as const) {
    camera.position.fromArray(from);
    camera.lookAt(to[0], to[1], to[2]);
    camera.updateMatrixWorld();
    const row: OcclusionRow = { name, visible: [0, 0], frame: [0, 0], js: [0, 0] };
    const times = crowds.map(() => ({ js: [] as number[], frame: [] as number[] }));
    for (let round = -1; round < ROUNDS; round++) {
      for (const [i, crowd] of crowds.entries()) {
        const { js, frame } = await draw(crowd);
        // The first frame compiles, and poses who was not seen.
        if (round < 0) row.visible[i] = (await readViewInfo(crowd, renderer, camera)).visible;
        else {
          times[i].js.push(js);
          times[i].frame.push(frame);
        }
      }
    }
    times.forEach(({ js, frame }, i) => {
      row.js[i] = median(js);
      row.frame[i] = median(frame);
    });
    rows.push(row);
  }
  for (const owner of [...crowds, occlusion]) owner.dispose();
  renderer.dispose();
  return rows;
}

const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1];
