/** Guards walk their rounds, wave where they turn, and walk on when that is done: a class with typed fields. */
import {
  type AnimationAction,
  type AnimationClip,
  AnimationMixer,
  LoopOnce,
  type Object3D,
  type Scene,
  Vector3,
} from 'three';
import * as SkeletonUtils from 'three/addons/utils/SkeletonUtils.js';
import { createCharacter } from '../../../demos/character.js';
import { createWorld } from '../../../demos/ports/lib/createWorld.js';
import type { Program } from '../../../demos/ports/lib/Program.js';

type State = 'Idle' | 'Walk' | 'Wave';
type Actions = Record<State, AnimationAction>;

class Guard {
  readonly model: Object3D;
  private readonly mixer: AnimationMixer;
  private readonly actions: Actions;
  private current: AnimationAction;
  private readonly to = new Vector3();
  private direction = 1;

  constructor(
    asset: Object3D,
    clips: AnimationClip[],
    private readonly lane: number,
    scene: Scene,
  ) {
    this.model = SkeletonUtils.clone(asset);
    this.mixer = new AnimationMixer(this.model);
    const entries = clips.map((clip): [string, AnimationAction] => [clip.name, this.mixer.clipAction(clip)]);
    this.actions = Object.fromEntries(entries) as Actions;
    this.actions.Wave.setLoop(LoopOnce, 1);
    this.actions.Wave.clampWhenFinished = true;
    this.mixer.addEventListener('finished', this.onFinished);
    this.model.position.set(lane, 0, (lane * 1.7) % 3);
    this.current = this.actions.Idle.play();
    this.walk();
    scene.add(this.model);
  }

  private readonly onFinished = ({ action }: { action: AnimationAction }): void => {
    if (action === this.actions.Wave) this.walk();
  };

  private walk(): void {
    this.direction *= -1;
    this.to.set(this.lane, 0, this.direction * 3);
    this.model.lookAt(this.to);
    this.fadeTo('Walk', 0.3);
  }

  private fadeTo(state: State, duration: number): void {
    const next = this.actions[state];
    if (next === this.current) return;
    next.reset().setEffectiveTimeScale(1).setEffectiveWeight(1).play();
    this.current.crossFadeTo(next, duration, false);
    this.current = next;
  }

  get isWalking(): boolean {
    return this.current.getClip().name === 'Walk';
  }

  update(delta: number): void {
    this.mixer.update(delta);
    if (!this.isWalking) return;
    const way = this.to.clone().sub(this.model.position);
    this.model.position.addScaledVector(way.normalize(), Math.min(1.3 * delta, 3));
    if (this.model.position.distanceTo(this.to) < 0.1) this.fadeTo('Wave', 0.2);
  }
}

export function createGuards(count: number): Program {
  const { scene, camera } = createWorld(8, 0x77865f);
  const { root, clips } = createCharacter({ detail: 0.4 });
  const guards = Array.from({ length: count }, (_, i) => new Guard(root, clips, i - count / 2, scene));
  const update = (delta: number) => {
    for (const guard of guards) guard.update(delta);
  };
  return { scene, camera, update };
}
