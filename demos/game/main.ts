import {
  AnimationLayers,
  Billboard,
  CrowdLevels,
  Gait,
  InstanceUniforms,
  loadPlayback,
  pickInstance,
  savePlayback,
} from 'skinned-instanced-mesh';
import { addLevelsOf, type LoadedCharacter } from 'skinned-instanced-mesh/files';
import {
  Color,
  DataTexture,
  LoopOnce,
  MathUtils,
  Matrix4,
  MeshBasicMaterial,
  Plane,
  PlaneGeometry,
  Raycaster,
  Vector2,
  Vector3,
} from 'three';
import { loadCharacter } from '../lib/loadCharacter.js';
import { openStage } from '../lib/openStage.js';
import { find, secondsBetween } from '../lib/page.js';

// The blocks of guides/game.md, on a stage of the gallery.

const { query, Crowd: SkinnedInstancedMesh, InstanceParts, isSoftware, stage } = await openStage();
const { scene, camera, renderer } = stage;
const COUNT = Math.max(1, Number(query.get('count') ?? (isSoftware ? 30 : 60)));

const heightAt = (x: number, z: number) =>
  (1.5 + Math.sin(x * 0.17) + 0.5 * Math.sin(z * 0.21)) *
  MathUtils.smoothstep(FIELD - Math.hypot(x, z), 3, 16);

const [WALK, RUN] = [1.6, 6]; // units a second
const FIELD = 34;
/** `swing`: seconds until the blade lands, negative afterwards; `since`: seconds since the last hit. */
type Fighter = Record<'x' | 'z' | 'turn' | 'speed' | 'lives' | 'swing' | 'since', number>;
type Side = ReturnType<typeof enlist>;
const [_matrix, _color, _offset] = [new Matrix4(), new Color(), new Vector2()];
const health = new DataTexture(Uint8Array.of(40, 150, 20, 255, 40, 5, 5, 255), 2, 1); // full, empty
health.repeat.x = 0.5;
health.needsUpdate = true;
const barMaterial = new MeshBasicMaterial({ map: health });

function enlist(character: LoadedCharacter, size: number, lives: number) {
  const crowd = new SkinnedInstancedMesh(character, size);
  addLevelsOf(character, new CrowdLevels(crowd, { shadowLevel: 1 }));
  const parts = new InstanceParts(crowd);
  for (const name of parts.names) parts.setVisibleAt(crowd.all, name, !/Shield|Cape|Off|Cross/.test(name));
  new AnimationLayers(crowd, [{ name: 'arms', mask: ['spine'] }]);
  const uniforms = new InstanceUniforms(crowd, { emissive: 'color' });
  const gait = new Gait(crowd, Object.entries({ Idle: 0, Walking_A: 0.73, Running_A: 4.5 }));
  scene.add(crowd);
  const bar = new PlaneGeometry(0.9, 0.09).translate(0, 1.3, 0);
  const bars = new InstanceParts(new Billboard(crowd, 'head', bar, barMaterial));
  const fighters = Array.from({ length: size }, () => ({}) as Fighter);
  const side = { crowd, gait, uniforms, bars, fighters, lives };
  for (let i = 0; i < size; i++) arrive(side, i);
  return side;
}

/** The knight comes to the middle, rogues come to anywhere around it. */
function arrive(side: Side, i: number): void {
  const { crowd, gait, fighters, lives } = side;
  const away = fighters.length === 1 ? 0 : FIELD * MathUtils.randFloat(0.2, 0.8);
  const turn = Math.random() * 2 * Math.PI;
  const [x, z] = [-Math.sin(turn) * away, -Math.cos(turn) * away];
  Object.assign(fighters[i], { x, z, turn, lives, speed: 0, swing: -1, since: 1 });
  crowd.setMatrixAt(i, _matrix.makeRotationY(turn).setPosition(x, heightAt(x, z), z));
  crowd.stop(i);
  if (away > 0) crowd.setColorAt(i, _color.setHSL(Math.random(), 0.4, 0.75));
  gait.play(i, { phase: Math.random() });
  showHealth(side, i);
}

function showHealth({ bars, fighters, lives: all }: Side, i: number): void {
  const { lives } = fighters[i];
  bars.setVisibleAt(i, 0, lives > 0).setMapOffsetAt(i, 0, _offset.set(1 - lives / all, 0));
}

