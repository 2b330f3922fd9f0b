import {
  assembleCharacter,
  type BoneTexture,
  bakeBoneTexture,
  bakeBoneTextureAsync,
  type InstanceParts,
  type SkinnedInstancedMesh,
} from 'skinned-instanced-mesh';
import { type AnimationClip, Box3, Matrix4, type Mesh, type Object3D, Vector3 } from 'three';
import { createGpuTimer } from '../benchmark/gpuTimer.js';
import { Figures } from '../lib/Figures.js';
import { onFile, openCharacter } from '../lib/openFile.js';
import { openStage } from '../lib/openStage.js';
import { fail, find, onClose, secondsBetween, slide, tell, toggle } from '../lib/page.js';
import { crowdRadius, movesOf, partOf, placeOf } from '../lib/plan.js';
import { SkinnedCrowd } from '../lib/SkinnedCrowd.js';
import { createOutfits, createPeople, dress } from '../people.js';

const MOST = 10_000;
/** So many of the figures' outfits differ. */
const OUTFITS = 24;
/** More SkinnedMeshes than this take minutes to make, and seconds a frame. */
const MOST_SKINNED = 2_000;

type Side = 'skinned' | 'instanced';
type Mode = 'split' | Side;

// Both halves fill the window, behind the panel too.
const {
  query,
  detail,
  Crowd,
  InstanceParts: Parts,
  device,
  isSoftware,
  stage,
  measure,
} = await openStage({
  beside: false,
});
const figures = new Figures<Side>(find('tbody'), ['skinned', 'instanced']);

let mode = (query.get('mode') ?? 'split') as Mode;
let count = Math.min(MOST, Math.max(10, Number(query.get('count') ?? (isSoftware ? 60 : 1_000))));
let speed = 1;
let split = 0.5;
let paused = false;
let elapsed = 0;

let instanced: SkinnedInstancedMesh | null = null;
let skinned: SkinnedCrowd | null = null;
let height = 1;
let size = 1;

// --- the two crowds ---

/** One call makes the crowd; each figure is then placed and told what to play, and never touched again. */
function createInstanced(
  root: Object3D,
  clips: AnimationClip[],
  boneTexture: BoneTexture,
): SkinnedInstancedMesh {
  const crowd = new Crowd(assembleCharacter(root, boneTexture), MOST);
  const matrix = new Matrix4();
  for (let i = 0; i < MOST; i++) {
    const { clip, time, timeScale } = partOf(i, clips.length);
    crowd.setMatrixAt(i, placeOf(i, size, matrix));
    crowd.play(i, clip, { time, timeScale });
  }
  return crowd;
}

let parts: InstanceParts | null = null;
let dressed = 0;

/** Dresses those who are now shown for the first time. */
function dressAll(): void {
  if (parts !== null) for (; dressed < count; dressed++) dress(parts, dressed, dressed % OUTFITS);
}

/** @param outfits The figure in the clothes of those that wear some; none for a file. */
function show(
  root: Object3D,
  clips: AnimationClip[],
  boneTexture: BoneTexture,
  outfits: readonly Object3D[] = [],
): void {
  for (const one of [root, ...outfits]) {
    one.traverse((node) => {
      node.castShadow = node.receiveShadow = (node as Mesh).isMesh === true;
    });
  }

  root.updateMatrixWorld(true);
  const extent = new Box3().setFromObject(root, true).getSize(new Vector3());
  height = extent.y;
  size = Math.max(extent.x, extent.z, extent.y * 0.5);

  const before = [instanced, skinned];
  instanced = createInstanced(root, clips, boneTexture);
  parts = outfits.length > 0 ? new Parts(instanced) : null;
  dressed = 0;
  dressAll();
  skinned = new SkinnedCrowd(outfits.length > 0 ? outfits : [root], clips, size);
  for (const old of before) {
    old?.removeFromParent();
    old?.dispose();
  }
  elapsed = 0;
  stage.scene.add(instanced, skinned);
  stage.frame(height, crowdRadius(count, size));
}

