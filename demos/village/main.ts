import {
  type CrowdIntersection,
  CrowdLevels,
  createPalettes,
  Gait,
  InstanceUniforms,
  JointAttachment,
  type SkinnedInstancedMesh,
} from 'skinned-instanced-mesh';
import { addLevelsOf, type LoadedCharacter } from 'skinned-instanced-mesh/files';
import {
  type BufferGeometry,
  Color,
  ConeGeometry,
  CylinderGeometry,
  IcosahedronGeometry,
  type Material,
  MathUtils,
  Matrix4,
  MeshBasicMaterial,
  MeshStandardMaterial,
  Quaternion,
  SRGBColorSpace,
  Vector3,
} from 'three';
import { offerEffects } from '../lib/effects.js';
import { Figures } from '../lib/Figures.js';
import { load, loadCharacter } from '../lib/loadCharacter.js';
import { openStage } from '../lib/openStage.js';
import { Picker } from '../lib/Picker.js';
import { fail, find, secondsBetween, showValue, slide, toggle } from '../lib/page.js';
import { Ring } from '../lib/Ring.js';
import { random, type Tile, Village } from './land.js';

const HEIGHT = 2.2;
/** Clips, and the speed at which the feet of each stand still, units a second. */
const GAITS = [
  ['Idle', 0],
  ['Walking_A', 0.73],
  ['Running_A', 4.5],
] as const;
/** How quickly people go who stand, walk, or run. */
const SPEEDS = [0, 1.4, 4.8];
/** How quickly somebody gets faster, units per second and second. */
const HASTE = 5;
/** Who lives here: the file, how many of ten, whose parts, and the head. */
const FOLK = [
  ['villager', 4, 'Rogue', 'Rogue_Head'],
  ['rogue', 3, 'Rogue', 'Rogue_Head_Hooded'],
  ['knight', 3, 'Knight', 'Knight_Head'],
] as const;
const CLOTH = [0xffffff, 0xffc880, 0x9ab4ff, 0xff9a86, 0xb0e890, 0xd8a4ff, 0xf7dd70, 0x8fd8d0].map(
  (hex) => new Color(hex),
);
/** Hues of the cloth of those who carry torches, by watch. */
const WATCH = [0.08, 0.6, 0.33];
/** One of so many carries something. */
const LADEN = 3;
/** How far somebody who stands looks after those who pass, units, and how far a head turns, radians. */
const SIGHT = 9;
const NECK = 1.2;
const UP = new Vector3(0, 1, 0);

/** Somebody on the way from one tile to the next, a little to the right. */
interface Walker {
  crowd: SkinnedInstancedMesh;
  edits: InstanceType<typeof JointEdits>;
  index: number;
  at: Vector3;
  /** Whom one who stands looks at. */
  watched: Walker | null;
  from: Tile;
  to: Tile;
  /** Units from the middle of `from`, and to the right of the line. */
  way: number;
  side: number;
  speed: number;
  wanted: number;
  /** Seconds to stand. */
  rest: number;
  size: Vector3;
  turn: Quaternion;
}

const { query, detail, Crowd, InstanceParts, JointEdits, device, isSoftware, stage, measure } =
  await openStage();
const figures = new Figures(find('tbody'), ['crowd']);
const count = Math.max(10, Number(query.get('count') ?? (isSoftware ? 160 : 1_200)));

// --- people ---

const walkers: Walker[] = [];
const pick = <T>(list: readonly T[]): T => list[Math.floor(random(0, list.length))];

async function settle(): Promise<Village> {
  const files = {
    villager: new URL('../art/villager.glb', import.meta.url),
    rogue: new URL('../art/rogue.glb', import.meta.url),
    knight: new URL('../art/knight.glb', import.meta.url),
  };
  const [{ scene }, folk] = await Promise.all([
    load(new URL('../art/village.glb', import.meta.url)),
    Promise.all(FOLK.map(([name]) => loadCharacter(files[name]))),
  ]);
  const village = new Village(scene, detail < 1 ? 3 : 6);
  const roads = village.tiles.filter((tile) => tile.roads.length > 0);
  folk.forEach((character, kind) => {
    const [name, share, who, head] = FOLK[kind];
    if (name === 'knight') dye(character);
    const crowd = new Crowd(character, Math.round((count * share) / 10));
    addLevelsOf(character, new CrowdLevels(crowd, { shadowLevel: 1 }));
    crowd.castShadow = crowd.receiveShadow = true;
    // They go everywhere.
    crowd.frustumCulled = false;
    const parts = new InstanceParts(crowd);
    const gait = new Gait(crowd, GAITS);
    const edits = new JointEdits(crowd);
    const uniforms = name === 'knight' ? new InstanceUniforms(crowd) : null;
    for (let index = 0; index < crowd.count; index++) {
      const limbs = ['ArmLeft', 'ArmRight', 'Body', 'LegLeft', 'LegRight'].map((part) => `${who}_${part}`);
      parts.setVisiblePartsAt(index, [...limbs, head, ...(random(0, 1) < 0.25 ? [`${who}_Cape`] : [])]);
      const [shirt, trousers] = [pick(CLOTH), pick(CLOTH)];
      for (const part of limbs) parts.setColorAt(index, part, part.includes('Leg') ? trousers : shirt);
      uniforms?.setAt(index, 'mapLayer', index % WATCH.length);
      const from = pick(roads);
      const size = new Vector3(random(0.9, 1.05), random(0.86, 1.1), 0);
      size.z = size.x;
      const way = random(0, 8);
      const turn = new Quaternion();
      const rest = { speed: 0, wanted: 0, rest: 0 };
      walkers.push({
        crowd,
        edits,
        index,
        at: new Vector3(),
        watched: null,
        from,
        to: pick(from.roads),
        way,
        side: random(0.4, 2.6),
        ...rest,
        size,
        turn,
      });
    }
    gait.play(crowd.all, { phase: () => random(0, 1) });
    if (name === 'knight') {
      // Those carry torches at night: two more draw calls for all.
      const torches = [
        hold(crowd, 'handslotr', ...things.stick, 1),
        hold(crowd, 'handslotr', ...things.flame, 1),
      ];
      for (const one of torches) one.visible = false;
      lit.push(...torches);
    } else if (name === 'rogue') hold(crowd, 'handslotl', ...things.basket, LADEN);
    else hold(crowd, 'chest', ...things.sack, LADEN);
    stage.scene.add(crowd);
  });
  for (const walker of walkers) decide(walker);
  stage.scene.add(village.object);
  return village;
}

