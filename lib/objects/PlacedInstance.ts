import { type BaseEvent, type JSONMeta, Matrix4, Object3D, type Object3DJSON, Vector3 } from 'three';
import type { ActionDriver } from '../actions/ActionDriver.js';
import type { SkinnedInstanceEventMap } from '../actions/InstanceMixer.js';
import { rootOf } from '../core/drawnCrowds.js';
import { isFinitePlace } from '../crowd/checkMatrix.js';
import type { SkinnedInstancedMesh } from '../crowd/SkinnedInstancedMesh.js';
import { checkIndex } from '../instances/instanceRange.js';
import type { PlaybackEvent } from '../playback/PlaybackEvents.js';
import type { CrowdIntersection } from '../queries/raycastCrowd.js';
import { warnOnce } from '../utils/messages.js';
import { observe, own } from '../utils/observe.js';
import { InstanceLayers } from './InstanceLayers.js';
import { ObservedLayers, ObservedVector3, observeRotation, setFields } from './observed.js';

/** Fewer instances that are in no scene are no cause for a warning. */
const MANY_LOST = 64;
/** Scales that differ by less than this share are the same: instances are kept in float32. */
const SAME_SCALE = 1e-5;

const _inCrowd = /*@__PURE__*/ new Matrix4();
const _matrix = /*@__PURE__*/ new Matrix4();
const _parent = /*@__PURE__*/ new Matrix4();
const _scale = /*@__PURE__*/ new Vector3();

/** What the crowd has for all its instances, and what a program that sets it on one of them can do. */
const OF_THE_CROWD: Record<string, string> = {
  castShadow: 'set it on the crowd',
  receiveShadow: 'set it on the crowd',
  renderOrder: 'set it on the crowd, whose instances new DrawOrder(crowd, { sortObjects: true }) sorts',
  frustumCulled: 'each is culled by itself: set perObjectFrustumCulled of the crowd',
  material: 'set it on the crowd; color, emissive, opacity and setUniform(name, value) are those of one',
  transparent: 'set it on the material of the crowd; with alphaHash there it needs no order',
};

/** Whether JSON is written of an object, which asks each for a material. */
let isWritten = false;

/** What the crowd has; a warning says so where something else is set. */
const ofTheCrowd = (name: string): PropertyDescriptor & ThisType<PlacedInstance> => ({
  configurable: true,
  get() {
    if (name !== 'material') return this.crowd?.[name as keyof SkinnedInstancedMesh];
    // Whoever has found a material would change that of all.
    if (!isWritten) warnOnce(`SkinnedInstance: an instance has no material; ${OF_THE_CROWD.material}.`);
    return undefined;
  },
  set(value) {
    // The constructor of Object3D sets most of them.
    if (this.crowd === undefined) return;
    if (name !== 'material' && value === this[name as keyof PlacedInstance]) return;
    warnOnce(`SkinnedInstance: ${name} of an instance has no effect; ${OF_THE_CROWD[name]}.`);
  },
});

/** Called by the first that is made: in a static block it would keep the class on pages that do not use it. */
function observeFields(): void {
  if (Object.hasOwn(PlacedInstance.prototype, 'castShadow')) return;
  for (const name of Object.keys(OF_THE_CROWD))
    Object.defineProperty(PlacedInstance.prototype, name, ofTheCrowd(name));
  // What an object is placed and shown by, beside its parent, position, rotation and scale.
  observe(PlacedInstance.prototype, ['visible', 'matrixAutoUpdate', 'matrixWorldAutoUpdate', 'pivot'], []);
}

/**
 * An object that places an instance of a crowd, and shows it while it is in the scene.
 *
 * @category Instances as objects
 */
export abstract class PlacedInstance extends Object3D<SkinnedInstanceEventMap> {
  /**
   * Which instance of the crowd it is: what is called an index or id everywhere else, also in events and hits of rays. It is
   * another one after `swapInstances`, and -1 after `dispose`. `id` is the object's own, as every `Object3D` has it.
   */
  instanceId = -1;
  /** @internal */
  readonly home: InstanceHome;
  /** Whether it is placed by position, rotation and scale alone, which are observed. @internal */
  isPlain = true;
  /** Whether these are others than those that `matrix` was composed of. @internal */
  isStale = true;
  /** Whether it is in the list of those that have changed. @internal */
  isQueued = false;
  /** Whether the instance was last told to be visible. @internal */
  isShown = true;
  /** Whether it is among the `children` of the home. @internal */
  isListed = false;
  /** `matrixWorld` as it was when the instance was placed by it; null before, and while nobody needs to compare. @internal */
  placedAt: Matrix4 | null = null;
  /** How many of its children need not be visited: bones on which nothing hangs. @internal */
  idleChildren = 0;

