import { bakeCharacter, createLevel } from 'skinned-instanced-mesh';
import { Plane, Raycaster, Vector2, Vector3 } from 'three';
import type { WebGPURenderer } from 'three/webgpu';
import { Figures } from '../lib/Figures.js';
import { openStage } from '../lib/openStage.js';
import { fail, find, secondsBetween, toggle } from '../lib/page.js';
import { addLevels, createPeople, dress } from '../people.js';
import { createFan } from '../stadium/fans.js';
import { createFall } from './fall.js';
import { Bang, createStones, createWalls, Lantern } from './land.js';
import { LONGEST } from './rules.js';
import { SwarmInWorker } from './SwarmInWorker.js';

const HEIGHT = 1.8;
/** How quickly the light goes where it shall: shares a second. */
const CALM = 2.2;
/** Seconds without a pointer after which it goes its own way. */
const PATIENCE = 5;
const NEAR = 20;
/** Seconds between blasts that nobody asked for. */
const OWN_BLASTS = 7;

const { query, detail, Crowd, InstanceParts, device, isSoftware, stage, measure } = await openStage();
const figures = new Figures(find('tbody'), ['crowd']);
const onGPU = device.device !== null;
const usual = onGPU ? (isSoftware ? 1_000 : 50_000) : isSoftware ? 600 : 4_000;
const count = Math.max(10, Number(query.get('count') ?? usual));

// --- who follows ---

const light = new Vector3(0, 0, 8);
/** Where a blast is in the next step, and 1 if there is one. */
const blast = new Vector3();

/** Steers a crowd in compute. */
async function steerOnGPU(crowd: InstanceType<typeof Crowd>) {
  const [{ GPUInstances }, { SwarmOnGPU }] = await Promise.all([
    import('skinned-instanced-mesh/webgpu'),
    import('./SwarmOnGPU.js'),
  ]);
  const renderer = device.renderer as WebGPURenderer;
  const swarm = new SwarmOnGPU(count);
  const gpu = new GPUInstances(crowd, swarm);
  swarm.bind(gpu);
  return {
    step(delta: number, times = 1) {
      swarm.delta.value = Math.min(delta, LONGEST);
      swarm.light.value.set(light.x, light.z);
      swarm.blast.value.copy(blast);
      blast.z = 0;
      for (let i = 0; i < times; i++) renderer.compute(swarm.steps);
    },
    /** Comes back some frames later. */
    readMatrices: () => gpu.readMatrices(renderer),
  };
}

/** The same in a worker, for fewer. */
function steerInWorker(crowd: InstanceType<typeof Crowd>) {
  const swarm = new SwarmInWorker(crowd);
  const matrices = crowd.instanceMatrix.array as Float32Array;
  return {
    step: (delta: number, times?: number) => swarm.step(delta, light, blast, times),
    readMatrices: async () => ({ matrices, elapsed: swarm.elapsed }),
  };
}

const { root, clips } = createPeople({ detail });
const character = bakeCharacter(root, [...clips, createFall()]);
const crowd = new Crowd(character, count);
const levels = addLevels(crowd, detail, isSoftware ? 4 : 13);
levels.add(createLevel(crowd, createFan(5)), isSoftware ? 22 : 45);
crowd.castShadow = crowd.receiveShadow = true;
const parts = new InstanceParts(crowd);
for (let i = 0; i < count; i++) dress(parts, i);

// --- the page ---

const pointer = new Vector2();
const raycaster = new Raycaster();
const ground = new Plane(new Vector3(0, 1, 0), 0);
const goal = new Vector3();
let follows = true;
let since = Number.POSITIVE_INFINITY;
const lantern = new Lantern();
const bang = new Bang();
let lastBlast = 0;

function pointAt({ clientX, clientY }: PointerEvent): void {
  pointer.set((2 * clientX) / innerWidth - 1, 1 - (2 * clientY) / innerHeight);
  since = 0;
}
addEventListener('pointermove', pointAt);