// --- a file of the user's ---

let opening: AbortController | null = null;

async function open(file: File): Promise<void> {
  opening?.abort();
  opening = new AbortController();
  const { signal } = opening;
  try {
    tell(`Reading ${file.name} …`);
    const { root, clips: all } = await openCharacter(file, device.renderer);
    const clips = [...movesOf(all)];
    tell(`Baking ${clips.length} clips of ${file.name} …`, 0);
    const boneTexture = await bakeBoneTextureAsync(root, clips, {
      signal,
      maxTextureSize: device.maxTextureSize,
      onProgress: (progress) => tell(`Baking ${clips.length} clips of ${file.name} …`, progress),
    });
    show(root, clips, boneTexture);
    tell(
      `${file.name}: ${clips.length} clips, ${boneTexture.jointNames.length} joints, ${(boneTexture.byteLength / 1e6).toFixed(1)} MB as ${boneTexture.encoding}.`,
    );
  } catch (error) {
    if (!signal.aborted) fail(error as Error);
  }
}

// --- the page ---

function setMode(value: Mode): void {
  mode = value;
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-mode]')) {
    button.setAttribute('aria-pressed', String(button.dataset.mode === mode));
  }
  for (const label of document.querySelectorAll<HTMLElement>('.label')) {
    label.hidden = mode !== 'split' && label.dataset.side !== mode;
  }
  find<HTMLElement>('.divider').hidden = mode !== 'split';
  forget();
}

function setCount(value: number): void {
  count = value;
  const slider = find<HTMLInputElement>('[name=count]');
  slider.value = String(Math.log10(value));
  (slider.nextElementSibling as HTMLOutputElement).value = value.toLocaleString('en');
  dressAll();
  forget();
}

/** Measures anew: the crowds have changed. */
function forget(): void {
  for (const side of SIDES) {
    figures.clear(side);
    Object.assign(times[side], { js: 0, gpu: 0, frames: 0, draws: 0 });
  }
}

function setSplit(value: number): void {
  split = value;
  find<HTMLElement>('.divider').style.left = `calc(${value * 100}% - 1px)`;
}

function listen(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-mode]')) {
    button.addEventListener('click', () => setMode(button.dataset.mode as Mode));
  }
  slide('count', (value) => {
    setCount(Math.round(10 ** value));
    stage.frame(height, crowdRadius(count, size));
  });
  slide('speed', (value) => {
    speed = value;
  });
  slide('split', setSplit);
  toggle('shadows', query.get('shadows') !== '0', (value) => {
    stage.shadows = value;
  });
  toggle('pause', false, (value) => {
    paused = value;
  });
  onFile(find('[name=file]'), open);
  onClose(() => opening?.abort());
}

// --- frames ---

/**
 * One camera for each crowd: WebGPURenderer draws shadow maps once a frame and camera, so that with one camera for both
 * the first crowd would pay for the shadows of the second, and the second would stand in the shadows of the first.
 */
const cameras = { skinned: stage.camera.clone(), instanced: stage.camera.clone() };

/** Updates and draws one of the two crowds, and notes what that took. */
function draw(side: Side, delta: number, from: number, to: number): void {
  if (instanced === null || skinned === null) return;
  const crowd = side === 'skinned' ? skinned : instanced;
  instanced.visible = crowd === instanced;
  skinned.visible = crowd === skinned;

  const camera = cameras[side].copy(stage.camera);

  timed(side, () => {
    const cost = measure(() => {
      crowd.update(delta);
      stage.render(from, to, camera);
    });
    figures.add(side, cost);
    times[side].draws = cost.draws;
    return cost.js;
  });
}

const SIDES = ['skinned', 'instanced'] as const;
/** Every so many frames the GPU is timed, and a side in turn. */
const TIMED_EVERY = 8;
const timers = SIDES.map(() => createGpuTimer(device.device, device.gl, device.name));
/** Milliseconds of JavaScript and of the GPU for each side; it takes the larger of both for a frame. */
const times: Record<Side, { js: number; gpu: number; frames: number; draws: number }> = {
  skinned: { js: 0, gpu: 0, frames: 0, draws: 0 },
  instanced: { js: 0, gpu: 0, frames: 0, draws: 0 },
};
let frames = 0;