/** What people carry. */
const things: Record<string, [BufferGeometry, Material]> = {
  stick: [new CylinderGeometry(0.07, 0.04, 0.9, 6).translate(0, 0.3, 0), matt(0x4a2f1c)],
  flame: [
    new ConeGeometry(0.15, 0.5, 6).translate(0, 0.95, 0),
    new MeshBasicMaterial({ color: new Color(2, 0.6, 0.08) }),
  ],
  basket: [new CylinderGeometry(0.34, 0.24, 0.34, 9).translate(0, -0.3, 0), matt(0xb98545)],
  sack: [new IcosahedronGeometry(0.42, 1).scale(0.95, 1.15, 0.7).translate(0, 0.25, -0.55), matt(0xcbb489)],
};

function matt(color: number): Material {
  return new MeshStandardMaterial({ color, roughness: 0.95, flatShading: true });
}

/** Lets one of some people of a crowd have a thing at a joint. */
function hold(
  crowd: SkinnedInstancedMesh,
  joint: string,
  geometry: BufferGeometry,
  material: Material,
  oneOf: number,
): JointAttachment {
  const held = new JointAttachment(crowd, joint, geometry, material);
  held.castShadow = true;
  const parts = new InstanceParts(held);
  for (let i = 0; i < crowd.count; i++) parts.setVisibleAt(i, 0, i % oneOf === 0);
  return held;
}

/** Red cloth becomes that of one of the watches; faces and steel, which are on the same picture, stay. */
function dye({ material }: LoadedCharacter): void {
  const hsl = { h: 0, s: 0, l: 0 };
  for (const one of [material].flat() as MeshStandardMaterial[]) {
    one.map = createPalettes(one.map!, WATCH.length, (color, _u, _v, layer) => {
      const { h, s, l } = color.getHSL(hsl, SRGBColorSpace);
      if (s > 0.45 && (h > 0.9 || h < 0.02)) color.setHSL(WATCH[layer], 0.6, l, SRGBColorSpace);
    });
  }
}

/** What is only there at night. */
const lit: JointAttachment[] = [];
let hurry = 0.2;

/** How somebody goes on: runs, walks, or stands for a while. */
function decide(walker: Walker): void {
  const roll = Math.random();
  const gait = roll < hurry ? 2 : roll < 0.85 ? 1 : 0;
  walker.rest = gait === 0 ? 1 + 3 * Math.random() : 0;
  walker.wanted = SPEEDS[gait] * (0.85 + 0.3 * Math.random());
  if (walker.watched !== null) walker.edits.clearAt(walker.index, 'head');
  walker.watched = gait === 0 ? passerBy(walker) : null;
}

/** Somebody near who is on the way. */
function passerBy({ at, watched }: Walker): Walker | null {
  const isNear = (one: Walker) => one.speed > 1 && one.at.distanceToSquared(at) < SIGHT ** 2;
  return walkers.find((one) => one !== watched && isNear(one)) ?? null;
}

/** Turns the head of who stands to who passes. */
function watch({ edits, index, at, watched }: Walker): void {
  if (watched === null || watched.at.distanceToSquared(at) > (1.5 * SIGHT) ** 2) return;
  edits.lookAt(index, 'head', _place.copy(watched.at).setY(watched.at.y + 1.3), { limit: NECK });
}

const _place = new Vector3();
const _turn = new Quaternion();
const _matrix = new Matrix4();