const files = [new URL('../art/knight.glb', import.meta.url), new URL('../art/rogue.glb', import.meta.url)];
const [knightCharacter, rogueCharacter] = await Promise.all(files.map(loadCharacter));
const knights = enlist(knightCharacter, 1, 12);
const rogues = enlist(rogueCharacter, COUNT, 2);
const [knight] = knights.fighters;

function go({ fighters }: Side, i: number, dx: number, dz: number, wanted: number, delta: number) {
  const fighter = fighters[i];
  fighter.speed = MathUtils.clamp(wanted, fighter.speed - 14 * delta, fighter.speed + 14 * delta);
  const turn = dx === 0 && dz === 0 ? 0 : Math.atan2(dx, dz) - fighter.turn;
  fighter.turn += Math.atan2(Math.sin(turn), Math.cos(turn)) * (1 - Math.exp(-10 * delta));
  fighter.x += Math.sin(fighter.turn) * fighter.speed * delta;
  fighter.z += Math.cos(fighter.turn) * fighter.speed * delta;
}

const REACH = 2.8;
const once = { loop: LoopOnce, clampWhenFinished: true, fade: 0.1 } as const;
let fallen = 0;

function strike({ crowd, fighters }: Side, i: number): void {
  if (fighters[i].swing > -0.5 || fighters[i].lives <= 0) return;
  fighters[i].swing = 0.4;
  crowd.play(i, '1H_Melee_Attack_Chop', { layer: 'arms', timeScale: 1.3, ...once });
}

for (const { crowd } of [knights, rogues])
  crowd.addEventListener('finished', ({ instanceId, layer }) => {
    if (layer === 'arms') crowd.stop(instanceId, { layer, fade: 0.2 }); // arms walk again
  });

function land(by: Fighter, others: Side): void {
  others.fighters.forEach((other, i) => {
    const [dx, dz] = [other.x - by.x, other.z - by.z];
    const isAhead = dx * Math.sin(by.turn) + dz * Math.cos(by.turn) > 0;
    if (other.lives <= 0 || !isAhead || Math.hypot(dx, dz) > REACH) return;
    Object.assign(other, { lives: other.lives - 1, since: 0 });
    showHealth(others, i);
    if (other.lives > 0) return;
    if (others === rogues) fallen++;
    others.crowd.stop(i, { layer: 'arms', fade: 0.1 });
    others.crowd.play(i, 'Death_A', once);
  });
}

function live(side: Side, others: Side, i: number, delta: number): void {
  const { crowd, uniforms, fighters } = side;
  const fighter = fighters[i];
  const { swing, since, lives, turn, x, z } = fighter;
  fighter.swing -= delta;
  fighter.since += delta;
  if (swing > 0 && fighter.swing <= 0 && lives > 0) land(fighter, others);
  const flash = Math.max(0, 1 - fighter.since / 0.3);
  if (since < 0.3) uniforms.setAt(i, 'emissive', _color.setRGB(2.4, 0.5, 0.2).multiplyScalar(flash));
  if (lives <= 0 && since > 5) arrive(side, i);
  crowd.setMatrixAt(i, _matrix.makeRotationY(turn).setPosition(x, heightAt(x, z), z));
  crowd.instanceMatrix.needsUpdate = true;
}

function think(i: number, delta: number): void {
  const rogue = rogues.fighters[i];
  if (rogue.lives <= 0) return;
  let [dx, dz] = [knight.x - rogue.x, knight.z - rogue.z];
  const away = Math.hypot(dx, dz);
  for (const other of rogues.fighters) {
    const near = Math.hypot(rogue.x - other.x, rogue.z - other.z) + 0.01;
    if (other === rogue || other.lives <= 0 || near > 1.3) continue;
    dx += ((rogue.x - other.x) / near) * away * 0.6; // keep apart
    dz += ((rogue.z - other.z) / near) * away * 0.6;
  }
  const isThere = away < 0.8 * REACH || knight.lives <= 0;
  go(rogues, i, dx, dz, isThere ? 0 : away > 12 ? 5 : WALK, delta);
  if (isThere && knight.lives > 0 && Math.random() < 0.6 * delta) strike(rogues, i);
}

