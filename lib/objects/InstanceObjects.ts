import { Matrix4, type Object3D, Quaternion, Vector3 } from 'three';
import type { SkinnedInstanceEventMap } from '../actions/InstanceMixer.js';
import { rootOf } from '../core/drawnCrowds.js';
import { isFinitePlace } from '../crowd/checkMatrix.js';
import type { SkinnedInstancedMesh } from '../crowd/SkinnedInstancedMesh.js';
import type { PlaybackEvent } from '../playback/PlaybackEvents.js';
import type { CrowdIntersection } from '../queries/raycastCrowd.js';
import { warnOnce } from '../utils/messages.js';

/** What a crowd asks of an object that places one of its instances. */
export interface PlacedObject extends Object3D<SkinnedInstanceEventMap> {
  readonly crowd: SkinnedInstancedMesh;
  /** Where the objects of the crowd's instances begin. */
  readonly home: Object3D;
  instanceId: number;
  /** Whether its parent is the home, which stands where the crowd stands. */
  readonly isAtHome: boolean;
  /** Whether it has children, or is placed by other means than position, rotation and scale. */
  readonly isBusy: boolean;
  /** Whether it is among the `children` of the home. */
  isListed: boolean;
  /** Whether position, rotation or scale are others than those that `matrix` was composed of. */
  readonly isStale: boolean;
  /** Whether it is in the list of those that have changed. */
  isQueued: boolean;
  /** Whether the instance was last told to be visible. */
  isShown: boolean;
  /** `matrixWorld` as it was when the instance was placed by it; null before, and while nobody needs to compare. */
  placedAt: Matrix4 | null;
  /** Called when its instance is no more. */
  lost(): void;
  /** Whether anyone is to hear of a type of event. */
  isListenedTo(type: string): boolean;
  /** Called when something happened to what its instance plays. */
  notified(event: PlaybackEvent): void;
}

/** Fewer instances that are in no scene are no cause for a warning. */
const MANY_LOST = 64;
/** Scales that differ by less than this share are the same: instances are kept in float32. */
const SAME_SCALE = 1e-5;

const _inCrowd = /*@__PURE__*/ new Matrix4();
const _matrix = /*@__PURE__*/ new Matrix4();
const _parent = /*@__PURE__*/ new Matrix4();
const _position = /*@__PURE__*/ new Vector3();
const _quaternion = /*@__PURE__*/ new Quaternion();
const _scale = /*@__PURE__*/ new Vector3();

/**
 * Which object stands for which instance of a crowd. Objects follow their instances when these get other ids; their places, and whether
 * they are seen, are carried over to their instances. Of the places it looks at those only that have changed.
 */
export class InstanceObjects {
  /** By the id of the instance. */
  readonly byId: (PlacedObject | null)[] = [];
  /** Bones that code has written to, see `InstanceBones.advanced`. */
  readonly written: Set<{ advanced(): boolean }> = new Set();
  /** By type of event the object that got a listener last, or was found to have one. */
  private readonly listeners = new Map<string, PlacedObject>();
  /** Those whose position, rotation or scale were set. */
  private changed: PlacedObject[] = [];
  /** Those with another parent than the home: nobody is told when an ancestor is hidden or removed. */
  private readonly elsewhere = new Set<PlacedObject>();
  /** Where the crowd was when it was last looked at. */
  private readonly crowdWorld = new Matrix4();
  private readonly inverse = new Matrix4();