function blastAt(at: Vector3, time: number): void {
  blast.set(at.x, at.z, 1);
  bang.begin(at);
  lastBlast = time;
}

const down = new Vector2();
addEventListener('pointerdown', ({ clientX, clientY }) => down.set(clientX, clientY));
device.renderer.domElement.addEventListener('pointerup', (event) => {
  // Not where the camera was turned.
  if (Math.hypot(event.clientX - down.x, event.clientY - down.y) > 5) return;
  // Fingers move nothing before they touch.
  pointAt(event);
  raycaster.setFromCamera(pointer, stage.camera);
  const at = raycaster.ray.intersectPlane(ground, new Vector3());
  if (at !== null) blastAt(at, performance.now() / 1000);
});

/** The light goes to where the pointer is, or its own way. */
function moveLight(delta: number, time: number): void {
  since += delta;
  raycaster.setFromCamera(pointer, stage.camera);
  const isPointed = follows && since < PATIENCE && raycaster.ray.intersectPlane(ground, goal) !== null;
  if (!isPointed) goal.set(11 * Math.sin(time * 0.23), 0, 9 * Math.sin(time * 0.31 + 1) - 2);
  goal.clampLength(0, 60);
  light.lerp(goal, 1 - Math.exp(-CALM * delta));
  lantern.shine(light, time);
}

/** Says how many are near the light; who steers tells later. */
async function tellNear(readMatrices: () => Promise<{ matrices: Float32Array; elapsed: number }>) {
  const { x, z } = light;
  const { matrices, elapsed } = await readMatrices();
  let near = 0;
  for (let at = 12; at < count * 16; at += 16) {
    if (Math.hypot(matrices[at] - x, matrices[at + 2] - z) < NEAR) near++;
  }
  const age = Math.round((crowd.elapsed - elapsed) * 1000);
  find('[data-near]').textContent =
    `${near.toLocaleString('en')} are near the light${age > 0 ? `, as of ${age} ms ago` : ''}.`;
}

toggle('shadows', query.get('shadows') !== '0', (value) => {
  stage.shadows = value;
});
toggle('pointer', true, (value) => {
  follows = value;
});
find('[data-count]').textContent = `${count.toLocaleString('en')} people`;
find('[data-where]').textContent = onGPU
  ? 'The GPU decides; nobody’s place visits JavaScript.'
  : 'Here a worker decides; under WebGPU the GPU does, for many more.';

// --- frames ---

let last = performance.now();
let asked = 0;

try {
  const steering = onGPU ? await steerOnGPU(crowd) : steerInWorker(crowd);
  // They go everywhere.
  if (!onGPU) crowd.frustumCulled = false;
  const frame = (now: number): void => {
    const delta = secondsBetween(last, now);
    last = now;
    const cost = measure(() => {
      moveLight(delta, now / 1000);
      if (now / 1000 - lastBlast > OWN_BLASTS) blastAt(light, now / 1000);
      steering.step(delta);
      bang.go(delta);
      crowd.update(delta);
      stage.controls.update();
      stage.render(0, 1);
    });
    if (now - asked > 700) {
      asked = now;
      tellNear(steering.readMatrices).catch(fail);
    }
    figures.add('crowd', cost);
    figures.write();
    document.body.dataset.ready = '1';
    requestAnimationFrame(frame);
  };
  stage.frame(HEIGHT, 34, Math.max(40, 0.8 * Math.sqrt(count)));
  stage.night = 1;
  stage.camera.position.set(6, 9, 24);
  stage.controls.target.set(0, 0, 2);
  stage.scene.add(crowd, createStones(), createWalls(), lantern, bang);
  // Some seconds have passed already.
  await steering.step(1 / 30, query.has('settled') ? 240 : 60);
  requestAnimationFrame(frame);
} catch (error) {
  fail(error as Error);
}
