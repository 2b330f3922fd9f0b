import { bakeCharacter, CrowdLevels, createLevel } from 'skinned-instanced-mesh';
import { Color, Matrix4, Quaternion, Vector3 } from 'three';
import { Figures } from '../lib/Figures.js';
import { openStage } from '../lib/openStage.js';
import { fail, find, movesFirst, secondsBetween, showValue, slide, toggle } from '../lib/page.js';
import { createPeople, outfitOf } from '../people.js';
import { Bowl } from './bowl.js';
import { createFan, createFanClips, ROUND } from './fans.js';

const HEIGHT = 1.8;
/** Seconds that a goal is celebrated. */
const JOY = 6;
/** Metres from which figures are coarser, with sides of their limbs, and poses a second to begin with. */
const COARSER = [
  { distance: 16, sides: 5, poseRate: 30 },
  { distance: 55, sides: 3, poseRate: 15 },
];
const TEAMS = [
  [0xd6322b, 0xf4f1ea],
  [0x2b5fc4, 0xf2c53d],
].map((team) => team.map((hex) => new Color(hex)));
const UP = new Vector3(0, 1, 0);

const { query, detail, Crowd, InstanceParts, isSoftware, stage, measure } = await openStage();
const figures = new Figures(find('tbody'), ['crowd']);
const count = Math.max(10, Number(query.get('count') ?? (isSoftware ? 2_000 : 50_000)));

/** The same number from 0 to 1 for the same guest and thing. */
const chance = (i: number, thing: number) => {
  const x = Math.sin(i * 91.7 + thing * 47.3) * 43758.5453;
  return x - Math.floor(x);
};

// --- the crowd ---

const bowl = new Bowl(count);
const { root } = createPeople({ detail: 0.3 * detail, clothed: false });
const crowd = new Crowd(bakeCharacter(root, createFanClips()), count);
const levels = new CrowdLevels(crowd, { shadowLevel: COARSER.length });
for (const { distance, sides, poseRate } of COARSER)
  levels.add(createLevel(crowd, createFan(sides)), distance, { poseRate });
crowd.castShadow = crowd.receiveShadow = true;

const isHome = (i: number) => bowl.seats[i].x > 0;
const parts = new InstanceParts(crowd);
const outfits = Array.from({ length: 300 }, (_, i) => outfitOf(i).colors);
const matrix = new Matrix4();
bowl.seats.forEach(({ x, y, z, turn, row }, i) => {
  const size = new Vector3().setScalar(0.92 + 0.14 * chance(i, 1));
  crowd.setMatrixAt(
    i,
    matrix.compose(new Vector3(x, y, z), new Quaternion().setFromAxisAngle(UP, turn), size),
  );
  const { Skin, Hair, Shirt, Trousers } = outfits[i % outfits.length];
  const isFan = chance(i, 2) < 0.75;
  const shirt = isFan ? TEAMS[isHome(i) ? 0 : 1][row % 6 === 4 ? 1 : 0] : Shirt;
  for (const [part, color] of Object.entries({ Skin, Hair, Trousers, Shirt: shirt }))
    parts.setColorAt(i, part, color);
});

/** Everyone plays one clip, the farther round the earlier: the wave runs by itself, and nothing is done in a frame. */
let waves = 2;
/** Seconds by which a wave is before the camera at first. */
const BEGIN = 5;
function waveTime(i: number): number {
  const round = (waves * bowl.seats[i].angle) / (2 * Math.PI);
  return (crowd.elapsed + BEGIN + ROUND * (round + 1) + 0.3 * chance(i, 3)) % ROUND;
}
crowd.playAll('Wave', { time: waveTime });

/** Seconds that the goal is still celebrated. */
let joy = 0;
function celebrate(): void {
  for (let i = 0; i < count; i++)
    if (isHome(i)) crowd.play(i, 'Joy', { time: chance(i, 4), fade: 0.2 + 0.5 * chance(i, 5) });
  joy = JOY;
}

function calmDown(): void {
  for (let i = 0; i < count; i++) if (isHome(i)) crowd.play(i, 'Wave', { time: waveTime(i), fade: 0.8 });
}

// --- the page ---

let flying = false;
let flown = -1.2;

/** Along the first rows, at the height of the twelfth: from guests some metres away to those at the other end. */
function fly(): void {
  const ahead = flown + Math.min(0.6, 40 / bowl.long);
  stage.camera.position.set(Math.cos(flown) * (bowl.long - 5), 8, Math.sin(flown) * (bowl.wide - 5));
  stage.controls.target.set(Math.cos(ahead) * bowl.long, 6, Math.sin(ahead) * bowl.wide);
}

function listen(): void {
  slide('waves', (value) => {
    waves = value;
    crowd.playAll('Wave', { time: waveTime, fade: 0.8 });
  });
  COARSER.forEach(({ poseRate }, i) => {
    const name = `rate${i + 1}`;
    slide(name, (value) => {
      levels.levels[i + 1].poseRate = value;
    });
    find<HTMLInputElement>(`[name=${name}]`).value = String(poseRate);
    showValue(name, String(poseRate));
  });
  find('button[name=goal]').addEventListener('click', celebrate);
  toggle('fly', movesFirst(query.get('fly')), (value) => {
    flying = value;
  });
  toggle('shadows', query.get('shadows') !== '0', (value) => {
    stage.shadows = value;
  });
  // Whoever takes the camera wants to keep it.
  stage.controls.addEventListener('start', () => {
    if (flying) find<HTMLButtonElement>('[name=fly]').click();
  });
  find('[data-count]').textContent = `${count.toLocaleString('en')} people`;
  find('[data-people]').textContent = count.toLocaleString('en');
}

// --- frames ---

let last = performance.now();

function frame(now: number): void {
  const delta = secondsBetween(last, now);
  last = now;
  const cost = measure(() => {
    crowd.update(delta);
    if (joy > 0 && joy <= delta) calmDown();
    joy = Math.max(0, joy - delta);
    if (flying) {
      flown += delta * 0.04;
      fly();
    }
    stage.controls.update();
    stage.render(0, 1);
  });
  figures.add('crowd', cost);
  figures.write();
  document.body.dataset.ready = '1';
  requestAnimationFrame(frame);
}

const radius = bowl.long * 1.65;
stage.frame(HEIGHT, radius, radius);
stage.shine(new Vector3(), radius);
fly();
stage.scene.add(bowl.object, crowd);
try {
  listen();
  requestAnimationFrame(frame);
} catch (error) {
  fail(error as Error);
}
