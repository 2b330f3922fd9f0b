import {
  AnimationLayers,
  ClipBlend,
  CrowdLevels,
  InstanceUniforms,
  loadPlayback,
  savePlayback,
} from 'skinned-instanced-mesh';
import { addLevelsOf } from 'skinned-instanced-mesh/files';
import { Color, LoopOnce, MathUtils, Matrix4, Plane, Raycaster, Vector3 } from 'three';
import { loadCharacter } from '../lib/loadCharacter.js';
import { openStage } from '../lib/openStage.js';
import { Picker } from '../lib/Picker.js';
import { find, secondsBetween } from '../lib/page.js';

const [WALK, RUN] = [2.2, 6];
/** Clips, and the speeds at which they are right, units a second. */
const GAITS = Object.entries({ Idle: 0, Walking_A: WALK, Running_A: RUN });
const BLOWS = ['1H_Melee_Attack_Chop', '1H_Melee_Attack_Slice_Diagonal', '1H_Melee_Attack_Stab'];
const LIMBS = ['ArmLeft', 'ArmRight', 'Body', 'LegLeft', 'LegRight'];
/** Radius of the field, how far a blade reaches, seconds until it lands, and seconds of a flash. */
const [FIELD, REACH, SWING, FLASH] = [34, 2.8, 0.4, 0.3];

/** Anybody in the game: the knight, who is the only one of his crowd, or a rogue. */
interface Fighter {
  x: number;
  z: number;
  turn: number;
  speed: number;
  lives: number;
  /** Seconds until the blade lands, until the next blow, and since the last hit. */
  swing: number;
  pause: number;
  since: number;
}

const { query, Crowd, InstanceParts, isSoftware, stage } = await openStage();
const count = Math.max(1, Number(query.get('count') ?? (isSoftware ? 30 : 150)));
const [_matrix, _place, _color] = [new Matrix4(), new Vector3(), new Color()];

const heightAt = (x: number, z: number) =>
  (1.5 + Math.sin(x * 0.17) + 0.5 * Math.sin(z * 0.21)) *
  MathUtils.smoothstep(FIELD - Math.hypot(x, z), 3, 16);

// --- two crowds: what each can do is said by features ---

async function enlist(url: URL, size: number, lives: number, parts: string[]) {
  const character = await loadCharacter(url);
  const crowd = new Crowd(character, size);
  addLevelsOf(character, new CrowdLevels(crowd, { shadowLevel: 1 }));
  new InstanceParts(crowd).setVisiblePartsAt({ start: 0, count: size }, parts);
  // Legs go on walking while arms strike.
  new AnimationLayers(crowd, [{ name: 'arms', mask: ['spine'] }]);
  crowd.addEventListener('finished', ({ instanceId, layer }) => {
    if (layer === 'arms') crowd.stop(instanceId, { layer, fade: 0.2 });
  });
  crowd.castShadow = crowd.receiveShadow = true;
  stage.scene.add(crowd);
  const uniforms = new InstanceUniforms(crowd, { emissive: 'color' });
  const gait = new ClipBlend(crowd, GAITS);
  const fighters = Array.from({ length: size }, () => ({}) as Fighter);
  const side = { crowd, gait, uniforms, lives, fighters };
  for (let i = 0; i < size; i++) arrive(side, i);
  return side;
}
type Side = Awaited<ReturnType<typeof enlist>>;

/** Somebody comes: the knight in the middle, rogues from anywhere around him. */
function arrive({ crowd, gait, fighters, lives }: Side, i: number): void {
  const away = fighters.length === 1 ? 0 : FIELD * (0.3 + 0.6 * Math.random());
  const turn = Math.random() * 2 * Math.PI;
  const [x, z] = [-Math.sin(turn) * away, -Math.cos(turn) * away];
  fighters[i] = Object.assign(fighters[i], { x, z, turn, lives, speed: 0, swing: 0, pause: 0, since: 1 });
  crowd.stop(i);
  if (away > 0) crowd.setColorAt(i, _color.setHSL(Math.random(), 0.4, 0.75));
  gait.setValueAt(i, 0).play(i, { phase: Math.random() });
}

