import { MeshoptSimplifier } from 'meshoptimizer';
import type { Character, SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import {
  BoxGeometry,
  Color,
  DirectionalLight,
  HemisphereLight,
  InstancedMesh,
  type Material,
  MathUtils,
  Matrix4,
  type Mesh,
  MeshStandardMaterial,
  PerspectiveCamera,
  Scene,
  WebGLRenderer,
} from 'three';
import { CSM } from 'three/addons/csm/CSM.js';
import { loadCharacter } from '../../demos/lib/loadCharacter.js';
import { loadModel } from '../support/models.js';
import { leaveDrawsOut } from './leaveDrawsOut.js';

// The frame of a game: crowds with levels of detail and swords, some of whom move and begin to play; or still InstancedMeshes
// with as many draws. `?renderer=webgl&what=ours&lights=1&crowds=8&each=250&moves=25`

const query = new URLSearchParams(location.search);
const numberOf = (name: string, otherwise: number) => Number(query.get(name) ?? otherwise);
const lights = query.get('lights') ?? '1';
const isFloor = query.get('what') === 'floor';
const crowds = numberOf('crowds', 8);
const each = numberOf('each', 250);
const moves = numberOf('moves', 25);
const FIELD = 90;

// Nothing of the other renderer's, as on a page of users, and nothing that counts calls.
const isWebGPU = query.get('renderer') === 'webgpu';
const library = isWebGPU
  ? ((await import('skinned-instanced-mesh/webgpu')) as unknown as typeof import('skinned-instanced-mesh'))
  : await import('skinned-instanced-mesh');
const renderer = isWebGPU
  ? await new (await import('three/webgpu')).WebGPURenderer({ antialias: false }).init()
  : new WebGLRenderer({ antialias: false });
const draws = leaveDrawsOut({ gl: isWebGPU ? null : (renderer.getContext() as WebGL2RenderingContext) });
renderer.setSize(320, 180);
renderer.shadowMap.enabled = lights !== '0';
document.body.append(renderer.domElement);

const scene = new Scene().add(new HemisphereLight(0xffffff, 0x888888, 2));
const camera = new PerspectiveCamera(50, 16 / 9, 0.1, 300);
camera.position.set(0, 8, FIELD / 2);
scene.add(camera);
for (let i = 0; i < Number(lights); i++) {
  const sun = new DirectionalLight();
  sun.position.set(20 * i - 20, 80, 20);
  sun.castShadow = true;
  Object.assign(sun.shadow.camera, { left: -FIELD, right: FIELD, top: FIELD, bottom: -FIELD, far: 300 });
  scene.add(sun);
}
let csm: CSM | null = null;
if (lights === 'csm') {
  if (!isWebGPU) csm = new CSM({ camera, parent: scene, cascades: 3, maxFar: 200 });
  else {
    const { CSMShadowNode } = await import('three/addons/csm/CSMShadowNode.js');
    const sun = new DirectionalLight();
    sun.position.set(-20, 80, 20);
    sun.castShadow = true;
    sun.shadow.shadowNode = new CSMShadowNode(sun, { cascades: 3, maxFar: 200 });
    scene.add(sun, sun.target);
  }
}

const baked = async (name: string) => {
  const { root, clips } = await loadModel(name);
  return library.bakeCharacter(root, clips);
};
const SOURCES: (() => Promise<Character>)[] = [
  ...['CesiumMan', 'Horse', 'Knight', 'RobotExpressive'].map((name) => () => baked(`${name}.glb`)),
  ...['knight', 'rogue', 'villager', 'rogue'].map(
    (name) => () => loadCharacter(new URL(`../../demos/art/${name}.glb`, import.meta.url)),
  ),
];
await MeshoptSimplifier.ready;

const made: SkinnedInstancedMesh[] = [];
const floor: InstancedMesh[] = [];
const matrix = new Matrix4();
const color = new Color();

async function enlist(c: number): Promise<void> {
  const crowd = new library.SkinnedInstancedMesh(await SOURCES[c % 8](), each);
  crowd.computeBoundingSphere();
  const size = 1 / (crowd.boundingSphere?.radius ?? 1);
  for (let i = 0; i < each; i++) {
    const [x, z] = [1, 2].map((k) => FIELD * (MathUtils.seededRandom(k * (c * each + i + 1)) - 0.5));
    crowd.setMatrixAt(i, matrix.makeScale(size, size, size).setPosition(x, 0, z));
    crowd.setColorAt(i, color.setHSL(i / each, 0.4, 0.75));
  }
  const clips = crowd.boneTexture.clips.length;
  crowd.playAll((i) => i % clips, { time: (i) => i * 0.37 });
  crowd.castShadow = crowd.receiveShadow = true;
  for (const type of ['loop', 'finished'] as const) crowd.addEventListener(type, () => {});
  if (query.get('levels') !== '1') {
    const levels = new library.CrowdLevels(crowd);
    const coarser = (share: number) =>
      library.simplifyGeometry(crowd.geometry, share, MeshoptSimplifier).geometry;
    levels.add(coarser(0.4), 15, { hysteresis: 0.1 });
    levels.add(coarser(0.1), 40, { hysteresis: 0.1, influences: 2 });
  }
  if (c % 2 === 0) {
    const sword = new library.JointAttachment(crowd, 1, new BoxGeometry(), new MeshStandardMaterial());
    sword.castShadow = true;
  }
  made.push(crowd);
  scene.add(crowd);
  crowd.traverse((node) => {
    for (const material of [(node as Mesh).material ?? []].flat()) csm?.setupMaterial(material);
  });
}

/** Still meshes with the geometries and materials of a crowd. */
function freeze(crowd: SkinnedInstancedMesh): void {
  const clones = new Map<Material, Material>();
  const still = (material: Material): Material => {
    const clone = clones.get(material) ?? material.clone();
    csm?.setupMaterial(clone);
    clones.set(material, clone);
    return clone;
  };
  crowd.traverse((node) => {
    const { geometry, material, castShadow, receiveShadow, morphTargetInfluences } = node as Mesh;
    const own = Array.isArray(material) ? material.map(still) : still(material);
    const mesh = new InstancedMesh(geometry, own, each);
    mesh.instanceMatrix.copy(crowd.instanceMatrix);
    floor.push(Object.assign(mesh, { castShadow, receiveShadow, morphTargetInfluences }));
  });
}

for (let c = 0; c < crowds; c++) await enlist(c);

let frame = 0;
/** @returns Milliseconds of JavaScript in each of some frames. */
async function frames(count: number): Promise<number[]> {
  const times: number[] = [];
  for (let k = 0; k < count; k++, frame++) {
    await new Promise(requestAnimationFrame);
    draws.count = 0;
    const start = performance.now();
    camera.rotation.y = 0.3 * Math.sin(frame / 40);
    camera.position.x = 3 * Math.sin(frame / 70);
    for (let c = 0; c < made.length; c++) {
      const crowd = made[c];
      for (let i = 0; i < moves; i++) {
        const id = (i * 7 + frame) % each;
        crowd.getMatrixAt(id, matrix);
        matrix.elements[12] += 0.02 * Math.sin(frame / 20);
        crowd.setMatrixAt(id, matrix);
      }
      if (moves > 0) crowd.instanceMatrix.needsUpdate = true;
    }
    for (let i = 0; i < (made.length && moves && 20); i++) {
      const crowd = made[i % made.length];
      const clip = (frame + i) % crowd.boneTexture.clips.length;
      crowd.play((frame * 3 + i * 11) % each, clip, { fade: 0.3 });
    }
    for (let c = 0; c < made.length; c++) made[c].update(1 / 60);
    csm?.update();
    renderer.render(scene, camera);
    times.push(performance.now() - start);
  }
  return times;
}

if (isFloor) {
  // Levels and attachments of a crowd are below it once it was drawn.
  await frames(3);
  for (const crowd of made.splice(0)) {
    freeze(crowd);
    scene.remove(crowd);
  }
  scene.add(...floor);
}

const game = { frames, draws, renderer, scene, made };
declare global {
  interface Window {
    game: typeof game;
  }
}
window.game = game;