  constructor(
    private readonly mesh: SkinnedInstancedMesh,
    /** Where they begin. */
    readonly home: Object3D,
  ) {}

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
    const other = this.byId.find((object) => object?.isListenedTo(type));
    if (other) this.listened(type, other);
    else this.listeners.delete(type);
    return other !== undefined;
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
    this.elsewhere.delete(object);
    object.lost();
  }

  returned(start: number, end: number): void {
    for (let id = start; id < Math.min(end, this.byId.length); id++) {
      if (this.objectOf(id)?.isShown === false) this.mesh.crowd.setVisible(id, false);
    }
  }

  copied(): void {
    const { mesh } = this;
    this.beforeMove();
    for (const object of this.byId) {
      if (object === null) continue;
      if (mesh.visibility.isDeleted(object.instanceId)) this.deleted(object.instanceId);
      else this.placed(object.instanceId);
    }
  }

  placed(id: number): void {
    const object = this.objectOf(id);
    if (object !== null) this.adopt(object, true);
  }

  afterMove(): void {
    for (const object of this.byId) if (object !== null) this.adopt(object, false);
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

  // Where they are.

  /** Call in each frame, once the crowd's `matrixWorld` is up to date. Returns whether that has changed. */
  update(): boolean {
    const { crowdWorld, inverse, mesh } = this;
    const moved = !crowdWorld.equals(mesh.matrixWorld);
    if (moved) inverse.copy(crowdWorld.copy(mesh.matrixWorld)).invert();
    this.placeChanged();
    if (moved) {
      for (const object of this.byId) if (object !== null) this.crowdMoved(object);
      mesh.crowd.dropStaleBounds();
    }
    this.showElsewhere();
    return moved;
  }

  /** Call when position, rotation or scale of an object were set. */
  queue(object: PlacedObject): void {
    if (object.isQueued || object.instanceId < 0) return;
    object.isQueued = true;
    // A crowd that is not drawn may see many come and go.
    if (this.changed.length > 2 * this.mesh.capacity)
      this.changed = this.changed.filter(({ instanceId }) => instanceId >= 0);
    this.changed.push(object);
  }

  /** Places the instances whose objects have changed. Those that have another parent than the home wait for it. */
  private placeChanged(): void {
    const { changed, mesh } = this;
    if (changed.length === 0) return;
    for (const object of changed) {
      object.isQueued = false;
      if (object.isAtHome && object.matrixWorldAutoUpdate) this.placeAtHome(object);
    }
    changed.length = 0;
    mesh.crowd.dropStaleBounds();
  }

  /** Places those too that have another parent, whose `matrixWorld` is brought up to date for it. */
  beforeMove(): void {
    const elsewhere = this.changed.filter(({ isAtHome }) => !isAtHome);
    this.placeChanged();
    for (const object of elsewhere) {
      object.updateWorldMatrix(true, false);
      this.placeByWorld(object);
    }
  }

  /** Places the instance of an object whose `matrixWorld` is up to date, if it has changed. */
  placeByWorld(object: PlacedObject): void {
    const { matrixWorld } = object;
    if (object.placedAt === null) {
      object.placedAt = matrixWorld.clone();
      // At home it was placed when it was last changed, and may have been placed by its id since.
      if (object.isAtHome && object.matrixWorldAutoUpdate && !object.isQueued) return;
    } else if (object.placedAt.equals(matrixWorld)) {
      return;
    } else {
      object.placedAt.copy(matrixWorld);
    }
    this.write(object, this.inCrowd(object));
    this.mesh.crowd.dropStaleBounds();
  }

  /** The crowd has moved: objects at home go along, all others stay where they are. */
  private crowdMoved(object: PlacedObject): void {
    if (object.isAtHome && object.matrixWorldAutoUpdate) {
      // Those among the children of the home are visited anyway, and may have another matrix too.
      if (!object.isListed) object.matrixWorld.multiplyMatrices(this.crowdWorld, object.matrix);
    } else if (object.placedAt !== null) {
      this.write(object, this.inCrowd(object));
    }
  }

  /** Where an object is in the crowd's space; another object each time it is asked. */
  private inCrowd(object: PlacedObject): Matrix4 {
    if (object.isAtHome && object.matrixWorldAutoUpdate) return object.matrix;
    return _inCrowd.multiplyMatrices(this.inverse, object.placedAt ?? object.matrixWorld);
  }

  private placeAtHome(object: PlacedObject): void {
    if (object.isStale && object.matrixAutoUpdate) object.updateMatrix();
    object.matrixWorldNeedsUpdate = false;
    object.matrixWorld.multiplyMatrices(this.crowdWorld, object.matrix);
    object.placedAt?.copy(object.matrixWorld);
    this.write(object, object.matrix);
  }

  private write({ instanceId }: PlacedObject, { elements }: Matrix4): void {
    if (instanceId < 0) return;
    if (!isFinitePlace(elements)) {
      warnOnce(
        `SkinnedInstance: instance ${instanceId} stays where it was, since its place is ${elements.join(', ')}; use finite numbers.`,
      );
      return;
    }
    const { places } = this.mesh.crowd;
    const { array } = places.attribute;
    const at = instanceId * 16;
    for (let i = 0; i < 16; i++) array[at + i] = elements[i];
    places.placed(instanceId);
  }

  /**
   * Lets an object go where its instance is, if that was moved by other means: by its index, by root motion, or because the crowd became a
   * copy of another. Nothing of the object has changed since its instance was placed last.
   *
   * @param always Whether its place is taken over although the instance seems to be where it was.
   */
  adopt(object: PlacedObject, always: boolean): void {
    const { mesh } = this;
    const { array } = mesh.instanceMatrix;
    const at = object.instanceId * 16;
    if (!always && isSame(array, at, this.inCrowd(object).elements)) return;
    _matrix.fromArray(array, at);
    if (!object.isAtHome) {
      _matrix.premultiply(mesh.matrixWorld);
      if (object.parent !== null) _matrix.premultiply(_parent.copy(object.parent.matrixWorld).invert());
    }
    object.matrix.copy(_matrix);
    object.matrixWorldNeedsUpdate = true;
    _matrix.decompose(_position, _quaternion, _scale);
    object.position.copy(_position);
    object.quaternion.copy(_quaternion);
    // It would drift away by roundings, frame by frame.
    if (_scale.sub(object.scale).length() > SAME_SCALE * object.scale.length()) {
      object.scale.add(_scale);
    }
  }

  // Whether they are seen.

  /**
   * Call when `visible` of an object was set, or it has another parent.
   *
   * @param always Whether the crowd is told although it was told the same before.
   */
  shownChanged(object: PlacedObject, always: boolean): void {
    const { parent, isAtHome } = object;
    if (parent === null || isAtHome) this.elsewhere.delete(object);
    else this.elsewhere.add(object);
    const shown = isAtHome ? object.visible : seenFrom(object) === rootOf(this.mesh);
    this.show(object, shown, always);
  }

  private showElsewhere(): void {
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

  private show(object: PlacedObject, shown: boolean, always = false): void {
    if (object.isShown === shown && !always) return;
    object.isShown = shown;
    if (object.instanceId >= 0) this.mesh.crowd.setVisible(object.instanceId, shown);
  }
}

function isSame(array: ArrayLike<number>, at: number, elements: readonly number[]): boolean {
  for (let i = 0; i < 16; i++) if (array[at + i] !== Math.fround(elements[i])) return false;
  return true;
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
