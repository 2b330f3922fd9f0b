import { type BaseEvent, type JSONMeta, type Matrix4, Object3D, type Object3DJSON } from 'three';
import type { SkinnedInstanceEventMap } from '../actions/InstanceMixer.js';
import type { SkinnedInstancedMesh } from '../crowd/SkinnedInstancedMesh.js';
import { checkIndex } from '../instances/instanceRange.js';
import type { PlaybackEvent } from '../playback/PlaybackEvents.js';
import { warnOnce } from '../utils/messages.js';
import { observe, own } from '../utils/observe.js';
import { InstanceHome } from './InstanceHome.js';
import { InstanceLayers } from './InstanceLayers.js';
import { ObservedLayers, ObservedVector3, observeRotation } from './observed.js';

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

/** What an object is placed and shown by, beside its parent, position, rotation and scale. */
const PLACE_FIELDS = ['visible', 'matrixAutoUpdate', 'matrixWorldAutoUpdate', 'pivot'];

/** Called by the first that is made: in a static block it would keep the class on pages that do not use it. */
function observeFields(): void {
  if (Object.hasOwn(PlacedInstance.prototype, 'castShadow')) return;
  for (const name of Object.keys(OF_THE_CROWD))
    Object.defineProperty(PlacedInstance.prototype, name, ofTheCrowd(name));
  observe(PlacedInstance.prototype, PLACE_FIELDS, []);
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
  /** How many of its children need not be visited: bones on which nothing hangs. */
  protected idleChildren = 0;

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
    const observed = (value: number) => ({
      configurable: true,
      enumerable: true,
      value: new ObservedVector3(value, this),
    });
    Object.defineProperties(this, { position: observed(0), scale: observed(1) });
    observeRotation(rotation, quaternion, () => this.wrote());
    // On the first layer, as all objects are to begin with, it is where its crowd is.
    this.layers = new ObservedLayers((mask) => {
      if (this.instanceId >= 0) InstanceLayers.set(crowd.crowd, this.instanceId, mask === 1 ? null : mask);
    });
    this.home = InstanceHome.of(crowd);
    const { objects } = this.home;
    if (instanceId === undefined) {
      objects.add(objects.addInstance(), this);
      this.home.add(this);
      return;
    }
    checkIndex(instanceId, crowd.visibility);
    if (objects.objectOf(instanceId) !== null)
      throw new Error(`An object stands for instance ${instanceId} already; use that one.`);
    const isVisible = crowd.getVisibleAt(instanceId);
    objects.add(instanceId, this);
    this.home.add(this);
    objects.adopt(this, true);
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
    this.home.objects.placeByWorld(this);
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
    if (type === 'added' || type === 'removed') this.wrote('parent');
    else if (type === 'childadded' || type === 'childremoved') this.relist();
    super.dispatchEvent(event);
  }

  /**
   * Lets the instance be no more, and gives its id back; the object leaves its parent. The same happens when the instance is deleted
   * by its id, and to all of them when the crowd is disposed.
   */
  dispose(): this {
    const { crowd, instanceId } = this;
    if (instanceId >= crowd.visibility.count) {
      // One that `count` has left out is not there to be deleted.
      crowd.crowd.delete(instanceId);
    } else if (instanceId >= 0) {
      crowd.deleteInstance(instanceId);
    }
    return this;
  }

  /** Called when its instance is no more. @internal */
  lost(): void {
    this.removeFromParent();
  }

  /** Whether anyone is to hear of a type of event. @internal */
  abstract isListenedTo(type: string): boolean;
  /** Called when something happened to what its instance plays. @internal */
  abstract notified(event: PlaybackEvent): void;

  /** Called when `parent` or one of `PLACE_FIELDS` was set, or without its name position, rotation or scale. @internal */
  wrote(field?: string): void {
    const { home } = this;
    const { objects } = home;
    const isVisible = field === 'visible';
    // The crowd may have been told otherwise by the id.
    if (isVisible || field === 'parent') objects.shownChanged(this, isVisible);
    if (isVisible) return;
    if (field !== undefined) {
      this.isPlain = this.matrixAutoUpdate && this.matrixWorldAutoUpdate && (this.pivot ?? null) === null;
      this.relist();
      this.placedAt = null;
    }
    this.isStale = true;
    objects.queue(this);
  }

  protected relist(): void {
    this.home.relist(this);
  }
}
