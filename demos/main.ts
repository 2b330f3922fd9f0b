import { type BudgetStep, FrameBudget, type SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import { bakedCharactersOf, SkinnedInstancedMeshExtension } from 'skinned-instanced-mesh/files';
import { ACESFilmicToneMapping, HalfFloatType, PCFShadowMap, PerspectiveCamera, Scene } from 'three';
import { MeshoptDecoder } from 'three/addons/libs/meshopt_decoder.module.js';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { Armies, type Library, raiseBanners } from './battle/Armies.js';
import { buildLand, front } from './battle/land.js';
import { Clones } from './Clones.js';
import { inviteGuests } from './Guests.js';
import { createRenderer } from './lib/createRenderer.js';
import { isSoftwareName } from './lib/deviceName.js';
import { rateText } from './lib/Figures.js';
import { onFile, openCharacter } from './lib/openFile.js';
import { fail, find, isCalm, secondsBetween } from './lib/page.js';
import { lightUp, raiseDust } from './lib/sky.js';

/** Soldiers where the device allows, and on a software renderer; and the guests of a visitor's own file. */
const MOST = 20_000;
const FEWEST = 300;
const GUESTS = 1_000;
/** Stages in which soldiers are left out by so much before the others lose detail, and afterwards. */
const FEWER = 0.6;
const [BEFORE, AFTERWARDS] = [3, 5];
/** Frames a second below which no more SkinnedMeshes join, and milliseconds over which they are counted. */
const STUTTER = 24;
const WINDOW = 250;

const query = new URLSearchParams(location.search);
const hero = find<HTMLElement>('.hero');
const numbers = { soldiers: 0, calls: 0, js: 0, fps: 0 };

async function open() {
  const kind = query.get('renderer');
  // half floats: fog and sky are mixed before tone mapping, as WebGPURenderer does it
  const device = await createRenderer(kind, { outputBufferType: HalfFloatType });
  const { renderer, calls, name } = device;
  const library: Library =
    kind === 'webgpu'
      ? await import('skinned-instanced-mesh/webgpu')
      : await import('skinned-instanced-mesh');
  renderer.toneMapping = ACESFilmicToneMapping;
  renderer.shadowMap.enabled = query.get('shadows') !== '0';
  renderer.shadowMap.type = PCFShadowMap;
  hero.prepend(renderer.domElement);
  find(`nav [href="?renderer=${kind === 'webgpu' ? kind : 'webgl'}"]`).setAttribute('aria-current', 'true');

  const loader = new GLTFLoader().setMeshoptDecoder(MeshoptDecoder);
  loader.register((parser) => new SkinnedInstancedMeshExtension(parser));
  const load = (url: URL) => loader.loadAsync(url.href);
  const [knight, rogue, scenery] = await Promise.all([
    load(new URL('./art/knight.glb', import.meta.url)),
    load(new URL('./art/rogue.glb', import.meta.url)),
    load(new URL('./art/scenery.glb', import.meta.url)),
  ]);
  const characters = [knight, rogue].map((gltf) => bakedCharactersOf(gltf)[0]);

  const isSoftware = isSoftwareName(name);
  const asked = Number(query.get('count'));

  const scene = new Scene();
  const camera = new PerspectiveCamera(34, 1, 0.5, 1600);
  const resize = () => {
    const { clientWidth, clientHeight } = hero;
    renderer.setPixelRatio(isSoftware && !(asked > 0) ? 0.5 : Math.min(devicePixelRatio, 2));
    renderer.setSize(clientWidth, clientHeight);
    camera.aspect = clientWidth / clientHeight;
    camera.fov = camera.aspect < 1 ? 46 : 34;
    camera.updateProjectionMatrix();
  };
  new ResizeObserver(resize).observe(hero);
  resize();

  const count = asked > 0 ? 2 * Math.ceil(Math.min(asked, MOST) / 2) : isSoftware ? FEWEST : MOST;
  const moveSun = lightUp(scene);
  buildLand(scene, scenery.scene, Number(query.get('detail') ?? 1));
  const armies = new Armies(library, characters, count);
  const budget = count === MOST && !(asked > 0) ? keepRate(armies) : null;
  const banners = raiseBanners(library, count);
  const moveDust = raiseDust(scene, front);
  scene.add(armies, banners);
  for (let i = 0; i < 100; i++) armies.update(0.1); // the battle has begun

  // --- the switch ---

  let clones: Clones | null = null;
  /** What the crowds took; null while no more SkinnedMeshes join. */
  let before: typeof numbers | null = null;
  let slow = 0;
  const verdict = find<HTMLElement>('[data-verdict]');
  const plain = find<HTMLInputElement>('[name=plain]');
  plain.disabled = false;
  plain.addEventListener('change', async () => {
    clones?.dispose();
    clones = before = null;
    armies.visible = true;
    verdict.textContent = '';
    if (!plain.checked) return;
    const { animations } = await load(new URL('./art/moves.glb', import.meta.url));
    if (!plain.checked) return;
    before = { ...numbers };
    slow = 0;
    armies.visible = false;
    clones = new Clones(armies, characters, animations);
    scene.add(clones);
  });

  /** More SkinnedMeshes join, until frames take too long; then says how many they are. */
  function grow(some: Clones, crowd: typeof numbers): void {
    const least = Math.min(STUTTER, crowd.fps / 2);
    const isAll = some.count === armies.count;
    const isSlow = numbers.fps < least && some.count > 0;
    // Frames in which the GPU's programs are compiled are slow, and pass.
    slow = isSlow ? slow + 1 : 0;
    const rate = rateText(least);
    verdict.textContent = `A SkinnedMesh and an AnimationMixer each: more join until there are fewer than ${rate} frames a second.`;
    if (!isAll && slow < 4) {
      if (!isSlow) some.join(Math.ceil(20 + some.count * 0.3));
      return;
    }
    const times = Math.round(numbers.calls / crowd.calls).toLocaleString('en');
    const calls = `${times} times the draw calls of the crowd`;
    verdict.textContent = isAll
      ? `All of them: ${calls}, ${(numbers.js / crowd.js).toFixed(1)} times its JavaScript.`
      : `Fewer than ${rate} frames a second with one soldier of ${Math.round(armies.count / some.count)}: ${calls}.`;
    before = null;
  }

  // --- a visitor's own file ---

  let guests: SkinnedInstancedMesh | null = null;
  onFile(find('[name=file]'), async (file) => {
    try {
      const opened = await openCharacter(file, renderer);
      const start = performance.now();
      const next = inviteGuests(
        library,
        opened,
        asked > 0 ? asked : isSoftware ? 60 : GUESTS,
        device.maxTextureSize,
      );
      const took = Math.round(performance.now() - start);
      plain.checked = false;
      plain.dispatchEvent(new Event('change'));
      plain.disabled = true;
      armies.visible = false;
      guests?.removeFromParent().dispose();
      guests = next;
      scene.add(next);
      const { length } = next.boneTexture.clips;
      const made = `${file.name}: ${length} ${length === 1 ? 'clip' : 'clips'}`;
      verdict.textContent =
        opened.baked === null ? `${made}, baked in ${took} ms.` : `${made}, from the file.`;
      find('h1').textContent = `${next.count.toLocaleString('en')} of yours.`;
      find('[data-who]').textContent = 'of yours';
      find('[data-here]').textContent = '';
    } catch (error) {
      fail(error as Error);
    }
  });

  // --- frames ---

  let seen = true;
  new IntersectionObserver(([entry]) => {
    seen = entry.isIntersecting;
  }).observe(hero);
  const speed = isCalm ? 0 : 1;
  let time = Number(query.get('time') ?? 0);
  let last = performance.now();
  const window = { since: last, frames: 0, js: 0 };

  function frame(now: number): void {
    requestAnimationFrame(frame);
    const delta = secondsBetween(last, now);
    if (seen && !guests && !clones) budget?.update((now - last) / 1000);
    last = now;
    if (!seen) {
      window.since = now;
      return;
    }
    time += delta * speed;
    calls.reset();
    const start = performance.now();
    (guests ?? clones ?? armies).update(delta);
    banners.update(delta);
    const z = 20 - 16 * Math.sin(time * 0.07 - 1.1);
    camera.position.set(-1 + Math.sin(time * 0.1) * 1.5, 9, z);
    camera.lookAt(-3, 4.6, z - 40);
    moveSun(z - 55);
    moveDust(camera, time);
    renderer.render(scene, camera);
    window.js += performance.now() - start;
    window.frames++;
    document.body.dataset.ready = '1';
    if (now - window.since > WINDOW) measured(now);
  }

  function measured(now: number): void {
    numbers.soldiers = (guests ?? clones ?? armies).count;
    numbers.calls = calls.draws;
    numbers.js = window.js / window.frames;
    numbers.fps = (window.frames * 1000) / (now - window.since);
    Object.assign(window, { since: now, frames: 0, js: 0 });
    show();
    if (guests) return;
    if (clones && before) grow(clones, before);
    if (clones || asked > 0) return;
    find('[data-here]').textContent = armies.count < MOST ? ' here' : '';
    if (isSoftware) find('[data-by]').textContent = ', without a GPU';
  }
  requestAnimationFrame(frame);
}

/** Begins with few soldiers, and finds out how many the device can draw. */
function keepRate(armies: Armies): FrameBudget {
  const stages = [0, 0];
  const soldiers = (which: 0 | 1, count: number): BudgetStep => ({
    name: 'soldiers',
    count,
    apply(taken) {
      stages[which] = taken;
      armies.count = 2 * Math.round((MOST * FEWER ** (stages[0] + stages[1])) / 2);
    },
  });
  return new FrameBudget(armies.crowds, {
    quality: 0.77, // the first three of thirteen stages are taken
    steps: ({ levelBias, poseRates }) => [soldiers(0, BEFORE), levelBias, poseRates, soldiers(1, AFTERWARDS)],
  });
}

function show(): void {
  const write = (name: string, text: string) => {
    for (const element of document.querySelectorAll(`[data-${name}]`)) element.textContent = text;
  };
  write('soldiers', numbers.soldiers.toLocaleString('en'));
  write('calls', numbers.calls.toLocaleString('en'));
  write('js', numbers.js.toFixed(1));
  write('fps', rateText(numbers.fps));
}

open().catch(fail);
