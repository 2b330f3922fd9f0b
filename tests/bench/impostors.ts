import 'skinned-instanced-mesh/webgpu';
import { MeshoptSimplifier } from 'meshoptimizer';
import {
  bakeCharacter,
  CrowdLevels,
  getViewInfo,
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
/** Of minutes, with a software renderer. */
const ROUNDS = 2;
const SIZE = { width: 960, height: 540 };
/** Degrees of the camera, pixels that figures of the first row are tall, and heights between figures: the 10,000th is 16 pixels tall, the last 5. */
const FIELD = 30;
const TALLEST = 60;
const SPACING = 0.4;

export interface ImpostorRow {
  name: string;
  /** All that are drawn. */
  triangles: number;
  /** Milliseconds of a frame, the least of all rounds. */
  frame: number;
  js: number;
  bytes: number;
}

/**
 * Frames of a crowd of which all are drawn as the coarsest mesh, and in which all but the nearest are impostors.
 *
 * @param near How many are meshes.
 */
export async function measureImpostors(
  kind: string,
  model: string,
  count: number,
  near: number,
): Promise<ImpostorRow[]> {
  await MeshoptSimplifier.ready;
  const created = await createRenderer(kind, { antialias: false });
  const { renderer } = created;
  renderer.setSize(SIZE.width, SIZE.height);
  document.body.append(renderer.domElement);
  const finish = finisher(created);
  const { root, clips } = model === 'built-in' ? createCharacter() : await loadModel(model);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips.slice(0, CLIPS)), count);
  const [, y0, , , y1] = crowd.boneTexture.data.restBounds;
  const height = y1 - y0;
  const first = (height * SIZE.height) / (2 * Math.tan((FIELD * Math.PI) / 360) * TALLEST);
  const step = SPACING * height;
  const width = 1.8 * Math.tan((FIELD * Math.PI) / 360) * (SIZE.width / SIZE.height);
  const matrix = new Matrix4();
  let z = first;
  let border = first;
  for (let i = 0; i < count; z += step) {
    const inRow = Math.floor((z * width) / step);
    if (i <= near) border = z;
    for (let k = 0; k < inRow && i < count; k++, i++)
      crowd.setMatrixAt(i, matrix.makeRotationY(i * 2.4).setPosition((k - inRow / 2) * step, 0, -z));
  }
  crowd.playAll((i) => i % CLIPS, { time: (i) => i % 7 });
  const sun = new DirectionalLight(0xffffff, 2);
  sun.position.set(1, 2, 1);
  const scene = new Scene().add(sun, new HemisphereLight(0xffffff, 0x888888, 2), crowd);
  const camera = new PerspectiveCamera(FIELD, SIZE.width / SIZE.height, 0.1, z * 2);
  camera.position.y = first * 0.45;
  camera.lookAt(0, 0, -4 * first);

  const { geometry } = crowd;
  const all = (geometry.index?.count ?? geometry.getAttribute('position').count) / 3;
  const coarse = simplifyGeometry(geometry, Math.min(1, COARSE / all), MeshoptSimplifier);
  const levels = new CrowdLevels(crowd);
  levels.add(coarse.geometry, 1e-3);
  const time = async (name: string, bytes: number): Promise<ImpostorRow> => {
    crowd.count = 1;
    renderer.render(scene, camera);
    crowd.count = count;
    const frames: number[] = [];
    const scripts: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      crowd.update(1 / 30);
      const start = performance.now();
      renderer.render(scene, camera);
      scripts.push(performance.now() - start);
      await finish();
      frames.push(performance.now() - start);
    }
    const [, meshes = 0, impostors = 0] = getViewInfo(crowd, camera)?.levels ?? [];
    const triangles = meshes * coarse.triangles + impostors * 2;
    const label = `${name}: ${meshes} meshes, ${impostors} impostors`;
    return { name: label, triangles, frame: Math.min(...frames), js: Math.min(...scripts), bytes };
  };
  const drawn = [await time('coarsest mesh', 0)];
  const impostor = levels.add(new Impostor(), border);
  crowd.count = 1;
  while (!impostor.isReady) renderer.render(scene, camera);
  drawn.push(await time('with impostors', impostor.byteLength));
  crowd.dispose();
  renderer.dispose();
  return drawn;
}
