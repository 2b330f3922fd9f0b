import { type AnimationActionLoopStyles, LoopOnce, LoopPingPong, LoopRepeat } from 'three';
import { describe, expect, test } from 'vitest';
import { ActionReference, MARK, type Played } from '../../support/ActionReference.js';
import {
  assembleCharacter,
  bakeBoneTexture,
  frames,
  loadPlayback,
  SkinnedInstancedMesh,
  savePlayback,
} from '../../support/library.js';
import { random, SEEDS } from '../../support/random.js';
import { createStick, tipOf } from '../../support/stick.js';
import { THOROUGH } from '../../support/thorough.js';

const LOOPS: AnimationActionLoopStyles[] = [LoopOnce, LoopRepeat, LoopPingPong];

/** Sequences of each seed; `SEED=…` and `ROUNDS=…` run others. */
const OF_THESE = process.env.SEED ? [Number(process.env.SEED)] : SEEDS;
const ROUNDS = Number(process.env.ROUNDS ?? (THOROUGH ? 400 : 150));
const STEPS = 40;

/** The characters of one seed: the same clips, baked twice, differently ordered and at different rates. */
function createCharacters(next: () => number) {
  const durations = [0.2 + 0.3 * next(), 0.5 + next(), 1, 1 + 2 * next()];
  const { root, clips } = createStick(
    Object.fromEntries(durations.map((duration, i) => [`Clip${i}`, duration])),
  );
  const bones = [
    bakeBoneTexture(root, clips, { fps: 30, encoding: frames }),
    bakeBoneTexture(root, [...clips].reverse(), { fps: 47, encoding: frames }),
  ];
  for (const one of bones)
    for (const { duration, name } of one.clips) one.addMarker(name, MARK * duration, 'marker');
  const create = (which: number, count: number) =>
    new SkinnedInstancedMesh(assembleCharacter(root, bones[which]), count);
  return { durations, create };
}

/** A crowd, what three.js has in its place, and everything that may be done to both. */
class Sequence {
  readonly log: string[] = [];
  compared = 0;
  private readonly next: () => number;
  private readonly durations: readonly number[];
  private readonly create: (which: number, count: number) => SkinnedInstancedMesh;
  private crowd: SkinnedInstancedMesh;
  private which = 0;
  private references: ActionReference[];
  private events: string[] = [];

  constructor(next: () => number, characters: ReturnType<typeof createCharacters>) {
    this.next = next;
    this.durations = characters.durations;
    this.create = characters.create;
    const count = 1 + this.integer(3);
    this.crowd = this.create(0, count);
    // at any time of an epoch, and of a clock that has run for long
    this.crowd.update(next() < 0.2 ? 1e6 * next() : 16 * next());
    this.references = Array.from({ length: count }, () => new ActionReference(this.durations));
    for (let i = 0; i < count; i++) this.play(i);
    this.listen();
  }

  run(): void {
    for (let step = 0; step < STEPS; step++) {
      if (this.next() < 0.5) this.change(this.integer(this.crowd.count));
      this.update(this.delta());
    }
  }

  private integer(below: number): number {
    return Math.floor(this.next() * below);
  }

  /** Mostly short frames; some that run through passes, through an epoch, and some in which no time passes. */
  private delta(): number {
    const kind = this.next();
    if (kind < 0.04) return 0;
    if (kind < 0.75) return 0.12 * this.next();
    if (kind < 0.93) return this.next();
    return 20 * this.next();
  }

  private timeScale(): number {
    const kind = this.next();
    if (kind < 0.1) return 0;
    if (kind < 0.3) return kind < 0.2 ? 1 : -1;
    return (this.next() - 0.5) * (kind < 0.9 ? 4 : 40);
  }

  private played(): Played {
    const clip = this.integer(this.durations.length);
    const timeScale = this.timeScale();
    const kind = this.next();
    const at = this.next();
    return {
      clip,
      loop: LOOPS[this.integer(3)],
      repetitions: kind < 0.3 ? Infinity : kind < 0.7 ? this.integer(6) : 5 * this.next(),
      clampWhenFinished: this.next() < 0.7,
      timeScale,
      time: at < 0.5 ? (timeScale < 0 ? this.durations[clip] : 0) : this.next() * this.durations[clip],
    };
  }

  private play(index: number): void {
    const { clip, ...options } = this.played();
    this.log.push(`play ${index} Clip${clip} (${this.durations[clip]} s) ${JSON.stringify(options)}`);
    this.references[index].play({ clip, ...options });
    this.crowd.play(index, `Clip${clip}`, { ...options, restart: true });
  }

  private change(index: number): void {
    const { crowd, next } = this;
    const reference = this.references[index];
    const { action, finished, duration } = reference;
    const kind = next();
    if (action === null || kind < 0.15) {
      this.play(index);
    } else if (kind < 0.4) {
      // also the one it has, and its opposite
      const which = next();
      const timeScale = which < 0.1 ? action.timeScale : which < 0.4 ? -action.timeScale : this.timeScale();
      this.log.push(`timeScale ${index} ${timeScale}`);
      action.timeScale = timeScale;
      crowd.setTimeScaleAt(index, timeScale);
    } else if (kind < 0.48) {
      // to three.js a clip that has finished is paused; ours is not
      if (finished) return;
      this.log.push(`pause ${index}`);
      action.paused = true;
      crowd.pause(index);
    } else if (kind < 0.62) {
      if (finished) return;
      this.log.push(`resume ${index}`);
      action.paused = false;
      crowd.resume(index);
    } else if (kind < 0.75) {
      const time = next() * duration;
      this.log.push(`time ${index} ${time}`);
      reference.setTime(time);
      crowd.setTimeAt(index, time);
    } else if (kind < 0.79) {
      this.setTimeOutside(index);
    } else if (kind < 0.82) {
      this.log.push(`stop ${index}`);
      reference.stop();
      crowd.stop(index);
    } else if (kind < 0.88) {
      this.swap(index, this.integer(crowd.count));
    } else if (kind < 0.91) {
      const capacity = crowd.count + this.integer(4);
      this.log.push(`setCapacity ${capacity}`);
      crowd.setCapacity(capacity);
    } else if (kind < 0.93) {
      this.remove(index);
    } else if (kind < 0.95) {
      this.add();
    } else if (kind < 0.97) {
      this.log.push('clone');
      this.crowd = crowd.clone();
      this.listen();
    } else {
      this.save();
    }
  }

