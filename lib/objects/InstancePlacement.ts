import type { Object3D } from 'three';
import { Matrix4, Quaternion, Vector3 } from 'three';
import type { SkinnedInstanceEventMap } from '../actions/InstanceMixer.js';
import { isFinitePlace } from '../crowd/checkMatrix.js';
import type { SkinnedInstancedMesh } from '../crowd/SkinnedInstancedMesh.js';
import type { PlaybackEvent } from '../playback/PlaybackEvents.js';
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

const NAME = 'SkinnedInstance';

const _inCrowd = /*@__PURE__*/ new Matrix4();

/** Carries the places of objects over to the instances of a crowd, and looks at those only that have changed. */
export class InstancePlacement {
  private changed: PlacedObject[] = [];
  /** Where the crowd was when it was last looked at. */
  private readonly crowdWorld = new Matrix4();
  private readonly inverse = new Matrix4();

  constructor(private readonly mesh: SkinnedInstancedMesh) {}

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
  placeChanged(): void {
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
  placeAllChanged(): void {
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

  /** Call once the crowd's `matrixWorld` is up to date: returns whether it has changed. */
  followCrowd(): boolean {
    const { crowdWorld, inverse, mesh } = this;
    if (crowdWorld.equals(mesh.matrixWorld)) return false;
    crowdWorld.copy(mesh.matrixWorld);
    inverse.copy(crowdWorld).invert();
    return true;
  }

  /** Call for each object when the crowd has moved: those at home go along, all others stay where they are. */
  crowdMoved(object: PlacedObject): void {
    if (object.isAtHome && object.matrixWorldAutoUpdate) {
      // Those among the children of the home are visited anyway, and may have another matrix too.
      if (!object.isListed) object.matrixWorld.multiplyMatrices(this.crowdWorld, object.matrix);
    } else if (object.placedAt !== null) {
      this.write(object, this.inCrowd(object));
    }
  }

  /** Where an object is in the crowd's space; another object each time it is asked. */
  inCrowd(object: PlacedObject): Matrix4 {
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
        `${NAME}: instance ${instanceId} stays where it was, since its place is ${elements.join(', ')}; use finite numbers.`,
      );
      return;
    }
    const { places } = this.mesh.crowd;
    const { array } = places.attribute;
    const at = instanceId * 16;
    for (let i = 0; i < 16; i++) array[at + i] = elements[i];
    places.placed(instanceId);
  }
}

/** Scales that differ by less than this share are the same: instances are kept in float32. */
const SAME_SCALE = 1e-5;

const _matrix = /*@__PURE__*/ new Matrix4();
const _parent = /*@__PURE__*/ new Matrix4();
const _position = /*@__PURE__*/ new Vector3();
const _quaternion = /*@__PURE__*/ new Quaternion();
const _scale = /*@__PURE__*/ new Vector3();

/**
 * Lets an object go where its instance is, if that was moved by other means: by its index, by root motion, or because the crowd became a copy of
 * another. Nothing of the object has changed since its instance was placed last.
 *
 * @param always Whether its place is taken over although the instance seems to be where it was.
 */
export function adoptPlace(
  object: PlacedObject,
  mesh: SkinnedInstancedMesh,
  placement: InstancePlacement,
  always: boolean,
): void {
  const { array } = mesh.instanceMatrix;
  const at = object.instanceId * 16;
  if (!always && isSame(array, at, placement.inCrowd(object).elements)) return;
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

function isSame(array: ArrayLike<number>, at: number, elements: readonly number[]): boolean {
  for (let i = 0; i < 16; i++) if (array[at + i] !== Math.fround(elements[i])) return false;
  return true;
}
