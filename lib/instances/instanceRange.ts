import { describe } from '../utils/messages.js';
import type { InstanceVisibility } from './InstanceVisibility.js';

/** Instances that follow each other. */
export interface InstanceRange {
  /** Index of the first. */
  start: number;
  /** How many there are. */
  count: number;
}

/** One instance by its index, or a range of them, in which deleted ones are passed over. */
export type Instances = number | InstanceRange;

/** @throws If there is no such instance, or it was deleted. */
export function checkIndex(index: number, ids: InstanceVisibility): void {
  if (ids.has(index)) return;
  const { capacity, count } = ids;
  if (count > 0 && Number.isInteger(index) && index >= 0 && index < capacity)
    throw new Error(`Instance ${index} was deleted; use an id that addInstance() returned since.`);
  if (typeof index === 'object')
    throw new Error(
      `There is no instance ${describe(index)}; this takes one index; call it for each, from 0 to crowd.count - 1.`,
    );
  throw new Error(
    count === 0
      ? `There is no instance ${index}; the crowd has none yet; call addInstance(), or make it with a count.`
      : `There is no instance ${describe(index)}; the crowd has ${capacity}, 0 to ${capacity - 1}.`,
  );
}

/**
 * Calls back for an instance, or for each of a range but those that were deleted.
 *
 * @throws If the instance is not there or was deleted, or the range is none; then nothing was called.
 */
export function forEachInstance(
  instances: Instances,
  ids: InstanceVisibility,
  callback: (index: number) => void,
): void {
  if (typeof instances === 'number') {
    checkIndex(instances, ids);
    callback(instances);
    return;
  }
  const { capacity } = ids;
  if (typeof instances !== 'object' || instances === null)
    throw new Error(
      `There is no instance ${describe(instances)}; instances go first, by index, range or crowd.all.`,
    );
  if (Array.isArray(instances))
    throw new Error(
      `${describe(instances)} is no range; pass { start, count }, or call this for each index in it.`,
    );
  const { start, count } = instances;
  const end = start + count;
  const whole = Number.isInteger(start) && Number.isInteger(count);
  if (!(whole && start >= 0 && count >= 0 && end <= capacity)) {
    throw new Error(
      `The range from ${describe(start)} with ${describe(count)} instances is not within the crowd's ${capacity}.`,
    );
  }
  for (let index = start; index < end; index++) if (!ids.isDeleted(index)) callback(index);
}
