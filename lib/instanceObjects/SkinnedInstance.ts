import { Box3, BufferGeometry, type EventListener, type Raycaster } from 'three';
import type { CharacterMesh } from '../objects/CharacterMesh.js';
import type { JointAttachment } from '../objects/JointAttachment.js';
import type { PlaybackEvent } from '../playback/playbackEventTypes.js';
import { expandByPose } from '../queries/poseQueries.js';
import { mayMeet, raycastOne } from '../queries/raycastCrowd.js';
import type { CrowdIntersection } from '../queries/raycastInstance.js';
import { BonedInstance } from './BonedInstance.js';
import type { ActionOfEvent, SkinnedInstanceEventMap } from './instanceEvents.js';

/**
 * An instance of a crowd that is an object of its own, as a `SkinnedMesh` would be: placed by `position`, `rotation` and `scale`,
 * with children, anywhere in the scene, and with the methods of an `AnimationMixer`.
 *
 * It begins as a child of its crowd, and is drawn at once. In the crowd it is one of the instances, known there by
 * {@link PlacedInstance.instanceId}.
 */
export class SkinnedInstance extends BonedInstance {
  override readonly type: string = 'SkinnedInstance';
  /** For type testing. */
  readonly isSkinnedInstance = true;
  /** How many listeners it has for what its instance plays, by type. */
  private readonly listening = new Map<string, number>();

  /**
   * Intersects the instance as it is posed now, and what is attached to it. A ray that was cast at the crowd, or at the scene, has
   * hit it already; nothing is in one list of intersections twice.
   */
  override raycast(raycaster: Raycaster, intersects: CrowdIntersection[]): void {
    const { crowd, instanceId, home } = this;
    if (instanceId < 0 || !mayMeet(crowd, raycaster, instanceId)) return;
    for (const mesh of meshesOf(crowd)) {
      raycastOne(mesh, raycaster, instanceId, intersects, mesh.bounds.ofPoses(), home.objects);
    }
  }

  /**
   * Box around it and what is attached to it, as it is posed now, in its own space: what `new Box3().setFromObject(knight)` asks for.
   * Computed anew each time, on the CPU.
   */
  get boundingBox(): Box3 {
    const box = new Box3();
    const { crowd, instanceId } = this;
    if (instanceId >= 0) for (const mesh of meshesOf(crowd)) expandByPose(mesh, instanceId, box);
    return box;
  }

  /** Without vertices: `Box3` looks whether there is one before it asks for `boundingBox`. @internal */
  get geometry(): BufferGeometry {
    nothing ??= new BufferGeometry();
    return nothing;
  }

  override addEventListener<T extends Extract<keyof SkinnedInstanceEventMap, string>>(
    type: T,
    listener: EventListener<SkinnedInstanceEventMap[T], T, this>,
  ): void {
    if (!this.hasEventListener(type, listener)) this.listen(type, 1);
    super.addEventListener(type, listener);
  }

  override removeEventListener<T extends Extract<keyof SkinnedInstanceEventMap, string>>(
    type: T,
    listener: EventListener<SkinnedInstanceEventMap[T], T, this>,
  ): void {
    if (this.hasEventListener(type, listener)) this.listen(type, -1);
    super.removeEventListener(type, listener);
  }

  /** @internal */
  override lost(): void {
    for (const [type, count] of this.listening) this.home.objects.listen(type, -count);
    super.lost();
  }

  /** @internal */
  told(event: PlaybackEvent & Partial<ActionOfEvent>): void {
    if (!this.listening.get(event.type)) return;
    const action = () => event.action ?? this.clipAction(event.clip, { layer: event.layer });
    this.dispatchEvent({
      ...event,
      get action() {
        return action();
      },
    });
  }

  private listen(type: string, more: number): void {
    this.listening.set(type, (this.listening.get(type) ?? 0) + more);
    // Nothing happens any more to what has no instance.
    if (this.instanceId >= 0) this.home.objects.listen(type, more);
  }
}

let nothing: BufferGeometry | null = null;

/** A crowd and what is attached to it, but for its levels of detail, which rays pass. */
function meshesOf(mesh: CharacterMesh): CharacterMesh[] {
  const attached = mesh.attachments.filter(isAttachment);
  return [mesh, ...attached.flatMap(meshesOf)];
}

const isAttachment = (mesh: object): mesh is JointAttachment =>
  (mesh as Partial<JointAttachment>).isJointAttachment === true;
