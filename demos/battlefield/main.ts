import type { LevelMesh, LevelSource } from 'skinned-instanced-mesh';
import {
  bakeCharacter,
  CrowdLevels,
  createLevel,
  DrawOrder,
  Impostor,
  JointAttachment,
  readViewInfo,
} from 'skinned-instanced-mesh';
import { Color, ConeGeometry, CylinderGeometry, type Material, Matrix4, MeshStandardMaterial } from 'three';
import { mergeBufferGeometries } from 'three-stdlib';
import { Figures } from '../lib/Figures.js';
import { openStage } from '../lib/openStage.js';
import { fail, find, movesFirst, secondsBetween, showValue, slide, toggle } from '../lib/page.js';
import { createPeople } from '../people.js';
import { Armies, BLOCK, UNIFORM, uniformOf } from './armies.js';
import { FieldMap } from './FieldMap.js';
import { Flight } from './Flight.js';

const HEIGHT = 1.8;
/** Where the levels of detail begin, metres; and the share of the figure's corners that each has. */
const LEVELS = [
  { distance: 18, detail: 0.65, color: 0x8a6a08 },
  { distance: 60, detail: 0.3, color: 0x8e1e12 },
] as const;
const NEAR_COLOR = 0x1c7a30;
/** Where figures are some 20 pixels tall; and what those do that far away. */
const IMPOSTORS = { distance: 90, color: 0x3c2a8a, clips: ['Idle', 'Walk', 'Wave', 'Jump', 'Dance'] };
/** Share of a level's distance over which soldiers fade into it. */
const FADE = 0.15;
/** Within this distance of what the camera looks at, the sun casts shadows. */
const SHADOWS = 60;
/** Every so many frames the map is drawn. */
const MAP_EVERY = 6;

const { query, detail, Crowd, InstanceParts, device, isSoftware, stage, measure } = await openStage();
const figures = new Figures(find('[data-costs]'), ['crowd']);

/** How many there are to begin with: a software renderer takes seconds over what a GPU does at once. */
function usualCount(): number {
  if (isSoftware) return 400;
  return device.device === null ? 20_000 : 100_000;
}
const MOST = 100_000;
const count = Math.min(MOST, Math.max(100, Number(query.get('count') ?? usualCount())));

// --- the armies ---

const { root, clips } = createPeople({ detail });
const crowd = new Crowd(bakeCharacter(root, clips), count);
crowd.castShadow = true;
crowd.receiveShadow = true;
const parts = new InstanceParts(crowd);
const levels = new CrowdLevels(crowd);
const order = new DrawOrder(crowd);
const coarser = LEVELS.map((level) =>
  createLevel(crowd, createPeople({ detail: Math.min(detail, level.detail) }).root),
);

/** Poses a second at the two coarser levels. */
const poseRates = [30, 10];

let hasLevels = false;
let hasImpostors = false;

/** Adds the levels of detail, or takes them away. */
function setLevels(): void {
  for (const level of levels.levels.slice(1)) levels.remove(level);
  const add = (figure: LevelSource, i: number) =>
    levels.add(figure, LEVELS[i].distance, { hysteresis: 0.05, poseRate: poseRates[i] });
  if (hasLevels) coarser.forEach(add);
  const last = hasLevels && hasImpostors ? [IMPOSTORS] : [];
  for (const { clips, distance } of last) levels.add(new Impostor({ clips }), distance, { hysteresis: 0.05 });
  map.distances = [...LEVELS, ...last].map(({ distance }) => distance);
  paintLevels();
}

const shaft = new CylinderGeometry(0.02, 0.02, 2.2, 5);
const tip = new ConeGeometry(0.05, 0.22, 4).translate(0, 1.2, 0);
const spear = mergeBufferGeometries([shaft, tip]);
if (spear === null) throw new Error('The spear cannot be made of its two parts.');
const spears = new JointAttachment(
  crowd,
  'RightHand',
  spear,
  new MeshStandardMaterial({ color: 0x6b4a2f, roughness: 0.9 }),
  { offset: new Matrix4().makeTranslation(0, 0.35, 0.03) },
);
spears.castShadow = true;
// Far spears are a stick of three sides.
levels.addToAttachment(spears, new CylinderGeometry(0.03, 0.01, 2.3, 3, 1, true).translate(0, 0.1, 0), 1);

let armies = new Armies(count);
const map = new FieldMap(find('[data-map]'), 1);
let flight = new Flight(1, 1);

const _color = new Color();
const _matrix = new Matrix4();

/** Lines up so many soldiers. */
function lineUp(soldiers: number): void {
  crowd.setCapacity(soldiers);
  crowd.count = soldiers;
  armies = new Armies(soldiers);
  for (let i = 0; i < soldiers; i++) {
    crowd.setMatrixAt(i, armies.placeOf(i, _matrix));
    crowd.setColorAt(i, armies.colorOf(i, _color));
  }
  parts.setVisiblePartsAt({ start: 0, count: soldiers }, UNIFORM);
  for (let start = 0; start < soldiers; start += BLOCK) {
    const block = { start, count: Math.min(BLOCK, soldiers - start) };
    for (const [part, color] of uniformOf(armies.isRed(start))) parts.setColorAt(block, part, color);
  }
  crowd.instanceMatrix.needsUpdate = true;
  if (crowd.instanceColor) crowd.instanceColor.needsUpdate = true;
  crowd.playAll((i) => armies.clipOf(i), { time: (i) => (i * 0.37) % 10 });
  map.half = Math.max(armies.halfWidth, armies.halfDepth) * 1.05;
  flight = new Flight(armies.halfWidth, armies.halfDepth);
  march(0);
}

