import { AnimationMixer, Group, LoopOnce, LoopPingPong } from 'three';
import { describe, expect, test } from 'vitest';
import {
  bakeCharacter,
  ENCODINGS,
  encodingOf,
  loadPlayback,
  SkinnedInstancedMesh,
  savePlayback,
} from '../../support/library.js';
import { createStick, createStickCrowd, tipOf } from '../../support/stick.js';

const createCrowd = (count: number) => createStickCrowd(count, { A: 1, B: 2 });

test('an AnimationClip is found by its name, in play, playAll and functions', () => {
  const { clips } = createStick({ A: 1, B: 2 });
  const crowd = createCrowd(2);
  const played = () => [0, 1].map((index) => crowd.getClipAt(index));
  crowd.play(0, clips[1]).play(1, clips[0], { fade: 0.2 });
  expect(played()).toEqual(['B', 'A']);
  expect(crowd.playAll((index) => clips[index]) && played()).toEqual(['A', 'B']);
  expect(crowd.playAll(clips[0]) && played()).toEqual(['A', 'A']);
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

test('speeds and times that floats cannot hold are refused', () => {
  const crowd = createCrowd(2);
  for (const timeScale of [1e308, -1e308, 1.5e6, Infinity, Number.NaN]) {
    const message = `The timeScale is ${timeScale}; use a number from -1000000 to 1000000.`;
    expect(() => crowd.play(0, 'A', { timeScale })).toThrow(message);
    expect(() => crowd.setTimeScaleAt(0, timeScale)).toThrow(message);
  }
  for (const time of [1e308, -Infinity, Number.NaN]) {
    expect(() => crowd.play(0, 'A', { time })).toThrow(`The time is ${time}; use a number`);
    expect(() => crowd.setTimeAt(0, time)).toThrow(`The time is ${time}; use a number`);
  }
});

test('an update by a date is refused', () => {
  const crowd = createCrowd(2);
  for (const delta of [Date.now(), 1e308, Number.NaN]) {
    expect(() => crowd.update(delta)).toThrow(`The delta is ${delta}; pass the seconds`);
  }
  expect(crowd.elapsed).toBe(0);
});

test('a count beyond the capacity names setCapacity', () => {
  const crowd = createCrowd(2);
  expect(() => {
    crowd.count = 3;
  }).toThrow('The count is 3; use a whole number from 0 to 2, or call setCapacity(n) first.');
});

test('listeners may remove themselves while more is due in the same update', () => {
  const crowd = createCrowd(3);
  crowd.playAll('A', { loop: LoopOnce });
  const heard: number[] = [];
  const once = ({ instanceId }: { instanceId: number }) => {
    heard.push(instanceId);
    crowd.removeEventListener('finished', once);
  };
  crowd.addEventListener('finished', once);
  crowd.update(2);
  crowd.update(2);
  expect(heard).toEqual([0]);
  // and come back
  crowd.playAll('A', { loop: LoopOnce });
  crowd.addEventListener('finished', once);
  crowd.update(2);
  expect(heard).toEqual([0, 0]);
});

describe('playback json', () => {
  function saved() {
    const crowd = createCrowd(3);
    crowd.play(0, 'A').play(1, 'B', { loop: LoopPingPong }).update(0.3);
    crowd.play(2, 'A', { time: 0.7 }).pause(2);
    return JSON.parse(JSON.stringify(savePlayback(crowd)));
  }

  test('data of another version is one clear error', () => {
    for (const version of [0, 1, '2', undefined])
      expect(() => loadPlayback(createCrowd(3), { ...saved(), version })).toThrow(
        'This is not what savePlayback() returned, or not of version 2.',
      );
  });

  describe('loadPlayback takes all or nothing', () => {
    test.each<[string, (json: ReturnType<typeof saved>) => void]>([
      ['a number is missing', ({ instances }) => instances[2].layers[0].clips[0].splice(9)],
      ['a number is null', ({ instances }) => instances[2].layers[0].clips[0].fill(null, 6)],
      ['an instance is none', ({ instances }) => instances.splice(2, 1, [])],
      ['a layer is missing', ({ instances }) => instances[2].layers.pop()],
      ['a clip is not there', ({ instances }) => instances[2].layers[0].clips[0].fill(7, 0, 1)],
      ['a clip is half', ({ instances }) => instances[2].layers[0].clips[0].fill(0.5, 0, 1)],
    ])('%s', (_, spoil) => {
      const json = saved();
      spoil(json);
      const crowd = createCrowd(3);
      crowd.playAll('B', { time: 1.5 });
      expect(() => loadPlayback(crowd, json)).toThrow(/instance 2 is damaged/);
      for (let i = 0; i < 3; i++) {
        expect(crowd.getClipAt(i)).toBe('B');
        expect(tipOf(crowd, i)).toBeCloseTo(1.5, 5);
      }
    });
  });

  test.each(ENCODINGS)('what is still to be told is told after loading, as by a mixer: %s', (encoding) => {
    const { root, clips } = createStick({ A: 1, B: 2 });
    const mixer = new AnimationMixer(root);
    const expected: string[] = [];
    for (const type of ['loop', 'finished'] as const) {
      mixer.addEventListener(type, ({ action, ...event }) => {
        expected.push(
          `${type} ${action.getClip().name} ${'loopDelta' in event ? event.loopDelta : event.direction}`,
        );
      });
    }
    const action = mixer.clipAction(clips[0]).setLoop(LoopOnce, 1).play();
    action.time = 1.5;
    const held = mixer.clipAction(clips[0], new Group().add(root.clone())).setLoop(LoopOnce, 1).play();
    held.time = 7;
    held.paused = true;
    const looping = mixer.clipAction(clips[1]).play();
    looping.time = 4.5;
    mixer.update(0);
    expect(expected).toEqual([]);
    mixer.update(0.1);

    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips, { encoding: encodingOf(encoding) }), 3);
    const told: string[] = [];
    const listen = (to: typeof crowd) => {
      for (const type of ['loop', 'finished'] as const) {
        to.addEventListener(type, ({ clip, instanceId, ...event }) => {
          told.push(`${type} ${clip} ${'loopDelta' in event ? event.loopDelta : event.direction}`);
        });
      }
      return to;
    };
    crowd.play(0, 'A', { loop: LoopOnce, time: 1.5 }).play(1, 'B', { time: 4.5 });
    // What is held tells of it when it goes on.
    crowd.play(2, 'A', { loop: LoopOnce, clampWhenFinished: true, time: 7 }).pause(2);
    const json = JSON.parse(JSON.stringify(savePlayback(crowd)));
    const after = listen(
      loadPlayback(
        new SkinnedInstancedMesh(bakeCharacter(root, clips, { encoding: encodingOf(encoding) }), 3).update(1),
        json,
      ),
    );
    // A mixer tells nothing until time has passed; a crowd in its next update, whatever that is.
    after.update(0);
    expect(told).toEqual(expected);
    after.update(0.1);
    expect(told).toEqual(expected);
    // Once told, it is told no more.
    const again = listen(
      new SkinnedInstancedMesh(bakeCharacter(root, clips, { encoding: encodingOf(encoding) }), 3),
    );
    loadPlayback(again, JSON.parse(JSON.stringify(savePlayback(after)))).update(0.1);
    expect(told).toEqual(expected);
    again.resume(2).update(0.1);
    expect(told.slice(expected.length)).toEqual(['finished A 1']);
  });
});
