import { checkIndex, forEachInstance, type Instances } from '../instances/instanceRange.js';
import type { Crowd } from './Crowd.js';

/** Gives out the lowest id that was deleted, else the next one, for which there is made room. */
export function addInstance(crowd: Crowd): number {
  const { visibility } = crowd;
  const deleted = visibility.lowestDeleted();
  if (deleted >= 0) {
    crowd.restore(deleted);
    return deleted;
  }
  const id = crowd.count;
  if (id === crowd.capacity) crowd.resize(Math.max(1, id * 2));
  else crowd.reset(id);
  crowd.setCount(id + 1);
  return id;
}

/** @throws If there is no such instance, or it was deleted before. */
export function deleteInstance(crowd: Crowd, id: number): void {
  checkIndex(id, crowd.visibility);
  checkExists(crowd, id);
  crowd.delete(id);
}

/** @throws If there is no such instance, or the range is none. */
export function setVisible(crowd: Crowd, instances: Instances, visible: boolean): void {
  forEachInstance(instances, crowd.visibility, (id) => crowd.setVisible(id, visible));
}

/** @throws If there is no such instance. */
export function isVisible({ visibility }: Crowd, id: number): boolean {
  checkIndex(id, visibility);
  return visibility.isVisible(id);
}

/** Lets `count` fall past deleted instances, and puts those that are near each other into groups anew. */
export function dropDeleted(crowd: Crowd): void {
  const { visibility } = crowd;
  let { count } = visibility;
  while (count > 0 && visibility.isDeleted(count - 1)) count--;
  crowd.setCount(count);
  crowd.views.groups.sort();
}

function checkExists({ count }: Crowd, id: number): void {
  if (id < count) return;
  throw new Error(`There is no instance ${id}; the crowd's count is ${count}.`);
}
