import 'skinned-instanced-mesh/objects';
import { type AnimationAction, type AnimationClip, AnimationMixer, type Object3D } from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import type { InstanceAction } from '../../../lib/instanceObjects/InstanceAction.js';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { farthestVertex } from '../../support/mixers.js';
import { ReferenceMixer } from '../../support/ReferenceMixer.js';
import { random, SEEDS } from '../../support/random.js';
import { characterHeight } from '../../support/reference.js';

// What three.js's example webgl_animation_skinning_blending does, line by line, with a mixer of three.js and with an instance.

/** What of a mixer the example uses. */
interface Mixing {
  timeScale: number;
  clipAction(clip: AnimationClip): AnimationAction | InstanceAction;
  addEventListener(type: 'loop', listener: (event: { action: unknown }) => void): void;
  removeEventListener(type: 'loop', listener: (event: { action: unknown }) => void): void;
}

/** The example's own code, with the panel's buttons and sliders as methods. */
class Example {
  readonly actions: AnimationAction[];
  singleStepMode = false;
  /** Whether a listener began a cross-fade in the middle of the last update. */
  fadedInUpdate = false;
  private sizeOfNextStep = 0;

  constructor(
    private readonly mixer: Mixing,
    clips: readonly AnimationClip[],
  ) {
    this.actions = clips.map((clip) => mixer.clipAction(clip) as AnimationAction);
    this.activateAllActions();
  }

  activateAllActions(): void {
    this.actions.forEach((action, i) => {
      this.setWeight(action, [0, 1, 0][i]);
    });
    for (const action of this.actions) action.play();
  }

  deactivateAllActions(): void {
    for (const action of this.actions) action.stop();
  }

  pauseContinue(): void {
    if (this.singleStepMode) {
      this.singleStepMode = false;
      this.unPauseAllActions();
    } else if (this.actions[0].paused) {
      this.unPauseAllActions();
    } else {
      for (const action of this.actions) action.paused = true;
    }
  }

  toSingleStepMode(): void {
    this.unPauseAllActions();
    this.singleStepMode = true;
    this.sizeOfNextStep = 0.05;
  }

  prepareCrossFade(from: number, to: number, duration: number): void {
    this.singleStepMode = false;
    this.unPauseAllActions();
    // From idle at once, else when the walk or run has come to its end.
    if (from === 0) this.executeCrossFade(from, to, duration);
    else this.synchronizeCrossFade(from, to, duration);
  }

  modifyTimeScale(speed: number): void {
    this.mixer.timeScale = speed;
  }

  setWeight(action: AnimationAction, weight: number): void {
    action.enabled = true;
    action.setEffectiveTimeScale(1);
    action.setEffectiveWeight(weight);
  }

  /** Seconds that the mixer is to be updated by. */
  delta(frame: number): number {
    this.fadedInUpdate = false;
    if (!this.singleStepMode) return frame;
    const delta = this.sizeOfNextStep;
    this.sizeOfNextStep = 0;
    return delta;
  }

  private unPauseAllActions(): void {
    for (const action of this.actions) action.paused = false;
  }

  private synchronizeCrossFade(from: number, to: number, duration: number): void {
    const onLoopFinished = (event: { action: unknown }) => {
      if (event.action !== this.actions[from]) return;
      this.mixer.removeEventListener('loop', onLoopFinished);
      this.executeCrossFade(from, to, duration);
      this.fadedInUpdate = true;
    };
    this.mixer.addEventListener('loop', onLoopFinished);
  }

  private executeCrossFade(from: number, to: number, duration: number): void {
    this.setWeight(this.actions[to], 1);
    this.actions[to].time = 0;
    this.actions[from].crossFadeTo(this.actions[to], duration, true);
  }
}

function createPair(Mixer: new (root: Object3D) => AnimationMixer) {
  const { root, clips } = createCharacter();
  const used = ['Idle', 'Walk', 'Run'].map(
    (name) => clips.find((clip) => clip.name === name) as AnimationClip,
  );
  const clone = SkeletonUtils.clone(root) as Object3D;
  const mixer = new Mixer(clone);
  const crowd = SkinnedInstancedMesh.from(root, used, 0, { encoding: 'tracks' });
  const knight = crowd.createInstance();
  const theirs = new Example(mixer as unknown as Mixing, used);
  const ours = new Example(knight as unknown as Mixing, used);
  const height = characterHeight(root);
  /** How far apart they are, as a share of the height. */
  const apart = () =>
    farthestVertex(clone, 7, (vertex, target) =>
      crowd.getVertexPositionAt(knight.instanceId, vertex, target),
    ) / height;
  return { mixer, crowd, theirs, ours, apart };
}

test.each(SEEDS)('the example of blending runs on an instance as it stands (seed %i)', (seed) => {
  const { mixer, crowd, theirs, ours, apart } = createPair(ReferenceMixer);
  const next = random(seed);
  let synchronized = 0;
  for (let step = 0; step < 300; step++) {
    const kind = next();
    const values = [Math.floor(3 * next()), 1 + Math.floor(2 * next()), 0.2 + 2 * next()] as const;
    for (const example of [theirs, ours]) {
      const [from, by, duration] = values;
      if (kind < 0.02) example.pauseContinue();
      else if (kind < 0.05) example.toSingleStepMode();
      else if (kind < 0.09) example.prepareCrossFade(from, (from + by) % 3, duration);
      else if (kind < 0.11) example.modifyTimeScale(duration);
      else if (kind < 0.12) example.deactivateAllActions();
      else if (kind < 0.14) example.activateAllActions();
      else if (kind < 0.16) example.setWeight(example.actions[from], duration / 2.2);
    }
    const frame = 0.06 * next();
    mixer.update(theirs.delta(frame));
    crowd.update(ours.delta(frame));
    theirs.actions.forEach((action, i) => {
      expect(ours.actions[i].getEffectiveWeight(), `step ${step}`).toBeCloseTo(
        action.getEffectiveWeight(),
        9,
      );
      expect(ours.actions[i].time, `step ${step}`).toBeCloseTo(action.time, 9);
    });
    expect(ours.fadedInUpdate).toBe(theirs.fadedInUpdate);
    synchronized += ours.fadedInUpdate ? 1 : 0;
    // In that one frame, three.js shows actions that it had updated before as they were then.
    if (!ours.fadedInUpdate) expect(apart(), `step ${step}`).toBeLessThan(1e-5);
  }
  expect(synchronized).toBeGreaterThan(0);
});

test('a warp of three.js comes ever nearer to that of an instance, the shorter its frames are', () => {
  const errors = [30, 120, 480].map((fps) => {
    const { mixer, crowd, theirs, ours } = createPair(AnimationMixer);
    for (const example of [theirs, ours]) example.prepareCrossFade(0, 2, 1);
    for (let frame = 0; frame < 2 * fps; frame++) {
      mixer.update(1 / fps);
      crowd.update(1 / fps);
    }
    return Math.abs(theirs.actions[2].time - ours.actions[2].time);
  });
  expect(errors[0]).toBeGreaterThan(1e-3);
  expect(errors[1]).toBeLessThan(errors[0] / 3);
  expect(errors[2]).toBeLessThan(errors[1] / 3);
});
