import {
  type BodyNames,
  bakeCharacter,
  type KindMesh,
  retargetBody,
  retargetClips,
  selectInstances,
} from 'skinned-instanced-mesh';
import {
  Box2,
  Box3,
  LoopOnce,
  MathUtils,
  Matrix4,
  type Object3D,
  Plane,
  Raycaster,
  type Texture,
  Vector2,
  Vector3,
  WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import { Figures } from '../lib/Figures.js';
import { load } from '../lib/loadCharacter.js';
import { onFile, openCharacter } from '../lib/openFile.js';
import { openStage } from '../lib/openStage.js';
import { Picker } from '../lib/Picker.js';
import { fail, find, secondsBetween, toggle } from '../lib/page.js';
import { crowdRadius, partOf, placeOf } from '../lib/plan.js';
import { addLevels, createPeople, dress } from '../people.js';
import { loadBodies } from './bodies.js';

const HEIGHT = 1.8;
/** Width of a character with some room around it. */
const SIZE = 1.3;
const STEP = 1_000;
/** So many of a visitor's own figure come. */
const GUESTS = 12;
/** Among so many in the middle are all bodies that there are. */
const MIXED = 150;

const { query, detail, Crowd, CrowdKinds, InstanceParts, isSoftware, stage, measure } = await openStage();
const figures = new Figures(find('tbody'), ['crowd']);

// --- a crowd that grows and shrinks ---

const { root, clips } = createPeople({ detail });
// They have seen knights fight, and do as those do, though nothing of their bodies is alike.
const { scene, animations } = await load(new URL('../art/moves.glb', import.meta.url));
const seen = animations.filter(({ name }) => /Attack|Cheer/.test(name));
clips.push(...retargetClips(seen, scene, root).clips);
const crowd = new Crowd(bakeCharacter(root, clips), 16);
const parts = new InstanceParts(crowd);
crowd.count = 0;
crowd.castShadow = true;
crowd.receiveShadow = true;
addLevels(crowd, detail);
stage.scene.add(crowd);

// Bodies that are built otherwise, and do all that they do.
const { scene: armour } = await load(new URL('../art/body.glb', import.meta.url));
const kinds = new CrowdKinds(crowd);
const knight = kindOf(armour);

function kindOf(other: Object3D, to: BodyNames = {}) {
  const own = retargetBody(other, root, { names: { to } });
  const size = new Box3().setFromObject(other).getSize(new Vector3());
  return { kind: kinds.add(bakeCharacter(own.body, []), own), size: HEIGHT / size.y };
}

const _matrix = new Matrix4();
const _scale = new Vector3();
let spawned = 0;

/** Adds one, at a place of its own or in the next place of the plan. */
function spawn(place?: Vector3, kind: KindMesh | number = 0, size = 1): void {
  if (crowd.count === crowd.capacity) crowd.setCapacity(crowd.capacity * 2);
  const index = crowd.count++;
  placeOf(spawned, SIZE, _matrix);
  if (place) _matrix.scale(_scale.setScalar(size)).setPosition(place);
  crowd.setMatrixAt(index, _matrix);
  crowd.instanceMatrix.needsUpdate = true;
  dress(parts, index, spawned);
  kinds.setKindAt(index, kind);

  const { clip, time, timeScale } = partOf(spawned++, clips.length);
  crowd.play(index, place ? 'Wave' : clip, { time: place ? 0 : time, timeScale, fade: place ? 0.3 : 0 });
}

/** Takes one out of the middle: the last one moves into its place. */
function remove(index: number): void {
  crowd.swapInstances(index, crowd.count - 1);
  crowd.count--;
}

// One that is sent away jumps first. When it has, it may have been moved: whoever finishes a jump goes.
crowd.addEventListener('finished', ({ instanceId, clip }) => {
  if (clip === 'Jump') leaving.push(instanceId);
});
const leaving: number[] = [];

// --- the page ---

const ground = new Plane(new Vector3(0, 1, 0));
const raycaster = new Raycaster();
const picker = new Picker(stage, crowd);
const leave = (index: number) =>
  crowd.play(index, 'Jump', { loop: LoopOnce, clampWhenFinished: true, fade: 0.15 });
picker.onClick(({ instanceId = 0 }) => leave(instanceId));
picker.onMiss((pointer: Vector2) => {
  raycaster.setFromCamera(pointer, stage.camera);
  const place = raycaster.ray.intersectPlane(ground, new Vector3());
  if (place !== null) spawn(place);
});

/** With the shift key, a drag draws a box: who is in it leaves. */
const box = find<HTMLElement>('[data-box]');
const pressed = new Vector2();
const { domElement } = stage.renderer;
domElement.parentElement?.addEventListener(
  'pointerdown',
  ({ clientX, clientY, shiftKey }) => {
    pressed.set(clientX, clientY);
    box.hidden = stage.controls.enabled = !shiftKey;
  },
  true, // before the controls
);
function drawBox({ clientX: x, clientY: y }: PointerEvent): Box2 {
  const { min, max } = new Box2().setFromPoints([pressed, new Vector2(x, y)]);
  const [left, top, width, height] = [min.x, min.y, max.x - min.x, max.y - min.y].map((one) => `${one}px`);
  Object.assign(box.style, { left, top, width, height });
  const pointerOf = ({ x, y }: Vector2) => new Vector2((x / innerWidth) * 2 - 1, 1 - (y / innerHeight) * 2);
  return new Box2().setFromPoints([pointerOf(min), pointerOf(max)]);
}
addEventListener('pointermove', drawBox);
addEventListener('pointerup', (event) => {
  if (!box.hidden) for (const id of selectInstances(crowd, stage.camera, drawBox(event))) leave(id);
  box.hidden = stage.controls.enabled = true;
});
find('button[name=more]').addEventListener('click', () => {
  for (let i = 0; i < STEP; i++) spawn();
});
find('button[name=fewer]').addEventListener('click', () => {
  // the last hundred stay
  crowd.count = Math.max(Math.min(crowd.count, 100), crowd.count - STEP);
});
/** So many come to the middle. */
function join({ kind, size }: ReturnType<typeof kindOf>, count: number): void {
  for (let i = 0; i < count; i++)
    spawn(new Vector3(MathUtils.randFloatSpread(8), 0, MathUtils.randFloatSpread(8)), kind, size);
}
find('button[name=knight]').addEventListener('click', () => join(knight, 1));
find<HTMLButtonElement>('button[name=bodies]').addEventListener('click', async ({ currentTarget }) => {
  (currentTarget as HTMLButtonElement).disabled = true;
  const others = await loadBodies();
  const all = [{ kind: 0, size: 1 }, knight, ...others.map((body) => kindOf(body.root, body.names))];
  for (let index = 0; index < Math.min(crowd.count, MIXED); index++) {
    if (kinds.getKindAt(index) !== 0) continue;
    const { kind, size } = all[index % all.length];
    kinds.setKindAt(index, kind);
    crowd.getMatrixAt(index, _matrix);
    crowd.setMatrixAt(index, _matrix.scale(_scale.setScalar(size)));
  }
  crowd.instanceMatrix.needsUpdate = true;
  const makers = [...new Set(['us', 'Kay Lousberg', ...others.map(({ maker }) => maker)])];
  const note = find<HTMLElement>('[data-makers]');
  note.hidden = false;
  note.textContent = `${all.length} bodies of ${makers.length} makers share one set of clips: ${makers.join(', ')}.`;
});
onFile(find('[name=file]'), async (file) => {
  try {
    join(kindOf((await openCharacter(file, stage.renderer)).root), GUESTS);
  } catch (error) {
    fail(error as Error);
  }
});
toggle('shadows', query.get('shadows') !== '0', (value) => {
  stage.shadows = value;
});

// --- frames ---

let last = performance.now();

function frame(now: number): void {
  const delta = secondsBetween(last, now);
  last = now;
  const cost = measure(() => {
    crowd.update(delta);
    // from the end, so that no one who is still to go is moved
    for (const index of leaving.sort((a, b) => b - a)) remove(index);
    leaving.length = 0;
    stage.controls.update();
    stage.render(0, 1);
  });
  figures.add('crowd', cost);
  figures.write();
  find('[data-count]').textContent =
    `${crowd.count.toLocaleString('en')} ${crowd.count === 1 ? 'character' : 'characters'}`;
  document.body.dataset.ready = '1';
  requestAnimationFrame(frame);
}

const count = Math.max(0, Number(query.get('count') ?? (isSoftware ? 300 : 10_000)));
stage.frame(HEIGHT, crowdRadius(Math.max(count, 40), SIZE));
for (let i = 0; i < count; i++) spawn();
// All that a frame needs is made before the first: the first knight stops none.
const { renderer } = stage;
if (renderer instanceof WebGLRenderer) {
  // With `outputBufferType` it draws into a target, and compiles for the canvas unless there is one.
  renderer.setRenderTarget(new WebGLRenderTarget<Texture>(1, 1));
  renderer.compile(stage.scene, stage.camera);
  renderer.setRenderTarget(null);
} else await renderer.compileAsync(stage.scene, stage.camera);
requestAnimationFrame(frame);
