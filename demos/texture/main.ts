import {
  assembleCharacter,
  type BoneTexture,
  bakeBoneTexture,
  frames,
  getSocketMatrix,
  type SkinnedInstancedMesh,
} from 'skinned-instanced-mesh';
import {
  type AnimationClip,
  type Bone,
  Box3,
  InstancedMesh,
  Matrix4,
  MeshStandardMaterial,
  type Object3D,
  OctahedronGeometry,
  Quaternion,
  Vector3,
} from 'three';
import { onFile, openCharacter } from '../lib/openFile.js';
import { openStage } from '../lib/openStage.js';
import { fail, find, secondsBetween, showValue, slide, tell, toggle } from '../lib/page.js';
import { createPeople, dress } from '../people.js';
import { bakeErrors, drawTexels } from './bakeErrors.js';
import { compareBakes } from './compareBakes.js';

/** Clips in the table; of a file with very many, the worst. */
const ROWS = 8;

const { query, detail, Crowd, InstanceParts, device, stage } = await openStage();
/** Characters in a row, and frames from one to the next: all read the same texture. */
const ROW = 7;
const LAG = 5;
/** Who is shown until a file is opened: one with a hat and a beard. */
const PERSON = 7;
const texels = find<HTMLElement>('.texels');

let { root, clips }: { root: Object3D; clips: AnimationClip[] } = createPeople({ detail });
let isPerson = true;
let crowd: SkinnedInstancedMesh | null = null;
let bones: [name: string, parent: string][] = [];
let clip = clips.findIndex(({ name }) => name === 'Dance');
/** Frames into the clip; anything between two is mixed. */
let frame = 0;
let fps = 30;
let half = false;
let playing = true;
/** Whether ways to bake are being compared, for which the page draws nothing. */
let comparing = false;
let width = 1;

// --- the skeleton beside the character ---

/** A bone as modelling programs draw it: thick where it begins, from the origin to (0, 1, 0). */
const bone = new OctahedronGeometry(1).scale(0.11, 0.5, 0.11).translate(0, 0.5, 0);
const { array: corners } = bone.getAttribute('position');
for (let i = 0; i < corners.length; i += 3) if (corners[i + 1] === 0.5) corners[i + 1] = 0.16;
bone.computeVertexNormals();
const amber = new MeshStandardMaterial({ color: 0xff9a2e, roughness: 0.6, flatShading: true });
let skeleton: InstancedMesh | null = null;

const UP = new Vector3(0, 1, 0);
const _matrix = new Matrix4();
const _from = new Vector3();
const _to = new Vector3();
const _turn = new Quaternion();
const _size = new Vector3();

function poseSkeleton(character: SkinnedInstancedMesh): void {
  const placeOf = (name: string, target: Vector3) =>
    target.setFromMatrixPosition(getSocketMatrix(character, 0, name, _matrix));
  bones.forEach(([name, parent], i) => {
    placeOf(parent, _from);
    placeOf(name, _to).sub(_from);
    _turn.setFromUnitVectors(UP, _size.copy(_to).normalize());
    _from.x -= width;
    skeleton?.setMatrixAt(i, _matrix.compose(_from, _turn, _size.setScalar(_to.length())));
  });
  if (skeleton !== null) skeleton.instanceMatrix.needsUpdate = true;
}

// --- baking ---

/** Bakes anew, and says what came of it. */
function bake(): void {
  try {
    const boneTexture = bakeFrames();
    const next = new Crowd(assembleCharacter(root, boneTexture), ROW);
    next.castShadow = true;
    const parts = isPerson ? new InstanceParts(next) : null;
    for (let i = 0; i < ROW && parts; i++) dress(parts, i, PERSON);
    crowd?.removeFromParent();
    crowd?.boneTexture.dispose();
    crowd?.dispose();
    crowd = next;
    stage.scene.add(crowd);
    report(boneTexture, crowd);
    for (let i = 0; i < ROW; i++)
      crowd.setMatrixAt(i, _matrix.makeTranslation(0.25 * i * width, 0, -i * width));
    setClip(Math.min(clip, clips.length - 1));
  } catch (error) {
    fail(error as Error);
  }
}

/** Bakes frames of skinning matrices, which this page is about. */
function bakeFrames(): BoneTexture {
  const { maxTextureSize } = device;
  const precision = half ? 'half' : 'float';
  return bakeBoneTexture(root, clips, { fps, precision, maxTextureSize, encoding: frames });
}

