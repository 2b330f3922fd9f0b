import { LoopOnce, LoopPingPong, LoopRepeat } from 'three';
import { describe, expect, test } from 'vitest';
import { ActionReference, type Played } from '../support/ActionReference.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { createStick, tipOf } from '../support/stick.js';

/** One instance and an AnimationAction that play the same. */
function createPair(played: Partial<Played>, duration = 1) {
  const { root, clips } = createStick({ A: duration });
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
  const reference = new ActionReference([duration]);
  const options = {
    loop: LoopRepeat,
    repetitions: Infinity,
    clampWhenFinished: true,
    timeScale: 1,
    time: 0,
    ...played,
  };
  crowd.play(0, 'A', options);
  reference.play({ clip: 0, ...options });
  const pair = {
    crowd,
    reference,
    update(seconds: number, step = 0.05) {
      for (let i = Math.round(seconds / step); i > 0; i--) {
        reference.update(step);
        pair.crowd.update(step);
      }
    },
    turn(timeScale: number) {
      if (reference.action !== null) reference.action.timeScale = timeScale;
      pair.crowd.setTimeScaleAt(0, timeScale);
    },
    same(label: string) {
      expect(tipOf(pair.crowd, 0), label).toBeCloseTo(reference.target.position.x, 4);
      expect(pair.crowd.getTimeAt(0), label).toBeCloseTo(reference.action?.time ?? 0, 4);
      expect(pair.crowd.isPlayingAt(0), label).toBe(reference.action?.isRunning());
    },
  };
  return pair;
}

test('an instance that was restored from JSON turns around where it is', () => {
  const pair = createPair({});
  pair.update(1.4);
  const { root, clips } = createStick({ A: 1 });
  const other = SkinnedInstancedMesh.from(root, clips, 1);
  other.playbackFromJSON(JSON.parse(JSON.stringify(pair.crowd.playbackToJSON())));
  pair.crowd = other;
  pair.turn(-1);
  expect(tipOf(other, 0)).toBeCloseTo(0.4, 5);
  pair.update(0.1);
  pair.same('on the way back');
  expect(tipOf(other, 0)).toBeCloseTo(0.3, 5);
});

describe('the clock going back to zero is not seen', () => {
  test.each([1.7, 2.7, 3.7])('by a reversed ping-pong that is turned around after %f passes', (passes) => {
    // The clock goes back to zero in this pass, at 16 s.
    const duration = 16 / passes;
    const pair = createPair({ loop: LoopPingPong, timeScale: -1, time: duration }, duration);
    pair.update(16.05);
    expect(pair.crowd.clock).toBeLessThan(1);
    const before = tipOf(pair.crowd, 0);
    pair.turn(1);
    expect(tipOf(pair.crowd, 0)).toBeCloseTo(before, 5);
    for (let i = 0; i < 20; i++) {
      pair.update(0.2);
      pair.same(`${i} after turning`);
    }
  });

  test.each([1.7, 2.7, 3.7])('by the number of repetitions, turned around after %f passes', (passes) => {
    const duration = 16 / passes;
    for (const loop of [LoopRepeat, LoopPingPong]) {
      for (const timeScale of [1, -1]) {
        const time = timeScale < 0 ? duration : 0;
        const pair = createPair({ loop, repetitions: 6, timeScale, time }, duration);
        pair.update(16.05);
        pair.turn(-timeScale);
        for (let i = 0; i < 320; i++) {
          pair.update(0.2);
          if (pair.reference.comparesPose) pair.same(`${i} after turning`);
        }
        expect(pair.reference.finished).toBe(true);
      }
    }
  });
});

test('LoopOnce in reverse that is turned forward and back again runs on', () => {
  const pair = createPair({ loop: LoopOnce, timeScale: -1, time: 0.8 });
  pair.update(0.2);
  pair.turn(1);
  pair.update(0.1);
  pair.same('forward');
  pair.turn(-1);
  pair.same('back again');
  expect(pair.crowd.isPlayingAt(0)).toBe(true);
  pair.update(0.3);
  pair.same('and on');
  expect(tipOf(pair.crowd, 0)).toBeCloseTo(0.4, 5);
});

test('a clip that has finished stays where it is when its time scale changes', () => {
  for (const loop of [LoopOnce, LoopRepeat, LoopPingPong]) {
    for (const timeScale of [1, -1]) {
      const pair = createPair({ loop, repetitions: 3, timeScale, time: 0.5 });
      pair.update(5);
      pair.same('at the end');
      for (const next of [-timeScale, 0, 2 * timeScale]) {
        pair.turn(next);
        pair.update(0.2);
        pair.same(`time scale ${next}`);
      }
    }
  }
});

test.each<[string, (crowd: SkinnedInstancedMesh) => SkinnedInstancedMesh]>([
  ['gets its speed again', (crowd) => crowd.setTimeScaleAt(0, 1)],
  ['is paused', (crowd) => crowd.pause(0)],
  ['is paused and goes on', (crowd) => crowd.pause(0).resume(0)],
  ['is saved and goes on', (crowd) => crowd.playbackFromJSON(crowd.playbackToJSON())],
])('a ping-pong that was turned back to before its start stays on its way when it %s', (_, change) => {
  const pair = createPair({ loop: LoopPingPong });
  pair.update(1.4);
  // From here on, its passes count from this one.
  pair.turn(1);
  pair.crowd.update(-2.2);
  pair.reference.update(-2.2);
  expect(tipOf(pair.crowd, 0)).toBeCloseTo(0.8, 5);
  expect(pair.reference.target.position.x).toBeCloseTo(0.8, 5);
  expect(tipOf(change(pair.crowd), 0)).toBeCloseTo(0.8, 5);
});
