import { Matrix4, type Object3D } from 'three';
import { keepPose } from './keepObject.js';
import { updateWorld } from './MeshSampler.js';

/**
 * The pose that an object has when this is made. Others may move and pose the object in the breaks of a bake by clips: each frame begins
 * with this pose, and leaves theirs. Code of the user's may go on from its last frame, so that its frames begin with that.
 */
export class RestPose {
  /** Inverse of the root's world matrix in this pose, below whatever it stands now. */
  readonly toRoot = new Matrix4();
  private readonly take: (() => void) | null;
  private giveBack: (() => void) | null = null;

  constructor(
    private readonly object: Object3D,
    byCode: boolean,
  ) {
    this.take = byCode ? null : keepPose(object);
  }

  /** Poses the object so. */
  pose(): void {
    const { object, take } = this;
    if (take === null) updateWorld(object);
    else {
      this.giveBack = keepPose(object);
      take();
    }
    this.toRoot.copy(object.matrixWorld).invert();
  }

  /** Poses the object as it was before. */
  release(): void {
    this.giveBack?.();
    this.giveBack = null;
  }
}