function report(boneTexture: BoneTexture, character: SkinnedInstancedMesh): void {
  root.updateMatrixWorld(true);
  const size = new Box3().setFromObject(root, true).getSize(new Vector3());
  width = Math.max(size.x, size.z, size.y * 0.5);
  const known = new Set(boneTexture.jointNames);
  bones = [];
  root.traverse((node) => {
    const parent = node.parent?.name ?? '';
    if ((node as Bone).isBone && known.has(node.name) && known.has(parent)) bones.push([node.name, parent]);
  });
  skeleton?.removeFromParent();
  skeleton?.dispose();
  skeleton = new InstancedMesh(bone, amber, bones.length);
  skeleton.frustumCulled = false;
  skeleton.castShadow = true;
  stage.scene.add(skeleton);

  const { layout, encoding, precision, frameCount, jointNames, byteLength } = boneTexture;
  find('[data-facts]').textContent =
    `${clips.length} clips, ${frameCount} frames of ${jointNames.length} joints as ${encoding} in ${precision}: ` +
    `${layout.width} × ${layout.height} texels, ${(byteLength / 1e6).toFixed(2)} MB.`;

  const errors = bakeErrors(root, clips, character, size.y);
  fill(
    '[data-errors]',
    errors.slice(0, ROWS).map(({ clip: name, onFrames, between }) => {
      return [name, onFrames.toExponential(1), between.toExponential(1)];
    }),
  );
}

/** Fills a table, row by row. */
function fill(table: string, rows: readonly string[][]): void {
  find(table).replaceChildren(
    ...rows.map((cells) => {
      const row = document.createElement('tr');
      for (const text of cells) row.insertCell().textContent = text;
      return row;
    }),
  );
}

/** Shows how long the page waits while it bakes at once, in slices, and in a worker. */
async function compare(): Promise<void> {
  if (comparing) return;
  comparing = true;
  try {
    const bakes = await compareBakes(root, clips, { fps, precision: half ? 'half' : 'float' });
    fill(
      '[data-bakes]',
      bakes.map(({ name, blocked, took }) => [name, blocked.toFixed(1), took.toFixed(0)]),
    );
    find<HTMLElement>('table:has([data-bakes])').hidden = false;
  } catch (error) {
    fail(error as Error);
  }
  comparing = false;
}

function setClip(index: number): void {
  clip = index;
  frame = 0;
  find<HTMLSelectElement>('[name=clip]').value = String(index);
  if (crowd === null) return;
  find<HTMLInputElement>('[name=frame]').max = String(crowd.boneTexture.clips[clip].count - 1);
  drawTexels(find('.texels canvas'), crowd.boneTexture, clip);
}

function listClips(): void {
  find('[name=clip]').replaceChildren(...clips.map(({ name }, i) => new Option(name, String(i))));
}

async function open(file: File): Promise<void> {
  try {
    tell(`Reading ${file.name} …`);
    ({ root, clips } = await openCharacter(file, device.renderer));
    isPerson = false;
    listClips();
    clip = 0;
    bake();
    frameCharacter();
    tell(`${file.name}: ${clips.length} clips.`);
  } catch (error) {
    fail(error as Error);
  }
}

function frameCharacter(): void {
  const { y } = new Box3().setFromObject(root, true).getSize(new Vector3());
  stage.frame(y, width * 0.8);
  // about the middle between the skeleton and the character
  stage.camera.position.x -= width * 0.4;
  stage.controls.target.x -= width * 0.4;
}

// --- the page ---

function listen(): void {
  find<HTMLSelectElement>('[name=clip]').addEventListener('change', ({ target }) => {
    setClip(Number((target as HTMLSelectElement).value));
  });
  slide('frame', (value) => {
    frame = value;
    if (playing) find<HTMLButtonElement>('button[name=play]').click();
  });
  // Baking takes a moment: not while the slider is dragged.
  slide('fps', () => {});
  find('[name=fps]').addEventListener('change', ({ target }) => {
    fps = Number((target as HTMLInputElement).value);
    bake();
  });
  toggle('play', playing, (value) => {
    playing = value;
  });
  toggle('half', half, (value) => {
    half = value;
    if (crowd !== null) bake();
  });
  find('[name=compare]').addEventListener('click', compare);
  onFile(find('[name=file]'), open);
}

// --- frames ---

let last = performance.now();

function draw(now: number): void {
  const delta = secondsBetween(last, now);
  last = now;
  if (crowd !== null && !comparing) {
    const { count, duration } = crowd.boneTexture.clips[clip];
    const intervals = Math.max(count - 1, 1);
    if (playing && duration > 0) frame = (frame + (delta * intervals) / duration) % intervals;
    const time = (frame / intervals) * duration;
    const lag = (LAG * duration) / intervals;
    for (let i = 0; i < ROW; i++)
      crowd.play(i, clip, { timeScale: 0, time: i === 0 ? time : (time + i * lag) % duration });
    poseSkeleton(crowd);
    find<HTMLInputElement>('[name=frame]').value = String(frame);
    showValue('frame', `${frame.toFixed(1)} of ${count - 1}`);
    texels.style.setProperty('--line-at', `${(frame / intervals) * 100}%`);
    stage.controls.update();
    stage.renderer.info.reset();
    stage.render(0, 1);
    document.body.dataset.ready = '1';
  }
  requestAnimationFrame(draw);
}

stage.shadows = query.get('shadows') !== '0';
listClips();
listen();
bake();
frameCharacter();
requestAnimationFrame(draw);