/** What is measured does the work of a side; now and then the GPU's time is read too, which comes later. */
function timed(side: Side, work: () => number): void {
  const own = times[side];
  const i = SIDES.indexOf(side);
  const timer = frames % (TIMED_EVERY * 2) === i * TIMED_EVERY ? timers[i] : null;
  timer?.begin();
  const js = work();
  timer?.end();
  // The first frame compiles shaders.
  if (own.frames++ > 0) own.js = own.js === 0 ? js : own.js * 0.9 + js * 0.1;
  timer?.read().then((gpu) => {
    if (gpu < 10_000) own.gpu = gpu;
  });
}

/** Shows how long a frame of each side takes, as bars beside each other. */
function showTimes(): void {
  const [each, crowd] = SIDES.map((side) => Math.max(times[side].js, times[side].gpu));
  SIDES.forEach((side, i) => {
    const bar = find<HTMLProgressElement>(`[data-bar=${side}]`);
    const time = [each, crowd][i];
    bar.value = time / Math.max(each, crowd, 1e-6);
    (bar.nextElementSibling as HTMLOutputElement).value =
      time === 0 ? '–' : `${time.toFixed(time < 10 ? 1 : 0)} ms`;
    const { draws } = times[side];
    find(`[data-side=${side}] b`).textContent =
      `${draws.toLocaleString('en')} draw ${draws === 1 ? 'call' : 'calls'}`;
  });
  const ratio = each / crowd;
  const isBoth = mode === 'split' && each > 0 && crowd > 0;
  find('[data-times]').textContent = !isBoth
    ? ''
    : ratio > 1.05
      ? `A frame of SkinnedMeshes takes ${ratio.toFixed(1)} times as long: ${isSoftware ? 'JavaScript, since no GPU draws here' : 'the larger of JavaScript and GPU'}.`
      : 'So few characters take either of them no time to speak of: a crowd pays for one draw call, a SkinnedMesh each for its own.';
}

let last = performance.now();

function frame(now: number): void {
  const frozen = query.has('time');
  const passed = secondsBetween(last, now);
  const delta = frozen ? Math.max(0, Number(query.get('time')) - elapsed) : paused ? 0 : passed * speed;
  last = now;
  elapsed += delta;

  if (instanced !== null && skinned !== null) {
    instanced.count = count;
    const wanted = mode === 'instanced' ? 0 : Math.min(count, MOST_SKINNED);
    if (skinned.count !== wanted) skinned.resize(wanted, elapsed - delta);
    find('[data-note]').textContent = noteOn(skinned.count, wanted);

    stage.controls.update();
    if (mode !== 'instanced') draw('skinned', delta, 0, mode === 'split' ? split : 1);
    else instanced.visible = true;
    if (mode !== 'skinned') draw('instanced', delta, mode === 'split' ? split : 0, 1);
    else instanced.update(delta);
    figures.write();
    if (frames++ % 10 === 0) showTimes();
    if (skinned.count === wanted) document.body.dataset.ready = '1';
  }
  requestAnimationFrame(frame);
}

function noteOn(made: number, wanted: number): string {
  if (made < wanted)
    return `Making SkinnedMeshes: ${made.toLocaleString('en')} of ${wanted.toLocaleString('en')} …`;
  if (mode !== 'instanced' && wanted < count) {
    return `SkinnedMeshes stop at ${wanted.toLocaleString('en')} here: more take minutes to make.`;
  }
  return '';
}

const share = Math.min(detail, 0.8);
const { root, clips } = createPeople({ detail: share, clothed: false });
if (query.get('ui') === '0') find<HTMLElement>('.panel').hidden = true;
listen();
setMode(mode);
setCount(count);
setSplit(split);
show(root, clips, bakeBoneTexture(root, clips), createOutfits(OUTFITS, share));
requestAnimationFrame(frame);
