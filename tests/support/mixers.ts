import {
  type AnimationAction,
  type AnimationClip,
  AnimationMixer,
  LoopRepeat,
  type Mesh,
  type Object3D,
  PropertyBinding,
  type Vector3,
} from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { layersOf } from './features.js';
import type { SkinnedInstancedMesh } from './library.js';
import { farthestVertex } from './reference.js';

/** How a weight goes from one to another; a mixer takes weights as they are set. */
interface Ramp {
  from: number;
  to: number;
  start: number;
  seconds: number;
}

/** A layer as the crowd has it, with the joint from which on it shows, null for all of it, and how much it shows at first. */
export interface MixedOver {
  name: string;
  from: string | null;
  weight?: number;
}

/** A clone of the character, and a mixer that plays one layer of one instance over what the clone was given before. */
interface Stage {
  clone: Object3D;
  mixer: AnimationMixer;
  ramps: Map<AnimationAction, Ramp>;
  weight: Ramp;
}

/**
 * A crowd, and in the place of each instance a clone with a mixer, to which the same is done; with layers, a clone and a mixer for
 * each. Each mixer begins with the pose that the layers below it have come to: what its actions leave of 1 is that. Layers with
 * masks play clips without the other tracks. The weight of a layer is a factor of those of its actions.
 */
export class Mixers {
  /** By instance, the base and each layer. */
  protected readonly stages: Stage[][];
  private readonly clips: AnimationClip[][];
  private now = 0;

  constructor(
    public crowd: SkinnedInstancedMesh,
    root: Object3D,
    clips: readonly AnimationClip[],
    layers: readonly MixedOver[] = [],
  ) {
    const all: MixedOver[] = [{ name: 'base', from: null }, ...layers];
    this.clips = all.map(({ from }) =>
      clips.map((clip) => (from === null ? clip : tracksBelow(clip, root, from))),
    );
    this.stages = Array.from({ length: crowd.count }, () =>
      all.map(({ weight = 1 }) => {
        const clone = SkeletonUtils.clone(root);
        return { clone, mixer: new AnimationMixer(clone), ramps: new Map(), weight: still(weight) };
      }),
    );
  }

  /** The clones that stand as the instances do. */
  get clones(): Object3D[] {
    return this.stages.map((stages) => stages[stages.length - 1].clone);
  }

  /** Plays a clip beside others. */
  play(index: number, clip: number, weight: number, fade: number, time: number, layer = 0): void {
    const { name } = this.clips[0][clip];
    this.crowd.play(index, name, { weight, fade, time, ...on(layer) });
    this.start(index, layer, clip, weight, fade, time);
  }

  /** Plays a clip in the place of all others on a layer. */
  replace(index: number, clip: number, fade: number, time: number, layer = 0): void {
    this.fadeOut(index, layer, fade);
    this.crowd.play(index, this.clips[0][clip].name, { fade, time, restart: true, ...on(layer) });
    this.start(index, layer, clip, 1, fade, time);
  }

  /** Stops what plays; what fades out already goes on doing so. */
  stop(index: number, fade: number, layer = 0): void {
    const ramps = [...this.stages[index][layer].ramps.values()];
    if (fade === 0 || ramps.some(({ to }) => to > 0)) this.fadeOut(index, layer, fade);
    this.crowd.stop(index, { fade, layer });
  }

  setWeight(index: number, clip: number, weight: number, fade: number, layer = 0): void {
    const { ramps } = this.stages[index][layer];
    this.crowd.setWeightAt(index, this.clips[0][clip].name, weight, { fade, ...on(layer) });
    const action = this.actionOf(index, layer, clip);
    ramps.set(action, this.ramp(weightAt(ramps.get(action) ?? still(0), this.now), weight, fade));
  }

  setLayerWeight(index: number, layer: number, weight: number, fade: number): void {
    const stage = this.stages[index][layer];
    layersOf(this.crowd).setWeightAt(index, layer, weight, { fade });
    stage.weight = this.ramp(weightAt(stage.weight, this.now), weight, fade);
  }

  /** Clips that an instance plays on a layer, as the mixer has them. */
  playing(index: number, layer = 0): number[] {
    return [...this.stages[index][layer].ramps.keys()].map((action) =>
      this.clips[layer].findIndex(({ name }) => name === action.getClip().name),
    );
  }

  /** The most that the weights on a layer come to. */
  mostWeight(index: number, layer: number, except = -1): number {
    let sum = 0;
    for (const [action, { from, to }] of this.stages[index][layer].ramps) {
      if (action.getClip().name !== this.clips[layer][except]?.name) sum += Math.max(from, to);
    }
    return sum;
  }

