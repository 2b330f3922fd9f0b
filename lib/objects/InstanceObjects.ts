import type { Object3D } from 'three';
import { rootOf } from '../core/drawnCrowds.js';
import type { SkinnedInstancedMesh } from '../crowd/SkinnedInstancedMesh.js';
import type { PlaybackEvent } from '../playback/PlaybackEvents.js';
import type { CrowdIntersection } from '../queries/raycastCrowd.js';
import { warnOnce } from '../utils/messages.js';
import type { InstanceBones } from './InstanceBones.js';
import { adoptPlace, InstancePlacement, type PlacedObject } from './InstancePlacement.js';

/** Fewer instances that are in no scene are no cause for a warning. */
const MANY_LOST = 64;

/** Which object stands for which instance of a crowd. Objects follow their instances when these get other ids. */
export class InstanceObjects {
  /** By the id of the instance. */
  readonly byId: (PlacedObject | null)[] = [];
  readonly placement: InstancePlacement;
  readonly presence: InstancePresence;
  /** Bones that code has written to, see `InstanceBones.advanced`. */
  readonly written: Set<InstanceBones> = new Set();
  /** By type of event the object that got a listener last, or was found to have one. */
  private readonly listeners = new Map<string, PlacedObject>();

  constructor(private readonly mesh: SkinnedInstancedMesh) {
    this.placement = new InstancePlacement(mesh);
    this.presence = new InstancePresence(mesh);
  }

  /** Adds an instance. Warns if there is made room for it although as many objects are in no scene, but were not disposed. */
  addInstance(): number {
    const { capacity } = this.mesh;
    const id = this.mesh.addInstance();
    if (capacity < MANY_LOST || this.mesh.capacity === capacity) return id;
    const lost = this.byId.filter((object) => object !== null && object.parent === null).length;
    if (lost > capacity / 2)
      warnOnce(
        'SkinnedInstance: a crowd grows although most of its instances were removed from the scene; call dispose() of those that do not come back.',
      );
    return id;
  }

  /** Has an object stand for an instance. */
  add(id: number, object: PlacedObject): void {
    while (this.byId.length <= id) this.byId.push(null);
    this.byId[id] = object;
    object.instanceId = id;
  }

  /** The object that stands for an instance; null if none does. */
  objectOf(id: number): PlacedObject | null {
    return this.byId[id] ?? null;
  }

  /** Call when an object got a listener for a type of event, which the crowd looks for only while somebody listens. */
  listened(type: string, object: PlacedObject): void {
    this.listeners.set(type, object);
  }

  hasListeners(type: string): boolean {
    const known = this.listeners.get(type);
    if (known === undefined) return false;
    if (known.instanceId >= 0 && known.isListenedTo(type)) return true;
    this.listeners.delete(type);
    const other = this.byId.find((object) => object?.isListenedTo(type));
    if (other) this.listened(type, other);
    return this.listeners.has(type);
  }

  resize(capacity: number): void {
    for (let id = capacity; id < this.byId.length; id++) this.deleted(id);
  }

  swap(i: number, j: number): void {
    const one = this.objectOf(i);
    const other = this.objectOf(j);
    this.set(j, one);
    this.set(i, other);
  }

  /** A new instance has the id now, for which the object does not stand. */
  reset(id: number): void {
    this.deleted(id);
  }

  /** Objects stay with the crowd that made them: a copy of it has the same instances, and no objects for them. */
  copy(): void {}

  deleted(id: number): void {
    const object = this.objectOf(id);
    if (object === null) return;
    this.byId[id] = null;
    object.instanceId = -1;
    this.presence.remove(object);
    object.lost();
  }

  returned(start: number, end: number): void {
    for (let id = start; id < Math.min(end, this.byId.length); id++) {
      if (this.objectOf(id)?.isShown === false) this.mesh.crowd.setVisible(id, false);
    }
  }

  copied(): void {
    const { mesh, placement } = this;
    placement.placeAllChanged();
    for (const object of this.byId) {
      if (object === null) continue;
      if (mesh.visibility.isDeleted(object.instanceId)) this.deleted(object.instanceId);
      else this.placed(object.instanceId);
    }
  }

  placed(id: number): void {
    const object = this.objectOf(id);
    if (object !== null) adoptPlace(object, this.mesh, this.placement, true);
  }

  beforeMove(): void {
    this.placement.placeAllChanged();
  }

  afterMove(): void {
    for (const object of this.byId) if (object !== null) adoptPlace(object, this.mesh, this.placement, false);
  }

  mayHit(id: number, mesh: Object3D, intersects: readonly CrowdIntersection[]): boolean {
    const object = this.objectOf(id);
    return object === null || !intersects.some((hit) => hit.object === object && hit.mesh === mesh);
  }

  advanced(): void {
    for (const bones of this.written) if (!bones.advanced()) this.written.delete(bones);
  }

  notify(object: Object3D, event: PlaybackEvent): void {
    (object as PlacedObject).notified(event);
  }

  dispose(): void {
    for (let id = 0; id < this.byId.length; id++) if (this.byId[id] !== null) this.mesh.crowd.delete(id);
  }

  private set(id: number, object: PlacedObject | null): void {
    if (object !== null) this.add(id, object);
    else if (id < this.byId.length) this.byId[id] = null;
  }
}

/**
 * Shows the instances whose objects are in the scene of the crowd and visible, as everything above them is. Nobody is told when an
 * ancestor is hidden or removed, so objects that have another parent than the home are looked after in each frame.
 */
export class InstancePresence {
  private readonly elsewhere = new Set<PlacedObject>();

  constructor(private readonly mesh: SkinnedInstancedMesh) {}

  /**
   * Call when `visible` of an object was set, or it has another parent.
   *
   * @param always Whether the crowd is told although it was told the same before.
   */
  changed(object: PlacedObject, home: Object3D, always: boolean): void {
    const { parent } = object;
    if (parent === null || parent === home) this.elsewhere.delete(object);
    else this.elsewhere.add(object);
    const shown = parent === home ? object.visible : seenFrom(object) === rootOf(this.mesh);
    this.show(object, shown, always);
  }

  /** Call in each frame. */
  update(): void {
    if (this.elsewhere.size === 0) return;
    const root = rootOf(this.mesh);
    let parent: Object3D | null = null;
    let above: Object3D | null = null;
    for (const object of this.elsewhere) {
      // As a rule those that follow each other have the same parent.
      if (object.parent !== parent) {
        parent = object.parent as Object3D;
        above = seenFrom(parent);
      }
      const from = object.visible ? above : null;
      this.show(object, from === root);
      if (from !== root && isScene(from) && isScene(root))
        warnOnce(
          `SkinnedInstance: "${object.name}" is in another scene than its crowd, so it is not drawn; make a crowd of the same character in that scene.`,
        );
    }
  }

  /** Forgets an object whose instance is no more. */
  remove(object: PlacedObject): void {
    this.elsewhere.delete(object);
  }

  private show(object: PlacedObject, shown: boolean, always = false): void {
    if (object.isShown === shown && !always) return;
    object.isShown = shown;
    if (object.instanceId >= 0) this.mesh.crowd.setVisible(object.instanceId, shown);
  }
}

const isScene = (object: Object3D | null): boolean =>
  (object as { isScene?: boolean } | null)?.isScene === true;

/** What is above all that is above an object; null if it, or anything of that, is hidden. */
function seenFrom(object: Object3D): Object3D | null {
  let above = object;
  for (;;) {
    if (!above.visible) return null;
    if (above.parent === null) return above;
    above = above.parent;
  }
}
