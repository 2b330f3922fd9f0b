import type { CrowdIntersection, SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import type { VertexTexture } from 'skinned-instanced-mesh/vertex-textures';
import { Color, Euler, LoopOnce, Matrix4, Quaternion, Vector3 } from 'three';
import { isSoftwareName } from '../lib/deviceName.js';
import { Figures } from '../lib/Figures.js';
import { openStage } from '../lib/openStage.js';
import { Picker } from '../lib/Picker.js';
import { find, secondsBetween, toggle } from '../lib/page.js';
import { createBanner } from './banner.js';
import { createFish } from './fish.js';
import { createFloor, createRays } from './sea.js';

const SEA = 0x1f6f86;
/** Metres of a fish. */
const LENGTH = 0.6;
/** Crowds that the shoal consists of: each turns about its middle as a whole, so that no fish is placed anew in a frame. */
const RINGS = 6;

const { query, detail, Crowd, InstanceParts, device, stage, measure } = await openStage();
const { bakeVertexCharacter } =
  query.get('renderer') === 'webgpu'
    ? await import('skinned-instanced-mesh/vertex-textures/webgpu')
    : await import('skinned-instanced-mesh/vertex-textures');
const figures = new Figures(find('tbody'), ['crowd']);

// Vertices are what programs that stand in for a GPU take longest over.
const isSoftware = isSoftwareName(device.name);
const count = Math.max(0, Number(query.get('count') ?? (isSoftware ? 600 : 10_000)));

// --- a shoal ---

const { fish, motions } = createFish(detail);
const swimmer = bakeVertexCharacter(fish, motions, { measure: true });
/** As many fish as a space of this radius has room for. */
const size = 1.6 + 0.32 * Math.cbrt(count);

let seed = 1;
const random = () => {
  seed = (seed * 16807) % 2147483647;
  return seed / 2147483647;
};
const spread = () => random() + random() + random() - 1.5;

const shoal = Array.from({ length: RINGS }, (_, ring) => {
  const own = Math.floor((count * (ring + 1)) / RINGS) - Math.floor((count * ring) / RINGS);
  const crowd = new Crowd(swimmer, own);
  const matrix = new Matrix4();
  const place = new Vector3();
  const turned = new Quaternion();
  const angles = new Euler(0, 0, 0, 'YXZ');
  const scale = new Vector3();
  for (let i = 0; i < own; i++) {
    const angle = 2 * Math.PI * random();
    const radius = size * (0.45 + 0.1 * ring) + 0.16 * size * spread();
    const height = size * 0.62 + 0.3 * size * spread();
    place.set(radius * Math.cos(angle), Math.max(height, LENGTH), -radius * Math.sin(angle));
    turned.setFromEuler(angles.set(0.15 * spread(), angle + Math.PI + 0.15 * spread(), 0.2 * spread()));
    crowd.setMatrixAt(i, matrix.compose(place, turned, scale.setScalar(LENGTH * (0.75 + 0.5 * random()))));
    crowd.setColorAt(i, new Color().setHSL(0.02 + 0.09 * random(), 1, 0.5 + 0.2 * random()));
    swim(crowd, i, 0);
  }
  crowd.addEventListener('finished', ({ instanceId }) => swim(crowd, instanceId, 0.4));
  stage.scene.add(crowd);
  return { crowd, speed: 0.28 - 0.025 * ring };
});

/** Lets a fish swim on, or glide. */
function swim(crowd: SkinnedInstancedMesh, instance: number, fade: number): void {
  const clip = random() < 0.75 ? 'Swim' : 'Glide';
  crowd.play(instance, clip, { time: 2 * random(), timeScale: 0.8 + 0.5 * random(), fade });
}

/** A few quick strokes, after which it is over: see `finished`. */
function frighten(crowd: SkinnedInstancedMesh, instance: number): void {
  crowd.play(instance, 'Dart', {
    loop: LoopOnce,
    repetitions: 1,
    timeScale: 0.25,
    clampWhenFinished: true,
    fade: 0.1,
  });
}

// --- banners on the sea floor ---

const { banner, motions: waving } = createBanner(detail);
const flag = bakeVertexCharacter(banner, waving);
const banners = new Crowd(flag, 12);
banners.castShadow = true;
const parts = new InstanceParts(banners);
for (let i = 0; i < banners.count; i++) {
  // behind the shoal
  const angle = (Math.PI * (i + 0.5)) / banners.count;
  const matrix = new Matrix4().makeRotationY(0.5 + 0.2 * spread());
  banners.setMatrixAt(i, matrix.setPosition(2 * size * Math.cos(angle), 0, -2 * size * Math.sin(angle)));
  parts.setColorAt(i, 'Cloth', new Color().setHSL(i / banners.count, 0.6, 0.5));
  banners.play(i, 'Wave', { time: 4 * random() });
}
stage.scene.add(banners);

// --- the page ---

const swimming = swimmer.boneTexture as VertexTexture;
const kilobytes = (bytes: number) => `${Math.round(bytes / 1000).toLocaleString('en')} kB`;
const between = Math.max(...swimming.errors.map((error) => error.between ?? 0));
find('[data-baked]').textContent =
  `Fish: ${swimming.vertexCount} vertices, ${swimming.clips.length} clips, ${kilobytes(swimming.byteLength)}, ` +
  `at most ${(100 * between).toFixed(1)} % of a fish off between frames. Banners: ${kilobytes(flag.boneTexture.byteLength)}.`;
find('[data-count]').textContent = `${count.toLocaleString('en')} fish`;

for (const { crowd } of shoal) {
  new Picker(stage, crowd).onClick(({ instanceId = 0 }: CrowdIntersection) => frighten(crowd, instanceId));
}
find('button[name=frighten]').addEventListener('click', () => {
  for (const { crowd } of shoal) for (let i = 0; i < crowd.count; i++) frighten(crowd, i);
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
    for (const { crowd, speed } of shoal) {
      crowd.rotation.y += speed * delta;
      crowd.update(delta);
    }
    banners.update(delta);
    stage.controls.update();
    stage.render(0, 1);
  });
  figures.add('crowd', cost);
  figures.write();
  document.body.dataset.ready = '1';
  requestAnimationFrame(frame);
}

stage.frame(size, 1.5 * size);
stage.sink(SEA, 2 * size, 8 * size);
stage.camera.position.set(0.55 * size, 0.5 * size, 1.85 * size);
stage.controls.target.set(0, 0.62 * size, 0);
stage.scene.add(createFloor(12 * size), createRays(size));
requestAnimationFrame(frame);
