import type { Object3D } from 'three';
import type { SkinnedInstancedMesh } from '../objects/SkinnedInstancedMesh.js';

/** An object whose instance is shown where it can be seen. */
export interface PresentObject extends Object3D {
  readonly instanceId: number;
  /** Whether the instance was last told to be visible. */
  isShown: boolean;
}

/**
 * Shows the instances whose objects are in the scene of the crowd and visible, as everything above them is. Nobody is told when an
 * ancestor is hidden or removed, so objects that have another parent than the home are looked after in each frame.
 */
export class InstancePresence {
  private readonly elsewhere = new Set<PresentObject>();

  constructor(private readonly mesh: SkinnedInstancedMesh) {}

  /**
   * Call when `visible` of an object was set, or it has another parent.
   *
   * @param always Whether the crowd is told although it was told the same before.
   */
  changed(object: PresentObject, home: Object3D, always: boolean): void {
    const { parent } = object;
    if (parent === null || parent === home) this.elsewhere.delete(object);
    else this.elsewhere.add(object);
    this.show(object, parent === home ? object.visible : isSeenFrom(rootOf(this.mesh), object), always);
  }

  /** Call in each frame. */
  update(): void {
    if (this.elsewhere.size === 0) return;
    const root = rootOf(this.mesh);
    for (const object of this.elsewhere) this.show(object, isSeenFrom(root, object));
  }

  /** Forgets an object whose instance is no more. */
  remove(object: PresentObject): void {
    this.elsewhere.delete(object);
  }

  private show(object: PresentObject, shown: boolean, always = false): void {
    if (object.isShown === shown && !always) return;
    object.isShown = shown;
    if (object.instanceId >= 0) this.mesh.crowd.setVisible(object.instanceId, shown);
  }
}

function rootOf(object: Object3D): Object3D {
  let root = object;
  while (root.parent !== null) root = root.parent;
  return root;
}

/** Whether an object is in the tree below `root`, and neither it nor anything above it is hidden. */
function isSeenFrom(root: Object3D, object: Object3D): boolean {
  let above: Object3D = object;
  for (;;) {
    if (!above.visible) return false;
    if (above.parent === null) return above === root;
    above = above.parent;
  }
}
