import { Matrix4, Object3D } from 'three';
import type { SkinnedInstancedMeshEventMap } from '../objects/crowdTypes.js';
import type { SkinnedInstancedMesh } from '../objects/SkinnedInstancedMesh.js';
import { InstanceHome } from './InstanceHome.js';

/** Events of an instance, those of its crowd that are about it; none costs anything while nobody listens to it. */
export interface SkinnedInstanceEventMap extends SkinnedInstancedMeshEventMap {}

const _matrix = /*@__PURE__*/ new Matrix4();

/**
 * An instance of a crowd that is an object of its own, as a `SkinnedMesh` would be: placed by `position`, `rotation` and `scale`,
 * with children, anywhere in the scene.
 *
 * It begins as a child of its crowd, and is drawn at once. In the crowd it is one of the instances, known there by
 * {@link SkinnedInstance.instanceId}.
 */
export class SkinnedInstance extends Object3D<SkinnedInstanceEventMap> {
  override readonly type: string = 'SkinnedInstance';
  /** For type testing. */
  readonly isSkinnedInstance = true;
  /**
   * Which instance of the crowd it is: what is called an index or id everywhere else, also in events and hits of rays. It is
   * another one after `swapInstances`, and -1 after `dispose`. `id` is the object's own, as every `Object3D` has it.
   */
  instanceId = -1;

  /** @param crowd Of which it becomes an instance. */
  constructor(readonly crowd: SkinnedInstancedMesh) {
    super();
    const home = InstanceHome.of(crowd);
    home.objects.add(crowd.addInstance(), this);
    home.add(this);
  }

  override updateMatrixWorld(force?: boolean): void {
    super.updateMatrixWorld(force);
    const { crowd, instanceId } = this;
    if (instanceId < 0) return;
    _matrix.copy(crowd.matrixWorld).invert().multiply(this.matrixWorld);
    crowd.setMatrixAt(instanceId, _matrix);
    crowd.crowd.places.moved();
  }

  /** Lets the instance be no more, and gives its id back. The object stays where it is in the scene; remove it as any other. */
  dispose(): this {
    if (this.instanceId >= 0) this.crowd.deleteInstance(this.instanceId);
    return this;
  }

  /** @internal */
  replaced(): void {}
}