let goal: { x: number; z: number } | null = null;
const keys = new Set<string>();
addEventListener('keydown', ({ key }) => keys.add(key.toLowerCase()));
addEventListener('keyup', ({ key }) => keys.delete(key.toLowerCase()));

function attack(): void {
  const away = ({ x, z }: Fighter) => Math.hypot(x - knight.x, z - knight.z);
  const [near] = rogues.fighters.filter(({ lives }) => lives > 0).sort((a, b) => away(a) - away(b));
  if (near && away(near) < REACH) knight.turn = Math.atan2(near.x - knight.x, near.z - knight.z);
  strike(knights, 0);
}

function steer(delta: number): void {
  if (knight.lives <= 0) return;
  const isDown = (key: string) => Number(keys.has(key));
  let [dx, dz] = [isDown('d') - isDown('a'), isDown('s') - isDown('w')];
  if (dx !== 0 || dz !== 0) goal = null;
  if (goal !== null) [dx, dz] = [goal.x - knight.x, goal.z - knight.z];
  const isThere = goal !== null && Math.hypot(dx, dz) < REACH / 2;
  if (isThere) goal = null;
  if (isThere || keys.has(' ')) attack();
  go(knights, 0, dx, dz, isThere || (dx === 0 && dz === 0) ? 0 : RUN, delta);
}

const raycaster = new Raycaster();
renderer.domElement.addEventListener('click', ({ clientX, clientY }) => {
  const pointer = new Vector2((clientX / innerWidth) * 2 - 1, 1 - (clientY / innerHeight) * 2);
  raycaster.setFromCamera(pointer, camera);
  const picked = pickInstance(rogues.crowd, camera, pointer);
  const floor = new Plane(new Vector3(0, 1, 0), -heightAt(knight.x, knight.z));
  goal = rogues.fighters[picked?.instanceId ?? -1] ?? raycaster.ray.intersectPlane(floor, new Vector3());
});

function save(): void {
  const sides = [knights, rogues].map(({ crowd, fighters }) => ({ fighters, playback: savePlayback(crowd) }));
  localStorage.setItem('game', JSON.stringify({ fallen, sides }));
}

function load(): void {
  const saved = JSON.parse(localStorage.getItem('game') ?? 'null');
  if (saved === null) return;
  fallen = saved.fallen;
  [knights, rogues].forEach((side, k) => {
    loadPlayback(side.crowd, saved.sides[k].playback);
    side.fighters.forEach((fighter, i) => {
      Object.assign(fighter, saved.sides[k].fighters[i]);
      showHealth(side, i);
    });
  });
}

const onKey: Record<string, () => void> = { k: save, l: load };
addEventListener('keydown', ({ key }) => onKey[key]?.());

function step(delta: number): void {
  steer(delta);
  live(knights, rogues, 0, delta);
  for (let i = 0; i < COUNT; i++) think(i, delta);
  for (let i = 0; i < COUNT; i++) live(rogues, knights, i, delta);
  for (const { crowd } of [knights, rogues]) crowd.update(delta);
  const y = heightAt(knight.x, knight.z);
  camera.position.set(knight.x, y + 4.2, knight.z + 8);
  camera.lookAt(knight.x, y + 1.4, knight.z - 4);
}

for (const [name, act] of Object.entries({ attack, save, load }))
  find<HTMLElement>(`[name=${name}]`).addEventListener('click', ({ currentTarget }) => {
    (currentTarget as HTMLElement).blur(); // Space strikes
    act();
  });

let last = performance.now();

function frame(now: number): void {
  step(secondsBetween(last, now));
  last = now;
  stage.shine(new Vector3(knight.x, 0, knight.z), 26);
  stage.render(0, 1);
  find('[data-lives]').textContent = String(Math.max(0, knight.lives));
  find('[data-fallen]').textContent = String(fallen);
  document.body.dataset.ready = '1';
  requestAnimationFrame(frame);
}

for (const { crowd } of [knights, rogues]) crowd.castShadow = crowd.receiveShadow = true;
stage.shadows = query.get('shadows') !== '0';
stage.frame(2.2, FIELD, FIELD, heightAt, FIELD);
stage.controls.enabled = false;
requestAnimationFrame(frame);