  /**
   * Adds an instance to a crowd, as its `addInstance`, or stands for one that it has.
   *
   * @param instanceId Of an instance that the crowd has and no object stands for.
   * @throws If there is no such instance, or an object stands for it.
   */
  constructor(
    /** The crowd that it is an instance of. */
    readonly crowd: SkinnedInstancedMesh,
    instanceId?: number,
  ) {
    observeFields();
    super();
    own(this, this);
    const { rotation, quaternion } = this;
    setFields(this, { position: new ObservedVector3(0, this), scale: new ObservedVector3(1, this) });
    observeRotation(rotation, quaternion, () => this.wrote());
    // On the first layer, as all objects are to begin with, it is where its crowd is.
    this.layers = new ObservedLayers((mask) => {
      if (this.instanceId >= 0) InstanceLayers.set(crowd.crowd, this.instanceId, mask === 1 ? null : mask);
    });
    this.home = InstanceHome.of(crowd);
    const { home } = this;
    const id = instanceId ?? home.addInstance();
    checkIndex(id, crowd.visibility);
    if (home.objectOf(id) !== null)
      throw new Error(`An object stands for instance ${id} already; use that one.`);
    const isVisible = crowd.getVisibleAt(id);
    home.setObject(id, this);
    home.add(this);
    if (instanceId === undefined) return;
    home.adopt(this, true);
    this.visible = isVisible;
  }

  /** Whether its parent is the home of the crowd's objects, which stands where the crowd stands. @internal */
  get isAtHome(): boolean {
    return this.parent === this.home;
  }

  /** Whether it has children, or is placed by other means than position, rotation and scale. @internal */
  get isBusy(): boolean {
    return this.children.length > this.idleChildren || !this.isPlain;
  }

  override updateMatrix(): void {
    super.updateMatrix();
    this.isStale = false;
  }

  override toJSON(meta?: JSONMeta): Object3DJSON {
    isWritten = true;
    try {
      return super.toJSON(meta);
    } finally {
      isWritten = false;
    }
  }

  /** As that of `Object3D`, but what has not changed is neither composed nor carried over to the crowd. */
  override updateMatrixWorld(force = false): void {
    if (this.isPlain ? this.isStale : this.matrixAutoUpdate) this.updateMatrix();
    let forced = force;
    if (this.matrixWorldNeedsUpdate || force) {
      if (this.isPlain || this.matrixWorldAutoUpdate) {
        if (this.parent === null) this.matrixWorld.copy(this.matrix);
        else this.matrixWorld.multiplyMatrices(this.parent.matrixWorld, this.matrix);
      }
      this.matrixWorldNeedsUpdate = false;
      forced = true;
    }
    this.home.placeByWorld(this);
    if (this.crowd.parent === null && this.parent !== null && !this.isAtHome)
      warnOnce(
        'SkinnedInstance: the crowd of an instance is in no scene, so nothing is drawn; call scene.add(crowd).',
      );
    for (const child of this.children) child.updateMatrixWorld(forced);
  }

  /** Hears that it has another parent, and of children that came or went, whichever way they did. */
  override dispatchEvent<T extends Extract<keyof SkinnedInstanceEventMap, string>>(
    event: BaseEvent<T> & SkinnedInstanceEventMap[T],
  ): void {
    const { type } = event;
    if (type === 'added' || type === 'removed') {
      // three.js has just put it among the `children` of its parent, or taken it out.
      this.isListed = this.isAtHome;
      this.wrote('parent');
    } else if (type === 'childadded' || type === 'childremoved') this.home.relist(this);
    super.dispatchEvent(event);
  }

  /**
   * Lets the instance be no more, and gives its id back; the object leaves its parent. The same happens when the instance is deleted
   * by its id, and to all of them when the crowd is disposed.
   */
  dispose(): this {
    const { crowd, instanceId } = this;
    if (instanceId >= 0) crowd.crowd.delete(instanceId);
    return this;
  }

  /** Whether anyone is to hear of a type of event. @internal */
  abstract isListenedTo(type: string): boolean;
  /** Called when something happened to what its instance plays. @internal */
  abstract notified(event: PlaybackEvent): void;
  /** Called when time has passed and code has written to its bones. Returns whether any of that is left. @internal */
  abstract advanced(): boolean;

  /** Called when `parent` or what is observed beside it was set, or without its name position, rotation or scale. @internal */
  wrote(field?: string): void {
    const { home } = this;
    const isVisible = field === 'visible';
    // The crowd may have been told otherwise by the id.
    if (isVisible || field === 'parent') home.shownChanged(this, isVisible);
    if (isVisible) return;
    if (field !== undefined) {
      this.isPlain = this.matrixAutoUpdate && this.matrixWorldAutoUpdate && (this.pivot ?? null) === null;
      home.relist(this);
      this.placedAt = null;
    }
    this.isStale = true;
    home.queue(this);
  }
}

