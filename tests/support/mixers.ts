import {
  type AnimationAction,
  type AnimationClip,
  AnimationMixer,
  LoopRepeat,
  type Mesh,
  type Object3D,
  Vector3,
} from 'three';
import { SkeletonUtils } from 'three-stdlib';
import type { SkinnedInstancedMesh } from './library.js';
import { drawnMeshes } from './reference.js';

/** How an action's weight goes from one to another, as a crowd does it; a mixer takes weights as they are set. */
interface Ramp {
  from: number;
  to: number;
  start: number;
  seconds: number;
}

/** A crowd and in the place of each instance a clone with a mixer, to which the same is done. */
export class Mixers {
  readonly clones: Object3D[];
  readonly mixers: AnimationMixer[];
  protected readonly ramps: Map<AnimationAction, Ramp>[];
  private now = 0;

  constructor(
    readonly crowd: SkinnedInstancedMesh,
    root: Object3D,
    private readonly clips: readonly AnimationClip[],
  ) {
    this.clones = Array.from({ length: crowd.count }, () => SkeletonUtils.clone(root) as Object3D);
    this.mixers = this.clones.map((clone) => new AnimationMixer(clone));
    this.ramps = this.clones.map(() => new Map());
  }

  /** Plays a clip beside others. */
  play(index: number, clip: number, weight: number, fade: number, time: number): void {
    const { name } = this.clips[clip];
    const before = this.crowd.getWeightAt(index, name);
    this.crowd.play(index, name, { weight, fade, time });
    const action = this.actionOf(index, clip).reset().setLoop(LoopRepeat, Infinity).play();
    action.time = time;
    this.ramp(index, action, before, weight, fade);
  }

  /** Plays a clip in the place of all others. */
  replace(index: number, clip: number, fade: number, time: number): void {
    const { name } = this.clips[clip];
    for (const [action, ramp] of this.ramps[index])
      this.ramp(index, action, weightOf(ramp, this.now), 0, fade);
    this.crowd.play(index, name, { fade, time });
    const action = this.actionOf(index, clip).reset().setLoop(LoopRepeat, Infinity).play();
    action.time = time;
    this.ramp(index, action, 0, 1, fade);
  }

  setWeight(index: number, clip: number, weight: number, fade: number): void {
    const { name } = this.clips[clip];
    const before = this.crowd.getWeightAt(index, name);
    this.crowd.setWeightAt(index, name, weight, { fade });
    this.ramp(index, this.actionOf(index, clip), before, weight, fade);
  }

  /** Clips that an instance plays, as the mixer has them. */
  playing(index: number): number[] {
    const actions = [...this.ramps[index].keys()];
    return actions.map((action) => this.clips.findIndex(({ name }) => name === action.getClip().name));
  }

  update(delta: number): void {
    this.now += delta;
    this.crowd.update(delta);
    this.mixers.forEach((mixer, i) => {
      for (const [action, ramp] of this.ramps[i]) {
        action.setEffectiveWeight(weightOf(ramp, this.now));
        if (ramp.to > 0 || this.now < ramp.start + ramp.seconds) continue;
        action.stop();
        this.ramps[i].delete(action);
      }
      mixer.update(delta);
    });
  }

  weightOf(index: number, clip: number): number {
    const ramp = this.ramps[index].get(this.actionOf(index, clip));
    return ramp === undefined ? 0 : weightOf(ramp, this.now);
  }

  /** How far vertices are from where three.js has them, at most. */
  worst(where: (index: number, vertex: number, target: Vector3) => Vector3, step = 1): number {
    const distances = this.clones.map((clone, index) =>
      farthestVertex(clone, step, (vertex, target) => where(index, vertex, target)),
    );
    return Math.max(...distances);
  }

  private actionOf(index: number, clip: number): AnimationAction {
    return this.mixers[index].clipAction(this.clips[clip]);
  }

  private ramp(index: number, action: AnimationAction, from: number, to: number, seconds: number): void {
    this.ramps[index].set(action, { from: seconds > 0 ? from : to, to, start: this.now, seconds });
  }
}

function weightOf({ from, to, start, seconds }: Ramp, now: number): number {
  return seconds > 0 ? from + (to - from) * Math.min((now - start) / seconds, 1) : to;
}

/** How far a vertex is from where it is on a clone that stands where the instance does, at most. */
export function farthestVertex(
  clone: Object3D,
  step: number,
  where: (vertex: number, target: Vector3) => Vector3,
): number {
  let worst = 0;
  const expected = new Vector3();
  const actual = new Vector3();
  clone.matrix.identity();
  clone.matrixAutoUpdate = false;
  clone.updateMatrixWorld(true);
  let first = 0;
  for (const mesh of drawnMeshes(clone) as Mesh[]) {
    const { count } = mesh.geometry.getAttribute('position');
    for (let vertex = 0; vertex < count; vertex += step) {
      mesh.getVertexPosition(vertex, expected).applyMatrix4(mesh.matrixWorld);
      worst = Math.max(worst, where(first + vertex, actual).distanceTo(expected));
    }
    first += count;
  }
  return worst;
}
