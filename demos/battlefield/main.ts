import { MeshoptSimplifier } from 'meshoptimizer';
import type { LevelMesh, SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import {
  CrowdKinds,
  CrowdLevels,
  DrawOrder,
  Impostor,
  readViewInfo,
  simplifyGeometry,
} from 'skinned-instanced-mesh';
import {
  type BufferGeometry,
  Color,
  LoopOnce,
  type Material,
  Matrix4,
  type MeshStandardMaterial,
} from 'three';
import { dyeTeams, PAINTED } from '../battle/Armies.js';
import { Figures } from '../lib/Figures.js';
import { loadCharacter } from '../lib/loadCharacter.js';
import { openStage } from '../lib/openStage.js';
import { fail, find, movesFirst, secondsBetween, showValue, slide, toggle } from '../lib/page.js';
import { Armies } from './armies.js';
import { createArrows } from './arrows.js';
import { FieldMap } from './FieldMap.js';
import { Flight } from './Flight.js';

const HEIGHT = 2.2;
/** Where the levels of detail begin, metres; and the share of the figures' triangles that each has. */
const LEVELS = [
  { distance: 16, detail: 0.3, color: 0x8a6a08 },
  { distance: 45, detail: 0.08, color: 0x8e1e12 },
  { distance: 110, detail: 0.02, color: 0x3c2a8a },
] as const;
const NEAR_COLOR = 0x1c7a30;
/** Poses a second at the coarser levels. */
const poseRates = [30, 10, 6];
const IMPOSTOR = new Impostor({ clips: ['Idle', '1H_Melee_Attack_Chop', 'Walking_A', 'Cheer'] });
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
  if (isSoftware) return 300;
  return device.device === null ? 20_000 : 100_000;
}
const MOST = 100_000;
const count = Math.min(MOST, Math.max(100, Number(query.get('count') ?? usualCount())));

// --- the armies: one crowd of two kinds ---

const files = [new URL('../art/knight.glb', import.meta.url), new URL('../art/rogue.glb', import.meta.url)];
const [knight, rogue] = await Promise.all(files.map(loadCharacter));
dyeTeams([knight, rogue]);
const crowd = new Crowd(rogue, count);
crowd.castShadow = true;
crowd.receiveShadow = true;
const kinds = new CrowdKinds(crowd);
const knights = kinds.add(knight);
const parts = [new InstanceParts(crowd), new InstanceParts(knights)];
const levels = new CrowdLevels(crowd, { shadowLevel: 1 });
const order = new DrawOrder(crowd);
await MeshoptSimplifier.ready;
const coarser = LEVELS.map(({ detail: share }) => {
  const simplify = ({ geometry }: { geometry: BufferGeometry }) =>
    simplifyGeometry(geometry, Math.min(1, share * detail), MeshoptSimplifier).geometry;
  return [simplify(crowd), simplify(knights)];
});

let hasLevels = false;
let hasImpostors = false;

/** Adds the levels of detail, or takes them away. */
function setLevels(): void {
  for (const level of levels.levels.slice(1)) levels.remove(level);
  for (const level of knights.children as LevelMesh[]) level.dispose();
  const add = ([ofRogue, ofKnight]: BufferGeometry[], i: number) => {
    const { distance } = LEVELS[i];
    const options = { hysteresis: 0.05, poseRate: poseRates[i] };
    if (hasImpostors && i === LEVELS.length - 1) levels.add(IMPOSTOR, distance, options);
    else levels.add(ofRogue, distance, options);
    levels.addToKind(knights, ofKnight, i + 1);
  };
  if (hasLevels) coarser.forEach(add);
  map.distances = LEVELS.map(({ distance }) => distance);
  paintLevels();
}

let armies = new Armies(count);
const map = new FieldMap(find('[data-map]'), 1);
let flight = new Flight(1, 1);
let arrows: SkinnedInstancedMesh | null = null;

const _color = new Color();
const _matrix = new Matrix4();

/** Lines up so many soldiers. */
function lineUp(soldiers: number): void {
  crowd.setCapacity(soldiers);
  crowd.count = soldiers;
  armies = new Armies(soldiers);
  const archers: Matrix4[] = [];
  for (let i = 0; i < soldiers; i++) {
    const team = armies.isRed(i) ? 0 : 1;
    const shown = armies.partsOf(i);
    crowd.setMatrixAt(i, armies.placeOf(i, _matrix));
    crowd.setColorAt(i, armies.colorOf(i, _color));
    kinds.setKindAt(i, team);
    parts[team].setVisiblePartsAt(i, shown);
    for (const part of shown) if (part in PAINTED) parts[team].setColorAt(i, part, PAINTED[part]);
    if (armies.shoots(i)) archers.push(_matrix.clone());
  }
  crowd.instanceMatrix.needsUpdate = true;
  crowd.playAll((i) => armies.clipOf(i), { time: (i) => (i * 0.37) % 10 });
  for (let i = 0; i < soldiers; i++) {
    const clip = armies.clipOf(i);
    if (clip.startsWith('Death')) crowd.play(i, clip, { loop: LoopOnce, clampWhenFinished: true, time: 2.6 });
  }
  arrows?.removeFromParent().dispose();
  arrows = createArrows(Crowd, archers);
  stage.scene.add(arrows);
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
  const colors = [{ color: NEAR_COLOR }, ...LEVELS].map(({ color }) => (colored ? color : 0));
  levels.levels.forEach(({ object }, i) => {
    if (object !== null) paint((object as LevelMesh).material, colors[i]);
  });
  paint(knights.material, colors[0]);
  for (const level of knights.children as LevelMesh[]) paint(level.material, colors[level.from ?? 0]);
}

function paint(material: Material | Material[], color: number): void {
  for (const one of Array.isArray(material) ? material : [material]) {
    (one as MeshStandardMaterial).emissive.set(color);
  }
}

/** Triangles of the figure at each level. */
const triangles = [crowd.geometry, ...coarser.map(([ofRogue]) => ofRogue)].map(
  (geometry) => (geometry.index?.count ?? 0) / 3,
);
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
    arrows?.update(delta);
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
