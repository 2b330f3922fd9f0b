import { type AnimationActionLoopStyles, AnimationMixer, LoopOnce, LoopPingPong, LoopRepeat } from 'three';
import { describe, expect, test } from 'vitest';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { random, SEEDS } from '../../support/random.js';
import { createStick } from '../../support/stick.js';
import { THOROUGH } from '../../support/thorough.js';

function createCrowd(count: number, durations: Record<string, number> = { A: 1, B: 2.5 }) {
  const { root, clips } = createStick(durations);
  return SkinnedInstancedMesh.from(root, clips, count);
}

/** Everything a crowd dispatches, as lines. */
function listen(
  crowd: SkinnedInstancedMesh,
  types: readonly string[] = ['finished', 'loop', 'mark'],
): string[] {
  const log: string[] = [];
  if (types.includes('finished')) {
    crowd.addEventListener('finished', ({ instanceId, clip, direction }) =>
      log.push(`${instanceId} ${clip} finished ${direction}`),
    );
  }
  if (types.includes('loop')) {
    crowd.addEventListener('loop', ({ instanceId, clip, loopDelta }) =>
      log.push(`${instanceId} ${clip} loop ${loopDelta}`),
    );
  }
  if (types.includes('mark')) {
    crowd.addEventListener('mark', ({ instanceId, clip, name, direction }) =>
      log.push(`${instanceId} ${clip} ${name} ${direction}`),
    );
  }
  return log;
}

/** The lines of each instance, in their order. */
function byInstance(lines: readonly string[]): Map<string, string[]> {
  const lists = new Map<string, string[]>();
  for (const line of lines) {
    const instance = line.slice(0, line.indexOf(' '));
    lists.set(instance, [...(lists.get(instance) ?? []), line]);
  }
  return lists;
}

interface Played {
  clip: string;
  duration: number;
  marks: readonly { time: number; name: string }[];
  timeScale: number;
  repetitions: number;
  pingPong: boolean;
}

/** What happens to an instance in small steps, by looking at each: slow, and nothing like the library's way. */
class BruteForce {
  private time: number;
  private pass = 0;
  private readonly played: Played;
  private first = true;
  finished = false;

  constructor(played: Played, start: number) {
    this.played = played;
    this.time = start;
    if (played.timeScale < 0) this.pass = -1;
  }

  /**
   * Lines of what happens within `delta`, with the time from its start at which it does: loops as AnimationAction tells
   * them, all of an update at once and none before a finish, and marks of no more than the last eight passes besides the
   * one that the update began in.
   */
  advance(delta: number): { at: number; what: string }[] {
    const began = this.pass;
    const all = this.everything(delta);
    const loops = all.filter(({ kind }) => kind === 'loop');
    return all
      .filter((event) => {
        if (event.kind === 'loop') return event === loops.at(-1) && !this.finished;
        return event.kind === 'finished' || event.pass === began || event.pass >= this.pass - 8;
      })
      .map(({ at, what, kind }) => ({
        at,
        what: kind === 'loop' ? `${what} ${this.played.timeScale < 0 ? -loops.length : loops.length}` : what,
      }));
  }

  private everything(delta: number): { at: number; what: string; kind: string; pass: number }[] {
    const { duration, marks, timeScale, repetitions, pingPong, clip } = this.played;
    const out: { at: number; what: string; kind: string; pass: number }[] = [];
    const reverse = timeScale < 0;
    let left = delta;
    while (!this.finished) {
      const edge = reverse ? this.time : duration - this.time;
      const step = Math.min(left, edge / Math.abs(timeScale));
      const there = step === edge / Math.abs(timeScale);
      const to = there ? (reverse ? 0 : duration) : this.time + step * timeScale;
      const turned = pingPong && Math.abs(this.pass % 2) === 1;
      const back = reverse !== turned;
      const places = marks
        .map((mark) => ({ ...mark, place: turned ? duration - mark.time : mark.time }))
        .filter(({ place }) =>
          reverse
            ? (place < this.time || (this.first && place === this.time)) && place >= to
            : (place > this.time || (this.first && place === this.time)) && place <= to,
        );
      places.sort((a, b) => (reverse ? b.place - a.place : a.place - b.place));
      // marks in one place come in the order in which the clip has them, or the other way round when it runs backwards
      if (back) places.reverse().sort((a, b) => (reverse ? b.place - a.place : a.place - b.place));
      for (const { name, place } of places) {
        const after = Math.abs((place - this.time) / timeScale);
        const at = delta - left + after;
        out.push({ at, what: `${clip} ${name} ${back ? -1 : 1}`, kind: 'mark', pass: this.pass });
      }
      this.time = to;
      this.first = false;
      left -= step;
      if (!there || (left <= 0 && reverse)) return out;
      this.pass++;
      if (this.pass >= repetitions) {
        this.finished = true;
        const what = `${clip} finished ${reverse ? -1 : 1}`;
        out.push({ at: delta - left, what, kind: 'finished', pass: this.pass });
        return out;
      }
      out.push({ at: delta - left, what: `${clip} loop`, kind: 'loop', pass: this.pass });
      this.time = reverse ? duration : 0;
      this.first = true;
    }
    return out;
  }
}

