import type { Color, Matrix4, Mesh } from 'three';
import { addInstance, deleteInstance, dropDeleted, isVisible, setVisible } from '../crowd/instanceIds.js';
import { checkIndex, type Instances } from '../instances/instanceRange.js';
import { CharacterMesh } from './CharacterMesh.js';
import { type CrowdInstance, createInstance } from './CrowdInstance.js';

const NAME = 'SkinnedInstancedMesh';

/**
 * A crowd's own mesh, whose instances come and go and keep their ids meanwhile, as those of a `BatchedMesh`. An id is what is
 * called the index of an instance everywhere else, and the `instanceId` of events and of what rays hit.
 */
export abstract class IdentityMesh extends CharacterMesh {
  /** Instances that exist: `count` without those that were deleted. */
  get instanceCount(): number {
    return this.visibility.existing;
  }

  /**
   * Adds an instance, which has the identity matrix, plays nothing, is visible, white and wears what the character wears; of an
   * instance that had its id before it has nothing. Nobody else's id changes.
   *
   * @returns Its id: the lowest of those that were deleted, else `count`, which grows by one. When the capacity is reached it is
   * doubled, see {@link CharacterMesh.setCapacity} for what that costs.
   */
  addInstance(): number {
    return addInstance(this.crowd);
  }

  /**
   * Adds an instance, as {@link IdentityMesh.addInstance}, that is an `Object3D` of its own: placed by `position` and the like,
   * with children, anywhere in the scene. Import `skinned-instanced-mesh/objects` for it.
   *
   * @throws If that was not imported.
   */
  createInstance(): CrowdInstance {
    return createInstance(this, `${NAME}.createInstance`);
  }

  /**
   * Deletes an instance: it stops playing, is not drawn, casts no shadow, is not hit by rays, has no events, and nothing that is
   * attached to it shows. Its id may be given out again by {@link IdentityMesh.addInstance}; until then methods given it throw,
   * and pass it over in ranges. Nobody else's id changes, nor does `count`.
   *
   * @throws If there is no such instance, or it was deleted before.
   */
  deleteInstance(id: number): this {
    deleteInstance(this.crowd, id, `${NAME}.deleteInstance`);
    return this;
  }

  /**
   * Shows or hides instances. A hidden one is not drawn, casts no shadow, is not hit by rays, has no events, and nothing that is
   * attached to it shows. Its time goes on: shown again, it is where it would be then. What happened meanwhile is not told of.
   *
   * @throws If there is no such instance, or it was deleted.
   */
  setVisibleAt(instances: Instances, visible: boolean): this {
    setVisible(this.crowd, instances, visible, `${NAME}.setVisibleAt`);
    return this;
  }

  /**
   * Whether an instance is visible, as {@link IdentityMesh.setVisibleAt} has it; no camera is asked.
   *
   * @throws If there is no such instance, or it was deleted.
   */
  getVisibleAt(id: number): boolean {
    return isVisible(this.crowd, id, `${NAME}.getVisibleAt`);
  }

  /**
   * Where an instance stands, relative to the crowd, in `matrix`.
   *
   * @throws If there is no such instance, or it was deleted.
   */
  override getMatrixAt(index: number, matrix: Matrix4): Matrix4 {
    checkIndex(index, this.visibility, `${NAME}.getMatrixAt`);
    // The oldest three.js that is supported returns nothing, here and in `getColorAt`.
    super.getMatrixAt(index, matrix);
    return matrix;
  }

  /**
   * The colour that an instance's materials are multiplied by, in `color`.
   *
   * @throws If there is no such instance, or it was deleted.
   */
  override getColorAt(index: number, color: Color): Color {
    checkIndex(index, this.visibility, `${NAME}.getColorAt`);
    super.getColorAt(index, color);
    return color;
  }

  /**
   * The morph influences that `setMorphAt` gave an instance, in `object.morphTargetInfluences`.
   *
   * @throws If there is no such instance, or it was deleted.
   */
  override getMorphAt(index: number, object: Mesh): void {
    checkIndex(index, this.visibility, `${NAME}.getMorphAt`);
    super.getMorphAt(index, object);
  }

  /**
   * Lets `count` fall past instances at its end that were deleted, so that {@link CharacterMesh.setCapacity} can give room back,
   * and looks anew which instances stand near each other, which cameras and rays ask group by group. For after many have come,
   * gone or moved far; nobody's id changes.
   */
  optimize(): this {
    dropDeleted(this.crowd);
    return this;
  }
}
