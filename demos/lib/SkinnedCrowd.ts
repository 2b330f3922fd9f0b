import { type AnimationClip, AnimationMixer, Group, type Object3D, type SkinnedMesh } from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { partOf, placeOf } from './plan.js';

/** Clones made per frame while a crowd grows: making thousands takes seconds. */
const CLONES_PER_FRAME = 60;

/** The crowd as three.js has it: a clone of the character, or of one of several that differ in looks, and an AnimationMixer for each figure. */
export class SkinnedCrowd extends Group {
  private readonly mixers: AnimationMixer[] = [];

  constructor(
    private readonly sources: readonly Object3D[],
    private readonly clips: readonly AnimationClip[],
    private readonly size: number,
  ) {
    super();
  }

  get count(): number {
    return this.children.length;
  }

  /** Comes closer to `count` figures; those that join are as far into their clips as `elapsed` seconds bring them. */
  resize(count: number, elapsed: number): void {
    while (this.count > count) this.removeLast();
    for (let made = 0; this.count < count && made < CLONES_PER_FRAME; made++) this.addOne(elapsed);
  }

  /** Poses every figure. */
  update(delta: number): void {
    for (const mixer of this.mixers) mixer.update(delta);
  }

  dispose(): void {
    while (this.count > 0) this.removeLast();
  }

  private addOne(elapsed: number): void {
    const index = this.count;
    const clone = SkeletonUtils.clone(this.sources[index % this.sources.length]);
    const mixer = new AnimationMixer(clone);
    const { clip, time, timeScale } = partOf(index, this.clips.length);
    const action = mixer.clipAction(this.clips[clip]);
    action.timeScale = timeScale;
    action.time = time;
    action.play();
    mixer.update(elapsed);

    clone.matrixAutoUpdate = false;
    placeOf(index, this.size, clone.matrix);
    this.mixers.push(mixer);
    this.add(clone);
  }

  private removeLast(): void {
    const clone = this.children[this.count - 1];
    const mixer = this.mixers.pop();
    mixer?.stopAllAction();
    mixer?.uncacheRoot(clone);
    clone.traverse((node) => (node as SkinnedMesh).skeleton?.dispose());
    this.remove(clone);
  }
}
