import type { BakedClip } from './ClipTable.js';

/**
 * Adds a marker to a clip; of markers at the same time the one added first stays first.
 *
 * @param time Seconds into the clip, from 0 to its duration.
 * @param caller Begins the error message, e.g. `BoneTexture.addMarker`.
 * @throws If the clip has no such time.
 */
export function addMarkerTo(clip: BakedClip, time: number, name: string, caller: string): void {
  const { markers, duration } = clip;
  if (!(time >= 0 && time <= duration)) {
    throw new Error(`${caller}: time is ${time}; clip "${clip.name}" runs from 0 to ${duration} s.`);
  }
  const later = markers.findIndex((marker) => marker.time > time);
  markers.splice(later < 0 ? markers.length : later, 0, { time, name });
}

/** Removes the markers of that name, or all if there is none given, from clips. */
export function removeMarkersFrom(clips: readonly BakedClip[], name: string | undefined): void {
  for (const { markers } of clips) {
    const kept = name === undefined ? [] : markers.filter((marker) => marker.name !== name);
    markers.splice(0, markers.length, ...kept);
  }
}