describe('events', () => {
  test.each(SEEDS)('come once each, in order, as a brute-force reference has them (seed %i)', (seed) => {
    const next = random(seed);
    const durations: Record<string, number> = {};
    for (let i = 0; i < 5; i++) durations[`Clip${i}`] = 0.1 + 3 * next() ** 2;
    const count = 200;
    const crowd = createCrowd(count, durations);
    for (const [name, duration] of Object.entries(durations)) {
      for (let i = Math.floor(next() * 5); i > 0; i--) {
        crowd.boneTexture.addMarker(name, next() * duration, `mark${i}`);
      }
      if (next() < 0.4) crowd.boneTexture.addMarker(name, 0, 'start');
      if (next() < 0.4) crowd.boneTexture.addMarker(name, duration, 'end');
    }
    const log = listen(crowd);
    const references: BruteForce[] = [];
    const play = (index: number) => {
      const { name, duration, markers } = crowd.boneTexture.clips[Math.floor(next() * 5)];
      const kind = Math.floor(next() * 3);
      const timeScale = (next() < 0.3 ? -1 : 1) * (0.1 + 2.5 * next());
      const repetitions = next() < 0.5 ? Infinity : 1 + Math.floor(next() * 5);
      const time = next() < 0.5 ? (timeScale < 0 ? duration : 0) : next() * duration;
      const loop = [LoopOnce, LoopRepeat, LoopPingPong][kind] as AnimationActionLoopStyles;
      crowd.play(index, name, { loop, repetitions, timeScale, time, clampWhenFinished: next() < 0.5 });
      const once = loop === LoopOnce;
      const played: Played = {
        clip: name,
        duration,
        marks: [...markers],
        timeScale,
        repetitions: once ? (timeScale < 0 ? 0 : 1) : repetitions,
        pingPong: kind === 2,
      };
      references[index] = new BruteForce(played, time);
    };
    for (let i = 0; i < count; i++) play(i);

    let events = 0;
    for (let step = 0; step < 250; step++) {
      const delta = next() < 0.1 ? 5 * next() : next() < 0.3 ? 0.001 : 0.1 * next();
      const expected = references.flatMap((reference, index) =>
        reference.advance(delta).map(({ at, what }, i) => ({ at, index, i, line: `${index} ${what}` })),
      );
      crowd.update(delta);
      // order within an instance is exact; between instances it is that of time, which both sides round
      const theirs = byInstance(expected.map(({ line }) => line));
      expect(byInstance(log), `step ${step}, ${delta} s`).toEqual(theirs);
      const times = new Map<string, number[]>();
      for (const { line, at } of expected) times.set(line, [...(times.get(line) ?? []), at]);
      let latest = 0;
      for (const line of log) {
        const at = (times.get(line) as number[]).shift() as number;
        expect(at).toBeGreaterThanOrEqual(latest - 1e-6);
        latest = Math.max(latest, at);
      }
      events += log.length;
      log.length = 0;
      for (let i = 0; i < 4; i++) play(Math.floor(next() * count));
    }
    expect(events).toBeGreaterThan(5000);
  });

  test.each([
    { loop: LoopOnce, repetitions: 1, timeScale: 1 },
    { loop: LoopOnce, repetitions: 1, timeScale: -1 },
    { loop: LoopRepeat, repetitions: 3, timeScale: 1 },
    { loop: LoopRepeat, repetitions: 3, timeScale: -2 },
    { loop: LoopPingPong, repetitions: 4, timeScale: 1.5 },
  ])('finished and loop are those of an AnimationMixer, $loop × $repetitions at $timeScale', (options) => {
    const { root, clips } = createStick({ A: 1 });
    const crowd = SkinnedInstancedMesh.from(root, clips, 1);
    const mixer = new AnimationMixer(root);
    const theirs: string[] = [];
    mixer.addEventListener('finished', ({ direction }) => theirs.push(`0 A finished ${direction}`));
    mixer.addEventListener('loop', ({ loopDelta }) => theirs.push(`0 A loop ${loopDelta}`));
    const action = mixer.clipAction(clips[0]).reset().setLoop(options.loop, options.repetitions).play();
    action.timeScale = options.timeScale;
    action.time = 0.3;
    const log = listen(crowd);
    crowd.play(0, 'A', { ...options, time: 0.3 });
    for (let i = 0; i < 80; i++) {
      mixer.update(0.0777);
      crowd.update(0.0777);
      expect(log).toEqual(theirs);
    }
    expect(log.length).toBeGreaterThan(0);
  });

  test('of instances that are paused, slowed, turned around or swapped come when they come there', () => {
    const crowd = createCrowd(3);
    crowd.boneTexture.addMarker('A', 0.5, 'half');
    const log = listen(crowd, ['mark']);
    crowd.play(0, 'A').play(1, 'A', { timeScale: 0.1 });
    crowd.update(0.4);
    crowd.pause(0);
    crowd.update(20);
    expect(log.filter((line) => line.startsWith('0'))).toEqual([]);
    crowd.resume(0);
    log.length = 0;
    crowd.setTimeScaleAt(0, 0.5).stop(1);
    crowd.update(0.19);
    expect(log).toEqual([]);
    crowd.update(0.02);
    expect(log.splice(0)).toEqual(['0 A half 1']);
    crowd.setTimeScaleAt(0, -1).update(0.1);
    expect(log.splice(0)).toEqual(['0 A half -1']);
    crowd.swapInstances(0, 2).setTimeScaleAt(2, 1).update(0.2);
    expect(log.splice(0)).toEqual(['2 A half 1']);
    crowd.setTimeAt(2, 0.5).update(0.01);
    expect(log.splice(0)).toEqual(['2 A half 1']);
  });

  test('come at the right time while a fade warps the clip', () => {
    const crowd = createCrowd(1, { A: 1, B: 3 });
    crowd.boneTexture.addMarker('B', 0.4, 'early').addMarker('B', 1.5, 'late');
    crowd.play(0, 'A').update(0.2);
    const times: number[] = [];
    crowd.addEventListener('mark', () => times.push(crowd.getTimeAt(0)));
    crowd.play(0, 'B', { fade: 0.5, warp: true });
    for (let i = 0; i < 2000; i++) crowd.update(0.001);
    expect(times).toEqual([expect.closeTo(0.4, 2), expect.closeTo(1.5, 2)]);
  });

  test('a listener may play clips; what it starts is told of from the next update on', () => {
    const crowd = createCrowd(2);
    crowd.boneTexture.addMarker('A', 0, 'start');
    let calls = 0;
    crowd.addEventListener('mark', ({ instanceId }) => {
      calls++;
      crowd.play(instanceId, 'A');
    });
    crowd.addEventListener('finished', ({ instanceId }) => crowd.play(instanceId, 'A', { fade: 0.1 }));
    crowd.play(0, 'A').play(1, 'B', { loop: LoopOnce });
    crowd.update(0.1);
    expect(calls).toBe(1);
    crowd.update(0.1);
    expect(calls).toBe(2);
    crowd.update(3);
    expect(crowd.getClipAt(1)).toBe('A');
    expect(calls).toBe(3);
    crowd.update(0);
    expect(calls).toBe(5);
  });

  test('a listener that throws loses no one else their events', () => {
    const crowd = createCrowd(3);
    crowd.playAll('A', { loop: LoopOnce });
    const seen: number[] = [];
    crowd.addEventListener('finished', ({ instanceId }) => {
      seen.push(instanceId);
      if (instanceId === 1) throw new Error('mine');
    });
    expect(() => crowd.update(2)).toThrow('mine');
    crowd.update(0);
    expect(seen).toEqual([0, 1, 2]);
  });

  test('are not looked for while nobody listens, and found as soon as someone does', () => {
    const crowd = createCrowd(2);
    crowd.playAll('A').update(0.5);
    const log = listen(crowd, ['loop']);
    crowd.update(0.6);
    expect(log.splice(0)).toEqual(['0 A loop 1', '1 A loop 1']);
    crowd.boneTexture.addMarker('A', 0.5, 'half');
    const marks = listen(crowd, ['mark']);
    crowd.update(0.5);
    expect(marks).toEqual(['0 A half 1', '1 A half 1']);
    crowd.boneTexture.removeMarkers('A', 'half').addMarker('A', 0.9, 'new');
    crowd.update(0.9);
    expect(marks.splice(0)).toEqual(['0 A half 1', '1 A half 1', '0 A new 1', '1 A new 1']);
  });

  test('of a month are told at the right times', () => {
    const crowd = createCrowd(1, { A: 1.2345 });
    let loops = 0;
    crowd.addEventListener('loop', ({ loopDelta }) => {
      loops += loopDelta;
    });
    crowd.play(0, 'A', { timeScale: 1.1 });
    const step = THOROUGH ? 3.75 : 15;
    const steps = Math.round((30 * 86400) / step);
    for (let i = 0; i < steps; i++) crowd.update(step);
    expect(Math.abs(loops - Math.floor((steps * step * 1.1) / 1.2345))).toBeLessThanOrEqual(1);
  });

  test('cost what fires, not what plays', () => {
    const [few, many] = [20, 100_000].map((count) => {
      const crowd = createCrowd(count, { A: 1, Long: 3000 });
      crowd.playAll((i) => (i < 10 ? 'A' : 'Long'), { loop: LoopRepeat });
      let fired = 0;
      crowd.addEventListener('loop', () => fired++);
      let quickest = Infinity;
      for (let round = 0; round < 30; round++) {
        const start = performance.now();
        for (let i = 0; i < 300; i++) crowd.update(0.01);
        quickest = Math.min(quickest, performance.now() - start);
      }
      expect(fired).toBeGreaterThan(850);
      console.log(`300 updates of ${count} instances: ${quickest.toFixed(2)} ms`);
      return quickest;
    });
    // Not thousands of times as long. Both by the quickest of thirty, so that no machine is too busy for it.
    expect(many).toBeLessThan(10 * few);
  });
});
