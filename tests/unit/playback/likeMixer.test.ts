import { AnimationMixer, LoopOnce, LoopPingPong, LoopRepeat } from 'three';
import { describe, expect, test } from 'vitest';
import { ActionReference } from '../../support/ActionReference.js';
import {
  AnimationLayers,
  bakeCharacter,
  loadPlayback,
  SkinnedInstancedMesh,
  savePlayback,
} from '../../support/library.js';
import { random, SEEDS } from '../../support/random.js';
import { createStick, createStickCrowd, REST_X, tipOf } from '../../support/stick.js';

/** A time as a program gets it from a clock. What counted passes of it one by one would never end. */
const NOW = 1_763_740_800_123;

function createCrowd(count = 1) {
  const crowd = createStickCrowd(count, { A: 1, B: 0.37 });
  const log: string[] = [];
  crowd.addEventListener('loop', ({ instanceId, loopDelta }) => log.push(`${instanceId} loop ${loopDelta}`));
  crowd.addEventListener('finished', ({ instanceId, direction }) =>
    log.push(`${instanceId} finished ${direction}`),
  );
  return { crowd, log };
}

describe('a time far beyond the end', () => {
  test.each([NOW, -NOW])('finishes LoopOnce at once: %d', (start) => {
    const { crowd, log } = createCrowd();
    for (const timeScale of [1, -1]) {
      const options = { loop: LoopOnce, clampWhenFinished: true, time: start, timeScale };
      const reference = new ActionReference([1]);
      reference.play({ clip: 0, repetitions: 1, ...options });
      reference.update(0.1);
      crowd.play(0, 'A', options).update(0.1);
      expect(tipOf(crowd, 0)).toBeCloseTo(reference.target.position.x, 6);
      expect(log.splice(0)).toEqual([`0 finished ${reference.direction}`]);
      crowd.play(0, 'A', { ...options, time: 0.5 });
      crowd.setTimeAt(0, start).update(0.1);
      expect(log.splice(0)).toEqual([`0 finished ${timeScale}`]);
    }
  });

  test('is so many passes of a clip that repeats, and its pose is exact', () => {
    const { crowd, log } = createCrowd();
    crowd.play(0, 'A', { time: NOW + 0.25 }).update(0.125);
    expect(tipOf(crowd, 0)).toBeCloseTo(0.375, 3);
    expect(log.splice(0)).toEqual([`0 loop ${NOW}`]);
    crowd.play(0, 'A', { time: NOW, repetitions: 1e6, loop: LoopRepeat, clampWhenFinished: true }).update(0);
    expect(log.splice(0)).toEqual(['0 finished 1']);
    expect(tipOf(crowd, 0)).toBeCloseTo(1, 6);
  });
});

const STEP = 1 / 2000;

test('a warp goes on in proportion when the time scale changes, as that of an AnimationAction', () => {
  const stick = createStick({ Walk: 1.2, Run: 0.8 });
  const create = () => new SkinnedInstancedMesh(bakeCharacter(stick.root, stick.clips), 1);
  let crowd = create();
  const mixer = new AnimationMixer(stick.root);
  const [walk, run] = stick.clips.map((clip) => mixer.clipAction(clip));
  walk.play();
  crowd.play(0, 'Walk');
  run.reset().play();
  walk.crossFadeTo(run, 0.5, true);
  crowd.play(0, 'Run', { fade: 0.5, warp: true });
  for (let i = 0; i < 950; i++) {
    // Saved and loaded, it goes on too.
    if (i === 300) crowd = loadPlayback(create().update(7), JSON.parse(JSON.stringify(savePlayback(crowd))));
    if (i === 400) {
      run.timeScale = 0.5;
      crowd.setTimeScaleAt(0, 0.5);
    } else if (i === 600) {
      run.timeScale = 0;
      crowd.setTimeScaleAt(0, 0);
    } else if (i === 700) {
      run.timeScale = -1.5;
      crowd.setTimeScaleAt(0, -1.5);
    }
    mixer.update(STEP);
    crowd.update(STEP);
    expect(crowd.getTimeAt(0), `${i * STEP} s`).toBeCloseTo(run.time, 3);
  }
  // From 0.187 on three.js then puts back the time scale from before the warp; here the one that was set stays.
  crowd.update(0.1);
  const before = crowd.getTimeAt(0);
  crowd.update(0.1);
  expect(crowd.getTimeAt(0) - before).toBeCloseTo(-0.15, 6);
  expect(crowd.getTimeScaleAt(0)).toBe(-1.5);
});

