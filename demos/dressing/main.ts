import { MeshoptSimplifier } from 'meshoptimizer';
import {
  bakeCharacter,
  CrowdLevels,
  getSocketMatrix,
  InstanceUniforms,
  JointAttachment,
  mergeMaterials,
  simplifyGeometry,
} from 'skinned-instanced-mesh';
import {
  Color,
  CylinderGeometry,
  InstancedBufferAttribute,
  InstancedInterleavedBuffer,
  InterleavedBufferAttribute,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  Vector3,
} from 'three';
import { Figures } from '../lib/Figures.js';
import { openStage } from '../lib/openStage.js';
import { Picker } from '../lib/Picker.js';
import { fail, find, onKey, secondsBetween, showValue, slide, toggle } from '../lib/page.js';
import { crowdRadius, partOf, placeOf } from '../lib/plan.js';
import { Ring } from '../lib/Ring.js';
import { Moods } from './Moods.js';
import { addMud } from './mud.js';
import { BODIES, createWardrobe, EXTRAS, HATS, STOUT } from './outfits.js';
import { wearPatterns } from './patterns.js';

const MOST = 2_000;
const HEIGHT = 1.8;
/** Width of a character with some room around it. */
const SIZE = 1.3;
const PARTS = [...BODIES, ...HATS, ...EXTRAS];

const { query, detail, Crowd, InstanceMorphs, InstanceParts, isSoftware, stage, measure } = await openStage();
const isWebGPU = query.get('renderer') === 'webgpu';
const figures = new Figures(find('tbody'), ['crowd']);

// --- the crowd: everything there is to wear, in one draw call ---

const { root, clips } = createWardrobe(detail);
wearPatterns(root);
root.traverse((node) => {
  node.castShadow = node.receiveShadow = true;
});
const crowd = new Crowd(bakeCharacter(root, clips, { mergeMaterials: mergeMaterials() }), MOST);
const parts = new InstanceParts(crowd);
const morphs = new InstanceMorphs(crowd);
// What shaders know from the first frame on need not be compiled once more when it is first set.
const uniforms = new InstanceUniforms(crowd, { mud: 'float', emissive: 'color', opacity: 'float' });
for (const material of [crowd.material].flat() as MeshStandardMaterial[]) {
  // Fades by leaving out pixels, so that nobody has to be sorted.
  material.alphaHash = true;
  await addMud(material, isWebGPU);
}
// Coarser figures are made of the crowd's own, in place of modelled ones.
await MeshoptSimplifier.ready;
const levels = new CrowdLevels(crowd, { shadowLevel: 1 });
for (const [share, distance] of [
  [0.3, 10],
  [0.12, 25],
])
  levels.add(simplifyGeometry(crowd.geometry, share, MeshoptSimplifier).geometry, distance);
find('[data-cost]').textContent = costOf();
const moods = new Moods(uniforms);

/** What merging saves, and what a vertex takes. */
function costOf(): string {
  const materials = new Set<unknown>();
  root.traverse((node) => {
    if (node instanceof Mesh) for (const material of [node.material].flat()) materials.add(material);
  });
  const buffers = new Map<object, number>();
  for (const attribute of Object.values(crowd.geometry.attributes)) {
    const data = attribute instanceof InterleavedBufferAttribute ? attribute.data : null;
    if (data instanceof InstancedInterleavedBuffer || attribute instanceof InstancedBufferAttribute) continue;
    buffers.set(data ?? attribute, (data?.stride ?? attribute.itemSize) * attribute.array.BYTES_PER_ELEMENT);
  }
  const bytes = [...buffers.values()].reduce((sum, one) => sum + one, 0);
  const drawn = [crowd.material].flat().length;
  return `${materials.size} materials, some with textures, drawn as ${drawn}: ${drawn} draw call${drawn === 1 ? '' : 's'} of characters. ${bytes} bytes a vertex.`;
}