function walk(walker: Walker, delta: number): void {
  const { crowd, index, from, to, side } = walker;
  walker.rest -= delta;
  if (walker.wanted === 0 && walker.rest < 0) decide(walker);
  const { speed, wanted } = walker;
  walker.speed = MathUtils.clamp(wanted, speed - HASTE * delta, speed + HASTE * delta);
  walker.way += walker.speed * delta;
  const [dx, dz] = [to.x - from.x, to.z - from.z];
  const length = Math.hypot(dx, dz);
  if (walker.way > length) {
    const next = to.roads.filter((one) => one !== from);
    Object.assign(walker, { from: to, to: next.length > 0 ? pick(next) : from, way: walker.way - length });
    decide(walker);
    return;
  }
  const share = walker.way / length;
  // steps of the land are slopes for those who walk
  const up = MathUtils.smoothstep(share, 0.3, 0.7);
  _place.set(
    from.x + dx * share - (dz / length) * side,
    MathUtils.lerp(from.y, to.y, up),
    from.z + dz * share + (dx / length) * side,
  );
  walker.turn.slerp(_turn.setFromAxisAngle(UP, Math.atan2(dx, dz)), 1 - Math.exp(-6 * delta));
  walker.at.copy(_place);
  crowd.setMatrixAt(index, _matrix.compose(_place, walker.turn, walker.size));
}

// --- the page ---

let chosen: Walker | null = null;
let dark = false;
let night = 0;
const ring = new Ring(stage);
ring.visible = false;

function listen(crowds: Iterable<SkinnedInstancedMesh>): void {
  const choose = (crowd: SkinnedInstancedMesh, { instanceId }: CrowdIntersection) => {
    chosen = walkers.find((one) => one.crowd === crowd && one.index === instanceId) ?? null;
  };
  for (const crowd of crowds) new Picker(stage, crowd).onClick((hit) => choose(crowd, hit));
  showValue('hurry', String(hurry));
  find<HTMLInputElement>('[name=hurry]').value = String(hurry);
  slide('hurry', (value) => {
    hurry = value;
  });
  toggle('night', query.get('night') === '1', (value) => {
    dark = value;
    for (const one of lit) one.visible = value;
  });
  toggle('shadows', query.get('shadows') !== '0', (value) => {
    stage.shadows = value;
  });
  offerEffects(stage, device, query.get('effects') === '1');
  find('[data-count]').textContent = `${count.toLocaleString('en')} people`;
}

/** Where on the screen the head is of whom the camera sees nearest, for tests, which click there. */
function nearestHead(): string {
  const nearest = { x: 0, y: 0, z: 1 };
  for (const { crowd, index } of walkers) {
    crowd.getMatrixAt(index, _matrix);
    const { x, y, z } = _place
      .set(0, HEIGHT * 0.75, 0)
      .applyMatrix4(_matrix)
      .project(stage.camera);
    if (z < nearest.z && Math.abs(x) < 0.9 && Math.abs(y) < 0.9) Object.assign(nearest, { x, y, z });
  }
  return `${((nearest.x + 1) / 2) * innerWidth},${((1 - nearest.y) / 2) * innerHeight}`;
}

/** Says what the chosen one plays. */
function tellWho({ crowd, index, speed }: Walker): void {
  const plays = GAITS.map(([clip]) => [clip, crowd.getWeightAt(index, clip)] as const).filter(
    ([, weight]) => weight > 0.005,
  );
  const mix = plays.map(([clip, weight]) => `${Math.round(100 * weight)} % ${clip}`).join(', ');
  find('[data-who]').textContent =
    `Number ${walkers.findIndex((one) => one.crowd === crowd && one.index === index)}: ${mix}, at ${speed.toFixed(1)} units a second.`;
}

// --- frames ---

const village = await settle();
const crowds = new Set(walkers.map(({ crowd }) => crowd));
let last = performance.now();

function frame(now: number): void {
  const delta = secondsBetween(last, now);
  last = now;
  night += MathUtils.clamp(Number(dark) - night, -delta, delta);
  const cost = measure(() => {
    for (const walker of walkers) walk(walker, delta);
    for (const walker of walkers) watch(walker);
    for (const crowd of crowds) {
      crowd.instanceMatrix.needsUpdate = true;
      crowd.update(delta);
    }
    stage.night = night;
    village.shine(night, now / 1000);
    if (chosen !== null) {
      chosen.crowd.getMatrixAt(chosen.index, _matrix);
      ring.visible = true;
      ring.follow(walkers.indexOf(chosen), _place.setFromMatrixPosition(_matrix), delta);
    }
    stage.controls.update();
    stage.render(0, 1);
  });
  if (chosen !== null) tellWho(chosen);
  if (query.has('head')) document.body.dataset.head = nearestHead();
  figures.add('crowd', cost);
  figures.write();
  document.body.dataset.ready = '1';
  requestAnimationFrame(frame);
}

try {
  // the meadow is below the tiles
  stage.frame(HEIGHT, village.radius, village.radius, () => -1);
  stage.shine(new Vector3(), 48);
  // on one of the roads that lead to the fire
  stage.camera.position.set(13.5, 7.5, 23);
  stage.controls.target.set(1, 2.5, 0);
  stage.scene.add(ring);
  night = query.get('night') === '1' ? 1 : 0;
  listen(crowds);
  for (const walker of walkers) walk(walker, 0);
  requestAnimationFrame(frame);
} catch (error) {
  fail(error as Error);
}
