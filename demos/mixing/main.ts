import { assembleCharacter, bakeBoneTexture, getVertexPosition } from 'skinned-instanced-mesh';
import { type AnimationAction, AnimationMixer, Matrix4, type Mesh, type SkinnedMesh, Vector3 } from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { Figures } from '../lib/Figures.js';
import { openStage } from '../lib/openStage.js';
import { fail, find, secondsBetween, showValue, slide } from '../lib/page.js';
import { crowdRadius, placeOf } from '../lib/plan.js';
import { Ring } from '../lib/Ring.js';
import { addLevels, createPeople, dress, dressClone } from '../people.js';

const MOST = 2_000;
const HEIGHT = 1.8;
/** Width of a character with some room around it. */
const SIZE = 1.3;
/** Places that stay free around those in the middle. */
const CLEARING = 20;
/** Every so many frames the crowd is compared with the mixer. */
const COMPARED_EVERY = 10;

/** The clips that are mixed, and their weights to begin with. An instance plays up to four at once. */
const weights: Record<string, number> = { Idle: 0, Walk: 0.5, Run: 0, Wave: 0.5 };

const { query, detail, Crowd, InstanceParts, isSoftware, stage, measure } = await openStage();
const figures = new Figures(find('tbody'), ['crowd']);

// --- the crowd ---

const { root, clips } = createPeople({ detail });
const boneTexture = bakeBoneTexture(root, clips);
const crowd = new Crowd(assembleCharacter(root, boneTexture), MOST);
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
// Each clip plays beside the others. All but the first character begin somewhere within their clips.
for (const [clip, weight] of Object.entries(weights)) {
  crowd.playAll(clip, { weight, time: (i) => (i === 0 ? 0 : i * 0.37) });
}

// --- three.js's own ---

const reference = SkeletonUtils.clone(root);
reference.position.x = -SIZE / 2;
dressClone(reference, 0);
reference.traverse((node) => {
  node.castShadow = true;
  node.receiveShadow = true;
});
const mixer = new AnimationMixer(reference);
const actions = new Map<string, AnimationAction>();
for (const [name, weight] of Object.entries(weights)) {
  const clip = clips.find((one) => one.name === name);
  if (clip === undefined) throw new Error(`The character has no clip "${name}".`);
  actions.set(name, mixer.clipAction(clip).setEffectiveWeight(weight).play());
}
const skinned: Mesh[] = [];
reference.traverse((node) => {
  if ((node as Mesh).isMesh) skinned.push(node as Mesh);
});

const ring = new Ring(stage);
ring.position.copy(reference.position);
stage.scene.add(crowd, reference, ring);

const _drawn = new Vector3();
const _expected = new Vector3();

/** How far the farthest vertex of character 0 is from the mixer's. */
function farthest(): number {
  reference.updateMatrixWorld(true);
  let worst = 0;
  let first = 0;
  for (const mesh of skinned) {
    const { count } = mesh.geometry.getAttribute('position');
    for (let vertex = 0; vertex < count; vertex += 13) {
      (mesh as SkinnedMesh).getVertexPosition(vertex, _expected).applyMatrix4(mesh.matrixWorld);
      getVertexPosition(crowd, 0, first + vertex, _drawn);
      _drawn.x -= SIZE;
      worst = Math.max(worst, _drawn.distanceTo(_expected));
    }
    first += count;
  }
  return worst;
}

// --- the page ---

let speed = 1;
let fade = 0;

function listen(): void {
  for (const [clip, weight] of Object.entries(weights)) {
    const row = document.createElement('label');
    row.className = 'row';
    row.innerHTML = `${clip} <input name="${clip}" type="range" min="0" max="1" step="0.01" value="${weight}" /> <output></output>`;
    find('[data-weights]').append(row);
    showValue(clip, weight.toFixed(2));
    slide(clip, (value) => {
      crowd.setWeightAt({ start: 0, count: MOST }, clip, value, { fade });
      actions.get(clip)?.setEffectiveWeight(value);
      showValue(clip, value.toFixed(2));
    });
  }
  slide('fade', (value) => {
    fade = value;
  });
  slide('speed', (value) => {
    speed = value;
  });
  const count = Math.min(MOST, Math.max(1, Number(query.get('count') ?? (isSoftware ? 60 : 600))));
  find<HTMLInputElement>('[name=count]').value = String(count);
  showValue('count', String(count));
  crowd.count = count;
  slide('count', (value) => {
    crowd.count = value;
  });
}

// --- frames ---

let last = performance.now();
let frames = 0;

function frame(now: number): void {
  const delta = secondsBetween(last, now) * speed;
  last = now;
  const cost = measure(() => {
    crowd.update(delta);
    mixer.update(delta);
    stage.controls.update();
    stage.render(0, 1);
  });
  figures.add('crowd', cost);
  figures.write();
  if (frames++ % COMPARED_EVERY === 0)
    find('[data-off]').textContent = (farthest() / HEIGHT).toExponential(1);
  document.body.dataset.ready = '1';
  requestAnimationFrame(frame);
}

stage.shadows = query.get('shadows') !== '0';
stage.frame(HEIGHT, 1.5 * SIZE, crowdRadius(600, SIZE));
stage.shine(new Vector3(), crowdRadius(4 * CLEARING, SIZE));
try {
  listen();
  requestAnimationFrame(frame);
} catch (error) {
  fail(error as Error);
}
