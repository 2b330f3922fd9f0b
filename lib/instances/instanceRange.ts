import { describe } from '../utils/messages.js';

/** Instances that follow each other. */
export interface InstanceRange {
  /** Index of the first. */
  start: number;
  /** How many there are. */
  count: number;
}

/** One instance by its index, or a range of them, in which deleted ones are passed over. */
export type Instances = number | InstanceRange;

/** Which instances there may be. */
export interface InstanceIds {
  /** How many there is room for. */
  readonly capacity: number;
  isDeleted(index: number): boolean;
}

/** @throws If there is no such instance, or it was deleted. */
export function checkIndex(index: number, ids: InstanceIds): void {
  const { capacity } = ids;
  if (!(Number.isInteger(index) && index >= 0 && index < capacity)) {
    throw new Error(
      `There is no instance ${describe(index)}; the crowd has ${capacity}, 0 to ${capacity - 1}.`,
    );
  }
  if (ids.isDeleted(index)) {
    throw new Error(`Instance ${index} was deleted; use an id that addInstance() returned since.`);
  }
}

/**
 * Calls back for an instance, or for each of a range but those that were deleted.
 *
 * @throws If the instance is not there or was deleted, or the range is none; then nothing was called.
 */
export function forEachInstance(
  instances: Instances,
  ids: InstanceIds,
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