  weightOf(index: number, clip: number, layer = 0): number {
    const ramp = this.stages[index][layer].ramps.get(this.actionOf(index, layer, clip));
    return ramp === undefined ? 0 : weightAt(ramp, this.now);
  }

  layerWeightOf(index: number, layer: number): number {
    return weightAt(this.stages[index][layer].weight, this.now);
  }

  swap(i: number, j: number): void {
    const { stages } = this;
    this.crowd.swapInstances(i, j);
    [stages[i], stages[j]] = [stages[j], stages[i]];
  }

  update(delta: number): void {
    this.now += delta;
    this.crowd.update(delta);
    for (const stages of this.stages) {
      stages.forEach((stage, layer) => {
        if (layer > 0) {
          copyPose(stages[layer - 1].clone, stage.clone);
          keepAsOriginal(stage.mixer);
        }
        this.advance(stage, delta);
      });
    }
  }

  /** How far vertices are from where three.js has them, at most. */
  worst(where: (index: number, vertex: number, target: Vector3) => Vector3, step = 1): number {
    const distances = this.clones.map((clone, index) =>
      farthestVertex(standStill(clone), (vertex, target) => where(index, vertex, target), step),
    );
    return Math.max(...distances);
  }

  private start(
    index: number,
    layer: number,
    clip: number,
    weight: number,
    fade: number,
    time: number,
  ): void {
    const action = this.actionOf(index, layer, clip).reset().setLoop(LoopRepeat, Infinity).play();
    action.time = time;
    this.stages[index][layer].ramps.set(action, this.ramp(0, weight, fade));
  }

  private fadeOut(index: number, layer: number, fade: number): void {
    const { ramps } = this.stages[index][layer];
    for (const [action, ramp] of ramps) ramps.set(action, this.ramp(weightAt(ramp, this.now), 0, fade));
  }

  private advance({ mixer, ramps, weight }: Stage, delta: number): void {
    for (const [action, ramp] of ramps) {
      action.setEffectiveWeight(weightAt(ramp, this.now) * weightAt(weight, this.now));
      if (ramp.to > 0 || this.now < ramp.start + ramp.seconds) continue;
      action.stop();
      ramps.delete(action);
    }
    mixer.update(delta);
  }

  private actionOf(index: number, layer: number, clip: number): AnimationAction {
    return this.stages[index][layer].mixer.clipAction(this.clips[layer][clip]);
  }

  private ramp(from: number, to: number, seconds: number): Ramp {
    return { from: seconds > 0 ? from : to, to, start: this.now, seconds };
  }
}

const on = (layer: number) => (layer > 0 ? { layer } : {});

const still = (weight: number): Ramp => ({ from: weight, to: weight, start: 0, seconds: 0 });

function weightAt({ from, to, start, seconds }: Ramp, now: number): number {
  return seconds > 0 ? from + (to - from) * Math.min((now - start) / seconds, 1) : to;
}

/** Has a clone stand where an instance without a matrix does. */
export function standStill(clone: Object3D): Object3D {
  clone.matrix.identity();
  clone.matrixAutoUpdate = false;
  clone.updateMatrixWorld(true);
  return clone;
}

/** A clip without the tracks of what is not a node or anything below it. */
export function tracksBelow(clip: AnimationClip, root: Object3D, from: string): AnimationClip {
  const names = new Set<string>();
  root.getObjectByName(from)?.traverse(({ name }) => names.add(name));
  const filtered = clip.clone();
  filtered.blendMode = clip.blendMode;
  filtered.tracks = filtered.tracks.filter(({ name }) => {
    const { nodeName, propertyName } = PropertyBinding.parseTrackName(name);
    return names.has(nodeName) && propertyName !== 'morphTargetInfluences';
  });
  return filtered;
}

function copyPose(from: Object3D, to: Object3D): void {
  to.position.copy(from.position);
  to.quaternion.copy(from.quaternion);
  to.scale.copy(from.scale);
  const influences = (from as Mesh).morphTargetInfluences;
  if (influences !== undefined)
    (to as Mesh).morphTargetInfluences?.splice(0, influences.length, ...influences);
  from.children.forEach((child, i) => copyPose(child, to.children[i]));
}

/** Lets a mixer mix its actions with what its object shows now, in the place of what it showed when they began. */
function keepAsOriginal(mixer: AnimationMixer): void {
  const { _bindings, _nActiveBindings } = mixer as unknown as {
    _bindings: { saveOriginalState(): void }[];
    _nActiveBindings: number;
  };
  for (let i = 0; i < _nActiveBindings; i++) _bindings[i].saveOriginalState();
}