/** How stout each is. */
const stoutness = new Float32Array(MOST);
const _matrix = new Matrix4();
const _color = new Color();
for (let i = 0; i < MOST; i++) {
  crowd.setMatrixAt(i, placeOf(i, SIZE, _matrix));
  dress(i);
}
crowd.playAll((i) => ['Idle', 'Walk', 'Wave', 'Dance'][partOf(i, 4).clip], {
  time: (i) => partOf(i, 1).time,
  timeScale: (i) => partOf(i, 1).timeScale,
});

/** Something of everything, by chance. */
function dress(index: number): void {
  const one = <T>(things: readonly T[]) => things[Math.floor(Math.random() * things.length)];
  const worn: string[] = [one(BODIES), one([...HATS, '']), ...EXTRAS.filter(() => Math.random() < 0.4)];
  parts.setVisiblePartsAt(index, worn.filter(Boolean));
  for (const part of [...HATS, ...EXTRAS]) {
    parts.setColorAt(
      index,
      part,
      _color.setHSL(Math.random(), 0.3 + 0.5 * Math.random(), 0.15 + 0.5 * Math.random()),
    );
  }
  const [body] = worn;
  const hsl = (h: number, s: number, l: number) => _color.setHSL(h, s, l);
  parts.setColorAt(index, `${body} skin`, hsl(0.06, 0.5, 0.5 + 0.5 * Math.random()));
  parts.setColorAt(
    index,
    `${body} shirt`,
    hsl(Math.random(), 0.2 + 0.5 * Math.random(), 0.25 + 0.4 * Math.random()),
  );
  parts.setColorAt(index, `${body} trousers`, hsl(Math.random(), 0.25, 0.15 + 0.25 * Math.random()));
  setStout(index, Math.random() ** 2);
  uniforms.setAt(index, 'mud', 0.4 * Math.random() ** 3);
}

function setStout(index: number, value: number): void {
  stoutness[index] = value;
  morphs.setInfluenceAt(index, STOUT, value);
}

const ring = new Ring(stage);
stage.scene.add(crowd, ring);

// --- torches: one more draw call for all, on the GPU in everyone's hand ---

let torches: JointAttachment | null = null;

function setTorches(on: boolean): void {
  torches?.dispose();
  torches = null;
  if (!on) return;
  const torch = new CylinderGeometry(0.03, 0.02, 0.5, 10).rotateX(Math.PI / 2);
  const glow = new MeshStandardMaterial({ color: 0x332211, emissive: 0xff8a2a, emissiveIntensity: 2 });
  torches = new JointAttachment(crowd, 'LeftHand', torch, glow, {
    offset: new Matrix4().makeTranslation(0.05, -0.05, 0.2),
  });
}

// --- the one that was clicked ---

let selected = 0;

function select(index: number): void {
  selected = index;
  showParts();
}

function showParts(): void {
  for (const button of document.querySelectorAll<HTMLElement>('[data-part]')) {
    button.setAttribute('aria-pressed', String(parts.getVisibleAt(selected, button.dataset.part ?? '')));
  }
  const worn = PARTS.filter((part) => parts.getVisibleAt(selected, part));
  find('[data-selected]').textContent = `Character ${selected} wears ${worn.join(', ')}.`;
  find<HTMLInputElement>('[name=stout]').value = String(stoutness[selected]);
  showValue('stout', stoutness[selected].toFixed(2));
  showMud();
  showColor();
}

function showMud(): void {
  const mud = uniforms.getAt(selected, 'mud');
  find<HTMLInputElement>('[name=mud]').value = String(mud);
  showValue('mud', mud.toFixed(2));
  find('button[name=fade]').setAttribute('aria-pressed', String(!moods.isThere(selected)));
}

/** What the list colours: of a body its shirt. */
function colored(): string {
  const { value } = find<HTMLSelectElement>('[name=part]');
  return BODIES.some((body) => body === value) ? `${value} shirt` : value;
}

function showColor(): void {
  parts.getColorAt(selected, colored(), _color);
  find<HTMLInputElement>('[name=color]').value = `#${_color.getHexString()}`;
}

// --- the page ---

