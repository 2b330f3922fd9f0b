import { bakeCharacter, CrowdLevels, createLevel, frames } from 'skinned-instanced-mesh';
import {
  Float32BufferAttribute,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  Quaternion,
  RingGeometry,
  Vector3,
} from 'three';
import { Figures } from '../lib/Figures.js';
import { breathing } from '../lib/motions/breathing.js';
import { flutter } from '../lib/motions/flutter.js';
import { wind } from '../lib/motions/wind.js';
import { openStage } from '../lib/openStage.js';
import { find, secondsBetween, slide, toggle } from '../lib/page.js';
import { createZebra } from '../ports/models/animals.js';
import { Herd } from './Herd.js';
import { createFlag, createTuft } from './plants.js';

/** Tufts on a square metre. */
const DENSITY = 12;
const UP = new Vector3(0, 1, 0);

const { query, Crowd, InstanceMotions, isSoftware, stage, measure } = await openStage();
const figures = new Figures(find('tbody'), ['crowd']);
const count = Math.max(1, Number(query.get('count') ?? (isSoftware ? 6_000 : 40_000)));
const radius = Math.sqrt(count / DENSITY / Math.PI);

/** Numbers from 0 to 1 that are the same each time the page is opened. */
let state = 1;
function random(): number {
  state = (state * 16807) % 2147483647;
  return state / 2147483647;
}

// --- one wind for everything that stands, a crowd for each kind ---

const breeze = wind({ strength: 0.3, speed: 6, gusts: 0.8, wavelength: 9, maxOffset: 1 });
const ripples = flutter({
  axis: new Vector3(0, 0, 1),
  direction: new Vector3(1, 0, 0),
  wavelength: 0.9,
  maxOffset: 0.5,
});

// Skinning costs the least this way: a vertex follows one joint, whose matrix is read from the texture, and no pass poses.
const grass = new Crowd(bakeCharacter(createTuft(7), [], { encoding: frames }), count, { influences: 1 });
grass.perObjectFrustumCulled = true;
new CrowdLevels(grass).add(createLevel(grass, createTuft(3)), 14, { hysteresis: 0.1 });
new InstanceMotions(grass, breeze);
grass.castShadow = grass.receiveShadow = true;
const matrix = new Matrix4();
const turn = new Quaternion();
for (let i = 0; i < count; i++) {
  const angle = random() * 2 * Math.PI;
  const far = radius * Math.sqrt(random());
  const place = new Vector3(far * Math.cos(angle), 0, far * Math.sin(angle));
  const size = new Vector3().setScalar(0.6 + 0.7 * random());
  grass.setMatrixAt(i, matrix.compose(place, turn.setFromAxisAngle(UP, random() * 6.3), size));
}

const flags = new Crowd(bakeCharacter(createFlag(), [], { encoding: frames }), 7, { influences: 1 });
new InstanceMotions(flags, ripples);
flags.castShadow = flags.receiveShadow = true;

/** Flags point where the wind goes. */
function turnFlags(angle: number): void {
  turn.setFromAxisAngle(UP, -angle);
  for (let i = 0; i < flags.count; i++) {
    const at = (i / flags.count) * 2 * Math.PI + 0.4;
    const place = new Vector3(Math.cos(at), 0, Math.sin(at)).multiplyScalar(radius * (0.35 + 0.25 * (i % 2)));
    flags.setMatrixAt(i, matrix.compose(place, turn, new Vector3(1, 1, 1)));
  }
  flags.instanceMatrix.needsUpdate = true;
}

const { scene: zebra, animations } = createZebra();
const zebras = new Crowd(bakeCharacter(zebra, animations), Math.max(3, Math.round(radius)));
new InstanceMotions(
  zebras,
  breathing({ depth: 0.03, speed: 0.4, center: new Vector3(0, 0.9, 0), radius: 0.7 }),
);
zebras.castShadow = zebras.receiveShadow = true;
const herd = new Herd(zebras, radius * 0.6, random);

// Green under the grass, which fades into the land around it.
const soil = new RingGeometry(0.01, radius * 1.35, 64, 6).rotateX(-Math.PI / 2);
const { position } = soil.attributes;
const shades: number[] = [];
for (let i = 0; i < position.count; i++) {
  const far = Math.hypot(position.getX(i), position.getZ(i)) / (radius * 1.35);
  shades.push(0.18, 0.24, 0.06, Math.min(1, 3.4 * (1 - far)));
}
soil.setAttribute('color', new Float32BufferAttribute(shades, 4));
const look = { vertexColors: true, transparent: true, depthWrite: false, roughness: 1 };
const meadow = new Mesh(soil, new MeshStandardMaterial(look));
meadow.position.y = 0.02;
meadow.receiveShadow = true;

// --- the page ---

const setDirection = (degrees: number) => {
  const angle = (degrees * Math.PI) / 180;
  breeze.uniforms.direction.value.set(Math.cos(angle), 0, Math.sin(angle));
  turnFlags(angle);
};
const setStrength = (strength: number) => {
  breeze.uniforms.strength.value = strength;
  ripples.uniforms.strength.value = 0.04 + 0.3 * strength;
};
const setSpeed = (speed: number) => {
  breeze.uniforms.speed.value = speed;
  ripples.uniforms.speed.value = speed / 4;
};
setDirection(20);
setStrength(0.3);
setSpeed(6);
slide('strength', setStrength);
slide('speed', setSpeed);
slide('direction', setDirection);
slide('gusts', (value) => {
  breeze.uniforms.gusts.value = value;
});
let runs = true;
toggle('clock', true, (value) => {
  runs = value;
});
toggle('shadows', query.get('shadows') !== '0', (value) => {
  stage.shadows = value;
});

// --- frames ---

let last = performance.now();

function frame(now: number): void {
  const delta = runs ? secondsBetween(last, now) : 0;
  last = now;
  const cost = measure(() => {
    grass.update(delta);
    flags.update(delta);
    zebras.update(delta);
    herd.update(delta);
    stage.controls.update();
    stage.render(0, 1);
  });
  figures.add('crowd', cost);
  figures.write();
  document.body.dataset.ready = '1';
  requestAnimationFrame(frame);
}

find('[data-count]').textContent = `${count.toLocaleString('en')} tufts`;
stage.scene.add(grass, flags, zebras);
stage.frame(1.8, radius);
stage.scene.add(meadow);
requestAnimationFrame(frame);
