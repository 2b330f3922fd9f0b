import { bakeCharacter, readViewInfo } from 'skinned-instanced-mesh';
import {
  CapsuleGeometry,
  Frustum,
  GreaterDepth,
  InstancedMesh,
  Matrix4,
  MeshBasicMaterial,
  Sphere,
} from 'three';
import { offerEffects } from '../lib/effects.js';
import { Figures } from '../lib/Figures.js';
import { load } from '../lib/loadCharacter.js';
import { openStage } from '../lib/openStage.js';
import { fail, find, movesFirst, secondsBetween, toggle } from '../lib/page.js';
import { addLevels, createPeople, dress } from '../people.js';
import { City, chance } from './streets.js';

const HEIGHT = 1.8;
/** Where the camera strolls and where it looks from above: metres above the ground. */
const EYES = 3.4;
const ABOVE = 38;
/** How far from the middle of the road, above the edge of the pavement. */
const KERB = 5.6;
const STROLL_SPEED = 2;
/** Within this distance of what the camera looks at, the sun casts shadows. */
const SHADOWS = 45;
/** Every so many frames it is asked who was seen. */
const READ_EVERY = 6;

const { query, detail, Crowd, InstanceParts, device, isSoftware, stage, measure } = await openStage();
const figures = new Figures(find('[data-costs]'), ['crowd']);

// A software renderer takes seconds over what a GPU does at once.
const count = Math.max(10, Number(query.get('count') ?? (isSoftware ? 1500 : 20_000)));
const { scene: models } = await load(new URL('../art/city.glb', import.meta.url));
const city = new City(models, isSoftware ? 4 : 6);

const { root, clips } = createPeople({ detail });
const crowd = new Crowd(bakeCharacter(root, clips), count);
crowd.castShadow = crowd.receiveShadow = true;
addLevels(crowd, detail);
const parts = new InstanceParts(crowd);
for (let i = 0; i < count; i++) dress(parts, i);
crowd.playAll('Walk', { time: (i) => 10 * chance(i, 11) });

/** X-ray: what houses hide of somebody glows. It is drawn after them and before people, who cover their own. */
const glow = new InstancedMesh(
  new CapsuleGeometry(0.28, 1.2, 2, 6).translate(0, 0.9, 0),
  new MeshBasicMaterial({ color: 0xff8a3c, depthFunc: GreaterDepth, depthWrite: false, fog: false }),
  count,
);
glow.frustumCulled = false;
glow.renderOrder = 1;
crowd.renderOrder = 2;

const matrix = new Matrix4();
/** Where everyone is after so many seconds. */
function walk(seconds: number): void {
  for (let i = 0; i < count; i++) crowd.setMatrixAt(i, city.placeOf(i, seconds, matrix));
  crowd.instanceMatrix.needsUpdate = true;
  if (!glow.visible) return;
  glow.instanceMatrix.array.set(crowd.instanceMatrix.array.subarray(0, 16 * count));
  glow.instanceMatrix.needsUpdate = true;
}

const frustum = new Frustum();
const sphere = new Sphere();
/** How many the camera faces, whether or not something is in between. */
function countFaced(): number {
  const { camera } = stage;
  matrix.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
  frustum.setFromProjectionMatrix(matrix, camera.coordinateSystem);
  let faced = 0;
  for (let i = 0; i < count; i++) {
    crowd.getMatrixAt(i, matrix);
    sphere.center.setFromMatrixPosition(matrix).y += HEIGHT / 2;
    sphere.radius = HEIGHT / 2;
    if (frustum.intersectsSphere(sphere)) faced++;
  }
  return faced;
}

// --- the page ---

let strolling = false;
let above = false;
let walked = 0;
let strolled = 0;

/** Puts the camera above the pavement of a road, or high above it. */
function look(): void {
  const { camera, controls } = stage;
  const way = ((strolled + city.size * 0.3) % city.size) - city.size / 2;
  const x = city.road(city.blocks / 2);
  camera.position.set(x + (above ? 8 : -KERB), above ? ABOVE : EYES, way);
  controls.target.set(x - (above ? 8 : KERB), above ? 0 : EYES - 3, way + 30);
  controls.update();
}

async function listen(): Promise<void> {
  // It asks WebGPU, and has no use with another renderer.
  if (device.device !== null) {
    const { Occlusion } = await import('skinned-instanced-mesh/occlusion');
    const occlusion = new Occlusion(city.occluders);
    toggle('occlusion', query.get('occlusion') !== '0', (value) => {
      if (value) occlusion.add(crowd);
      else occlusion.remove(crowd);
    });
  } else {
    find<HTMLButtonElement>('[name=occlusion]').disabled = true;
    find<HTMLElement>('[data-webgl]').hidden = false;
    find('.headline span').textContent =
      'people before the camera are left out: WebGL draws those behind houses too';
  }
  toggle('xray', query.get('xray') !== '0', (value) => {
    glow.visible = value;
  });
  toggle('stroll', movesFirst(query.get('stroll')), (value) => {
    strolling = value;
  });
  toggle('above', query.get('above') === '1', (value) => {
    above = value;
    look();
  });
  toggle('shadows', query.get('shadows') !== '0', (value) => {
    stage.shadows = value;
  });
  offerEffects(stage, device, query.get('effects') === '1');
  // Whoever takes the camera wants to keep it.
  stage.controls.addEventListener('start', () => {
    if (strolling) find<HTMLButtonElement>('[name=stroll]').click();
  });
}

const rows = new Map<string, HTMLTableCellElement>();

/** Writes a figure into the table of what is seen. */
function show(label: string, value: number): void {
  let cell = rows.get(label);
  if (cell === undefined) {
    const row = find<HTMLTableSectionElement>('[data-seen]').insertRow();
    row.insertCell().textContent = label;
    cell = row.insertCell();
    rows.set(label, cell);
  }
  cell.textContent = value.toLocaleString('en');
}

let reading = false;

/** Shows who was drawn. Under WebGPU only the GPU knows, and answers some frames later. */
async function readSeen(): Promise<void> {
  if (reading) return;
  reading = true;
  const all = countFaced();
  const { visible, triangles } = await readViewInfo(crowd, device.renderer, stage.camera);
  reading = false;
  show('Drawn for the camera', visible);
  show('Triangles', triangles);
  // Its spheres are a little smaller than the crowd's.
  const faced = Math.max(all, visible);
  find('[data-hidden]').textContent = (faced - visible).toLocaleString('en');
  find('[data-faced]').textContent = faced.toLocaleString('en');
}

// --- frames ---

let last = performance.now();
let frames = 0;

function frame(now: number): void {
  const delta = secondsBetween(last, now);
  last = now;
  const cost = measure(() => {
    walked += delta;
    crowd.update(delta);
    walk(walked);
    city.drive(walked);
    if (strolling) {
      strolled += delta * STROLL_SPEED;
      look();
    } else stage.controls.update();
    stage.shine(stage.controls.target, SHADOWS);
    stage.render(0, 1);
  });
  figures.add('crowd', cost);
  figures.write();
  if (frames++ % READ_EVERY === 0) void readSeen();
  document.body.dataset.ready = '1';
  requestAnimationFrame(frame);
}

find('[data-count]').textContent = `${count.toLocaleString('en')} people`;
// the meadow is below the pavement
stage.frame(HEIGHT, city.size / 2, city.size * 0.8, () => -0.7);
stage.scene.add(city.object, glow, crowd);
try {
  await listen();
  requestAnimationFrame(frame);
} catch (error) {
  fail(error as Error);
}
