import { expect, test } from 'vitest';
import { CLOCK_EPOCH } from '../../../lib/constants.js';
import { phaseOf } from '../../../lib/playback/PoseRates.js';
import { PosedRows } from '../../../lib/sources/PosedRows.js';
import type { WantedPoses } from '../../../lib/views/WantedPoses.js';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { random as createRandom, SEEDS } from '../../support/random.js';
import { createStick } from '../../support/stick.js';

const COUNT = 300;
const RATES = [0, 30, 15, 7];

/** What a camera sees. */
class Camera implements WantedPoses {
  readonly seen = new Int32Array(Math.ceil(COUNT / 32));
  readonly levels = new Uint8Array(COUNT);
  readonly poseRates = Float32Array.from(RATES);
  readonly hasPoseRates = true;
  version = 0;

  sees(id: number): boolean {
    return (this.seen[id >> 5] & (1 << (id & 31))) !== 0;
  }
}

function createCrowd() {
  const { root, clips } = createStick({ Slide: 100, Other: 50 });
  return SkinnedInstancedMesh.from(root, clips, COUNT, { encoding: 'tracks' }).playAll(0);
}

test.each(SEEDS)('an instance is posed when a camera that sees it, or itself, is due, seed %i', (seed) => {
  const random = createRandom(seed);
  const crowd = createCrowd();
  const own = Array.from({ length: COUNT }, () => (random() < 0.3 ? Math.fround(3 + random() * 30) : 0));
  own.forEach((rate, id) => {
    crowd.setPoseRateAt(id, rate);
  });
  const cameras = [new Camera(), new Camera()];
  const rows = new PosedRows(COUNT, crowd.boneTexture);
  /** When each was posed; not known at first, and when the clock has gone back to zero. */
  let posedAt = new Array<number>(COUNT).fill(-1);
  let changedAt = new Array<number>(COUNT).fill(0);
  let { origin } = crowd.playback.time;
  const before = new Array<number>(COUNT).fill(0);
  const wasWanted = new Array<boolean>(COUNT).fill(false);
  let checked = 0;
  crowd.update(0.01);

  for (let frame = 0; frame < 400; frame++) {
    crowd.update(frame % 90 === 89 ? CLOCK_EPOCH / 3 : 1 / (40 + 60 * random()));
    const { playback, clock, edits } = crowd;
    if (playback.time.origin !== origin) {
      posedAt = new Array<number>(COUNT).fill(-1);
      changedAt = new Array<number>(COUNT).fill(0);
      origin = playback.time.origin;
    }
    for (let i = 0; i < 5; i++) {
      const id = Math.floor(random() * COUNT);
      crowd.play(id, Math.floor(random() * 2));
      changedAt[id] = clock;
    }
    const hidden = Math.floor(random() * COUNT);
    crowd.setVisibleAt(hidden, !crowd.getVisibleAt(hidden));
    for (const camera of cameras) {
      camera.version++;
      for (let id = 0; id < COUNT; id++) {
        if (random() < 0.02) camera.levels[id] = Math.floor(random() * RATES.length);
        if (random() < 0.02) camera.seen[id >> 5] ^= 1 << (id & 31);
      }
    }

    const { version, time } = playback;
    const state = {
      clock,
      origin: time.origin,
      version,
      edits: edits.version,
      boneTexture: crowd.boneTexture,
    };
    rows.moveTo(state, clock >= rows.clock && time.origin === rows.origin);
    rows.begin();
    for (const camera of cameras) rows.add(camera, crowd);
    let count = 0;
    for (let id = 0; id < COUNT; id++) {
      const isPosed = (rows.due[id >> 5] & (1 << (id & 31))) !== 0;
      if (isPosed) count++;
      const rates = cameras.filter((camera) => camera.sees(id)).map(({ levels }) => RATES[levels[id]]);
      const isWanted = rates.length > 0 && crowd.getVisibleAt(id);
      if (!isWanted) expect(isPosed, `${id} is not seen`).toBe(false);
      else {
        // The highest of the cameras', but not higher than the instance's own.
        const highest = rates.includes(0) ? Infinity : Math.max(...rates);
        const rate = Math.min(highest, own[id] || Infinity);
        const age = clock - posedAt[id];
        const what = `${id} at ${clock}, posed ${age} before, ${rate} a second`;
        const isNew = posedAt[id] < 0 || !wasWanted[id] || rate === Infinity || changedAt[id] > posedAt[id];
        if (isNew || age * rate > 1 + 1e-4) {
          expect(isPosed, what).toBe(true);
          checked++;
        } else if (changedAt[id] < posedAt[id] && isPosed) {
          // A span of its rate has ended; or of that in the frame before, or of one camera that was asked before another
          // that has only now begun to see it so near.
          const spans = (time: number, by: number) => Math.floor(Math.fround(time) * by + phaseOf(id));
          const ended = [rate, before[id], ...rates.map((one) => Math.min(one, own[id] || Infinity))].some(
            (by) => spans(clock, by) > spans(posedAt[id], by),
          );
          expect(ended || before[id] === Infinity, what).toBe(true);
          checked++;
        }
        before[id] = rate;
      }
      if (isPosed) posedAt[id] = clock;
      wasWanted[id] = isWanted;
    }
    expect(rows.dueCount).toBe(count);
    expect(rows.count).toBe(count);
    rows.begin();
    for (const camera of cameras) rows.add(camera, crowd);
    expect(rows.dueCount, 'asked again').toBe(0);
  }
  expect(checked).toBeGreaterThan(20_000);
});

