import { AnimationMixer, Group, LoopOnce, LoopPingPong } from 'three';
import { describe, expect, test } from 'vitest';
import { SkinnedInstancedMesh } from '../support/library.js';
import { createStick, tipOf } from '../support/stick.js';

function createCrowd(count: number) {
  const { root, clips } = createStick({ A: 1, B: 2 });
  return SkinnedInstancedMesh.from(root, clips, count);
}

function saved() {
  const crowd = createCrowd(3);
  crowd.play(0, 'A').play(1, 'B', { loop: LoopPingPong }).update(0.3);
  crowd.play(2, 'A', { time: 0.7 }).pause(2);
  return JSON.parse(JSON.stringify(crowd.playbackToJSON()));
}

describe('playbackFromJSON takes all or nothing', () => {
  test.each<[string, (json: ReturnType<typeof saved>) => void, RegExp]>([
    [
      'a number is missing',
      ({ instances }) => instances[2].pop(),
      /instance 2 has 9 numbers; 10 or 28 are needed/,
    ],
    [
      'a number is null',
      ({ instances }) => instances[2].fill(null, 3),
      /instance 2 is no row of finite numbers/,
    ],
    ['a row is missing', ({ instances }) => instances.splice(2, 1, null), /instance 2 is no row/],
    ['a clip is not there', ({ instances }) => instances[2].fill(7, 1, 2), /instance 2 plays clip 7 of 2/],
    ['a clip is half', ({ instances }) => instances[2].fill(0.5, 1, 2), /instance 2 plays clip 0.5 of 2/],
    [
      'a flag is none',
      ({ instances }) => instances[2].fill(9, 0, 1),
      /instance 2 begins with 9; 0 or 1 is needed/,
    ],
    [
      'passes are no number',
      ({ instances }) => instances[2].fill(0.5, 3, 4),
      /instance 2 has numbers that no instance/,
    ],
  ])('%s', (_, spoil, message) => {
    const json = saved();
    spoil(json);
    const crowd = createCrowd(3);
    crowd.playAll('B', { time: 1.5 });
    expect(() => crowd.playbackFromJSON(json)).toThrow(message);
    for (let i = 0; i < 3; i++) {
      expect(crowd.getClipAt(i)).toBe('B');
      expect(tipOf(crowd, i)).toBeCloseTo(1.5, 5);
    }
  });
});

test('what had finished before it was saved does not finish again', () => {
  const crowd = createCrowd(1);
  crowd.play(0, 'A', { loop: LoopOnce, clampWhenFinished: true }).update(2);
  const other = createCrowd(1);
  let finished = 0;
  other.addEventListener('finished', () => finished++);
  other.playbackFromJSON(crowd.playbackToJSON());
  expect(tipOf(other, 0)).toBeCloseTo(1, 6);
  other.addEventListener('loop', () => {});
  other.update(1);
  expect(finished).toBe(0);
  expect(other.isPlayingAt(0)).toBe(false);
});

test.each(['tracks', 'matrix'] as const)(
  'what is still to be told of is told of after loading, as a mixer does, encoding %s',
  (encoding) => {
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

    const crowd = SkinnedInstancedMesh.from(root, clips, 3, { encoding });
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
    const json = JSON.parse(JSON.stringify(crowd.playbackToJSON()));
    const after = listen(
      SkinnedInstancedMesh.from(root, clips, 3, { encoding }).update(1).playbackFromJSON(json),
    );
    // A mixer tells nothing until time has passed; a crowd in its next update, whatever that is.
    after.update(0);
    expect(told).toEqual(expected);
    after.update(0.1);
    expect(told).toEqual(expected);
    // Once told, it is told no more.
    const again = listen(SkinnedInstancedMesh.from(root, clips, 3, { encoding }));
    again.playbackFromJSON(JSON.parse(JSON.stringify(after.playbackToJSON()))).update(0.1);
    expect(told).toEqual(expected);
    again.resume(2).update(0.1);
    expect(told.slice(expected.length)).toEqual(['finished A 1']);
  },
);

test.each([
  ['a row', [5, 0, 0, 0]],
  ['a layer', [0, 1, 0, 0]],
  ['a clip', [0, 0, 2, 0]],
  ['a pass', [0, 0, 0, 0.5]],
  ['a list', null],
])('clips that begin in %s that is not there are an error', (_, one) => {
  const json = { ...saved(), begun: [one] };
  expect(() => createCrowd(3).playbackFromJSON(json)).toThrow(
    'SkinnedInstancedMesh.playbackFromJSON: "begun" names',
  );
});

test.each([
  ['that had not begun when the clock was turned back to', [0.3, 0.3, 0], -0.7],
  ['from which a clip was dropped since', [0.05, 0.3, 0.02], -0.35],
])('a fade %s goes on as without saving', (_, [second, third, fourth], back) => {
  const { root, clips } = createStick({ A: 5, B: 6, C: 7, D: 8 });
  const create = () => SkinnedInstancedMesh.from(root, clips, 1, { encoding: 'matrix' });
  const crowd = create().play(0, 'A').update(0.5);
  crowd.play(0, 'B', { fade: 1, time: 1 }).update(second);
  crowd.play(0, 'C', { fade: 1, time: 2 }).update(third);
  if (fourth > 0) crowd.play(0, 'D', { fade: 1, time: 3 }).update(fourth);
  crowd.update(back);
  const other = create().playbackFromJSON(JSON.parse(JSON.stringify(crowd.playbackToJSON())));
  for (let step = 0; step < 8; step++) {
    expect(tipOf(other, 0)).toBeCloseTo(tipOf(crowd, 0), 5);
    for (const one of [crowd, other]) one.update(0.15);
  }
});