  /** A time beyond the end, in the direction in which the clip runs, is so many passes more to both. */
  private setTimeOutside(index: number): void {
    const { action, duration, finished } = this.references[index];
    if (action === null || finished || !action.isRunning()) return;
    const time = duration * (action.timeScale < 0 ? -3 * this.next() : 1 + 3 * this.next());
    this.log.push(`time ${index} ${time}`);
    action.time = time;
    this.crowd.setTimeAt(index, time);
    this.update(0.01 + 0.01 * this.next());
  }

  private swap(i: number, j: number): void {
    this.log.push(`swap ${i} ${j}`);
    this.crowd.swapInstances(i, j);
    const { references } = this;
    [references[i], references[j]] = [references[j], references[i]];
  }

  private remove(index: number): void {
    const last = this.crowd.count - 1;
    if (last === 0) return;
    this.swap(index, last);
    this.log.push('count--');
    this.crowd.count--;
    this.references.pop();
  }

  private add(): void {
    const { crowd } = this;
    if (crowd.count === crowd.capacity) crowd.setCapacity(2 * crowd.capacity);
    this.log.push('count++');
    this.references.push(new ActionReference(this.durations));
    this.play(crowd.count++);
  }

  /** Goes on in another crowd, whose clips are baked otherwise, and whose clock stands elsewhere. */
  private save(): void {
    this.log.push('JSON');
    const json = JSON.parse(JSON.stringify(savePlayback(this.crowd)));
    this.which = 1 - this.which;
    const { count } = this.crowd;
    this.crowd = this.create(this.which, count).update(30 * this.next());
    this.listen();
    loadPlayback(this.crowd, json);
  }

  private listen(): void {
    this.crowd.addEventListener('loop', ({ instanceId, clip, loopDelta }) => {
      this.events.push(`${instanceId} ${clip} loop ${loopDelta}`);
    });
    this.crowd.addEventListener('marker', ({ instanceId, clip, direction }) => {
      this.events.push(`${instanceId} ${clip} mark ${direction}`);
    });
    this.crowd.addEventListener('finished', ({ instanceId, clip, direction }) => {
      this.events.push(`${instanceId} ${clip} finished ${direction}`);
    });
  }

  private update(delta: number): void {
    const { crowd, references } = this;
    this.log.push(`update ${delta}`);
    const expected: string[] = [];
    references.forEach((reference, i) => {
      reference.update(delta);
      const clip = `Clip${reference.played?.clip}`;
      if (reference.loops !== 0) expected.push(`${i} ${clip} loop ${reference.loops}`);
      for (const direction of reference.marks) expected.push(`${i} ${clip} mark ${direction}`);
      if (reference.direction !== 0) expected.push(`${i} ${clip} finished ${reference.direction}`);
    });
    crowd.update(delta);
    this.same('events', this.events.splice(0).sort(), expected.sort());
    references.forEach((reference, i) => this.compare(reference, i));
  }

  private compare(reference: ActionReference, i: number): void {
    const { crowd } = this;
    const { action } = reference;
    this.same(`isPlayingAt(${i})`, crowd.isPlayingAt(i), action?.isRunning() ?? false);
    this.same(
      `getClipAt(${i})`,
      crowd.getClipAt(i),
      action === null ? null : `Clip${reference.played?.clip}`,
    );
    if (!reference.comparesPose) return;
    this.near(`tip of ${i}`, tipOf(crowd, i), reference.target.position.x);
    this.near(`getTimeAt(${i})`, crowd.getTimeAt(i), action?.time ?? 0);
    this.compared++;
  }

  private near(what: string, actual: number, expected: number, most = 2e-5): void {
    if (!(Math.abs(actual - expected) < most)) this.fail(what, actual, expected);
  }

  private same(what: string, actual: unknown, expected: unknown): void {
    if (actual !== expected && JSON.stringify(actual) !== JSON.stringify(expected)) {
      this.fail(what, actual, expected);
    }
  }

  private fail(what: string, actual: unknown, expected: unknown): never {
    throw new Error(
      `${what} is ${JSON.stringify(actual)}, three.js has ${JSON.stringify(expected)}\n${this.log.join('\n')}`,
    );
  }
}

describe('whatever is done to instances, they play as AnimationActions do', () => {
  test.each(OF_THESE)(`${ROUNDS} sequences (seed %i)`, (seed) => {
    const next = random(seed);
    const characters = createCharacters(next);
    let compared = 0;
    const wrong: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const sequence = new Sequence(next, characters);
      try {
        sequence.run();
      } catch (error) {
        wrong.push(`sequence ${round}: ${(error as Error).message}`);
      }
      compared += sequence.compared;
    }
    console.log(`${compared} poses compared, ${wrong.length} of ${ROUNDS} sequences wrong`);
    expect(wrong.sort((a, b) => a.length - b.length).slice(0, 3)).toEqual([]);
    expect(compared).toBeGreaterThan(40 * ROUNDS);
  });
});