/** For type testing. */
export const isInstanceBone = (object: Object3D | null | undefined): object is InstanceBone =>
  (object as Partial<InstanceBone> | null | undefined)?.isInstanceBone === true;

type InstanceBone = Object3D & { readonly isInstanceBone: true; hanging: number };

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
 *
 * It knows which object stands for which instance. Objects follow their instances when these get other ids; their places, and
 * whether they are seen, are carried over to their instances. Of the places it looks at those only that have changed.
 */
export class InstanceHome extends Object3D {
  override readonly type: string = 'InstanceHome';
  /** For type testing. */
  readonly isInstanceHome = true;
  /** Callbacks of `traverse`, and lists of what was found, by which somebody searches the crowd itself, which is a mesh. */
  readonly metBy = new WeakSet<object>();
  /** Those to whose bones code has written. */
  readonly written: Set<PlacedInstance> = new Set();
  /** By the id of the instance. */
  private readonly byId: (PlacedInstance | null)[] = [];
  /** By type of event the object that got a listener last, or was found to have one. */
  private readonly listeners = new Map<string, PlacedInstance>();
  /** Those whose position, rotation or scale were set. */
  private changed: PlacedInstance[] = [];
  /** Those with another parent than the home: nobody is told when an ancestor is hidden or removed. */
  private readonly elsewhere = new Set<PlacedInstance>();
  /** Where the crowd was when it was last looked at. */
  private readonly crowdWorld = new Matrix4();
  private readonly inverse = new Matrix4();

  /** The home of a crowd's objects, which is made when it is first asked for. */
  static of(mesh: SkinnedInstancedMesh): InstanceHome {
    const { crowd } = mesh;
    crowd.objects ??= new InstanceHome(mesh);
    const home = crowd.objects as InstanceHome;
    if (home.parent !== mesh) mesh.add(home);
    return home;
  }

