import { type AnimationAction, type AnimationClip, AnimationMixer, type Object3D } from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { farthestVertex } from '../../support/mixers.js';
import { random, SEEDS } from '../../support/random.js';
import { characterHeight } from '../../support/reference.js';

// What three.js's example webgl_animation_skinning_blending does, on a clone as it stands there, and on an instance.

const NAMES = ['Idle', 'Walk', 'Run'] as const;
type Name = (typeof NAMES)[number];

/** The example's own code, with the panel's buttons and sliders as methods. */
class Example {
  readonly root: Object3D;
  private readonly mixer: AnimationMixer;
  private readonly actions: Record<Name, AnimationAction>;
  private loops: AnimationAction[] = [];

  constructor(character: Object3D, clips: readonly AnimationClip[]) {
    this.root = SkeletonUtils.clone(character);
    this.mixer = new AnimationMixer(this.root);
    const action = (name: Name) =>
      this.mixer.clipAction(clips.find((clip) => clip.name === name) as AnimationClip);
    this.actions = { Idle: action('Idle'), Walk: action('Walk'), Run: action('Run') };
    this.mixer.addEventListener('loop', ({ action: looped }) => this.loops.push(looped));
    for (const name of NAMES) {
      this.setWeight(name, name === 'Walk' ? 1 : 0);
      this.actions[name].play();
    }
  }

  setWeight(name: Name, weight: number): void {
    const action = this.actions[name];
    action.enabled = true;
    action.setEffectiveTimeScale(1);
    action.setEffectiveWeight(weight);
  }

  crossFade(from: Name, to: Name, duration: number): void {
    this.setWeight(to, 1);
    this.actions[to].time = 0;
    this.actions[from].crossFadeTo(this.actions[to], duration, true);
  }

  update(delta: number, steps: number): Name[] {
    this.loops = [];
    for (let i = 0; i < steps; i++) this.mixer.update(delta / steps);
    return NAMES.filter((name) => this.loops.includes(this.actions[name]));
  }
}

/**
 * three.js adds up the speed of a warp that it finds in each update, so that the result depends on how long those are; the
 * crowd's is what it comes to in ever shorter ones.
 */
const STEPS = 200;

test.each(SEEDS)('sliders and cross-fades of the example of blending (seed %i)', (seed) => {
  const { root, clips } = createCharacter();
  const height = characterHeight(root);
  const example = new Example(root, clips);
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { encoding: 'tracks' });
  for (const name of NAMES) crowd.play(0, name, { weight: name === 'Walk' ? 1 : 0 });
  let looped: Name[] = [];
  crowd.addEventListener('loop', ({ clip }) => looped.push(clip as Name));

  const next = random(seed);
  let playing: Name | null = null;
  const step = (delta = 0.12 * next(), steps = 1): Name[] => {
    looped = [];
    const expected = example.update(delta, steps);
    crowd.update(delta);
    // In the crowd, clips that fade out have no events.
    const known = NAMES.filter((name) => playing === null || name === playing);
    const seen = (names: Name[]) => known.filter((name) => names.includes(name));
    expect(seen(looped)).toEqual(seen(expected));
    const worst = farthestVertex(example.root, 7, (vertex, target) =>
      crowd.getVertexPositionAt(0, vertex, target),
    );
    expect(worst / height).toBeLessThan(steps === 1 ? 1e-6 : 5e-4);
    return expected;
  };

  // The sliders.
  for (let i = 0; i < 60; i++) {
    const name = NAMES[Math.floor(3 * next())];
    const weight = next() < 0.2 ? 0 : next();
    example.setWeight(name, weight);
    crowd.setWeightAt(0, name, weight);
    step();
  }

  // The buttons: from idle at once, from the others when they come to their end.
  for (const name of NAMES) {
    example.setWeight(name, name === 'Walk' ? 1 : 0);
    crowd.setWeightAt(0, name, name === 'Walk' ? 1 : 0);
  }
  playing = 'Walk';
  for (const to of ['Idle', 'Walk', 'Run', 'Walk'] as const) {
    const from: Name = playing;
    if (from !== 'Idle') while (!step(0.08, STEPS).includes(from));
    const duration = 0.2 + next();
    example.crossFade(from, to, duration);
    crowd.crossFadeTo(0, to, duration, true);
    playing = to;
    for (let rest = duration + 0.3; rest > 0; rest -= 0.07) step(0.07, STEPS);
  }
});
