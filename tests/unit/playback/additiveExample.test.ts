import {
  AdditiveAnimationBlendMode,
  type AnimationAction,
  type AnimationClip,
  AnimationMixer,
  AnimationUtils,
  type Object3D,
} from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { farthestVertex } from '../../support/mixers.js';
import { random, SEEDS } from '../../support/random.js';
import { characterHeight } from '../../support/reference.js';

// What three.js's example webgl_animation_skinning_additive_blending does, on a clone as it stands there, and on an instance.

const BASE = ['idle', 'walk', 'run'];
const ADDITIVE = ['sneak_pose', 'sad_pose', 'agree', 'headShake'];

/** The clips that the example finds in its file, made of those that the built-in figure has. */
function exampleClips(): AnimationClip[] {
  const { clips } = createCharacter();
  const named = (clip: string, name: string) => {
    const copy = (clips.find((one) => one.name === clip) as AnimationClip).clone();
    copy.name = name;
    return copy;
  };
  const head = named('Wave', 'headShake');
  head.tracks = head.tracks.filter(({ name }) => /^(Head|Neck)\./.test(name));
  return [
    named('Idle', 'idle'),
    named('Walk', 'walk'),
    named('Run', 'run'),
    named('Jump', 'sneak_pose'),
    named('Dance', 'sad_pose'),
    named('Wave', 'agree'),
    head,
  ];
}

/** As the example has it. */
function makeAdditive(clip: AnimationClip): AnimationClip {
  AnimationUtils.makeClipAdditive(clip);
  return clip.name.endsWith('_pose') ? AnimationUtils.subclip(clip, clip.name, 2, 3, 30) : clip;
}

class Example {
  readonly root: Object3D;
  private readonly mixer: AnimationMixer;
  private readonly actions = new Map<string, AnimationAction>();

  constructor(character: Object3D, clips: readonly AnimationClip[]) {
    this.root = SkeletonUtils.clone(character);
    this.mixer = new AnimationMixer(this.root);
    for (const clip of clips) {
      const action = this.mixer.clipAction(clip);
      this.actions.set(clip.name, action);
      this.setWeight(clip.name, clip.name === 'idle' ? 1 : 0);
      action.play();
    }
  }

  setWeight(name: string, weight: number): void {
    const action = this.action(name);
    action.enabled = true;
    action.setEffectiveTimeScale(1);
    action.setEffectiveWeight(weight);
  }

  crossFade(from: string | null, to: string | null, duration: number): void {
    if (to === null) {
      if (from !== null) this.action(from).fadeOut(duration);
      return;
    }
    this.setWeight(to, 1);
    this.action(to).time = 0;
    if (from === null) this.action(to).fadeIn(duration);
    else this.action(from).crossFadeTo(this.action(to), duration, true);
  }

  update(delta: number, steps: number): void {
    for (let i = 0; i < steps; i++) this.mixer.update(delta / steps);
  }

  private action(name: string): AnimationAction {
    return this.actions.get(name) as AnimationAction;
  }
}

/** Steps in which three.js adds up a warp, see the test of the example of blending. */
const STEPS = 200;

test.each(SEEDS)(
  'base clips fade and additive ones weigh as in the example of additive blending (seed %i)',
  (seed) => {
    const { root } = createCharacter();
    const clips = exampleClips().map((clip) => (ADDITIVE.includes(clip.name) ? makeAdditive(clip) : clip));
    expect(clips.filter(({ blendMode }) => blendMode === AdditiveAnimationBlendMode)).toHaveLength(4);
    const height = characterHeight(root);
    const example = new Example(root, clips);
    const crowd = SkinnedInstancedMesh.from(root, clips, 1, {
      encoding: 'tracks',
      layers: [{ name: 'moods', additive: true }],
    });
    crowd.play(0, 'idle');
    for (const name of ADDITIVE) crowd.play(0, name, { layer: 'moods', weight: 0 });

    const next = random(seed);
    const step = (delta: number, steps = 1): void => {
      example.update(delta, steps);
      crowd.update(delta);
      const worst = farthestVertex(example.root, 7, (vertex, target) =>
        crowd.getVertexPositionAt(0, vertex, target),
      );
      expect(worst / height).toBeLessThan(steps === 1 ? 1e-6 : 5e-4);
    };
    const slide = (): void => {
      const name = ADDITIVE[Math.floor(ADDITIVE.length * next())];
      const weight = next() < 0.2 ? 0 : next();
      example.setWeight(name, weight);
      crowd.setWeightAt(0, name, weight, { layer: 'moods' });
    };

    for (let i = 0; i < 60; i++) {
      slide();
      step(0.15 * next());
    }
    let playing: string | null = 'idle';
    for (const to of ['walk', 'run', null, 'walk', 'idle']) {
      const duration = 0.2 + 0.4 * next();
      example.crossFade(playing, to, duration);
      if (to === null) crowd.stop(0, { layer: 'base', fade: duration });
      else crowd.crossFadeTo(0, to, duration, playing !== null);
      playing = to;
      for (let rest = duration + 0.2; rest > 0; rest -= 0.07) {
        slide();
        step(0.07, STEPS);
      }
    }
    expect(BASE).toContain(playing);
  },
);

test('additive clips play on the base too, as actions of one mixer do', () => {
  const { root } = createCharacter();
  const clips = exampleClips().map((clip) => (ADDITIVE.includes(clip.name) ? makeAdditive(clip) : clip));
  const example = new Example(root, clips);
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { encoding: 'tracks' });
  crowd.play(0, 'idle', { weight: 1 });
  for (const name of ['agree', 'headShake']) {
    crowd.play(0, name, { weight: 0.7 });
    example.setWeight(name, 0.7);
  }
  for (let i = 0; i < 20; i++) {
    example.update(0.13, 1);
    crowd.update(0.13);
    const worst = farthestVertex(example.root, 7, (vertex, target) =>
      crowd.getVertexPositionAt(0, vertex, target),
    );
    expect(worst / characterHeight(root)).toBeLessThan(1e-6);
  }
});