const wear = (who: string, ...things: string[]) => [...LIMBS.map((limb) => `${who}_${limb}`), ...things];
const armour = wear('Knight', 'Knight_Head', 'Knight_Helmet', '1H_Sword', 'Round_Shield');
const [knights, rogues] = await Promise.all([
  enlist(new URL('../art/knight.glb', import.meta.url), 1, 12, armour),
  enlist(new URL('../art/rogue.glb', import.meta.url), count, 2, wear('Rogue', 'Rogue_Head_Hooded', 'Knife')),
]);
const [knight] = knights.fighters;
let fallen = 0;

// --- what fighters do ---

/** Turns and moves, and mixes idle, walk and run by the speed that comes of it. */
function go({ gait, fighters }: Side, i: number, dx: number, dz: number, wanted: number, delta: number) {
  const fighter = fighters[i];
  const { speed } = fighter;
  fighter.speed = MathUtils.clamp(wanted, speed - 14 * delta, speed + 14 * delta);
  const turn = dx === 0 && dz === 0 ? 0 : Math.atan2(dx, dz) - fighter.turn;
  fighter.turn += Math.atan2(Math.sin(turn), Math.cos(turn)) * (1 - Math.exp(-10 * delta));
  fighter.x += Math.sin(fighter.turn) * fighter.speed * delta;
  fighter.z += Math.cos(fighter.turn) * fighter.speed * delta;
  gait.setValueAt(i, fighter.speed);
}

function strike({ crowd, fighters }: Side, i: number): void {
  const fighter = fighters[i];
  if (fighter.pause > 0 || fighter.lives <= 0) return;
  Object.assign(fighter, { swing: SWING, pause: 0.9 });
  const once = { loop: LoopOnce, clampWhenFinished: true, fade: 0.1, timeScale: 1.3 } as const;
  crowd.play(i, BLOWS[Math.floor(Math.random() * BLOWS.length)], { layer: 'arms', ...once });
}

/** A blade lands: who is before it loses a life, and falls with the last one. */
function land(by: Fighter, others: Side): void {
  others.fighters.forEach((other, i) => {
    const [dx, dz] = [other.x - by.x, other.z - by.z];
    const isAhead = dx * Math.sin(by.turn) + dz * Math.cos(by.turn) > 0;
    if (other.lives <= 0 || !isAhead || Math.hypot(dx, dz) > REACH) return;
    Object.assign(other, { lives: other.lives - 1, since: 0 });
    if (other.lives > 0) return;
    if (others === rogues) fallen++;
    others.crowd.stop(i, { layer: 'arms', fade: 0.1 });
    others.crowd.play(i, 'Death_A', { loop: LoopOnce, clampWhenFinished: true, fade: 0.1 });
  });
}

/** Time passes: blades land, flashes fade, the dead come again. */
function live(side: Side, others: Side, i: number, delta: number): void {
  const { crowd, uniforms, fighters } = side;
  const fighter = fighters[i];
  const { swing, pause, since, lives, turn, x, z } = fighter;
  Object.assign(fighter, { swing: swing - delta, pause: pause - delta, since: since + delta });
  if (swing > 0 && swing <= delta && lives > 0) land(fighter, others);
  const flash = Math.max(0, 1 - fighter.since / FLASH);
  if (since < FLASH) uniforms.setAt(i, 'emissive', _color.setRGB(2.4, 0.5, 0.2).multiplyScalar(flash));
  if (fighter.lives <= 0 && fighter.since > 5) arrive(side, i);
  crowd.setMatrixAt(i, _matrix.makeRotationY(turn).setPosition(x, heightAt(x, z), z));
  crowd.instanceMatrix.needsUpdate = true;
}

/** A rogue runs to the knight, keeps apart from the others, and strikes when it is there. */
function think(i: number, delta: number): void {
  const rogue = rogues.fighters[i];
  if (rogue.lives <= 0) return;
  let [dx, dz] = [knight.x - rogue.x, knight.z - rogue.z];
  const away = Math.hypot(dx, dz);
  for (const other of rogues.fighters) {
    const near = Math.hypot(rogue.x - other.x, rogue.z - other.z) + 0.01;
    if (other === rogue || other.lives <= 0 || near > 1.3) continue;
    dx += ((rogue.x - other.x) / near) * away * 0.6;
    dz += ((rogue.z - other.z) / near) * away * 0.6;
  }
  const isThere = away < 0.8 * REACH || knight.lives <= 0;
  go(rogues, i, dx, dz, isThere ? 0 : away > 12 ? 5 : WALK, delta);
  if (isThere && knight.lives > 0 && Math.random() < 0.6 * delta) strike(rogues, i);
}

// --- the player: keys, taps, save and load ---