  private constructor(private readonly mesh: SkinnedInstancedMesh) {
    super();
    // It is always where the crowd is.
    this.matrixAutoUpdate = false;
    this.matrixWorld = mesh.matrixWorld;
    mesh.crowd.data.push(this);
    // Objects come home that are added to the crowd itself, and it removes those that are at home.
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

  override remove(...removed: Object3D[]): this {
    for (const object of removed) {
      // three.js looks for it there.
      if (this.isMine(object) && object.isAtHome && !object.isListed) this.list(object);
      super.remove(object);
    }
    return this;
  }

  override clear(): this {
    return this.remove(...this.below());
  }

  /** Call when an object became busy, or is so no longer. */
  relist(object: PlacedInstance): void {
    if (object.parent !== this || object.isListed === object.isBusy) return;
    if (!object.isListed) this.list(object);
    else {
      object.isListed = false;
      // As a rule it was added last.
      this.children.splice(this.children.lastIndexOf(object), 1);
    }
  }

  override updateMatrixWorld(force?: boolean): void {
    const { crowdWorld, inverse, mesh } = this;
    (mesh.crowd.playback.driver as ActionDriver | null)?.meetAll(mesh);
    mesh.crowd.places.settle();
    const moved = !crowdWorld.equals(mesh.matrixWorld);
    if (moved) inverse.copy(crowdWorld.copy(mesh.matrixWorld)).invert();
    this.placeChanged();
    if (moved) {
      for (const object of this.byId) if (object !== null) this.crowdMoved(object);
      dropStaleBounds(mesh);
    }
    this.showElsewhere();
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

  /** Programs that read it know three.js's own types alone. */
  override toJSON(meta?: JSONMeta): Object3DJSON {
    const json = super.toJSON(meta);
    json.object.type = 'Object3D';
    return json;
  }

  /** Everything whose parent this is, also what is not among `children`. */
  private below(): Object3D[] {
    const atHome = this.byId.filter((object) => object?.isAtHome === true) as PlacedInstance[];
    return [...atHome, ...this.children.filter((child) => !this.isMine(child))];
  }

  private isMine(object: Object3D): object is PlacedInstance {
    return (object as PlacedInstance).home === this;
  }

  private list(object: PlacedInstance): void {
    object.isListed = true;
    this.children.push(object);
  }

  // Whose they are.

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

  /** Has an object, or none, stand for an instance. */
  setObject(id: number, object: PlacedInstance | null): void {
    while (this.byId.length <= id) this.byId.push(null);
    this.byId[id] = object;
    if (object !== null) object.instanceId = id;
  }

  /** The object that stands for an instance; null if none does. */
  objectOf(id: number): PlacedInstance | null {
    return this.byId[id] ?? null;
  }

  /** Call when an object got a listener for a type of event, which the crowd looks for only while somebody listens. */
  listened(type: string, object: PlacedInstance): void {
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
    for (let id = capacity; id < this.byId.length; id++) this.reset(id);
  }

  swap(i: number, j: number): void {
    const one = this.objectOf(i);
    const other = this.objectOf(j);
    this.setObject(j, one);
    this.setObject(i, other);
  }

  /** Objects stay with the crowd that made them: a copy of it has the same instances, and no objects for them. */
  override copy(): this {
    return this;
  }

  /** The instance is no more, or a new one has the id now, for which the object does not stand. */
  reset(id: number): void {
    const object = this.objectOf(id);
    if (object === null) return;
    this.byId[id] = null;
    object.instanceId = -1;
    this.elsewhere.delete(object);
    this.written.delete(object);
    object.removeFromParent();
  }

  returned(start: number, end: number): void {
    for (let id = start; id < Math.min(end, this.byId.length); id++) {
      if (this.objectOf(id)?.isShown === false) this.mesh.crowd.setVisible(id, false);
    }
  }

  copied(): void {
    const { byId, mesh } = this;
    this.beforeMove();
    for (let id = 0; id < byId.length; id++) {
      if (mesh.visibility.isDeleted(id)) this.reset(id);
      else this.placed(id);
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
    for (const object of this.written) if (!object.advanced()) this.written.delete(object);
  }

  dispose(): void {
    for (let id = 0; id < this.byId.length; id++) if (this.byId[id] !== null) this.mesh.crowd.delete(id);
  }

  // Where they are.

  /** Call when position, rotation or scale of an object were set. */
  queue(object: PlacedInstance): void {
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
    dropStaleBounds(mesh);
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
  placeByWorld(object: PlacedInstance): void {
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
    dropStaleBounds(this.mesh);
  }

  /** The crowd has moved: objects at home go along, all others stay where they are. */
  private crowdMoved(object: PlacedInstance): void {
    if (object.isAtHome && object.matrixWorldAutoUpdate) {
      // Those among the children of the home are visited anyway, and may have another matrix too.
      if (!object.isListed) object.matrixWorld.multiplyMatrices(this.crowdWorld, object.matrix);
    } else if (object.placedAt !== null) {
      this.write(object, this.inCrowd(object));
    }
  }

  /** Where an object is in the crowd's space; another object each time it is asked. */
  private inCrowd(object: PlacedInstance): Matrix4 {
    if (object.isAtHome && object.matrixWorldAutoUpdate) return object.matrix;
    return _inCrowd.multiplyMatrices(this.inverse, object.placedAt ?? object.matrixWorld);
  }

  private placeAtHome(object: PlacedInstance): void {
    if (object.isStale && object.matrixAutoUpdate) object.updateMatrix();
    object.matrixWorldNeedsUpdate = false;
    object.matrixWorld.multiplyMatrices(this.crowdWorld, object.matrix);
    object.placedAt?.copy(object.matrixWorld);
    this.write(object, object.matrix);
  }

  private write({ instanceId }: PlacedInstance, matrix: Matrix4): void {
    if (instanceId < 0) return;
    const { elements } = matrix;
    if (!isFinitePlace(elements)) {
      warnOnce(
        `SkinnedInstance: instance ${instanceId} stays where it was, since its place is ${elements.join(', ')}; use finite numbers.`,
      );
      return;
    }
    const { places } = this.mesh.crowd;
    matrix.toArray(places.attribute.array, instanceId * 16);
    places.placed(instanceId);
  }

  /**
   * Lets an object go where its instance is, if that was moved by other means: by its index, by root motion, or because the crowd became a
   * copy of another. Nothing of the object has changed since its instance was placed last.
   *
   * @param always Whether its place is taken over although the instance seems to be where it was.
   */
  adopt(object: PlacedInstance, always: boolean): void {
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
    _matrix.decompose(object.position, object.quaternion, _scale);
    // three.js has no scale for what is flat, as instances are that were hidden so.
    if (_matrix.determinant() === 0) _scale.setFromMatrixScale(_matrix);
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
  shownChanged(object: PlacedInstance, always: boolean): void {
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

  private show(object: PlacedInstance, shown: boolean, always = false): void {
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

/** Call after instances were placed once meshes had looked after their bounds. */
function dropStaleBounds({ crowd: { members } }: SkinnedInstancedMesh): void {
  for (let i = 0; i < members.length; i++) members[i].bounds.dropStale();
}
