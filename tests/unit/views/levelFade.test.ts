import { Matrix4, Object3D, PerspectiveCamera, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { FADE_CODES, FADE_NEAR, FADE_STEPS, ID_MASK } from '../../../lib/constants.js';
import { CameraLevels } from '../../../lib/views/CameraLevels.js';
import { CrowdViews } from '../../../lib/views/CrowdViews.js';
import { FADING, LevelTable } from '../../../lib/views/LevelTable.js';
import type { View } from '../../../lib/views/View.js';
import { random, SEEDS } from '../../support/random.js';
import { ViewedCrowd } from '../../support/viewedCrowd.js';

const COUNT = 300;
const STARTS = [10, 25, 40];

function add(levels: LevelTable, distance: number, drawn = true, poseRate = 0, hysteresis = 0.4): void {
  const object = drawn ? new Object3D() : null;
  levels.add({ object, distance, screenShare: null, hysteresis, poseRate, attachments: true });
}

function look(camera: PerspectiveCamera, x: number, y: number, z: number): PerspectiveCamera {
  camera.position.set(x, y, z);
  camera.lookAt(0, 0, 0);
  camera.updateMatrixWorld();
  return camera;
}

/** By id, the thresholds of pixels that a view draws of it: a bit for each of 64. */
function pixelsOf({ count, list, isWhole }: View): Map<number, bigint> {
  const pixels = new Map<number, bigint>();
  let last = -1;
  for (let i = 0; i < count; i++) {
    const entry = isWhole === true ? i : list.get(i);
    const id = Math.trunc(entry);
    if (id <= last) expect.fail('the list is not in ascending order');
    last = id;
    const fade = (entry - id) * FADE_CODES;
    const below = (1n << BigInt(fade % FADE_STEPS)) - 1n;
    pixels.set(id, fade === 0 ? ALL : fade < FADE_NEAR ? below : ALL ^ below);
  }
  return pixels;
}

const ALL = (1n << 64n) - 1n;

const shareOf = (pixels: bigint): number => {
  let count = 0;
  for (let rest = pixels; rest > 0n; rest >>= 1n) count += Number(rest & 1n);
  return count / 64;
};

const distanceOf = (views: CrowdViews, id: number, camera: PerspectiveCamera, world: Matrix4) =>
  new Vector3()
    .fromArray(views.groups.spheres, id * 4)
    .applyMatrix4(world)
    .distanceTo(camera.position);

/** The level of an instance at a distance, and the share of its pixels that is drawn at the next one. */
function expected(distance: number, fade: number): { level: number; share: number } {
  const level = STARTS.filter((start) => distance >= start).length;
  const next = STARTS[level];
  if (next === undefined) return { level, share: 0 };
  const from = Math.max(next * (1 - fade), STARTS[level - 1] ?? 0);
  return { level, share: Math.max(0, (distance - from) / (next - from)) };
}

test.each(SEEDS.flatMap((seed) => [2 * seed, 2 * seed + 1]))(
  'each pixel of an instance is in the list of one level, in proportion to the distance, seed %i',
  (seed) => {
    const next = random(seed);
    const crowd = new ViewedCrowd(COUNT, next, 60);
    const views = new CrowdViews(crowd);
    const undrawn = seed % 2 === 1;
    STARTS.forEach((start, i) => {
      add(crowd.levels, start, i < 2 || !undrawn);
    });
    const world = new Matrix4().makeRotationY(next()).setPosition(next() * 5, 0, 0);
    const camera = new PerspectiveCamera(60, 1.5, 0.1, 1000);
    let fading = 0;
    for (let frame = 0; frame < 15; frame++) {
      crowd.levels.fade = next() < 0.3 ? 1 : next() * 0.6;
      const both = crowd.levels.listFor(0b011) as number;
      if (next() < 0.3) crowd.visibility.setVisible(Math.floor(next() * COUNT), next() < 0.5);
      if (next() < 0.2) views.perObjectFrustumCulled = !views.perObjectFrustumCulled;
      look(camera, (next() - 0.5) * 60, 3, (next() - 0.5) * 60);
      const view = views.of(camera, world, frame);
      const drawn = undrawn ? [0, 1, 2] : [0, 1, 2, 3];
      const levels = drawn.map((level) => pixelsOf(view.of(level)));
      const all = pixelsOf(view.of(null));
      const near = pixelsOf(view.of(both));
      for (let id = 0; id < COUNT; id++) {
        const at = levels.map((pixels) => pixels.get(id) ?? 0n);
        const sum = at.reduce((one, other) => one | other, 0n);
        const shares = at.map(shareOf);
        const inLists = [shares.reduce((one, other) => one + other), all.get(id) ?? 0n, near.get(id) ?? 0n];
        const isMarked = (view.seen[id >> 5] & (1 << (id & 31))) !== 0;
        if (sum === 0n) continue;
        const { level, share } = expected(distanceOf(views, id, camera, world), crowd.levels.fade);
        const isAll = sum === ALL || (undrawn && level === 2);
        expect([...inLists, isMarked, isAll]).toEqual([shareOf(sum), sum, at[0] | at[1], true, true]);
        expect(Math.abs(shares[level] - (1 - share)), `level ${level}`).toBeLessThan(1.01 / 64);
        if (share > 1 / 64 && share < 1) fading++;
      }
      const { visible, levels: counts } = views.infoOf(camera) as { visible: number; levels: number[] };
      expect(visible).toBe(all.size);
      expect(counts.slice(0, drawn.length)).toEqual(levels.map(({ size }) => size));
    }
    expect(fading).toBeGreaterThan(100);
  },
);

test('sorted lists have the same entries, and shadow maps one level alone: the coarser from half way on', () => {
  const next = random(9);
  const crowd = new ViewedCrowd(COUNT, next, 60);
  const views = new CrowdViews(crowd);
  for (const start of STARTS) add(crowd.levels, start);
  crowd.levels.fade = 0.8;
  views.order.sortObjects = true;
  const world = new Matrix4();
  const camera = look(new PerspectiveCamera(60, 1.5, 0.1, 1000), 5, 3, 20);
  const light = look(new PerspectiveCamera(90, 1, 0.1, 1000), 0, 60, 1);
  const view = views.of(camera, world, 0);
  const entries = ({ count, list }: View) => Array.from({ length: count }, (_, i) => list.get(i));
  const depths = (ids: number[]) =>
    ids.map(
      (id) =>
        new Vector3()
          .fromArray(views.groups.spheres, Math.trunc(id) * 4)
          .applyMatrix4(camera.matrixWorldInverse).z,
    );
  let fading = 0;
  for (const level of [0, 1, 2, 3]) {
    for (const farFirst of [false, true]) {
      const sorted = entries(view.inOrder(level, farFirst, world, views));
      expect([...sorted].sort((a, b) => a - b)).toEqual(entries(view.of(level)));
      const inOrder = depths(sorted).sort((a, b) => (farFirst ? a - b : b - a));
      expect(depths(sorted).map((z) => z.toFixed(3))).toEqual(inOrder.map((z) => z.toFixed(3)));
      fading += sorted.filter((entry) => entry % 1 !== 0).length;
    }
  }
  expect(fading).toBeGreaterThan(50);
  for (const bias of [0, 1]) {
    crowd.levels.shadowLevel = bias;
    const shadow = views.of(light, world, 1, camera);
    for (const level of [0, 1, 2, 3]) {
      for (const [id, pixels] of pixelsOf(shadow.of(level))) {
        expect(pixels).toBe(ALL);
        const { level: own, share } = expected(distanceOf(views, id, camera, world), 0.8);
        const shown = Math.min(3, own + (Math.floor(share * 64) >= 32 ? 1 : 0) + bias);
        expect(level).toBe(shown);
      }
    }
  }
});

test('what fades counts as triangles of both levels, and is posed as often as the one that needs it more', () => {
  const next = random(11);
  const crowd = new ViewedCrowd(COUNT, next, 60);
  const views = new CrowdViews(crowd);
  add(crowd.levels, 10, true, 30);
  add(crowd.levels, 25, true, 60);
  add(crowd.levels, 40, true, 10);
  crowd.levels.fade = 0.9;
  const camera = look(new PerspectiveCamera(60, 1.5, 0.1, 1000), 5, 3, 20);
  for (const max of [100_000, 30_000, 8000]) {
    views.order.maxTriangles = max;
    const view = views.of(camera, new Matrix4(), max);
    const info = views.infoOf(camera) as { triangles: number };
    expect(info.triangles).toBeLessThanOrEqual(max);
    const rates = Array.from(view.levels as Uint8Array, (code) => view.poseRates[code]);
    const codes = new Set(view.levels as Uint8Array);
    expect([...codes].some((code) => code >= FADING)).toBe(true);
    const table = [0, 30, 60, 10, 0, 0, 0, 0, 0, 60, 60];
    expect(rates).toEqual(Array.from(view.levels as Uint8Array, (code) => table[code]));
  }
});

test('large crowds fade in fewer steps, as many as there is room for behind an id', () => {
  const table = new LevelTable();
  add(table, 10);
  table.fade = 0.5;
  const camera = new PerspectiveCamera();
  camera.updateMatrixWorld();
  const stepsOf = (capacity: number) => {
    const levels = new CameraLevels();
    levels.update(table, camera, new Matrix4(), capacity);
    const steps = new Set<number>();
    const spheres = new Float32Array(4);
    for (let x = 5; x < 10; x += 0.01) {
      levels.choose(0, spheres.fill(x, 0, 1));
      const step = levels.steps[0];
      steps.add(step);
      const entry = capacity - 1 + (step + FADE_NEAR) / FADE_CODES;
      if (capacity <= 2 ** 23) expect(Math.fround(entry)).toBe(entry);
    }
    return steps.size;
  };
  expect([1, 131_072, 131_073, 262_144, 1_000_000, 2 ** 22].map(stepsOf)).toEqual([64, 64, 32, 32, 8, 2]);
  expect(stepsOf(2 ** 22 + 1), 'no room').toBe(1);
  expect([ID_MASK, 2 ** 24].map((capacity) => table.fadesFor(capacity))).toEqual([true, false]);
});

test('levels fade neither where the option is zero nor where there are none, and no number is kept then', () => {
  const table = new LevelTable();
  const camera = new PerspectiveCamera();
  camera.updateMatrixWorld();
  const levels = new CameraLevels();
  const at = (x: number) => {
    levels.update(table, camera, new Matrix4(), 1);
    return levels.choose(0, Float32Array.of(x, 0, 0, 1));
  };
  table.fade = 0.5;
  expect([at(9), table.fadesFor(1)]).toEqual([0, false]);
  add(table, 10);
  expect([at(9), at(11), table.fadesFor(1)]).toEqual([FADING, 1, true]);
  const { version } = levels;
  table.fade = 0;
  expect([at(11), at(9), at(5)], 'hysteresis is back').toEqual([1, 1, 0]);
  expect(levels.version).toBeGreaterThan(version);
  expect(levels.steps.length).toBe(0);
});

/** The shares of the pixels of one instance that each level draws, at distances that go up by little. */
function sharesBy(distances: number[], starts: number[], fade: number, inShadow = false): number[][] {
  const crowd = new ViewedCrowd(1, random(1), 0);
  crowd.setMatrix(0, new Matrix4());
  crowd.frustumCulled = false;
  starts.forEach(() => {
    add(crowd.levels, 0);
  });
  starts.forEach((start, i) => {
    crowd.levels.levels[i + 1].distance = start;
  });
  crowd.levels.fade = fade;
  const views = new CrowdViews(crowd);
  views.groups.update();
  const camera = new PerspectiveCamera();
  const light = new PerspectiveCamera();
  return distances.map((distance, frame) => {
    camera.position.fromArray(views.groups.spheres).setX(views.groups.spheres[0] + distance);
    camera.updateMatrixWorld();
    const view = views.of(inShadow ? light : camera, new Matrix4(), frame, camera);
    const pixels = [0, ...starts].map((_, level) => pixelsOf(view.of(level)).get(0) ?? 0n);
    expect(
      pixels.reduce((one, other) => one | other),
      `no hole at ${distance}`,
    ).toBe(ALL);
    return pixels.map(shareOf);
  });
}

test.each([
  { starts: [10, 20, 20, 40], shown: [1, 1, 0, 1, 1] },
  { starts: [10, 30, 20, 25, 40], shown: [1, 1, 0, 0, 1, 1] },
  { starts: [0, 20, 20], shown: [0, 1, 0, 1] },
  { starts: [20, Infinity, 30], shown: [1, 1, 0, 0] },
])('levels that begin where one behind them does are left out of fades: $starts', ({ starts, shown }) => {
  const distances = Array.from({ length: 500 }, (_, i) => i / 10 + 0.05);
  for (const fade of [0.1, 1]) {
    const shares = sharesBy(distances, starts, fade);
    let last = shares[0];
    for (const [i, at] of shares.entries()) {
      expect(at.reduce((one, other) => one + other)).toBe(1);
      at.forEach((share, level) => {
        // The shortest band is one unit long.
        expect(Math.abs(share - last[level]), `level ${level} at ${distances[i]}`).toBeLessThan(0.12);
      });
      last = at;
    }
    const most = starts.map((_, i) => Math.max(...shares.map((at) => at[i + 1])));
    expect([Math.max(...shares.map(([first]) => first)), ...most]).toEqual(shown);
    const shadows = sharesBy(distances, starts, fade, true);
    shadows.forEach((at, i) => {
      const most = Math.max(...shares[i]);
      if (most > 0.5) expect(at).toEqual(shares[i].map((share) => (share === most ? 1 : 0)));
    });
  }
});

test.each([10.005, 10.00001, 10.0000001])(
  'levels that begin at 10 and at %f draw each pixel once',
  (second) => {
    const distances = [second, 10 - 1e-7, 10, 10 + 1e-7];
    for (let i = 0; i <= 400; i++) distances.push(9.99 + i * 5e-5, 8.9 + i * 3e-3);
    distances.sort((a, b) => a - b);
    for (const inShadow of [false, true]) {
      const shares = sharesBy(distances, [10, second], 0.1, inShadow);
      for (const at of shares) expect(at.reduce((one, other) => one + other)).toBe(1);
      expect([shares[0], shares.at(-1)]).toEqual([
        [1, 0, 0],
        [0, 0, 1],
      ]);
    }
  },
);

test('where a level is left out, its rate of poses is too', () => {
  const table = new LevelTable();
  add(table, 10, true, 10);
  add(table, 20, true, 60);
  add(table, 20, true, 5);
  table.fade = 0.5;
  table.update();
  expect(table.hasPoseRates).toBe(true);
  expect([table.poseRateOf(1 + FADING, false), table.poseRateOf(3, false)]).toEqual([10, 5]);
});

test.each([0, 0.5, 1])(
  'a level whose distance is no number is never reached, and changes once, fade %f',
  (fade) => {
    for (const distance of [Infinity, Number.NaN, 1e30]) {
      const table = new LevelTable();
      add(table, 10);
      add(table, 20);
      table.fade = fade;
      table.update();
      (table.levels[2] as { distance: number }).distance = distance;
      const version = table.update();
      expect([table.update(), table.update()]).toEqual([version, version]);
      const camera = new PerspectiveCamera();
      camera.updateMatrixWorld();
      const levels = new CameraLevels();
      levels.update(table, camera, new Matrix4(), 1);
      expect([11, 19, 1e9].map((x) => levels.choose(0, Float32Array.of(x, 0, 0, 1)))).toEqual([1, 1, 1]);
      expect(levels.steps[0] ?? 0).toBe(0);
    }
  },
);

test.each(SEEDS)('triangles that are too many let nobody through a whole fade at once, seed %i', (seed) => {
  const next = random(seed);
  const crowd = new ViewedCrowd(COUNT, next, 60);
  const views = new CrowdViews(crowd);
  views.perObjectFrustumCulled = false;
  for (const start of STARTS) add(crowd.levels, start);
  crowd.levels.fade = 0.1;
  const camera = new PerspectiveCamera(60, 1.5, 0.1, 1000);
  let frame = 0;
  let last: number[] = [];
  /** The most by which an instance has come on since the frame before, as a share of a fade; the triangles that are drawn. */
  const drawAt = (x: number) => {
    look(camera, x, 3, 5);
    const { levels } = views.of(camera, new Matrix4(), ++frame);
    const chosen = (views as unknown as { chosen: WeakMap<object, CameraLevels> }).chosen.get(camera);
    const steps = (chosen as CameraLevels).steps;
    const at = Array.from(levels as Uint8Array, (code, id) => (code % FADING) + steps[id] / FADE_STEPS);
    const most = Math.max(...at.map((place, id) => Math.abs(place - (last[id] ?? place))));
    last = at;
    const { triangles } = views.infoOf(camera) as { triangles: number };
    return { most, triangles };
  };
  const free = drawAt(60);
  views.order.maxTriangles = free.triangles * 2;
  let most = 0;
  let fitted = 0;
  for (let i = 0; i <= 300; i++) {
    const drawn = drawAt(60 - i * 0.15);
    most = Math.max(most, drawn.most);
    expect(drawn.triangles).toBeLessThanOrEqual(views.order.maxTriangles);
    if (drawn.triangles > 0.9 * views.order.maxTriangles) fitted++;
  }
  expect(fitted, 'frames in which levels begin sooner').toBeGreaterThan(50);
  expect(most).toBeLessThan(0.6);
  // The camera stands still: levels come back by themselves.
  views.order.maxTriangles = 1e9;
  most = 0;
  let frames = 0;
  for (let change = 1; change > 0 && frames < 1000; frames++) {
    change = drawAt(15).most;
    most = Math.max(most, change);
  }
  expect([frames > 5, frames < 1000]).toEqual([true, true]);
  expect(most).toBeLessThan(0.2);
  const { triangles } = drawAt(15);
  views.order.maxTriangles = Infinity;
  expect(drawAt(15).triangles).toBe(triangles);
});
