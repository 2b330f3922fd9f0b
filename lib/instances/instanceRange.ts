/** Instances that follow each other. */
export interface InstanceRange {
  /** Index of the first. */
  start: number;
  /** How many there are. */
  count: number;
}

/** One instance by its index, or a range of them. */
export type Instances = number | InstanceRange;

/** @throws If there is no such instance. */
export function checkIndex(index: number, capacity: number, caller: string): void {
  if (Number.isInteger(index) && index >= 0 && index < capacity) return;
  throw new Error(`${caller}: no instance ${index}; the mesh has ${capacity}, 0 to ${capacity - 1}.`);
}

/**
 * Calls back for an instance, or for each of a range.
 *
 * @throws If one of them is not there; then nothing was called.
 */
export function forEachInstance(
  instances: Instances,
  capacity: number,
  caller: string,
  callback: (index: number) => void,
): void {
  if (typeof instances === 'number') {
    checkIndex(instances, capacity, caller);
    callback(instances);
    return;
  }
  const { start, count } = instances ?? {};
  const end = start + count;
  const whole = Number.isInteger(start) && Number.isInteger(count);
  if (!(whole && start >= 0 && count >= 0 && end <= capacity)) {
    throw new Error(
      `${caller}: the range from ${start} with ${count} instances does not lie within the mesh's ${capacity}.`,
    );
  }
  for (let index = start; index < end; index++) callback(index);
}
