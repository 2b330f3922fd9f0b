import { bakeBoneTexture, bakeBoneTextureAsync, type SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import {
  type AnimationClip,
  AnimationMixer,
  type Object3D,
  PerspectiveCamera,
  Scene,
  WebGLRenderer,
} from 'three';
import {
  type Contender,
  createFloor,
  createOurs,
  createSkinned,
  type Source,
  sourceOf,
} from '../../demos/benchmark/contenders.js';
import { createCharacter } from '../../demos/character.js';
import { deviceName } from '../../demos/lib/deviceName.js';
import { loadModel, modelNames } from '../support/models.js';
import { costNames, measureCosts, median } from './costs.js';
import { measureScene as scene } from './scene.js';

export interface VertexRow {
  model: string;
  name: string;
  ratio: number;
  low: number;
  high: number;
}

const renderer = new WebGLRenderer({ antialias: false });
renderer.setSize(64, 64);
document.body.append(renderer.domElement);
const gl = renderer.getContext() as WebGL2RenderingContext;
const camera = new PerspectiveCamera(60, 1, 0.1, 2000);
camera.position.set(100, 40, 60);
camera.lookAt(100, 0, -100);

/** Waits until the GPU has done everything asked for. */
function finish(): void {
  gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
}

async function load(model: string): Promise<Source> {
  return sourceOf(model, model === 'built-in' ? createCharacter() : await loadModel(model));
}

/** Time of the vertex stage alone, as a ratio to that of a still InstancedMesh measured in turn with it. */
async function vertices(model: string, rounds: number): Promise<VertexRow[]> {
  const source = await load(model);
  source.mesh.geometry.drawRange.count = Infinity;
  const count = Math.max(20, Math.round(300_000 / source.mesh.geometry.getAttribute('position').count));
  const floor = createFloor(source, count);
  const variants: [string, Parameters<typeof createOurs>[2]][] = [
    ['tracks', { encoding: 'tracks' }],
    ['tracks, all fading', { encoding: 'tracks' }],
    ['frames', { encoding: 'frames' }],
  ];
  const contenders = [createSkinned(source, Math.min(count, 200))];
  const names = ['SkinnedMesh + AnimationMixer'];
  const fading: number[] = [];
  for (const [name, options] of variants) {
    contenders.push(createOurs(source, count, options));
    names.push(name);
    if (name.includes('fading')) fading.push(contenders.length - 1);
  }

  const scene = new Scene();
  const time = (contender: Contender) => {
    scene.add(contender.object);
    contender.object.traverse((node) => (node.frustumCulled = false));
    gl.enable(gl.RASTERIZER_DISCARD);
    finish();
    const start = performance.now();
    renderer.render(scene, camera);
    finish();
    const elapsed = performance.now() - start;
    gl.disable(gl.RASTERIZER_DISCARD);
    scene.remove(contender.object);
    return elapsed;
  };

  const rows: VertexRow[] = [];
  for (let i = 0; i < contenders.length; i++) {
    const ratios: number[] = [];
    const share = i === 0 ? count / Math.min(count, 200) : 1;
    contenders[i].update(0.123);
    if (fading.includes(i)) {
      const { clips } = source;
      const crowd = contenders[i].object as SkinnedInstancedMesh;
      crowd.playAll((instance) => (instance + 1) % clips.length, {
        fade: 10,
        time: (instance) => instance % 5,
      });
      contenders[i].update(4);
    }
    time(contenders[i]);
    time(floor);
    for (let round = 0; round < rounds; round++) ratios.push((time(contenders[i]) * share) / time(floor));
    const ratio = median(ratios);
    rows.push({ model, name: names[i], ratio, low: ratios[0], high: ratios[ratios.length - 1] });
  }
  for (const contender of [floor, ...contenders]) contender.dispose();
  return rows;
}

/** What instances play, and how many clips that are at once. */
const PLAYED: [string, (crowd: SkinnedInstancedMesh, clips: number) => void][] = [
  ['one clip', () => {}],
  [
    'two clips in a fade',
    (crowd, clips) => crowd.playAll((i) => (i + 1) % clips, { fade: 1e4, time: (i) => i % 5 }),
  ],
  [
    'three weighted clips',
    (crowd, clips) => {
      for (const next of [1, 2]) {
        crowd.playAll((i) => (i + next) % clips, { weight: 0.3, time: (i) => (i + next) % 5 });
      }
    },
  ],
];

/** Time of the pass that poses a crowd, as a ratio to that of the vertex stage of a still InstancedMesh of the character. */
async function poses(model: string, rounds: number): Promise<VertexRow[]> {
  const source = await load(model);
  const { geometry } = source.mesh;
  const count = 1000;
  const time = (object: Object3D) => {
    const scene = new Scene();
    scene.add(object);
    object.frustumCulled = false;
    finish();
    const start = performance.now();
    renderer.render(scene, camera);
    finish();
    return performance.now() - start;
  };
  const floor = createFloor(source, count);
  const timeOfFloor = () => {
    geometry.drawRange.count = Infinity;
    gl.enable(gl.RASTERIZER_DISCARD);
    const elapsed = time(floor.object);
    gl.disable(gl.RASTERIZER_DISCARD);
    return elapsed;
  };

  const rows: VertexRow[] = [];
  for (const [name, play] of PLAYED) {
    const contender = createOurs(source, count);
    const crowd = contender.object as SkinnedInstancedMesh;
    play(crowd, source.clips.length);
    // Nothing but the pass is left of a frame without vertices.
    crowd.geometry.drawRange.count = 0;
    const ratios: number[] = [];
    for (let round = -2; round < rounds; round++) {
      contender.update(0.0137);
      const posed = time(crowd);
      const still = time(crowd);
      const ratio = (posed - still) / timeOfFloor();
      crowd.geometry.drawRange.count = 0;
      if (round >= 0) ratios.push(ratio);
    }
    const ratio = median(ratios);
    rows.push({ model, name, ratio, low: ratios[0], high: ratios[ratios.length - 1] });
    contender.dispose();
  }
  geometry.drawRange.count = Infinity;
  floor.dispose();
  return rows;
}

/** Five rounds of baking, or of `mixer.setTime` and `updateMatrixWorld` for the same frames; the first is a cold start. */
async function baking(model: string, what: 'bake' | 'mixer'): Promise<number[]> {
  const { root, clips } = await load(model);
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    const start = performance.now();
    if (what === 'bake') bakeBoneTexture(root, clips);
    else poseEveryFrame(root, clips);
    times.push(performance.now() - start);
  }
  return times;
}

function poseEveryFrame(root: Object3D, clips: readonly AnimationClip[]): void {
  const mixer = new AnimationMixer(root);
  for (const clip of clips) {
    mixer.stopAllAction();
    mixer.clipAction(clip).play();
    const intervals = Math.max(1, Math.round(clip.duration * 30));
    for (let i = 0; i <= intervals; i++) {
      mixer.setTime((i / intervals) * clip.duration);
      root.updateMatrixWorld();
    }
  }
  mixer.stopAllAction();
  mixer.uncacheRoot(root);
}

/** The longest that `bakeAsync` keeps the page waiting. */
async function longestSlice(model: string): Promise<number> {
  const { root, clips } = await load(model);
  let longest = 0;
  let last = performance.now();
  await bakeBoneTextureAsync(root, clips, {
    onProgress: () => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    },
  });
  return longest;
}

const bench = {
  vertices,
  poses,
  baking,
  longestSlice,
  scene,
  costNames,
  measureCosts,
  models: modelNames,
  /** What draws here. */
  device: () => deviceName(gl, null),
};
declare global {
  interface Window {
    bench: typeof bench;
  }
}
window.bench = bench;