/** Buttons for parts by their names, of which a click shows or hides one; of `others` only one is worn. */
function addButtons(selector: string, names: readonly string[], exclusive: boolean, always: boolean): void {
  for (const part of names) {
    const button = document.createElement('button');
    button.type = 'button';
    button.dataset.part = part;
    button.textContent = part;
    button.addEventListener('click', () => {
      const worn = parts.getVisibleAt(selected, part);
      if (exclusive) for (const other of names) parts.setVisibleAt(selected, other, false);
      parts.setVisibleAt(selected, part, always || !worn);
      showParts();
    });
    find(selector).append(button);
  }
}

function listen(): void {
  addButtons('[data-bodies]', BODIES, true, true);
  addButtons('[data-hats]', HATS, true, false);
  addButtons('[data-extras]', EXTRAS, false, false);

  const part = find<HTMLSelectElement>('[name=part]');
  part.append(...PARTS.map((name) => new Option(name)));
  part.addEventListener('change', showColor);
  find<HTMLInputElement>('[name=color]').addEventListener('input', ({ target }) => {
    parts.setColorAt(selected, colored(), _color.set((target as HTMLInputElement).value));
  });
  find('button[name=dice]').addEventListener('click', () => {
    dress(selected);
    showParts();
  });
  toggle('torches', false, setTorches);
  find('button[name=hit]').addEventListener('click', () => moods.hit(selected));
  find('button[name=fade]').addEventListener('click', () => {
    moods.fade(selected, !moods.isThere(selected));
    showMud();
  });

  const count = Math.min(MOST, Math.max(1, Number(query.get('count') ?? (isSoftware ? 60 : MOST))));
  const setCount = (value: number) => {
    crowd.count = value;
    if (selected >= value) select(0);
  };
  find<HTMLInputElement>('[name=count]').value = String(count);
  showValue('count', String(count));
  setCount(count);
  slide('count', setCount);
  slide('stout', (value) => setStout(selected, value));
  slide('mud', (value) => uniforms.setAt(selected, 'mud', value));

  const hover = find<HTMLElement>('[data-hover]');
  const picker = new Picker(stage, crowd);
  picker.onClick(({ instanceId = 0 }) => {
    select(instanceId);
    moods.hit(instanceId);
  });
  picker.onHover((hit) => {
    hover.hidden = hit === null;
    highlight(hit?.instanceId ?? null);
    if (hit !== null) hover.textContent = `Character ${hit.instanceId}: ${hit.part}`;
  });
  onKey('n', () => select((selected + 1) % crowd.count));
  onKey('p', () => select((selected + crowd.count - 1) % crowd.count));
}

let highlighted: number | null = null;

/** Brightens the character under the pointer. */
function highlight(index: number | null): void {
  if (highlighted !== null) crowd.setColorAt(highlighted, _color.setScalar(1));
  if (index !== null) crowd.setColorAt(index, _color.setScalar(1.7));
  highlighted = index;
}

// --- frames ---

const _place = new Vector3();
const _socket = new Vector3();
let last = performance.now();

function frame(now: number): void {
  const delta = secondsBetween(last, now);
  last = now;
  const cost = measure(() => {
    crowd.update(delta);
    moods.update(delta);
    crowd.getMatrixAt(selected, _matrix);
    ring.follow(selected, _place.setFromMatrixPosition(_matrix), delta);
    stage.controls.update();
    stage.render(0, 1);
  });
  figures.add('crowd', cost);
  figures.write();
  // Where a joint is, for whatever is not drawn by the crowd: a light, a sound, a hit test.
  _socket.setFromMatrixPosition(getSocketMatrix(crowd, selected, 'Head', _matrix));
  ring.scale.setScalar(0.9 + 0.1 * _socket.y);
  document.body.dataset.ready = '1';
  requestAnimationFrame(frame);
}

stage.shadows = query.get('shadows') !== '0';
stage.frame(HEIGHT, crowdRadius(14, SIZE), crowdRadius(300, SIZE));
try {
  listen();
  select(0);
  requestAnimationFrame(frame);
} catch (error) {
  fail(error as Error);
}
