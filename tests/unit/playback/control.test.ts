import {
  type AnimationActionLoopStyles,
  AnimationMixer,
  Color,
  LoopOnce,
  LoopPingPong,
  LoopRepeat,
  Matrix4,
  REVISION,
  Vector3,
} from 'three';
import { describe, expect, test } from 'vitest';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { random, SEEDS } from '../../support/random.js';
import { createStick, REST_X, tipOf } from '../../support/stick.js';

function createCrowd(count = 4, durations: Record<string, number> = { A: 1, B: 2 }) {
  const { root, clips } = createStick(durations);
  return SkinnedInstancedMesh.from(root, clips, count);
}

describe('an instance that is paused, slowed, turned around and set as it plays', () => {
  const LOOPS: AnimationActionLoopStyles[] = [LoopOnce, LoopRepeat, LoopPingPong];

  test.each(SEEDS)('shows what an AnimationAction shows (seed %i)', (seed) => {
    const next = random(seed);
    let compared = 0;
    for (let round = 0; round < 150; round++) {
      const duration = 0.4 + 2 * next();
      const stick = createStick({ Slide: duration });
      const crowd = SkinnedInstancedMesh.from(stick.root, stick.clips, 1);
      const mixer = new AnimationMixer(stick.root);
      const action = mixer.clipAction(stick.clips[0]);
      const loop = LOOPS[Math.floor(next() * 3)];
      const repetitions = next() < 0.5 ? Infinity : 1 + Math.floor(next() * 6);
      const clampWhenFinished = next() < 0.5;
      action.reset().setLoop(loop, repetitions).play();
      action.clampWhenFinished = clampWhenFinished;
      crowd.play(0, 'Slide', { loop, repetitions, clampWhenFinished });
      let finished = false;
      mixer.addEventListener('finished', () => {
        finished = true;
      });

      const log: string[] = [];
      for (let step = 0; step < 60 && !finished; step++) {
        const what = next();
        if (what < 0.1) {
          const timeScale = (next() - 0.5) * 3;
          log.push(`timeScale ${timeScale}`);
          // Before 0.187 three.js forgot that a first pass was under way when it turned around there.
          const { _loopCount: loops } = action as unknown as { _loopCount: number };
          if (Number(REVISION) < 187 && loops === -1 && timeScale < 0) break;
          action.timeScale = timeScale;
          crowd.setTimeScaleAt(0, timeScale);
        } else if (what < 0.15) {
          log.push('timeScale 0');
          action.timeScale = 0;
          crowd.setTimeScaleAt(0, 0);
        } else if (what < 0.22) {
          log.push('pause');
          action.paused = true;
          crowd.pause(0);
        } else if (what < 0.4) {
          log.push('resume');
          action.paused = false;
          crowd.resume(0);
        } else if (what < 0.45) {
          const time = next() * duration * 0.999;
          log.push(`time ${time}`);
          action.time = time;
          crowd.setTimeAt(0, time);
        }
        const delta = next() * 0.15 * duration;
        log.push(`update ${delta}`);
        mixer.update(delta);
        crowd.update(delta);
        if (finished) break;
        const expected = stick.bones[1].position.x;
        const label = `round ${round}, ${loop}, ${repetitions} of ${duration}: ${log.join(', ')}`;
        if (Math.min(expected, duration - expected) < 1e-4) continue;
        // A ping-pong that began in reverse jumps in three.js to the mirrored place when it is held on its first pass.
        const held = action.paused || action.timeScale === 0;
        const { _loopCount: loops } = action as unknown as { _loopCount: number };
        if (held && loop === LoopPingPong && loops === -1) continue;
        expect(tipOf(crowd, 0), label).toBeCloseTo(expected, 3);
        expect(crowd.getTimeAt(0), label).toBeCloseTo(action.time, 3);
        expect(crowd.isPlayingAt(0), label).toBe(action.isRunning());
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(Number(REVISION) < 187 ? 1500 : 3000);
  });
});

test('a paused instance stays where it is for as long as it is paused, and goes on from there', () => {
  const crowd = createCrowd(2);
  crowd.play(0, 'A', { time: 0.2 }).play(1, 'B', { timeScale: 0.5 });
  crowd.update(0.3);
  crowd.pause(0);
  expect(crowd.isPausedAt(0)).toBe(true);
  // beyond several rebases of the clock
  for (let i = 0; i < 100; i++) {
    crowd.update(0.777);
    expect(tipOf(crowd, 0)).toBeCloseTo(0.5, 6);
    expect(crowd.getTimeAt(0)).toBeCloseTo(0.5, 6);
  }
  crowd.resume(0);
  expect(tipOf(crowd, 0)).toBeCloseTo(0.5, 6);
  crowd.update(0.25);
  expect(tipOf(crowd, 0)).toBeCloseTo(0.75, 5);
  expect(crowd.isPlayingAt(0)).toBe(true);
});

test('a clip that is paused or at time scale 0 can be set to its very end', () => {
  const crowd = createCrowd(3);
  crowd.play(0, 'A').pause(0).setTimeAt(0, 1);
  crowd.play(1, 'A', { timeScale: 0 }).setTimeAt(1, 1);
  crowd.play(2, 'A', { timeScale: 0, time: 1 });
  for (let i = 0; i < 3; i++) expect(tipOf(crowd, i)).toBeCloseTo(1, 5);
});

test('stop brings the rest pose back', () => {
  const crowd = createCrowd(2);
  crowd.playAll('A').update(0.4);
  crowd.stop(0);
  expect(tipOf(crowd, 0)).toBeCloseTo(REST_X, 6);
  expect(crowd.getClipAt(0)).toBeNull();
  expect(crowd.isPlayingAt(0)).toBe(false);
  expect(crowd.getTimeScaleAt(0)).toBe(0);
  expect(crowd.getClipAt(1)).toBe('A');
  crowd.setTimeScaleAt(0, 2).setTimeAt(0, 1);
  expect(tipOf(crowd, 0)).toBeCloseTo(REST_X, 6);
});

test('what an instance plays can be asked for', () => {
  const crowd = createCrowd();
  expect([0, 1].map((i) => crowd.getClipAt(i))).toEqual([null, null]);
  crowd.play(1, 1, { timeScale: -2, time: 1.5 });
  expect(crowd.getClipAt(1)).toBe('B');
  expect(crowd.getTimeScaleAt(1)).toBeCloseTo(-2, 12);
  crowd.update(0.5);
  expect(crowd.getTimeAt(1)).toBeCloseTo(0.5, 6);
  crowd.play(1, 'A', { loop: LoopOnce });
  crowd.update(1.5);
  expect(crowd.isPlayingAt(1)).toBe(false);
  expect(crowd.getTimeAt(1)).toBe(1);
  // three.js leaves it finished; here the last repetition runs again
  crowd.setTimeAt(1, 0.25);
  expect(tipOf(crowd, 1)).toBeCloseTo(0.25, 5);
  expect(crowd.isPlayingAt(1)).toBe(true);
});

test('ranges and all instances take functions of the index', () => {
  const crowd = createCrowd(6);
  crowd.playAll((i) => (i % 2 ? 'B' : 'A'), { time: (i) => i * 0.1, timeScale: 0.5 });
  for (let i = 0; i < 6; i++) {
    expect(crowd.getClipAt(i)).toBe(i % 2 ? 'B' : 'A');
    expect(tipOf(crowd, i)).toBeCloseTo(i * 0.1, 5);
  }
  crowd.update(0.2);
  expect(tipOf(crowd, 3)).toBeCloseTo(0.4, 5);
  crowd.pause({ start: 2, count: 2 });
  crowd.setTimeScaleAt({ start: 4, count: 2 }, 1);
  crowd.update(0.2);
  expect([0, 1, 2, 3, 4].map((i) => crowd.getTimeAt(i))).toEqual(
    [0.2, 0.3, 0.3, 0.4, 0.7].map((time) => expect.closeTo(time, 6)),
  );
  crowd.stop(crowd.all);
  expect([0, 5].map((i) => crowd.getClipAt(i))).toEqual([null, null]);
});

test('swapping two instances takes everything along', () => {
  const crowd = createCrowd(3);
  const matrix = new Matrix4();
  for (let i = 0; i < 3; i++) {
    crowd.setMatrixAt(i, matrix.makeTranslation(i, 0, 0));
    crowd.setColorAt(i, new Color(i / 2, 0, 0));
    crowd.play(i, i === 2 ? 'B' : 'A', { time: i * 0.2 });
  }
  crowd.update(0.1);
  crowd.play(2, 'A', { fade: 0.5 });
  crowd.update(0.1);
  const tips = [0, 1, 2].map((i) => tipOf(crowd, i));
  crowd.swapInstances(0, 2);
  expect([2, 1, 0].map((i) => tipOf(crowd, i))).toEqual(tips);
  crowd.getMatrixAt(0, matrix);
  expect(new Vector3().setFromMatrixPosition(matrix).x).toBe(2);
  const color = new Color();
  crowd.getColorAt(0, color);
  expect(color.r).toBe(1);
  // the documented way to remove one from the middle
  crowd.swapInstances(1, crowd.count - 1).count--;
  crowd.update(0.2);
  expect(crowd.getTimeAt(1)).toBeCloseTo(0.4, 5);
});

test('growing keeps what instances are and play', () => {
  const crowd = createCrowd(3);
  const matrix = new Matrix4();
  for (let i = 0; i < 3; i++) {
    crowd.setMatrixAt(i, matrix.makeTranslation(i, 0, 0));
    crowd.setColorAt(i, new Color(0, i / 2, 0));
    crowd.play(i, 'A', { time: i * 0.2 });
  }
  crowd.update(0.1);
  crowd.play(1, 'B', { fade: 1 });
  crowd.update(0.1);
  const tips = [0, 1, 2].map((i) => tipOf(crowd, i));

  crowd.setCapacity(600);
  expect(crowd.capacity).toBe(600);
  expect(crowd.count).toBe(3);
  crowd.count = 600;
  expect([0, 1, 2].map((i) => tipOf(crowd, i))).toEqual(tips);
  expect(tipOf(crowd, 599)).toBeCloseTo(REST_X, 6);
  crowd.getMatrixAt(2, matrix);
  expect(new Vector3().setFromMatrixPosition(matrix).x).toBe(2);
  crowd.getMatrixAt(599, matrix);
  expect(matrix.equals(new Matrix4())).toBe(true);
  crowd.play(599, 'B').update(0.1);
  expect(tipOf(crowd, 599)).toBeCloseTo(0.1, 5);

  crowd.count = 3;
  crowd.setCapacity(3);
  expect(crowd.capacity).toBe(3);
  expect(crowd.getTimeAt(2)).toBeCloseTo(0.7, 5);
  expect(() => crowd.setCapacity(2)).toThrow(
    /SkinnedInstancedMesh\.setCapacity: capacity is 2.*count, which is 3/,
  );
});

test('what a crowd plays goes through JSON, also to one baked at another rate', () => {
  const { root, clips } = createStick({ A: 1, B: 2 });
  const crowd = SkinnedInstancedMesh.from(root, clips, 6, { fps: 30 });
  crowd.play(0, 'A', { time: 0.1 });
  crowd.play(1, 'B', { loop: LoopPingPong, timeScale: -1.5, repetitions: 9 });
  crowd.play(2, 'A').play(4, 'B', { loop: LoopOnce, clampWhenFinished: true });
  crowd.play(5, 'A');
  crowd.update(3.3);
  crowd.play(2, 'B', { fade: 1, warp: true }).play(5, 'B', { fade: 2 });
  crowd.update(0.2);
  crowd.play(5, 'A', { fade: 1, time: 0.3 }).update(0.2);
  crowd.pause(0).pause(5);

  const json = JSON.parse(JSON.stringify(crowd.playbackToJSON()));
  const other = SkinnedInstancedMesh.from(root, [...clips].reverse(), 8, { fps: 60 });
  other.update(11);
  other.playbackFromJSON(json);
  const same = () => {
    for (let i = 0; i < 6; i++) expect(tipOf(other, i), `instance ${i}`).toBeCloseTo(tipOf(crowd, i), 5);
  };
  same();
  for (const delta of [0.1, 0.3, 0.7, 7]) {
    crowd.update(delta);
    other.update(delta);
    same();
  }
  crowd.resume(crowd.all);
  other.resume({ start: 0, count: 6 });
  crowd.update(0.1);
  other.update(0.1);
  same();

  expect(() => createCrowd(2).playbackFromJSON(json)).toThrow(
    /for 6 instances, the mesh has 2; call setCapacity\(6\)/,
  );
  expect(() => createCrowd(6, { A: 1 }).playbackFromJSON(json)).toThrow(/no clip named "B"/);
  expect(() => createCrowd(6).playbackFromJSON({} as never)).toThrow(/not what playbackToJSON returned/);
});

test.each([
  [
    'play',
    (c: SkinnedInstancedMesh) => c.play(9, 'A'),
    /SkinnedInstancedMesh\.play: no instance 9; the mesh has 4/,
  ],
  [
    'fade',
    (c: SkinnedInstancedMesh) => c.play(0, 'A', { fade: -1 }),
    /play: fade is -1; use a number of seconds/,
  ],
  [
    'range',
    (c: SkinnedInstancedMesh) => c.pause({ start: 2, count: 3 }),
    /pause: the range from 2 with 3 instances/,
  ],
  ['range', (c: SkinnedInstancedMesh) => c.stop(undefined as never), /stop: the range from undefined/],
  [
    'time scale',
    (c: SkinnedInstancedMesh) => c.setTimeScaleAt(0, Number.NaN),
    /setTimeScaleAt: timeScale is NaN/,
  ],
  ['time', (c: SkinnedInstancedMesh) => c.setTimeAt(0, Infinity), /setTimeAt: time is Infinity/],
  ['swap', (c: SkinnedInstancedMesh) => c.swapInstances(0, 4), /swapInstances: no instance 4/],
  [
    'root motion',
    (c: SkinnedInstancedMesh) => c.play(0, 'A', { rootMotion: true }),
    /clip "A" has no root motion; bake it/,
  ],
  [
    'mark',
    (c: SkinnedInstancedMesh) => c.boneTexture.addMarker('A', 1.5, 'x'),
    /addMarker: time is 1.5; clip "A" runs from 0 to 1 s/,
  ],
  ['asking', (c: SkinnedInstancedMesh) => c.getTimeAt(-1), /getTimeAt: no instance -1/],
])('bad input is refused with the way out: %s', (_, act, message) => {
  expect(() => act(createCrowd())).toThrow(message);
});
