import { Object3D } from 'three';
import type { ActionDriver } from '../actions/ActionDriver.js';
import type { SkinnedInstancedMesh } from '../crowd/SkinnedInstancedMesh.js';
import { isInstanceBone } from './InstanceBones.js';
import { InstanceObjects, type PlacedObject } from './InstanceObjects.js';

/** That of an instance would make its bones: all are met or none, whether or not somebody has asked for them. */
function traverseButBones(object: Object3D, callback: (object: Object3D) => void): void {
  if (!isInstanceBone(object)) callback(object);
  for (const child of object.children) {
    if (isInstanceBone(child)) traverseButBones(child, callback);
    else child.traverse(callback);
  }
}

/**
 * Where the objects of a crowd's instances begin: a child of the crowd, at its origin. Of the objects in it only those are among
 * its `children` that have children themselves, so that neither three.js's walk for matrices nor a renderer's for what it
 * draws visits thousands that stand still. `traverse` and `getObjectByName` find them all.
 */
export class InstanceHome extends Object3D {
  override readonly type: string = 'InstanceHome';
  /** For type testing. */
  readonly isInstanceHome = true;
  readonly objects: InstanceObjects;
  /** Callbacks of `traverse`, and lists of what was found, by which somebody searches the crowd itself, which is a mesh. */
  readonly metBy = new WeakSet<object>();

  /** The home of a crowd's objects, which is made when it is first asked for. */
  static of(mesh: SkinnedInstancedMesh): InstanceHome {
    const { objects } = mesh.crowd;
    let home = (objects as InstanceObjects | null)?.home as InstanceHome | undefined;
    if (home === undefined) {
      home = new InstanceHome(mesh);
      mesh.crowd.objects = home.objects;
      mesh.crowd.data.push(home.objects);
      home.takeFromCrowd();
    }
    if (home.parent !== mesh) mesh.add(home);
    return home;
  }

  constructor(readonly mesh: SkinnedInstancedMesh) {
    super();
    this.objects = new InstanceObjects(mesh, this);
    // It is always where the crowd is.
    this.matrixAutoUpdate = false;
    this.matrixWorld = mesh.matrixWorld;
  }

  /** Brings objects home that are added to the crowd itself, and lets it remove those that are at home. */
  private takeFromCrowd(): void {
    const { mesh } = this;
    mesh.addEventListener('childadded', ({ child }) => {
      if (this.isMine(child)) this.add(child);
    });
    const { remove } = mesh;
    mesh.remove = (...removed: Object3D[]) => {
      for (const object of removed) {
        if (object.parent === this && this.isMine(object)) this.remove(object);
        else remove.call(mesh, object);
      }
      return mesh;
    };
  }

  override add(...added: Object3D[]): this {
    for (const object of added) {
      if (!this.isMine(object)) {
        super.add(object);
        continue;
      }
      object.removeFromParent();
      object.parent = this;
      this.relist(object);
      object.dispatchEvent({ type: 'added' });
      this.dispatchEvent({ type: 'childadded', child: object });
    }
    return this;
  }

  override remove(...removed: Object3D[]): this {
    for (const object of removed) {
      if (!this.isMine(object) || object.parent !== this) {
        super.remove(object);
        continue;
      }
      object.parent = null;
      this.unlist(object);
      object.dispatchEvent({ type: 'removed' });
      this.dispatchEvent({ type: 'childremoved', child: object });
    }
    return this;
  }

  override attach(object: Object3D): this {
    super.attach(object);
    if (!this.isMine(object)) return this;
    // Object3D.attach has listed it.
    object.isListed = true;
    this.relist(object);
    return this;
  }

  override clear(): this {
    return this.remove(...this.below());
  }

  /** Call when an object became busy, or is so no longer. */
  relist(object: PlacedObject): void {
    if (object.parent !== this || object.isListed === object.isBusy) return;
    if (object.isListed) {
      this.unlist(object);
    } else {
      object.isListed = true;
      this.children.push(object);
    }
  }

  override updateMatrixWorld(force?: boolean): void {
    const { objects, mesh } = this;
    (mesh.crowd.playback.driver as ActionDriver | null)?.meetAll(mesh);
    mesh.crowd.places.settle();
    const moved = objects.update();
    super.updateMatrixWorld(force || moved);
  }

  override traverse(callback: (object: Object3D) => void): void {
    this.metBy.add(callback);
    callback(this);
    for (const object of this.below()) {
      if (this.isMine(object)) traverseButBones(object, callback);
      else object.traverse(callback);
    }
  }

  override traverseVisible(callback: (object: Object3D) => void): void {
    if (!this.visible) return;
    callback(this);
    for (const object of this.below()) object.traverseVisible(callback);
  }

  override getObjectByProperty(name: string, value: unknown): Object3D | undefined {
    if (this[name as keyof this] === value) return this;
    for (const object of this.below()) {
      const found = object.getObjectByProperty(name, value);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  override getObjectsByProperty(name: string, value: unknown, result: Object3D[] = []): Object3D[] {
    this.metBy.add(result);
    if (this[name as keyof this] === value) result.push(this);
    for (const object of this.below()) object.getObjectsByProperty(name, value, result);
    return result;
  }

  /**
   * A copy of a crowd gets a home of its own once it has objects. The copy of this one has plain objects in the places of those that
   * have children, with copies of these.
   */
  override clone(recursive = true): this {
    const copy = new Object3D();
    for (const child of recursive ? this.children : []) {
      copy.add(Object3D.prototype.copy.call(new Object3D(), child, true));
    }
    return copy as this;
  }

  /** Everything whose parent this is, also what is not among `children`. */
  private below(): Object3D[] {
    const atHome = this.objects.byId.filter((object) => object?.isAtHome === true) as PlacedObject[];
    return [...atHome, ...this.children.filter((child) => !this.isMine(child))];
  }

  private isMine(object: Object3D): object is PlacedObject {
    return (object as PlacedObject).home === this;
  }

  private unlist(object: PlacedObject): void {
    if (!object.isListed) return;
    object.isListed = false;
    this.children.splice(this.children.indexOf(object), 1);
  }
}
