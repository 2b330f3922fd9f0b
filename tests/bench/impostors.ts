import { MeshoptSimplifier } from 'meshoptimizer';
import {
  bakeCharacter,
  CrowdLevels,
  Impostor,
  SkinnedInstancedMesh,
  simplifyGeometry,
} from 'skinned-instanced-mesh';
import { DirectionalLight, HemisphereLight, Matrix4, PerspectiveCamera, Scene } from 'three';
import { finisher } from '../../demos/benchmark/measure.js';
import { createCharacter } from '../../demos/character.js';
import { createRenderer } from '../../demos/lib/createRenderer.js';
import { loadModel } from '../support/models.js';

/** Triangles of the coarsest mesh, about. */
const COARSE = 500;
const CLIPS = 4;
const ROUNDS = 3;
const SIZE = { width: 960, height: 540 };
/** Degrees of the camera, and how many pixels tall figures in the first and in the last row are. */
const FIELD = 30;
const TALL = { first: 28, last: 14 };

export interface ImpostorRow {
  name: string;
  triangles: number;
  /** Milliseconds of a frame, the least of all rounds. */
  frame: number;
  js: number;
  bytes: number;
}

/** Frames of a crowd that is far away, as the coarsest mesh and as impostors. */
export async function measureImpostors(model: string, count: number): Promise<ImpostorRow[]> {
  await MeshoptSimplifier.ready;
  const created = await createRenderer('webgl', { antialias: false });
  const { renderer } = created;
  renderer.setSize(SIZE.width, SIZE.height);
  document.body.append(renderer.domElement);
  const finish = finisher(created);
  const { root, clips } = model === 'built-in' ? createCharacter() : await loadModel(model);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips.slice(0, CLIPS)), count);
  const [, y0, , , y1] = crowd.boneTexture.data.restBounds;
  const height = y1 - y0;
  const pixels = (height * SIZE.height) / (2 * Math.tan((FIELD * Math.PI) / 360));
  const [near, far] = [pixels / TALL.first, pixels / TALL.last];
  // Rows that widen with the view, so that all are seen.
  const rows = Math.ceil(Math.sqrt(count));
  const widest = Math.tan((FIELD * Math.PI) / 360) * (SIZE.width / SIZE.height) * 1.8;
  const matrix = new Matrix4();
  for (let i = 0; i < count; i++) {
    const distance = near + ((far - near) * Math.floor(i / rows)) / rows;
    const x = (((i % rows) + 0.5) / rows - 0.5) * distance * widest;
    crowd.setMatrixAt(i, matrix.makeRotationY(i * 2.4).setPosition(x, 0, -distance * 0.95));
  }
  crowd.playAll((i) => i % CLIPS, { time: (i) => i % 7 });
  const sun = new DirectionalLight(0xffffff, 2);
  sun.position.set(1, 2, 1);
  const scene = new Scene().add(sun, new HemisphereLight(0xffffff, 0x888888, 2), crowd);
  const camera = new PerspectiveCamera(FIELD, SIZE.width / SIZE.height, 0.1, far * 2);
  camera.position.y = near * 0.3;
  camera.lookAt(0, 0, -(near + far) / 2);

  const { geometry } = crowd;
  const all = (geometry.index?.count ?? geometry.getAttribute('position').count) / 3;
  const coarse = simplifyGeometry(geometry, Math.min(1, COARSE / all), MeshoptSimplifier);
  const levels = new CrowdLevels(crowd);
  const time = async (name: string, triangles: number, bytes: number): Promise<ImpostorRow> => {
    const frames: number[] = [];
    const scripts: number[] = [];
    for (let round = -1; round < ROUNDS; round++) {
      crowd.update(1 / 30);
      const start = performance.now();
      renderer.render(scene, camera);
      const js = performance.now() - start;
      await finish();
      if (round < 0) continue;
      scripts.push(js);
      frames.push(performance.now() - start);
    }
    return { name, triangles, frame: Math.min(...frames), js: Math.min(...scripts), bytes };
  };
  const mesh = levels.add(coarse.geometry, { screenShare: 1e3 });
  const drawn = [await time('coarsest mesh', coarse.triangles, 0)];
  levels.remove(mesh);
  const impostor = levels.add(new Impostor(), { screenShare: 1e3 });
  crowd.count = 1;
  while (!impostor.isReady) renderer.render(scene, camera);
  crowd.count = count;
  drawn.push(await time('impostors', 2, impostor.byteLength));
  crowd.dispose();
  renderer.dispose();
  return drawn;
}
