import type { AnimationClip } from 'three';
import { REST_FRAME } from '../constants.js';
import { expectFit, expectShape, listNames } from '../utils/messages.js';
import type { BoxArray } from './jointBoxes.js';

/** Numbers per frame of a root motion: x, y, z in scene units, and the turn about y in radians. */
export const MOTION_SIZE = 4;

/** One clip of a bone texture. */
export interface BakedClip {
  /** As `play` takes it. */
  name: string;
  /** First frame in the bone texture; with encoding 'tracks' the clip's number, counted from 1. */
  start: number;
  /** Number of frames; both ends of the clip are among them. A pose (a clip without length) has one. */
  count: number;
  /** Seconds. */
  duration: number;
  /**
   * Frames per second as baked: `(count - 1) / duration`. As near to what was asked for as possible with a frame on both
   * ends; 0 for a pose.
   */
  fps: number;
  /** A box around every vertex of the baked meshes in every frame of the clip, and in its fades; scene units, relative to the root. */
  bounds: BoxArray;
  /**
   * The way over the ground that baking has extracted from the clip: four numbers a frame, x, y, z and the turn about y in
   * radians. Null if it has extracted none.
   */
  rootMotion: Float32Array | null;
  /** Markers in the order of their times; crowds dispatch an event when they play past one. */
  markers: ClipMarker[];
  /** The `AnimationClip` that was baked on this page. */
  source?: BakedSource;
}

/** What is known of an `AnimationClip` that was baked. */
export interface BakedSource {
  /** Its own. */
  uuid: string;
  /** How many it had. */
  tracks: number;
}

/** A named time in a clip, see `BoneTexture.addMarker`. */
export interface ClipMarker {
  /** Seconds. */
  time: number;
  /** As the `marker` event has it. */
  name: string;
}

/** A clip by its name, its index, or an `AnimationClip` of the same name. */
export type ClipReference = string | number | Pick<AnimationClip, 'name'>;

/** Finds clips by name or index. */
export class ClipTable {
  private readonly byName: Map<string, number>;
  private readonly byStart: Map<number, BakedClip>;

  constructor(readonly clips: readonly BakedClip[]) {
    // Of several with one name, the first is found.
    this.byName = new Map([...clips.entries()].reverse().map(([index, { name }]) => [name, index]));
    this.byStart = new Map(clips.map((clip) => [clip.start, clip]));
  }

  /** The clip whose first frame that is. */
  startingAt(frame: number): BakedClip {
    return this.byStart.get(frame) as BakedClip;
  }

  /** @throws If there is no such clip. */
  find(clip: ClipReference): BakedClip {
    return this.clips[this.indexOf(clip)];
  }

  /**
   * Index of a clip.
   *
   * @throws If there is no such clip.
   */
  indexOf(clip: ClipReference): number {
    if (typeof clip === 'number') {
      if (Number.isInteger(clip) && clip >= 0 && clip < this.clips.length) return clip;
      const { length } = this.clips;
      throw new Error(
        `There is no clip ${clip}; there are ${length === 0 ? 'none' : `${length}, 0 to ${length - 1}`}.`,
      );
    }
    const name = typeof clip === 'object' ? clip?.name : clip;
    const index = this.byName.get(name);
    if (index !== undefined) return index;
    throw new Error(
      `There is no clip "${name}"; there are ${listNames([...this.byName.keys()].reverse(), name)}.`,
    );
  }
}

/**
 * Throws unless clips of a file can be played: at a rate that goes with their frames, and with markers up to their ends.
 *
 * @param frames How many there are, behind each other; null for tracks, whose clips are numbered.
 */
export function expectClips(clips: readonly BakedClip[], frames: number | null, field: string): void {
  const markers = [{ name: 'text', time: 'number' }] as const;
  const numbers = { count: 'count', duration: 'number', fps: 'number', bounds: 6 };
  expectShape(clips, [{ name: 'text', ...numbers, rootMotion: '?floats', markers }], field);
  let next = REST_FRAME + 1;
  clips.forEach(({ start, count, duration, fps, rootMotion, markers }, i) => {
    const at = `${field}.${i}`;
    const isTimed = fps >= 0 && duration >= 0 && count === Math.round(duration * fps) + 1;
    const isPlaced = start === next && (frames === null || start + count <= frames);
    expectFit(isTimed && isPlaced && (rootMotion?.length ?? count * MOTION_SIZE) === count * MOTION_SIZE, at);
    next += frames === null ? 1 : count;
    let before = 0;
    for (const { time } of markers) {
      expectFit(time >= before && time <= duration, `${at}.markers`);
      before = time;
    }
  });
}
