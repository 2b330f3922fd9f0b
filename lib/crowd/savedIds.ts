import type { InstanceVisibility } from '../instances/InstanceVisibility.js';
import type { PlaybackJSON } from '../playback/playbackJSON.js';
import type { Crowd } from './Crowd.js';

type SavedIds = Pick<PlaybackJSON, 'hidden' | 'deleted'>;

/** Which of the first instances are hidden or were deleted, as far as any are. */
export function saveIds(visibility: InstanceVisibility, count: number): SavedIds {
  const ids = Array.from({ length: count }, (_, id) => id);
  const deleted = ids.filter((id) => visibility.isDeleted(id));
  const hidden = ids.filter((id) => !visibility.isVisible(id));
  return { ...(hidden.length > 0 && { hidden }), ...(deleted.length > 0 && { deleted }) };
}

/**
 * Lets the instances that data is of exist and be visible as it says.
 *
 * @throws If that are no numbers of its rows. Then nothing was changed.
 */
export function restoreIds(
  crowd: Crowd,
  { instances, hidden = [], deleted = [] }: PlaybackJSON,
  caller: string,
): void {
  for (const [name, ids] of Object.entries({ hidden, deleted })) {
    if (Array.isArray(ids) && ids.every((id) => Number.isInteger(id) && id >= 0 && id < instances.length)) {
      continue;
    }
    throw new Error(`${caller}: "${name}" is ${String(ids)}; numbers of the rows in "instances" are needed.`);
  }
  const { visibility } = crowd;
  const [isHidden, isDeleted] = [new Set(hidden), new Set(deleted)];
  for (let id = 0; id < Math.min(instances.length, visibility.count); id++) {
    if (isDeleted.has(id)) {
      crowd.delete(id);
      continue;
    }
    if (visibility.isDeleted(id)) crowd.restore(id);
    crowd.setVisible(id, !isHidden.has(id));
  }
}
