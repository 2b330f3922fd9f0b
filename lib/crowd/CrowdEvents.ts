import type { InstanceVisibility } from '../instances/InstanceVisibility.js';
import type { InstancePlayback } from '../playback/InstancePlayback.js';
import {
  PLAYBACK_EVENT_TYPES,
  type PlaybackEvent,
  PlaybackEvents,
  type PlaybackEventType,
} from '../playback/PlaybackEvents.js';

/** What plays, and which instances of it are there. */
interface EventCrowd {
  readonly playback: InstancePlayback;
  readonly visibility: InstanceVisibility;
  readonly markersVersion: number;
}

/**
 * Updates for which a type of events is still looked for once nobody listens to it. To begin with it looks at every instance, which
 * programs that listen now and then shall not pay for each time.
 */
const PATIENCE = 600;

/** Finds the playback events of a crowd that some mesh of it listens to, and no others. */
export class CrowdEvents {
  private finder: PlaybackEvents | null = null;
  /** Listeners of each mesh, by type; a listener counts once, as three.js has it. */
  private readonly listeners = new Map<object, Map<string, Set<unknown>>>();
  private readonly wanted = new Set<PlaybackEventType>();
  /** Of wanted types to which nobody listens any more: how many updates ago that was noticed. */
  private readonly idle = new Map<PlaybackEventType, number>();
  /** The version of the markers that the finder has seen. */
  private markersVersion = 0;

  constructor(private readonly crowd: EventCrowd) {}

  /** Call when a mesh gained or lost a listener. */
  listen(mesh: object, type: string, listener: unknown, on: boolean): void {
    if (!(PLAYBACK_EVENT_TYPES as readonly string[]).includes(type)) return;
    let types = this.listeners.get(mesh);
    if (types === undefined) {
      types = new Map();
      this.listeners.set(mesh, types);
    }
    const listening = types.get(type) ?? new Set();
    types.set(type, listening);
    if (on) listening.add(listener);
    else listening.delete(listener);
    this.findWanted();
  }

  /** Whether anyone listens to events of a type, or did lately. */
  wants(type: PlaybackEventType): boolean {
    return this.wanted.has(type);
  }

  /** Call when a mesh was let go of. */
  forget(mesh: object): void {
    if (this.listeners.delete(mesh)) this.findWanted();
  }

  /** Call before the clock moves. */
  beforeUpdate(): void {
    const { finder, crowd, idle } = this;
    if (idle.size > 0) this.dropIdle();
    if (finder === null) return;
    if (this.markersVersion !== crowd.markersVersion) {
      this.markersVersion = crowd.markersVersion;
      finder.restart();
    }
    finder.lookAfter();
  }

  /** Dispatches the events that are due, in the order they happened. */
  dispatch(announce: (event: PlaybackEvent) => void): void {
    this.finder?.dispatch(announce);
  }

  /** Forgets the events that were found: what the instances play was replaced by what another crowd plays. */
  restart(): void {
    const { crowd, wanted } = this;
    this.finder = wanted.size === 0 ? null : new PlaybackEvents(crowd.playback, wanted, crowd.visibility);
    crowd.playback.observer = this.finder;
    this.markersVersion = crowd.markersVersion;
    this.finder?.restart();
  }

  private findWanted(): void {
    const { wanted, idle } = this;
    let changed = false;
    for (const type of PLAYBACK_EVENT_TYPES) {
      const heard = [...this.listeners.values()].some((types) => (types.get(type)?.size ?? 0) > 0);
      if (heard) idle.delete(type);
      else if (wanted.has(type) && !idle.has(type)) idle.set(type, 0);
      if (!heard || wanted.has(type)) continue;
      wanted.add(type);
      changed = true;
    }
    if (!changed) return;
    if (this.finder === null) this.restart();
    else this.finder.restart();
  }

  /** Looks no more for types to which nobody has listened for long. */
  private dropIdle(): void {
    const { wanted, idle } = this;
    let changed = false;
    for (const [type, updates] of idle) {
      idle.set(type, updates + 1);
      if (updates < PATIENCE) continue;
      idle.delete(type);
      wanted.delete(type);
      changed = true;
    }
    if (changed) this.finder?.restart();
  }
}
