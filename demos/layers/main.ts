import { AnimationLayers, assembleCharacter, bakeBoneTexture } from 'skinned-instanced-mesh';
import { Matrix4, Plane, Raycaster, Vector2, Vector3 } from 'three';
import { Figures } from '../lib/Figures.js';
import { openStage } from '../lib/openStage.js';
import { fail, find, secondsBetween, showValue, slide, toggle } from '../lib/page.js';
import { crowdRadius, placeOf } from '../lib/plan.js';
import { Ring } from '../lib/Ring.js';
import { addLevels, createPeople, dress, dressClone } from '../people.js';
import { createGestures } from './gestures.js';
import { MixedCharacter } from './MixedCharacter.js';
import { Puppet, Strings } from './Puppet.js';

const MOST = 1_000;
const HEIGHT = 1.8;
/** Width of a character with some room around it. */
const SIZE = 1.3;
/** Places that stay free around those in the middle. */
const CLEARING = 20;
/** Every so many frames the crowd is compared with the mixer. */
const COMPARED_EVERY = 10;
const GESTURES = ['Wave', 'Strike', 'Carry'];
/** The face of the head's joint. */
const FORWARD = new Vector3(0, 0, 1);
/** Radians that a head turns at most. */
const NECK = 1.2;

const { query, detail, Crowd, InstanceParts, JointEdits, isSoftware, stage, measure } = await openStage();
const figures = new Figures(find('tbody'), ['crowd']);

/** What the sliders say. */
const shown = { arms: 1, lean: 0.3, look: 1, run: 0 };
const all = { start: 0, count: MOST };

// --- the crowd ---

const { root, clips } = createPeople({ detail });
clips.push(...createGestures());
const boneTexture = bakeBoneTexture(root, clips);
const crowd = new Crowd(assembleCharacter(root, boneTexture), MOST);
const layers = new AnimationLayers(crowd, [
  { name: 'arms', mask: ['Spine'], weight: shown.arms },
  { name: 'lean', additive: true, weight: shown.lean },
]);
crowd.castShadow = true;
crowd.receiveShadow = true;
addLevels(crowd, detail);
const parts = new InstanceParts(crowd);

const _matrix = new Matrix4();
for (let i = 0; i < MOST; i++) {
  dress(parts, i);
  crowd.setMatrixAt(
    i,
    i === 0 ? _matrix.makeTranslation(SIZE / 2, 0, 0) : placeOf(i + CLEARING, SIZE, _matrix),
  );
}
const gestureOf = (i: number) => GESTURES[i % GESTURES.length];
const timeOf = (i: number) => i * 0.37;
crowd.playAll('Walk', { weight: 1, time: timeOf });
crowd.playAll('Run', { weight: 0, time: timeOf });
crowd.playAll(gestureOf, { layer: 'arms', time: timeOf });
crowd.playAll('Lean', { layer: 'lean', time: timeOf });

// --- three.js's own ---

const reference = new MixedCharacter(root, clips, gestureOf(0), 'Spine');
reference.root.position.x = -SIZE / 2;
dressClone(reference.root, 0);
const ring = new Ring(stage);
ring.position.copy(reference.root.position);
stage.scene.add(crowd, reference.root, ring);

// --- heads follow the pointer ---

const edits = new JointEdits(crowd);
const pointer = new Vector2(0.2, 0.1);
const raycaster = new Raycaster();
/** Upright before the camera, at the height of eyes. */
const plane = new Plane();
const target = new Vector3();

function lookAtPointer(): void {
  const { camera, controls } = stage;
  raycaster.setFromCamera(pointer, camera);
  plane.normal.subVectors(camera.position, controls.target).setY(0).normalize();
  plane.constant = -plane.normal.dot(controls.target) - 2 * SIZE;
  if (raycaster.ray.intersectPlane(plane, target) === null) return;
  edits.lookAt({ start: 0, count: crowd.count }, 'Head', target, {
    axis: FORWARD,
    limit: NECK,
    weight: shown.look,
  });
}

// --- puppets ---

const puppets = [new Puppet(root, 0), new Puppet(root, 1.7), new Puppet(root, 3.1)];
const isPuppet = (i: number) => i % 10 === 5;
const strings = new Strings(MOST / 10);
stage.scene.add(strings);
let hanging = false;

function hang(on: boolean): void {
  strings.visible = on;
  if (hanging && !on) {
    for (let i = 0; i < MOST; i++) if (isPuppet(i)) edits.setPoseAt(i, null, { fade: 0.5 });
  }
  hanging = on;
}

function movePuppets(time: number): void {
  if (!hanging) return;
  for (const puppet of puppets) puppet.move(time);
  let hung = 0;
  for (let i = 0; i < crowd.count; i++) {
    if (!isPuppet(i)) continue;
    const puppet = puppets[i % puppets.length];
    edits.setPoseAt(i, puppet.root);
    crowd.getMatrixAt(i, _matrix);
    strings.tie(hung++, puppet, _matrix);
  }
  strings.count = hung;
}

// --- the page ---

const BIG = new Vector3(1.7, 1.7, 1.7);

function listen(): void {
  slide('arms', (value) => {
    shown.arms = value;
    layers.setWeightAt(all, 'arms', value);
  });
  slide('lean', (value) => {
    shown.lean = value;
    layers.setWeightAt(all, 'lean', value);
  });
  slide('look', (value) => {
    shown.look = value;
  });
  slide('run', (value) => {
    shown.run = value;
    crowd.setWeightAt(all, 'Walk', 1 - value).setWeightAt(all, 'Run', value);
  });
  toggle('puppets', query.get('puppets') === '1', hang);
  toggle('heads', false, (on) => {
    reference.headSize = on ? BIG.x : 1;
    edits.setScaleAt(all, 'Head', on ? BIG : null);
  });
  const count = Math.min(MOST, Math.max(1, Number(query.get('count') ?? (isSoftware ? 50 : 300))));
  find<HTMLInputElement>('[name=count]').value = String(count);
  showValue('count', String(count));
  crowd.count = count;
  slide('count', (value) => {
    crowd.count = value;
  });
  stage.renderer.domElement.addEventListener('pointermove', ({ clientX, clientY }) => {
    const { left, top, width, height } = stage.renderer.domElement.getBoundingClientRect();
    pointer.set(((clientX - left) / width) * 2 - 1, 1 - ((clientY - top) / height) * 2);
  });
}

// --- frames ---

let last = performance.now();
let frames = 0;
let time = 0;

function frame(now: number): void {
  const delta = secondsBetween(last, now);
  last = now;
  time += delta;
  lookAtPointer();
  movePuppets(time);
  const cost = measure(() => {
    crowd.update(delta);
    stage.controls.update();
    reference.update(delta, shown, target, FORWARD, NECK, SIZE);
    stage.render(0, 1);
  });
  figures.add('crowd', cost);
  figures.write();
  if (frames++ % COMPARED_EVERY === 0) {
    find('[data-off]').textContent = (reference.farthestFrom(crowd, 0, SIZE) / HEIGHT).toExponential(1);
  }
  document.body.dataset.ready = '1';
  requestAnimationFrame(frame);
}

stage.shadows = query.get('shadows') !== '0';
stage.frame(HEIGHT, 1.5 * SIZE, crowdRadius(300, SIZE));
stage.shine(new Vector3(), crowdRadius(4 * CLEARING, SIZE));
try {
  listen();
  requestAnimationFrame(frame);
} catch (error) {
  fail(error as Error);
}