test.each([
  [30, 2],
  [15, 4],
  [7, 60 / 7],
])(
  'at %i poses a second, frames have one of %d instances each, and none more than its share',
  (rate, frames) => {
    const crowd = createCrowd();
    const camera = new Camera();
    camera.seen.fill(-1);
    camera.poseRates.fill(rate);
    const rows = new PosedRows(COUNT, crowd.boneTexture);
    let posed = 0;
    for (let frame = 0; frame < 62; frame++) {
      crowd.update(1 / 60);
      const { version, time, clock } = crowd.playback;
      rows.moveTo({ clock, origin: time.origin, version, edits: 0, boneTexture: crowd.boneTexture }, true);
      rows.begin();
      rows.add(camera, crowd);
      if (frame < 2) continue;
      posed += rows.dueCount;
      expect(rows.dueCount).toBeLessThanOrEqual(Math.ceil(COUNT / frames) + 6);
    }
    expect(Math.abs(posed - COUNT * rate)).toBeLessThanOrEqual(2);
  },
);

test('of two cameras that see an instance, the higher rate holds', () => {
  const crowd = createCrowd();
  const cameras = [new Camera(), new Camera()];
  cameras.forEach((camera, i) => {
    camera.seen.fill(-1);
    camera.levels.fill(i * 2 + 1);
  });
  const rows = new PosedRows(COUNT, crowd.boneTexture);
  let posed = 0;
  for (let frame = 0; frame < 62; frame++) {
    crowd.update(1 / 60);
    const { version, time, clock } = crowd.playback;
    rows.moveTo({ clock, origin: time.origin, version, edits: 0, boneTexture: crowd.boneTexture }, true);
    for (const camera of frame % 2 === 0 ? cameras : [...cameras].reverse()) {
      rows.begin();
      rows.add(camera, crowd);
      if (frame >= 2) posed += rows.dueCount;
    }
  }
  expect(Math.abs(posed - COUNT * RATES[1])).toBeLessThanOrEqual(COUNT / 20);
});

test('an instance that comes near is posed at once, though it was posed a moment ago', () => {
  const crowd = createCrowd();
  const far = new Camera();
  far.seen.fill(-1);
  far.levels.fill(3);
  const rows = new PosedRows(COUNT, crowd.boneTexture);
  const pose = (): number => {
    const { version, time, clock } = crowd.playback;
    rows.moveTo({ clock, origin: time.origin, version, edits: 0, boneTexture: crowd.boneTexture }, true);
    rows.begin();
    rows.add(far, crowd);
    return rows.dueCount;
  };
  crowd.update(0.1);
  expect(pose()).toBe(COUNT);
  crowd.update(0.001);
  expect(pose()).toBeLessThan(10);
  crowd.update(0.001);
  far.levels.fill(0);
  expect(pose()).toBe(COUNT);
});
