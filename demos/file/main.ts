import {
  type BakeCharacterOptions,
  type BoneTexture,
  bakeCharacter,
  type Character,
  CrowdLevels,
  disposeCharacter,
  type InstanceParts,
  mergeMaterials,
  type SkinnedInstancedMesh,
} from 'skinned-instanced-mesh';
import { addLevelsOf, bakedCharactersOf, type LoadedCharacter } from 'skinned-instanced-mesh/files';
import { type AnimationClip, Box3, Matrix4, type Mesh, type Object3D, Vector3 } from 'three';
import { Figures } from '../lib/Figures.js';
import { loaderFor, type OpenedCharacter, onFile, openCharacter } from '../lib/openFile.js';
import { openStage } from '../lib/openStage.js';
import { fail, find, secondsBetween, showValue, slide, tell, toggle } from '../lib/page.js';
import { crowdRadius, movesOf, partOf, placeOf } from '../lib/plan.js';
import { bakedFile, costs, save } from './bakedFile.js';
import { codeFor, type PageOptions } from './codeFor.js';
import { loadSample, people, type Sample, type SampleName } from './samples.js';

const BAKED = 'SIM_baked_animation';
const MESHOPT = 'EXT_meshopt_compression';
const MIXED = 'all of them, mixed';
/** What textures may be as large as without asking the device. */
const DEFAULT_TEXTURE_SIZE = 4096;

const {
  query,
  detail,
  Crowd,
  InstanceParts: Parts,
  frames,
  device,
  isSoftware,
  stage,
  measure,
} = await openStage();
const figures = new Figures(find('tbody'), ['crowd']);

/** What is shown until a file is opened. */
let sample: Sample | null = people(detail);
let { root, clips }: { root: Object3D; clips: AnimationClip[] } = sample;
/** The .glb that was opened, and what was baked into it. */
let source: ArrayBuffer | null = null;
let baked: LoadedCharacter | null = null;
let fileName = '';
let extensions: string[] = [];
let crowd: SkinnedInstancedMesh | null = null;
/** What instances of a sample wear. */
let parts: InstanceParts | null = null;
/** What the crowd plays. */
let drawn: Character | null = null;
let count = Math.max(1, Number(query.get('count') ?? (isSoftware ? 120 : 500)));
let clip = MIXED;
let height = 1;
let size = 1;
const DEFAULTS: PageOptions = {
  fps: 30,
  encoding: 'tracks',
  precision: 'float',
  influences: 4,
  mergeMaterials: false,
};
const options: PageOptions = { ...DEFAULTS, mergeMaterials: true };
let bakeTime = 0;

// --- what the library warns of, for the panel ---

const warnings = new Set<string>();
const warn = console.warn;
console.warn = (...args: unknown[]) => {
  warnings.add(args.join(' '));
  warn(...args);
};

// --- the crowd ---

/** Makes the crowd anew, with the options as they are now. */
function build(): void {
  try {
    const start = performance.now();
    const character = baked ?? bakeCharacter(root, clips, { ...bakeOptions(), ...merging() });
    const next = new Crowd(character, count, { influences: options.influences });
    if (baked !== null) addLevelsOf(baked, new CrowdLevels(next));
    sample?.addLevels?.(next);
    const hides = baked?.parts.some(({ hidden }) => hidden) === true;
    parts = sample !== null || hides ? new Parts(next) : null;
    bakeTime = performance.now() - start;
    next.castShadow = true;
    next.receiveShadow = true;
    crowd?.removeFromParent();
    crowd?.dispose();
    if (drawn !== null && drawn !== baked) disposeCharacter(drawn);
    drawn = character;
    crowd = next;
    place(crowd);
    play(crowd);
    stage.scene.add(crowd);
    figures.clear('crowd');
    report(crowd);
  } catch (error) {
    fail(error as Error);
  }
}

/** How the page bakes. */
function bakeOptions(): BakeCharacterOptions {
  const { fps, encoding, precision } = options;
  return {
    fps,
    encoding: encoding === 'frames' ? frames : undefined,
    precision,
    maxTextureSize: device.maxTextureSize,
    skipUnsupported: true,
  };
}

const merging = () => (options.mergeMaterials ? { mergeMaterials: mergeMaterials() } : {});

function place(placed: SkinnedInstancedMesh): void {
  const matrix = new Matrix4();
  for (let i = 0; i < placed.count; i++) placed.setMatrixAt(i, placeOf(i, size, matrix));
  placed.instanceMatrix.needsUpdate = true;
  if (sample !== null && parts !== null) for (let i = 0; i < placed.count; i++) sample.dress(parts, i);
}

