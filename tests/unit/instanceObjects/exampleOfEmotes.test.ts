import 'skinned-instanced-mesh/objects';
import { type AnimationAction, type AnimationClip, AnimationMixer, LoopOnce, type Object3D } from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import type { InstanceAction } from '../../../lib/instanceObjects/InstanceAction.js';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { farthestVertex } from '../../support/mixers.js';
import { random, SEEDS } from '../../support/random.js';
import { characterHeight } from '../../support/reference.js';

// What three.js's example webgl_animation_skinning_morph does with states and emotes, with a mixer of three.js and with an instance.

const STATES = ['Idle', 'Walk', 'Run'];
const EMOTES = ['Jump', 'Wave', 'Dance'];

/** What of a mixer the example uses. */
interface Mixing {
  clipAction(clip: AnimationClip): AnimationAction | InstanceAction;
  addEventListener(type: 'finished', listener: () => void): void;
  removeEventListener(type: 'finished', listener: () => void): void;
}

/** The example's own code. */
class Example {
  readonly actions: Record<string, AnimationAction> = {};
  state = 'Walk';
  restored = 0;
  private activeAction: AnimationAction;

  constructor(
    private readonly mixer: Mixing,
    clips: readonly AnimationClip[],
  ) {
    for (const clip of clips) {
      const action = mixer.clipAction(clip) as AnimationAction;
      this.actions[clip.name] = action;
      if (EMOTES.includes(clip.name)) {
        action.clampWhenFinished = true;
        action.loop = LoopOnce;
      }
    }
    this.activeAction = this.actions.Walk;
    this.activeAction.play();
  }

  setState(name: string): void {
    this.state = name;
    this.fadeToAction(name, 0.5);
  }

  emote(name: string): void {
    this.fadeToAction(name, 0.2);
    this.mixer.addEventListener('finished', this.restoreState);
  }

  private readonly restoreState = (): void => {
    this.restored++;
    this.mixer.removeEventListener('finished', this.restoreState);
    this.fadeToAction(this.state, 0.2);
  };

  private fadeToAction(name: string, duration: number): void {
    const previousAction = this.activeAction;
    this.activeAction = this.actions[name];
    if (previousAction !== this.activeAction) previousAction.fadeOut(duration);
    this.activeAction.reset().setEffectiveTimeScale(1).setEffectiveWeight(1).fadeIn(duration).play();
  }
}

test.each(SEEDS)('the example of emotes runs on an instance as it stands (seed %i)', (seed) => {
  const { root, clips } = createCharacter();
  const used = clips.filter(({ name }) => [...STATES, ...EMOTES].includes(name));
  expect(used).toHaveLength(6);
  const clone = SkeletonUtils.clone(root) as Object3D;
  const mixer = new AnimationMixer(clone);
  const crowd = SkinnedInstancedMesh.from(root, used, 0, { encoding: 'tracks' });
  const knight = crowd.createInstance();
  const theirs = new Example(mixer as unknown as Mixing, used);
  const ours = new Example(knight as unknown as Mixing, used);
  const height = characterHeight(root);

  const next = random(seed);
  for (let step = 0; step < 600; step++) {
    const kind = next();
    const which = Math.floor(3 * next());
    for (const example of [theirs, ours]) {
      if (kind < 0.006) example.setState(STATES[which]);
      else if (kind < 0.03) example.emote(EMOTES[which]);
    }
    const before = ours.restored;
    const delta = 0.1 * next();
    mixer.update(delta);
    crowd.update(delta);
    expect(ours.restored, `step ${step}`).toBe(theirs.restored);
    for (const [name, action] of Object.entries(theirs.actions)) {
      const what = `${name} at step ${step}`;
      expect(ours.actions[name].time, what).toBeCloseTo(action.time, 6);
      // three.js keeps fades in float32.
      expect(ours.actions[name].getEffectiveWeight(), what).toBeCloseTo(action.getEffectiveWeight(), 4);
      expect(ours.actions[name].isRunning(), what).toBe(action.isRunning());
    }
    // In that one frame, three.js shows actions that it had updated before as they were then.
    if (ours.restored > before) continue;
    const worst = farthestVertex(clone, 7, (vertex, target) =>
      crowd.getVertexPositionAt(knight.instanceId, vertex, target),
    );
    expect(worst / height, `step ${step}`).toBeLessThan(2e-5);
  }
  expect(ours.restored).toBeGreaterThan(2);
});
