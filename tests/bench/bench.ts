import { BoneTexture, type SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import {
  type AnimationClip,
  AnimationMixer,
  type Mesh,
  type Object3D,
  PerspectiveCamera,
  Scene,
  type SkinnedMesh,
  WebGLRenderer,
} from 'three';
import { createCharacter } from '../../demos/character.js';
import { countGlCalls } from '../support/glCalls.js';
import { loadModel, modelNames } from '../support/models.js';
import {
  type Contender,
  createFloor,
  createInstancedMesh2,
  createOurs,
  createSkinned,
  type Source,
} from './crowds.js';

export interface FrameRow {
  name: string;
  count: number;
  js: number;
  draws: number;
  uploads: number;
  bytes: number;
}

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
const calls = countGlCalls(gl);
const camera = new PerspectiveCamera(60, 1, 0.1, 2000);
camera.position.set(100, 40, 60);
camera.lookAt(100, 0, -100);

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Waits until the GPU has done everything asked for. */
function finish(): void {
  gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
}

async function sourceOf(model: string): Promise<Source> {
  const { root, clips } = model === 'built-in' ? createCharacter() : await loadModel(model);
  let mesh: SkinnedMesh | undefined;
  root.traverse((node) => {
    const candidate = node as SkinnedMesh;
    if (!candidate.isSkinnedMesh) return;
    const size = (m: Mesh) => m.geometry.getAttribute('position').count;
    if (mesh === undefined || size(candidate) > size(mesh)) mesh = candidate;
  });
  if (mesh === undefined) throw new Error(`${model} has no skinned mesh`);
  return { root, clips, mesh };
}

/** JavaScript, draw calls and uploads of a frame, with next to nothing to draw. */
async function frames(count: number): Promise<FrameRow[]> {
  const source = await sourceOf('built-in');
  source.mesh.geometry.setDrawRange(0, 3);
  const makers: (() => Contender)[] = [
    () => createFloor(source, count),
    () => createSkinned(source, count),
    () => createInstancedMesh2(source, count, renderer),
    () => createOurs(source, count),
  ];
  const rows: FrameRow[] = [];
  for (const make of makers) {
    const contender = make();
    const scene = new Scene();
    scene.add(contender.object);
    contender.object.traverse((node) => {
      node.frustumCulled = false;
    });
    const frame = () => {
      calls.reset();
      contender.update(1 / 60);
      renderer.render(scene, camera);
    };
    // Pages are not given finer times than a tenth of a millisecond, so quick frames are timed by the batch.
    frame();
    finish();
    let start = performance.now();
    frame();
    const batch = Math.max(1, Math.min(100, Math.round(20 / Math.max(performance.now() - start, 0.1))));
    const times: number[] = [];
    const started = performance.now();
    while (times.length < 15 && (times.length < 3 || performance.now() - started < 4000)) {
      finish();
      start = performance.now();
      for (let i = 0; i < batch; i++) frame();
      times.push((performance.now() - start) / batch);
    }
    const { draws, uploads, bytes } = calls;
    rows.push({ name: contender.name, count, js: median(times), draws, uploads, bytes });
    contender.dispose();
  }
  return rows;
}

/** JavaScript of a frame under WebGPURenderer: the floor and ours, measured in turn. */
async function nodeFrames(count: number): Promise<{ name: string; js: number }[]> {
  const { WebGPURenderer } = await import('three/webgpu');
  await import('skinned-instanced-mesh/webgpu');
  const nodes = new WebGPURenderer();
  await nodes.init();
  nodes.setSize(64, 64);
  const source = await sourceOf('built-in');
  source.mesh.geometry.setDrawRange(0, 3);
  const contenders = [createFloor(source, count), createOurs(source, count)];
  const times: number[][] = [[], []];
  for (let round = 0; round < 12; round++) {
    for (const [i, contender] of contenders.entries()) {
      const scene = new Scene();
      scene.add(contender.object);
      contender.object.frustumCulled = false;
      nodes.render(scene, camera);
      await new Promise((resolve) => setTimeout(resolve, 20));
      const start = performance.now();
      for (let frame = 0; frame < 100; frame++) {
        contender.update(1 / 60);
        nodes.render(scene, camera);
      }
      times[i].push((performance.now() - start) / 100);
    }
  }
  for (const contender of contenders) contender.dispose();
  nodes.dispose();
  return contenders.map(({ name }, i) => ({ name, js: median(times[i]) }));
}

/** Time of the vertex stage alone, as a ratio to that of a still InstancedMesh measured in turn with it. */
async function vertices(model: string, rounds: number, only = ''): Promise<VertexRow[]> {
  const source = await sourceOf(model);
  source.mesh.geometry.drawRange.count = Infinity;
  const count = Math.max(20, Math.round(300_000 / source.mesh.geometry.getAttribute('position').count));
  const floor = createFloor(source, count);
  const variants: [string, Parameters<typeof createOurs>[2]][] = [
    ['quaternion float, interpolated', { encoding: 'quaternion' }],
    ['quaternion float, nearest frame', { encoding: 'quaternion', interpolate: false }],
    ['quaternion half, interpolated', { encoding: 'quaternion', precision: 'half' }],
    ['quaternion float, interpolated, all fading', { encoding: 'quaternion' }],
    ['matrix float, interpolated', { encoding: 'matrix' }],
    ['matrix float, interpolated, all fading', { encoding: 'matrix' }],
    ['matrix float, nearest frame', { encoding: 'matrix', interpolate: false }],
    ['matrix half, interpolated', { encoding: 'matrix', precision: 'half' }],
    ['quaternion float, interpolated, 2 influences', { encoding: 'quaternion', influences: 2 }],
    ['quaternion float, interpolated, 1 influence', { encoding: 'quaternion', influences: 1 }],
  ];
  const contenders = [createSkinned(source, Math.min(count, 200))];
  const names = ['SkinnedMesh + AnimationMixer'];
  const fading: number[] = [];
  for (const [name, options] of variants) {
    if (!name.includes(only)) continue;
    try {
      contenders.push(createOurs(source, count, options));
      names.push(name);
      if (name.includes('fading')) fading.push(contenders.length - 1);
    } catch {
      // a model with non-uniform scale has no quaternions
    }
  }

  const scene = new Scene();
  const time = (contender: Contender) => {
    scene.add(contender.object);
    contender.object.traverse((node) => {
      node.frustumCulled = false;
    });
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

/** Five rounds of baking, or of `mixer.setTime` and `updateMatrixWorld` for the same frames; the first is a cold start. */
async function baking(model: string, what: 'bake' | 'mixer'): Promise<number[]> {
  const { root, clips } = await sourceOf(model);
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    const start = performance.now();
    if (what === 'bake') BoneTexture.bake(root, clips);
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
  const { root, clips } = await sourceOf(model);
  let longest = 0;
  let last = performance.now();
  await BoneTexture.bakeAsync(root, clips, {
    onProgress: () => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    },
  });
  return longest;
}

declare global {
  interface Window {
    bench: {
      frames: typeof frames;
      nodeFrames: typeof nodeFrames;
      vertices: typeof vertices;
      baking: typeof baking;
      longestSlice: typeof longestSlice;
      models: typeof modelNames;
    };
  }
}
window.bench = { frames, nodeFrames, vertices, baking, longestSlice, models: modelNames };
