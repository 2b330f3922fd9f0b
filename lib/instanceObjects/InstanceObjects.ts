import type { CrowdObjects } from '../crowd/CrowdObjects.js';
import type { PlaybackEvent } from '../playback/playbackEventTypes.js';

/** What the crowd tells an object that stands for one of its instances. */
export interface ObjectOfInstance {
  /** Which instance it stands for; -1 if for none any more. */
  instanceId: number;
  /** Its instance was replaced by one that stands elsewhere. */
  replaced(): void;
  dispatchEvent(event: PlaybackEvent): void;
}

/** Which object stands for which instance of a crowd. Objects follow their instances when these get other ids. */
export class InstanceObjects implements CrowdObjects {
  /** By the id of the instance. */
  readonly byId: (ObjectOfInstance | null)[] = [];

  /** Has an object stand for an instance. */
  add(id: number, object: ObjectOfInstance): void {
    while (this.byId.length <= id) this.byId.push(null);
    this.byId[id] = object;
    object.instanceId = id;
  }

  /** The object that stands for an instance; null if none does. */
  of(id: number): ObjectOfInstance | null {
    return this.byId[id] ?? null;
  }

  resize(capacity: number): void {
    for (let id = capacity; id < this.byId.length; id++) this.deleted(id);
  }

  swap(i: number, j: number): void {
    const one = this.of(i);
    const other = this.of(j);
    if (one !== null) this.add(j, one);
    else if (j < this.byId.length) this.byId[j] = null;
    if (other !== null) this.add(i, other);
    else if (i < this.byId.length) this.byId[i] = null;
  }

  /** A new instance has the id now, for which the object does not stand. */
  reset(id: number): void {
    this.deleted(id);
  }

  /** Objects stay with the crowd that made them: a copy of it has the same instances, but none for them. */
  copy(): void {}

  deleted(id: number): void {
    const object = this.of(id);
    if (object === null) return;
    this.byId[id] = null;
    object.instanceId = -1;
  }

  copied(): void {
    for (const object of this.byId) object?.replaced();
  }

  dispatchEvent(event: PlaybackEvent): void {
    this.of(event.instanceId)?.dispatchEvent(event);
  }

  dispose(): void {
    for (let id = 0; id < this.byId.length; id++) this.deleted(id);
  }
}