/** Where a tap sends the knight: a place, or a rogue. */
let goal: { x: number; z: number; lives?: number } | null = null;
const keys = new Set<string>();
const isDown = (...names: string[]) => Number(names.some((name) => keys.has(name)));
const distance = ({ x, z }: { x: number; z: number }) => Math.hypot(x - knight.x, z - knight.z);

/** Strikes at who is nearest. */
function attack(): void {
  const [victim] = rogues.fighters.filter(({ lives }) => lives > 0).sort((a, b) => distance(a) - distance(b));
  if (victim && distance(victim) < REACH && knight.pause <= 0)
    knight.turn = Math.atan2(victim.x - knight.x, victim.z - knight.z);
  strike(knights, 0);
}

function steer(delta: number): void {
  if (knight.lives <= 0) return;
  const ahead = isDown('w', 'arrowup') - isDown('s', 'arrowdown');
  const aside = isDown('d', 'arrowright') - isDown('a', 'arrowleft');
  const view = stage.controls.getAzimuthalAngle();
  let dx = aside * Math.cos(view) - ahead * Math.sin(view);
  let dz = -aside * Math.sin(view) - ahead * Math.cos(view);
  if (dx !== 0 || dz !== 0 || goal?.lives === 0) goal = null;
  if (goal !== null) [dx, dz] = [goal.x - knight.x, goal.z - knight.z];
  const isThere = goal !== null && distance(goal) < (goal.lives === undefined ? 0.3 : 0.8 * REACH);
  if (isThere && goal?.lives !== undefined) attack();
  else if (isThere) goal = null;
  go(knights, 0, dx, dz, isThere || (dx === 0 && dz === 0) ? 0 : isDown('shift') ? WALK : RUN, delta);
}

function save(): void {
  const sides = [knights, rogues].map(({ crowd, fighters }) => ({ fighters, playback: savePlayback(crowd) }));
  localStorage.setItem('game', JSON.stringify({ fallen, sides }));
}

function load(): void {
  const saved = JSON.parse(localStorage.getItem('game') ?? 'null');
  if (saved === null) return;
  fallen = saved.fallen;
  [knights, rogues].forEach(({ crowd, fighters }, k) => {
    loadPlayback(crowd, saved.sides[k].playback);
    fighters.forEach((fighter, i) => Object.assign(fighter, saved.sides[k].fighters[i]));
  });
}

document.addEventListener('keydown', (event) => {
  keys.add(event.key.toLowerCase());
  if (event.key !== ' ') return;
  event.preventDefault(); // presses no button
  attack();
});
document.addEventListener('keyup', ({ key }) => keys.delete(key.toLowerCase()));
for (const [name, act] of Object.entries({ attack, save, load })) {
  find<HTMLElement>(`[name=${name}]`).addEventListener('click', act);
}
const picker = new Picker(stage, rogues.crowd);
picker.onClick(({ instanceId = 0 }) => {
  goal = rogues.fighters[instanceId];
});
picker.onMiss((pointer) => {
  const raycaster = new Raycaster();
  raycaster.setFromCamera(pointer, stage.camera);
  goal = raycaster.ray.intersectPlane(new Plane(new Vector3(0, 1, 0), -1), new Vector3());
});

let last = performance.now();

function frame(now: number): void {
  const delta = secondsBetween(last, now);
  last = now;
  steer(delta);
  live(knights, rogues, 0, delta);
  for (let i = 0; i < count; i++) think(i, delta);
  for (let i = 0; i < count; i++) live(rogues, knights, i, delta);
  for (const { crowd } of [knights, rogues]) crowd.update(delta);
  const { camera, controls } = stage;
  _place.set(knight.x, heightAt(knight.x, knight.z) + 1.4, knight.z).sub(controls.target);
  camera.position.add(_place);
  controls.target.add(_place);
  controls.update();
  stage.shine(controls.target, 26);
  stage.render(0, 1);
  find('[data-lives]').textContent = String(Math.max(0, knight.lives));
  find('[data-fallen]').textContent = String(fallen);
  document.body.dataset.ready = '1';
  requestAnimationFrame(frame);
}

stage.shadows = query.get('shadows') !== '0';
stage.frame(2.2, FIELD, FIELD, heightAt);
stage.camera.position.set(0, 7, 12);
stage.controls.target.set(0, 1.4, 0);
stage.controls.enablePan = false; // arrow keys are for the knight
requestAnimationFrame(frame);