/** Names of the clips that characters play, by chance where there are several. */
const played = () => (clip === MIXED ? movesOf(namedClips()).map(({ name }) => name) : [clip]);

/** The clips of the file, or those that were baked into it. */
const namedClips = (): readonly { name: string }[] =>
  clips.length > 0 ? clips : (baked?.boneTexture.clips ?? []);

function play(playing: SkinnedInstancedMesh): void {
  const names = played();
  playing.playAll((i) => names[partOf(i, names.length).clip], {
    time: (i) => partOf(i, names.length).time,
    timeScale: (i) => partOf(i, names.length).timeScale,
    fade: playing.elapsed > 0 ? 0.3 : 0,
  });
}

function setCount(value: number): void {
  count = value;
  find<HTMLInputElement>('[name=count]').value = String(Math.log10(value));
  showValue('count', value.toLocaleString('en'));
  if (crowd === null) return;
  crowd.setCapacity(Math.max(count, crowd.capacity));
  crowd.count = count;
  place(crowd);
  play(crowd);
  frameCrowd();
  find('.code').textContent = code(crowd.boneTexture);
}

function frameCrowd(): void {
  root.updateMatrixWorld(true);
  const extent = new Box3().setFromObject(root, true).getSize(new Vector3());
  height = extent.y;
  size = Math.max(extent.x, extent.z, height * 0.5);
  stage.frame(height, crowdRadius(count, size));
}

// --- the panel ---

function report({ boneTexture, geometry, material }: SkinnedInstancedMesh): void {
  const vertices = geometry.getAttribute('position').count;
  const draws = Array.isArray(material) ? material.length : 1;
  find('[data-facts]').textContent =
    `${fileName || 'The built-in figure'}: clips: ${boneTexture.clips.length}, joints: ${boneTexture.jointNames.length}, ` +
    `vertices: ${vertices.toLocaleString('en')}, draw calls: ${draws}; ` +
    `bone texture ${sizeOf(boneTexture)} as ${boneTexture.encoding}${baked === null ? '' : ', from the file'}.`;
  find('[data-saved]').textContent = '';
  find<HTMLElement>('[data-costs]').hidden = true;
  find('[data-warnings]').replaceChildren(
    ...[...warnings].map((text) => {
      const item = document.createElement('li');
      item.textContent = text;
      return item;
    }),
  );
  find('.code').textContent = code(boneTexture);
}

const sizeOf = ({ layout, byteLength }: BoneTexture) =>
  `${layout.width} × ${layout.height}, ${(byteLength / 1e6).toFixed(2)} MB`;

/** The program that makes this crowd. */
function code(boneTexture: BoneTexture): string {
  const { layout } = boneTexture;
  const given: PageOptions = Object.fromEntries(
    Object.entries(options).filter(([key, value]) => value !== DEFAULTS[key as keyof PageOptions]),
  );
  if (holdsUnsupported()) given.skipUnsupported = true;
  if (Math.max(layout.width, layout.height) > DEFAULT_TEXTURE_SIZE)
    given.maxTextureSize = device.maxTextureSize;
  return codeFor({
    renderer: query.get('renderer') === 'webgpu' ? 'webgpu' : 'webgl',
    file: fileName || 'character.glb',
    extensions: baked === null ? extensions.filter((name) => name !== BAKED) : [...extensions, MESHOPT],
    vertices: baked !== null && 'isVertexTexture' in boneTexture,
    frames: baked !== null && boneTexture.encoding === 'frames' && !('isVertexTexture' in boneTexture),
    count,
    clips: played(),
    options: given,
    height,
    width: size,
  });
}

/** Whether there is something under the root that the page leaves out. */
function holdsUnsupported(): boolean {
  let found = false;
  root.traverseVisible((node) => {
    const kinds = node as unknown as Record<string, unknown>;
    found ||= ['isPoints', 'isLine', 'isSprite', 'isInstancedMesh', 'isBatchedMesh'].some(
      (kind) => kinds[kind] === true,
    );
  });
  return found;
}

function listClips(): void {
  clip = MIXED;
  find('[name=clip]').replaceChildren(
    ...[MIXED, ...namedClips().map(({ name }) => name)].map((name) => new Option(name)),
  );
}

// --- baked into its file ---

/** What the first of a sample's instances does not wear, nobody wears who opens the saved file. */
const unworn = () => parts?.names.filter((name) => parts?.getVisibleAt(0, name) === false) ?? [];

const shown = () => ({ root, clips, source, hiddenParts: unworn() });

