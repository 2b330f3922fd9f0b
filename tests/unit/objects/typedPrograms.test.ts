import type {
  InstanceAction as AnimationAction,
  InstanceMixer as AnimationMixer,
  SkinnedInstanceEventMap as AnimationMixerEventMap,
} from 'skinned-instanced-mesh';
import { SkinnedInstance } from 'skinned-instanced-mesh';
import {
  AdditiveAnimationBlendMode,
  AnimationClip,
  LoopOnce,
  LoopRepeat,
  NormalAnimationBlendMode,
  type Object3D,
} from 'three';
import { expect, test } from 'vitest';
import { bakeCharacter, SkinnedInstancedMesh } from '../../support/library.js';
import { createStick } from '../../support/stick.js';

type State = 'A' | 'B' | 'C';
type Listener = (event: { action: AnimationAction; direction: number }) => void;

/** As typed programs are written against three.js; `npm run types` compiles it with nothing but imports changed. */
class Character {
  readonly actions = new Map<State, AnimationAction>();
  private readonly byName: Record<string, AnimationAction> = {};
  private current: AnimationAction | null = null;
  private clip?: AnimationClip;
  readonly ended: string[] = [];

  constructor(
    readonly model: Object3D,
    private readonly mixer: AnimationMixer,
    clips: readonly AnimationClip[],
  ) {
    for (const clip of clips) {
      const action: AnimationAction = mixer.clipAction(clip);
      action.zeroSlopeAtEnd = false;
      this.actions.set(clip.name as State, action);
      this.byName[clip.name] = action;
    }
    const die: AnimationAction | undefined = this.actions.get('C');
    if (die) {
      die.loop = LoopOnce;
      die.clampWhenFinished = true;
      die.blendMode = NormalAnimationBlendMode;
    }
    const named = AnimationClip.findByName([...clips], 'A') as AnimationClip;
    const optional: AnimationAction | null = mixer.existingAction(named, model);
    optional?.setLoop(LoopRepeat, Infinity).setEffectiveTimeScale(1).setEffectiveWeight(1);
    mixer.addEventListener('finished', this.onFinished);
    const listener: Listener = ({ action }) => void this.ended.push(`listener ${action.getClip().name}`);
    mixer.addEventListener('finished', listener);
    mixer.addEventListener('loop', (event) => {
      const { action, loopDelta }: { action: AnimationAction; loopDelta: number } = event;
      if (action === this.current && loopDelta > 1) this.ended.push('loops');
    });
  }

  private readonly onFinished = ({ action }: AnimationMixerEventMap['finished']): void => {
    this.ended.push(action.getClip().name);
    if (action === this.actions.get('C')) this.fadeTo('A');
  };

  fadeTo(state: State, duration = 0.5): AnimationAction {
    const next = this.actions.get(state) as AnimationAction;
    const before = this.current;
    next.reset().play();
    if (before && before !== next) before.crossFadeTo(next, duration, false);
    this.clip = next.getClip();
    this.current = next;
    return next;
  }

  get seconds(): number {
    return (this.clip?.duration ?? 0) + (this.clip?.tracks.length ?? 0);
  }

  update(delta: number): void {
    this.mixer.update(delta);
  }

  get all(): AnimationAction[] {
    return Object.values(this.byName);
  }

  dispose(): void {
    this.mixer.removeEventListener('finished', this.onFinished);
    this.mixer.stopAllAction().uncacheRoot(this.mixer.getRoot());
  }
}

/** A helper for any action. */
function setWeight(action: AnimationAction, weight: number): void {
  action.enabled = true;
  action.setEffectiveTimeScale(1);
  action.setEffectiveWeight(weight);
  action.getMixer().timeScale = 1;
}

test('typed programs compile with AnimationAction and AnimationMixer as other names of ours, and run', () => {
  const { root, clips } = createStick({ A: 4, B: 8, C: 2 });
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 0);
  const knight = new SkinnedInstance(crowd);
  const character = new Character(knight, knight.mixer, clips);
  setWeight(character.fadeTo('C'), 1);
  for (let i = 0; i < 5; i++) character.update(0.5);
  expect(character.ended).toEqual(['C', 'listener C']);
  expect(character.all.map((action) => action.isRunning())).toEqual([true, false, false]);
  expect(character.seconds).toBe(4 + clips[0].tracks.length);
  character.dispose();
});

test('the blend mode of an action is that of its clip', () => {
  const { root, clips } = createStick({ A: 4 });
  const knight = new SkinnedInstance(new SkinnedInstancedMesh(bakeCharacter(root, clips), 0));
  const action = knight.clipAction('A');
  expect(() => (action.blendMode = AdditiveAnimationBlendMode)).toThrow('makeClipAdditive');
  const clip: AnimationClip = action.getClip();
  expect(clip).toBeInstanceOf(AnimationClip);
  expect(clip).toMatchObject({ name: 'A', duration: 4, tracks: [] });
  expect(action.getClip()).toBe(clip);
});