test('what fades out amid a warp goes on at the speed that it has come to', () => {
  const crowd = createStickCrowd(1, { Walk: 1, Run: 0.5, Idle: 1 });
  crowd.play(0, 'Walk').play(0, 'Run', { fade: 1, warp: true }).update(0.5);
  crowd.play(0, 'Idle', { fade: 1, timeScale: 0 }).update(0.1);
  // A tenth of a second at 1.5 of the speed of the walk, and at 0.75 of that of the run.
  expect(tipOf(crowd, 0)).toBeCloseTo(0.45 * (0.625 + 0.15) + 0.45 * (0.3125 + 0.075), 5);
});

describe('play, called in each frame', () => {
  const ONCE = { loop: LoopOnce, clampWhenFinished: true };
  const STATES = [
    { clip: 'Idle', options: {} },
    { clip: 'Walk', options: { fade: 0.2, time: 0.3 } },
    { clip: 'Hit', options: { fade: 0.1, loop: LoopOnce } },
    { clip: 'Die', options: { fade: 0.1, ...ONCE } },
  ];

  test.each(SEEDS)('goes on as AnimationActions do that are (seed %d)', (seed) => {
    const stick = createStick({ Idle: 2, Walk: 1.1, Hit: 0.593, Die: 0.687 });
    const crowd = new SkinnedInstancedMesh(bakeCharacter(stick.root, stick.clips), 2);
    const mixer = new AnimationMixer(stick.root);
    const actions = stick.clips.map((clip) => mixer.clipAction(clip));
    actions[2].setLoop(LoopOnce, 1);
    Object.assign(actions[3].setLoop(LoopOnce, 1), ONCE);
    const next = random(seed);
    let state = -1;
    for (let frame = 0, change = 0; frame < 900; frame++) {
      const before = state;
      if (frame === change) {
        state = (state + 1 + Math.floor(3 * next())) % 4;
        change += Math.ceil(15 + 60 * next());
      }
      const { clip, options } = STATES[state];
      const timeScale = state === 1 ? 0.5 + next() : 1;
      if (before !== state) {
        const fade = options.fade ?? 0;
        if (fade === 0) mixer.stopAllAction();
        else actions[before]?.fadeOut(fade);
        Object.assign(actions[state].reset(), { time: options.time ?? 0 });
        if (before >= 0 && fade > 0) actions[state].fadeIn(fade);
      }
      actions[state].timeScale = timeScale;
      actions[state].play();
      crowd.play(0, clip, { ...options, ...(before < 0 && { fade: 0 }), ...(state === 1 && { timeScale }) });
      mixer.update(1 / 60);
      crowd.update(1 / 60);
      expect(tipOf(crowd, 0), `frame ${frame}, ${clip}`).toBeCloseTo(stick.bones[1].position.x, 4);
    }
  });

  test('on a layer, by weight and with fades: only what is said anew changes', () => {
    const { crowd, log } = createCrowd();
    new AnimationLayers(crowd, [{ name: 'upper' }]);
    for (let i = 0; i < 60; i++) {
      crowd.play(0, 'A', { weight: 0.5 }).play(0, 'B', { weight: i / 100, timeScale: 0.1 });
      crowd.play({ start: 0, count: 1 }, 'A', { layer: 'upper', fade: 0.5, timeScale: 0.5 }).update(1 / 60);
    }
    expect([crowd.getTimeAt(0, 0, 'A'), crowd.getTimeAt(0), crowd.getTimeAt(0, 'upper')]).toEqual(
      [1, 0.1, 0.5].map((time) => expect.closeTo(time % 1, 6)),
    );
    expect(crowd.getWeightAt(0, 'B')).toBe(0.59);
    // In place of both, from its start; and out, although it is said in each frame.
    crowd.play(0, 'A', { fade: 0.1 });
    expect(crowd.getTimeAt(0)).toBe(0);
    for (let i = 0; i < 12; i++) crowd.stop(0, { fade: 0.1 }).update(0.01);
    expect(tipOf(crowd, 0)).toBe(REST_X);
    expect(log).toEqual(['0 loop 1']);
  });

  test('another time, loop or number of repetitions begins anew', () => {
    const { crowd } = createCrowd();
    const told = [{ time: 0.4 }, { time: 0.2 }, { loop: LoopPingPong }, { repetitions: 3 }, { time: 0 }];
    for (const options of told) {
      crowd.play(0, 'A', options).update(0.05);
      expect(crowd.getTimeAt(0)).toBeCloseTo((options.time ?? 0) + 0.05, 9);
      crowd.play(0, 'A', options).update(0.05);
      expect(crowd.getTimeAt(0)).toBeCloseTo((options.time ?? 0) + 0.1, 9);
    }
  });
});