const setPlace = (soldier: number, matrix: Matrix4) => {
  crowd.setMatrixAt(soldier, matrix);
};
const placesMoved = (first: number, moved: number) => {
  crowd.instanceMatrix.addUpdateRange(first * 16, moved * 16);
};

/** Where the columns on the march are after so many seconds. */
function march(seconds: number): void {
  armies.march(seconds, setPlace, placesMoved);
  crowd.instanceMatrix.needsUpdate = true;
}

// --- the page ---

let flying = false;
let marching = false;
let colored = false;
/** Seconds that the columns have marched. */
let marched = 0;

function listen(): void {
  const input = find<HTMLInputElement>('[name=count]');
  input.max = String(MOST);
  input.value = String(count);
  showValue('count', count.toLocaleString('en'));
  slide('count', (value) => {
    lineUp(value);
    showValue('count', value.toLocaleString('en'));
  });
  toggle('fly', movesFirst(query.get('fly')), (value) => {
    flying = value;
  });
  toggle('march', query.get('march') !== '0', (value) => {
    marching = value;
  });
  toggle('cull', query.get('cull') !== '0', (value) => {
    crowd.perObjectFrustumCulled = value;
    // Nor shall three.js leave out all of them at once where the camera sees nobody.
    crowd.frustumCulled = value;
  });
  toggle('colors', query.get('colors') === '1', (value) => {
    colored = value;
  });
  toggle('levels', query.get('levels') !== '0', (value) => {
    hasLevels = value;
    setLevels();
  });
  toggle('impostors', query.get('impostors') === '1', (value) => {
    hasImpostors = value;
    setLevels();
  });
  find('[name=colors]').addEventListener('click', paintLevels);
  toggle('fade', query.get('fade') === '1', (value) => {
    levels.dissolve = value ? FADE : 0;
  });
  poseRates.forEach((_, i) => {
    const name = `rate${i + 1}`;
    slide(name, (value) => {
      poseRates[i] = value;
      const level = levels.levels[i + 1];
      if (level !== undefined) level.poseRate = value;
      showValue(name, String(value));
    });
    showValue(name, String(poseRates[i]));
  });
  const budget = find<HTMLInputElement>('[name=budget]');
  slide('budget', (value) => {
    const isLimited = value < Number(budget.max);
    order.maxTriangles = isLimited ? value * 1000 : Infinity;
    showValue('budget', isLimited ? value.toLocaleString('en') : 'any');
  });
  showValue('budget', 'any');
  toggle('shadows', query.get('shadows') !== '0', (value) => {
    stage.shadows = value;
  });
  // Whoever takes the camera wants to keep it.
  stage.controls.addEventListener('start', () => {
    if (flying) find<HTMLButtonElement>('[name=fly]').click();
  });
}

/** Shows the levels as colours, or the figures as they are. */
function paintLevels(): void {
  levels.levels.forEach(({ object }, i) => {
    const { color } = [{ color: NEAR_COLOR }, ...LEVELS, IMPOSTORS][i];
    if (object !== null) paint((object as LevelMesh).material, colored ? color : 0);
  });
}

function paint(material: Material | Material[], color: number): void {
  for (const one of Array.isArray(material) ? material : [material]) {
    (one as MeshStandardMaterial).emissive.set(color);
  }
}

/** Triangles of the figure at each level. */
const triangles = [...[crowd, ...coarser].map(({ geometry }) => (geometry.index?.count ?? 0) / 3), 2];
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

/** Shows what the camera sees of the armies. Under WebGPU only the GPU knows, and answers some frames later. */
async function readSeen(): Promise<void> {
  if (reading) return;
  reading = true;
  const {
    visible,
    levels,
    triangles: drawn,
    posed,
  } = await readViewInfo(crowd, device.renderer, stage.camera);
  reading = false;
  show('Seen by the camera', visible);
  triangles.forEach((each, level) => {
    show(`At level ${level}, ${each.toLocaleString('en')} triangles`, levels[level] ?? 0);
  });
  show('Triangles', drawn);
  if (posed !== undefined) show('Posed in this frame', posed);
}

// --- frames ---

let last = performance.now();
let frames = 0;

function frame(now: number): void {
  const delta = secondsBetween(last, now);
  last = now;
  const { camera, controls } = stage;
  const cost = measure(() => {
    crowd.update(delta);
    if (marching) {
      marched += delta;
      march(marched);
    }
    if (flying) flight.move(camera, controls.target, delta);
    else controls.update();
    stage.shine(controls.target, SHADOWS);
    stage.render(0, 1);
  });
  figures.add('crowd', cost);
  figures.write();
  if (frames++ % MAP_EVERY === 0) {
    map.draw(camera, crowd.instanceMatrix.array, crowd.count);
    void readSeen();
  }
  document.body.dataset.ready = '1';
  requestAnimationFrame(frame);
}

stage.frame(HEIGHT, 150);
try {
  lineUp(count);
  listen();
  stage.scene.add(crowd);
  requestAnimationFrame(frame);
} catch (error) {
  fail(error as Error);
}