/** Saves the character as it is baked, and says how fast that is loaded. */
async function saveBaked(): Promise<void> {
  if (crowd === null) return;
  try {
    if (baked !== null) throw new Error(`${fileName} is baked already.`);
    const loader = await loaderFor(device.renderer);
    const load = (file: ArrayBuffer) => loader.parseAsync(file, '');
    const bytes = await bakedFile(shown(), load, bakeOptions(), options.mergeMaterials === true);
    save(bytes, `${fileName.replace(/\.\w+$/, '') || 'character'}-baked.glb`);
    const start = performance.now();
    for (const one of bakedCharactersOf(await load(bytes.buffer.slice(0)))) disposeCharacter(one);
    const read = performance.now() - start;
    find('[data-saved]').textContent =
      `${kilobytes(bytes.length)} kB: loaded in ${read.toFixed(0)} ms, where making this crowd took ${bakeTime.toFixed(0)}.`;
  } catch (error) {
    fail(error as Error);
  }
}

/** Shows what the bone texture takes in each encoding. */
async function showCosts(): Promise<void> {
  const rows = await costs(shown(), { ...options, maxTextureSize: device.maxTextureSize });
  const table = find<HTMLTableElement>('[data-costs]');
  table.tBodies[0].replaceChildren(
    ...rows.map(({ label, file, plain, gpu }) => {
      const row = document.createElement('tr');
      const cells = file === null ? ['cannot hold it'] : [file, plain, gpu].map(kilobytes);
      row.append(
        ...[label, ...cells].map((text) =>
          Object.assign(document.createElement('td'), { textContent: text }),
        ),
      );
      return row;
    }),
  );
  table.hidden = false;
}

const kilobytes = (bytes: number) => Math.ceil(bytes / 1000).toLocaleString('en');

/** A list whose choice becomes an option. */
function choose(name: 'encoding' | 'precision' | 'influences'): void {
  find<HTMLSelectElement>(`[name=${name}]`).addEventListener('change', ({ target }) => {
    const { value } = target as HTMLSelectElement;
    Object.assign(options, { [name]: name === 'influences' ? Number(value) : value });
    if (name === 'influences') build();
    else build();
  });
}

async function open(file: File): Promise<void> {
  try {
    tell(`Reading ${file.name} …`);
    warnings.clear();
    const opened = await openCharacter(file, device.renderer);
    if (opened.clips.length === 0 && opened.baked === null)
      throw new Error(`${file.name} has no animations; export it with its clips.`);
    sample = null;
    show(opened);
    tell(`${file.name} is here.`);
  } catch (error) {
    fail(error as Error);
  }
}

/** Shows what was opened in place of what was there. */
function show(opened: OpenedCharacter): void {
  ({ root, clips, extensions, name: fileName, bytes: source, baked } = opened);
  root.traverse((node) => {
    (node as Mesh).castShadow = (node as Mesh).isMesh === true;
  });
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-sample]')) {
    button.setAttribute('aria-pressed', String(sample !== null && button.value === fileName.split('.')[0]));
  }
  listClips();
  frameCrowd();
  build();
}

async function openSample(name: SampleName): Promise<void> {
  try {
    sample = name === 'people' ? people(detail) : await loadSample(name);
    const file = name === 'people' ? '' : `${name}.glb`;
    show({ ...sample, name: file, extensions: [], bytes: null, baked: null });
  } catch (error) {
    fail(error as Error);
  }
}

function listen(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-sample]')) {
    button.addEventListener('click', () => void openSample(button.value as SampleName));
  }
  onFile(find('[name=file]'), open);
  find('[name=clip]').addEventListener('change', ({ target }) => {
    clip = (target as HTMLSelectElement).value;
    if (crowd === null) return;
    play(crowd);
    report(crowd);
  });
  slide('count', (value) => setCount(Math.round(10 ** value)));
  // Baking takes a moment: not while the slider is dragged.
  slide('fps', () => {});
  find('[name=fps]').addEventListener('change', ({ target }) => {
    options.fps = Number((target as HTMLInputElement).value);
    build();
  });
  choose('encoding');
  choose('precision');
  choose('influences');
  find('[name=save]').addEventListener('click', () => void saveBaked());
  find('[name=costs]').addEventListener('click', () => void showCosts());
  toggle('merge', true, (value) => {
    options.mergeMaterials = value;
    if (crowd !== null) build();
  });
  toggle('shadows', query.get('shadows') !== '0', (value) => {
    stage.shadows = value;
  });
}

// --- frames ---

let last = performance.now();

function draw(now: number): void {
  const delta = secondsBetween(last, now);
  last = now;
  const cost = measure(() => {
    crowd?.update(delta);
    stage.controls.update();
    stage.render(0, 1);
  });
  figures.add('crowd', cost);
  figures.write();
  document.body.dataset.ready = '1';
  requestAnimationFrame(draw);
}

listClips();
listen();
setCount(count);
frameCrowd();
build();
requestAnimationFrame(draw);
