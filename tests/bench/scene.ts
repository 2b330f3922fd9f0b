import { CrowdLevels, getViewInfo, type SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import { addLevelsOf, bakedCharactersOf, SkinnedInstancedMeshExtension } from 'skinned-instanced-mesh/files';
import { DirectionalLight, HemisphereLight, MathUtils, Matrix4, PerspectiveCamera, Scene } from 'three';
import { MeshoptDecoder } from 'three/addons/libs/meshopt_decoder.module.js';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { finisher } from '../../demos/benchmark/measure.js';
import { createRenderer } from '../../demos/lib/createRenderer.js';
import { leaveDrawsOut } from './leaveDrawsOut.js';

const COUNT = 10_000;
const FRAMES = 60;
const SIZE = { width: 1280, height: 720 };
const FIELD = 40;
/** Units from one to the next, and from the camera to the first row. */
const SPACING = 2;
const FIRST = 12;

export interface SceneRow {
  name: string;
  levels: number[];
  triangles: number;
  shadowTriangles: number;
  /** Of the crowd, the shadow map's included. */
  draws: number;
  /** Milliseconds of JavaScript in a frame. */
  js: number;
  /** Milliseconds of a frame until the GPU has drawn it; null where draws are left out. */
  frame: number | null;
}

/** Of a machine that does other things too. */
const lowerQuartile = (times: number[]) => times.sort((a, b) => a - b)[times.length >> 2];

/**
 * An army as people make it: 10,000 knights of a baked file with its levels of detail, all before a camera that turns, under a sun
 * with a shadow map; and without levels. @param draws Whether draw calls are made: a software renderer takes minutes.
 */
export async function measureScene(kind: string, draws: boolean): Promise<SceneRow[]> {
  const created = await createRenderer(kind, { antialias: false });
  const { renderer } = created;
  const { SkinnedInstancedMesh: Crowd } =
    kind === 'webgpu'
      ? await import('skinned-instanced-mesh/webgpu')
      : await import('skinned-instanced-mesh');
  if (!draws) leaveDrawsOut(created);
  renderer.setSize(SIZE.width, SIZE.height);
  renderer.shadowMap.enabled = true;
  document.body.append(renderer.domElement);
  const finish = finisher(created);
  const loader = new GLTFLoader().setMeshoptDecoder(MeshoptDecoder);
  loader.register((parser) => new SkinnedInstancedMeshExtension(parser));
  const [character] = bakedCharactersOf(await loader.loadAsync('/demos/art/knight.glb'));

  const place = (crowd: SkinnedInstancedMesh): number => {
    const wide = 1.9 * Math.tan(MathUtils.degToRad(FIELD / 2)) * (SIZE.width / SIZE.height);
    const matrix = new Matrix4();
    let z = FIRST;
    for (let i = 0; i < COUNT; z += SPACING) {
      const row = Math.floor((z * wide) / SPACING);
      for (let k = 0; k < row && i < COUNT; k++, i++)
        crowd.setMatrixAt(i, matrix.makeTranslation((k - row / 2) * SPACING, 0, -z));
    }
    crowd.playAll((i) => ['Idle', 'Walking_A', 'Running_A'][i % 3], { time: (i) => i * 0.37 });
    crowd.castShadow = crowd.receiveShadow = true;
    return z;
  };

  const rows: SceneRow[] = [];
  for (const name of ['with levels', 'without']) {
    const crowd = new Crowd(character, COUNT);
    if (name !== 'without') addLevelsOf(character, new CrowdLevels(crowd, { shadowLevel: 1 }));
    const far = place(crowd);
    const sun = new DirectionalLight(0xffffff, 2);
    sun.position.set(far / 2, far, -far / 4);
    sun.target.position.set(0, 0, -far / 2);
    Object.assign(sun.shadow.camera, { left: -far, right: far, top: far, bottom: -far, far: 3 * far });
    sun.castShadow = true;
    const scene = new Scene().add(sun, sun.target, new HemisphereLight(0xffffff, 0x888888, 2), crowd);
    const camera = new PerspectiveCamera(FIELD, SIZE.width / SIZE.height, 0.1, 2 * far);
    camera.position.y = 6;
    const js: number[] = [];
    const frame: number[] = [];
    for (let i = -10; i < FRAMES; i++) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      camera.rotation.y = 0.02 * Math.sin(i / 10);
      const start = performance.now();
      crowd.update(1 / 60);
      renderer.render(scene, camera);
      const end = performance.now();
      await finish();
      if (i < 0) continue;
      js.push(end - start);
      frame.push(performance.now() - start);
    }
    const [seen, lit] = [camera, sun.shadow.camera].map((one) => getViewInfo(crowd, one)!);
    rows.push({
      name,
      levels: seen.levels,
      triangles: seen.triangles,
      shadowTriangles: lit.triangles,
      draws: seen.drawCalls + lit.drawCalls,
      js: lowerQuartile(js),
      frame: draws ? lowerQuartile(frame) : null,
    });
    crowd.dispose();
  }
  renderer.dispose();
  return rows;
}
