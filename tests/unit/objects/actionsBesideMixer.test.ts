import { SkinnedInstance } from 'skinned-instanced-mesh';
import {
  type AnimationAction,
  type AnimationClip,
  AnimationUtils,
  LoopOnce,
  LoopPingPong,
  LoopRepeat,
  type Object3D,
  type Vector3,
} from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import type { InstanceAction } from '../../../lib/actions/InstanceMixer.js';
import {
  assembleCharacter,
  bakeCharacter,
  getVertexPosition,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { standStill } from '../../support/mixers.js';
import { ReferenceMixer } from '../../support/ReferenceMixer.js';
import { random } from '../../support/random.js';
import { characterHeight, farthestVertex } from '../../support/reference.js';
import { NIGHTLY, THOROUGH } from '../../support/thorough.js';

/** Sequences of each seed; `SEED=…` and `ROUNDS=…` run others. */
const ALL = NIGHTLY ? [1, 77] : [1];
const SEEDS = process.env.SEED ? [Number(process.env.SEED)] : ALL;
const ROUNDS = Number(process.env.ROUNDS ?? (THOROUGH ? 250 : 25));
const STEPS = 40;
/** Actions of a layer that show at once. */
const MAX_SHOWN = 4;

const { root, clips } = createClips();
const height = characterHeight(root);
const bones = new SkinnedInstancedMesh(bakeCharacter(root, clips), 0).boneTexture;

/** Clips of different lengths, one of which is additive. */
function createClips(): { root: Object3D; clips: AnimationClip[] } {
  const character = createCharacter();
  const moving = character.clips.filter(({ duration }) => duration > 0).slice(0, 5);
  AnimationUtils.makeClipAdditive(moving[4]);
  return { root: character.root, clips: moving };
}

/** An action of three.js, or of an instance: what all the calls below need. */
type Both = AnimationAction | InstanceAction;

/** What happened to an action, as text. */
interface Happened {
  type: string;
  action: Both;
  loopDelta?: number;
  direction?: number;
}

/** An instance and a clone with a mixer, to which the same is done. */
class Pair {
  readonly clone = SkeletonUtils.clone(root) as Object3D;
  readonly mixer = new ReferenceMixer(this.clone);
  readonly knight;
  readonly theirs: AnimationAction[];
  readonly ours: InstanceAction[];
  readonly log: string[] = [];
  private expected: string[] = [];
  private seen: string[] = [];
  /** Whether three.js shows the other end of a ping-pong that finishes in this very frame, or what a listener has changed. */
  private glitch = false;
  /** Whether poses were compared after the last update, and no action was stopped since. */
  private stands = false;
  /** Whether no time passed in the last update, or the clock was turned back. */
  private stood = false;
  private expectedEvents = 0;
  private seenEvents = 0;
  comparedPoses = 0;
  events = 0;

  constructor(
    private readonly crowd: SkinnedInstancedMesh,
    private readonly next: () => number,
  ) {
    this.knight = new SkinnedInstance(crowd);
    this.theirs = clips.map((clip) => this.mixer.clipAction(clip));
    this.ours = clips.map((clip) => this.knight.clipAction(clip));
    for (const type of ['finished', 'loop'] as const) {
      this.mixer.addEventListener(type, (event) => {
        const action = event.action as AnimationAction;
        this.expected.push(describe(event as Happened));
        if (type === 'finished' && action.loop === LoopPingPong) this.glitch = true;
        this.react(this.theirs, action, ++this.expectedEvents);
      });
      this.knight.addEventListener(type, (event) => {
        expect(this.ours).toContain(event.action);
        this.seen.push(describe(event as Happened));
        this.react(this.ours, event.action as InstanceAction, ++this.seenEvents);
      });
    }
  }

  /** What a listener does in the middle of an update, now and then. */
  private react(all: readonly Both[], action: Both, events: number): void {
    const index = all.indexOf(action);
    const others = [1, 2].map((by) => all[(index + by) % all.length]);
    if (events % 3 === 0) others[0].reset().setEffectiveWeight(0.8).fadeIn(0.3).play();
    // One that stood beyond its end shows that end for this frame still.
    const stood = events % 4 === 0 && others[1].timeScale === 0;
    if (events % 4 === 0) others[1].setEffectiveTimeScale(1.3);
    if (events % 5 === 0) action.fadeOut(0.2);
    if (events % 3 !== 0 && events % 5 !== 0 && !stood) return;
    // In that one frame, three.js shows actions that it had updated before as they were then.
    this.glitch = true;
  }

  /** Makes a random call on both sides. */
  call(): void {
    const { next } = this;
    const index = Math.floor(next() * clips.length);
    const other = (index + 1 + Math.floor(next() * (clips.length - 1))) % clips.length;
    const seconds = next() < 0.1 ? 0 : 0.05 + next();
    const scale = pick(next, [-2, -1, -0.5, 0.5, 1, 1, 1.7, 3]);
    const flag = next() < 0.5;
    const duration = clips[index].duration;
    const weight = 1.4 * seconds;
    const still = this.theirs[index].timeScale === 0 || this.theirs[other].timeScale === 0;
    const crossFade = (all: readonly Both[], warp: boolean) => {
      all[other].enabled = true;
      (all[index] as AnimationAction).crossFadeTo(all[other].play() as AnimationAction, seconds, warp);
    };
    const calls: Record<string, (all: readonly Both[], mixer: Mixing) => unknown> = {
      play: (all) => all[index].play(),
      'reset and play': (all) => all[index].reset().play(),
      'enable and play': (all) => {
        all[index].enabled = true;
        all[index].paused = false;
        return all[index].play();
      },
      stop: (all) => all[index].stop(),
      reset: (all) => all[index].reset(),
      [`fadeIn ${seconds}`]: (all) => all[index].fadeIn(seconds).play(),
      [`fadeOut ${seconds}`]: (all) => all[index].fadeOut(seconds),
      [`fadeTo ${index < 4 ? weight : 0} ${seconds}`]: (all) =>
        fadeTo(all[index], index < 4 ? weight : 0, seconds),
      [`crossFadeTo ${other} ${seconds}`]: (all) => crossFade(all, false),
      [`crossFadeTo ${other} ${seconds} warp`]: (all) => crossFade(all, flag && !still),
      stopFading: (all) => all[index].stopFading(),
      [`warp ${scale} ${seconds}`]: (all) =>
        still || all[index].warp(pickFrom(index, [1, -1, 0.5, 0]), scale, seconds),
      [`halt ${seconds}`]: (all) => still || all[index].halt(seconds),
      stopWarping: (all) => all[index].stopWarping(),
      'setLoop once': (all) => all[index].setLoop(LoopOnce, 1),
      'setLoop repeat': (all) => all[index].setLoop(LoopRepeat, flag ? Infinity : 1 + other),
      'setLoop ping-pong': (all) => all[index].setLoop(LoopPingPong, flag ? Infinity : 1 + other),
      [`setDuration ${seconds}`]: (all) => all[index].setDuration(0.3 + 2 * seconds),
      [`setEffectiveTimeScale ${scale}`]: (all) => all[index].setEffectiveTimeScale(scale),
      [`setEffectiveWeight ${weight}`]: (all) => all[index].setEffectiveWeight(weight),
      [`syncWith ${other}`]: (all) => (all[index] as AnimationAction).syncWith(all[other] as AnimationAction),
      [`startAt ${seconds}`]: (all, mixer) => all[index].startAt(mixer.time + (flag ? seconds : -0.1)),
      [`timeScale = ${scale}`]: (all) => (all[index].timeScale = flag ? scale : Math.max(scale, 0)),
      [`time = ${seconds}`]: (all) => (all[index].time = seconds * duration * (flag ? 1 : 1.7)),
      [`weight = ${weight}`]: (all) => (all[index].weight = weight),
      [`paused = ${flag}`]: (all) => (all[index].paused = flag),
      [`enabled = ${flag}`]: (all) => (all[index].enabled = flag),
      [`clampWhenFinished = ${flag}`]: (all) => (all[index].clampWhenFinished = flag),
      [`mixer.timeScale = ${scale}`]: (_, mixer) => (mixer.timeScale = flag ? 1 : seconds < 0.3 ? 0 : scale),
    };
    const names = Object.keys(calls);
    const name = next() < 0.02 ? 'stopAllAction' : pick(next, names);
    this.log.push(`${index}: ${name}`);
    // What nothing plays any more goes back at once.
    if (name.startsWith('stop')) this.stands = false;
    if (name === 'stopAllAction') {
      this.mixer.stopAllAction();
      this.knight.stopAllAction();
      return;
    }
    calls[name](this.theirs, this.mixer);
    calls[name](this.ours, this.knight.mixer);
  }

  /** Updates the mixer; the crowd updates all its instances, but for those whose mixers are updated by themselves. */
  update(delta: number, byItself: boolean): void {
    this.expected = [];
    this.seen = [];
    this.glitch = false;
    this.log.push(`update ${delta}`);
    if (this.stands) this.comparePoses('pose before the update');
    this.stood = delta <= 0;
    this.mixer.update(delta);
    if (byItself) this.knight.mixer.update(delta);
  }

  compare(): void {
    this.same(this.seen, this.expected, 'events');
    this.events += this.expected.length;
    this.near(this.knight.mixer.time, this.mixer.time, 1e-9, 'time of the mixer');
    this.theirs.forEach((theirs, i) => {
      const ours = this.ours[i];
      const name = clips[i].name;
      this.same(flagsOf(ours), flagsOf(theirs), `flags of ${name}`);
      const numbers = numbersOf(ours);
      numbersOf(theirs).forEach((number, which) => {
        this.near(numbers[which], number, 1e-7, `number ${which} of ${name}`);
      });
    });
    const shown = this.theirs.filter(
      (action) => action.isScheduled() && (action.getEffectiveWeight() > 0 || fadesIn(action)),
    );
    this.stands = !(this.glitch || shown.length > MAX_SHOWN || this.leaps(shown));
    if (this.stands) this.comparePoses('pose');
  }

  private comparePoses(what: string): void {
    const where = (vertex: number, target: Vector3) =>
      getVertexPosition(this.crowd, this.knight.instanceId, vertex, target);
    const worst = farthestVertex(standStill(this.clone), where, 31);
    this.comparedPoses++;
    this.near(worst / height, 0, 1e-5, what);
  }

  /** Quicker than `expect`, which is called only to fail. */
  private same(ours: readonly unknown[], theirs: readonly unknown[], what: string): void {
    if (ours.length === theirs.length && ours.every((one, i) => one === theirs[i])) return;
    expect(ours, this.told(what)).toEqual(theirs);
  }

  private near(ours: number, theirs: number, bound: number, what: string): void {
    if (Math.abs(ours - theirs) < bound) return;
    expect(ours, this.told(what)).toBe(theirs);
  }

  private told(what: string): string {
    return `${what}, after\n${this.log.slice(-30).join('\n')}`;
  }

  /**
   * Whether three.js shows something else while no time passes, or in reverse, than it will a moment later: of a clip whose time was set beyond
   * its end, of a ping-pong that begins in reverse, and in fades that take no time while time runs backwards. A ping-pong that slows to a
   * halt in reverse, before a pass was counted, is shown by three.js as by us, but not by the reference, whose last step has a length.
   */
  private leaps(shown: readonly AnimationAction[]): boolean {
    const isUncounted = (action: AnimationAction) => (action as unknown as Counted)._loopCount === -1;
    if (shown.some((action) => action.paused && action.loop === LoopPingPong && isUncounted(action)))
      return true;
    if (!this.stood) return false;
    const leaps = (action: AnimationAction) =>
      action.loop === LoopPingPong || action.time < 0 || action.time >= action.getClip().duration;
    return this.mixer.timeScale < 0 || shown.some(leaps);
  }
}

const flagsOf = (action: Both): unknown[] => [
  action.paused,
  action.enabled,
  action.isRunning(),
  action.isScheduled(),
  action.loop,
  action.repetitions,
];

const numbersOf = (action: Both): number[] => [
  action.time,
  action.timeScale,
  action.weight,
  action.getEffectiveTimeScale(),
  action.getEffectiveWeight(),
];

interface Counted {
  _loopCount: number;
}

interface Mixing {
  time: number;
  timeScale: number;
}

function pick<T>(next: () => number, from: readonly T[]): T {
  return from[Math.floor(next() * from.length)];
}

const pickFrom = (index: number, from: readonly number[]): number => from[index % from.length];

function describe({ type, action, loopDelta, direction }: Happened): string {
  return `${type} ${action.getClip().name} ${loopDelta ?? direction}`;
}

/** What programs do with what three.js's actions keep to themselves, for lack of a method. */
function fadeTo(action: Both, weight: number, seconds: number): Both {
  if ('fadeTo' in action) return action.fadeTo(weight, seconds);
  const now = action.getEffectiveWeight();
  if (weight > 0) {
    action.weight = weight;
    action.enabled = true;
  }
  const { _scheduleFading } = action as unknown as Record<string, (...of: number[]) => AnimationAction>;
  return _scheduleFading.call(
    action,
    seconds,
    action.weight === 0 ? 0 : now / action.weight,
    weight > 0 ? 1 : 0,
  );
}

/** Whether an action has no weight yet, but will. */
function fadesIn(action: AnimationAction): boolean {
  const { _weightInterpolant } = action as unknown as { _weightInterpolant: object | null };
  return action.enabled && _weightInterpolant !== null;
}

test.each(SEEDS)('whatever is called, actions do what those of AnimationMixer do (seed %i)', (seed) => {
  let poses = 0;
  let events = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const next = random(seed * 1000 + round);
    const crowd = new SkinnedInstancedMesh(assembleCharacter(root, bones), 0);
    crowd.update(20 * next());
    const pairs = [new Pair(crowd, next), new Pair(crowd, next)];
    const byThemselves = round % 3 === 2;
    for (let step = 0; step < STEPS; step++) {
      for (const pair of pairs) {
        for (let calls = step < 3 ? 3 : Math.floor(4 * next()); calls > 0; calls--) pair.call();
      }
      const usual = next() < 0.08 ? 3 * next() : 0.25 * next();
      const delta = next() < 0.05 ? 0 : next() < 0.05 ? -usual : usual;
      for (const pair of pairs) pair.update(delta, byThemselves);
      // The clock of the crowd has no part in these.
      if (!byThemselves || next() < 0.5) crowd.update(delta * (byThemselves ? next() : 1));
      for (const pair of pairs) pair.compare();
    }
    for (const pair of pairs) {
      poses += pair.comparedPoses;
      events += pair.events;
    }
    crowd.dispose();
  }
  console.log(`${ROUNDS} sequences: ${poses} poses and ${events} events compared`);
  expect(poses).toBeGreaterThan(ROUNDS * STEPS);
  expect(events).toBeGreaterThan(ROUNDS);
});
