import { BoxGeometry, Color, Matrix4, Mesh, MeshBasicMaterial, Raycaster, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { partsOf } from '../../support/features.js';
import {
  bakeCharacter,
  getSocketMatrix,
  getVertexPosition,
  JointAttachment,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { random, SEEDS } from '../../support/random.js';
import { createStickCrowd, tipOf } from '../../support/stick.js';

const _matrix = new Matrix4();

/** Marks an instance by where it stands. */
function mark(crowd: SkinnedInstancedMesh, id: number, x: number): void {
  crowd.setMatrixAt(id, _matrix.makeTranslation(x, 0, 0));
}

const markOf = (crowd: SkinnedInstancedMesh, id: number): number => crowd.instanceMatrix.array[id * 16 + 12];

/** What an id stands for, as a list that nothing clever is done with. */
interface Slot {
  mark: number;
  exists: boolean;
  deleted: boolean;
  hidden: boolean;
}

/** A crowd's ids as plain data. */
class Model {
  slots: Slot[] = [];
  count: number;

  constructor(count: number) {
    this.count = count;
    this.resize(count);
    for (const slot of this.slots) slot.exists = true;
  }

  add(): number {
    const free = this.slots.findIndex(({ deleted }) => deleted);
    const id = free >= 0 ? free : this.count;
    if (id === this.slots.length) this.resize(Math.max(1, this.slots.length * 2));
    this.slots[id] = { mark: 0, exists: true, deleted: false, hidden: false };
    this.count = Math.max(this.count, id + 1);
    return id;
  }

  delete(id: number): void {
    Object.assign(this.slots[id], { exists: false, deleted: true, hidden: false });
  }

  setCount(count: number): void {
    this.slots.forEach((slot, id) => {
      if (id >= count && slot.deleted) slot.mark = 0;
      if (id >= count) Object.assign(slot, { exists: false, deleted: false });
      else if (id >= this.count) Object.assign(slot, { exists: true, hidden: false });
    });
    this.count = count;
  }

  optimize(): void {
    while (this.count > 0 && this.slots[this.count - 1].deleted) this.setCount(this.count - 1);
  }

  resize(capacity: number): void {
    this.slots.length = Math.min(this.slots.length, capacity);
    while (this.slots.length < capacity) {
      this.slots.push({ mark: 0, exists: false, deleted: false, hidden: false });
    }
  }

  swap(i: number, j: number): void {
    const { slots } = this;
    [slots[i].mark, slots[j].mark] = [slots[j].mark, slots[i].mark];
    [slots[i].hidden, slots[j].hidden] = [slots[j].hidden, slots[i].hidden];
  }
}

function expectSame(crowd: SkinnedInstancedMesh, model: Model): void {
  const { visibility } = crowd;
  expect(crowd.count).toBe(model.count);
  expect(crowd.capacity).toBe(model.slots.length);
  const existing = model.slots.filter(({ exists }) => exists);
  expect(crowd.instanceCount).toBe(existing.length);
  expect(visibility.allDrawn).toBe(existing.length === model.count && existing.every((slot) => !slot.hidden));
  let drawn = 0;
  model.slots.forEach(({ mark: x, exists, deleted, hidden }, id) => {
    if (visibility.isDrawn(id) !== (exists && !hidden)) throw new Error(`${id} is drawn wrongly`);
    if (visibility.isDeleted(id) !== deleted) throw new Error(`${id} is deleted wrongly`);
    if (!deleted && markOf(crowd, id) !== x) throw new Error(`${id} is ${markOf(crowd, id)}, not ${x}`);
    if (!deleted && crowd.getVisibleAt(id) === hidden) throw new Error(`${id} is hidden wrongly`);
    drawn += exists && !hidden ? 1 : 0;
  });
  const bits = [...visibility.bits].map((word) => word.toString(2).replaceAll('0', '').length);
  expect(bits.reduce((sum, ones) => sum + ones, 0)).toBe(drawn);
}

test.each(SEEDS)('seed %i: ids are stable under 4,000 random changes', (seed) => {
  const next = random(seed);
  const below = (n: number) => Math.floor(next() * n);
  const crowd = createStickCrowd(3);
  const hat = new JointAttachment(crowd, 'Tip', new BoxGeometry(), new MeshBasicMaterial());
  const model = new Model(3);
  let version = crowd.visibility.version;
  let marks = 0;
  /** An id within the capacity that is not deleted; -1 if none was found. */
  const some = () => {
    const id = below(model.slots.length);
    return model.slots[id] === undefined || model.slots[id].deleted ? -1 : id;
  };

  for (let step = 0; step < 4_000; step++) {
    const kind = next();
    const before = crowd.visibility.bits.slice();
    if (kind < 0.32) {
      const id = crowd.addInstance();
      expect(id).toBe(model.add());
      expect(markOf(crowd, id)).toBe(0);
      model.slots[id].mark = ++marks;
      mark(crowd, id, marks);
    } else if (kind < 0.6) {
      const id = below(model.count);
      if (model.slots[id]?.exists) {
        crowd.deleteInstance(id);
        model.delete(id);
      } else {
        expect(() => crowd.deleteInstance(id)).toThrow(/(Instance \d+ was deleted|no instance)/);
      }
    } else if (kind < 0.8) {
      const id = some();
      const visible = next() < 0.5;
      if (id >= 0) {
        crowd.setVisibleAt(id, visible);
        model.slots[id].hidden = !visible;
      }
    } else if (kind < 0.9) {
      const [i, j] = [some(), some()];
      if (i >= 0 && j >= 0) {
        crowd.swapInstances(i, j);
        model.swap(i, j);
      }
    } else if (kind < 0.94) {
      const count = Math.max(0, Math.min(crowd.capacity, model.count + below(9) - 5));
      crowd.count = count;
      model.setCount(count);
    } else if (kind < 0.96) {
      const capacity = model.count + below(5);
      crowd.setCapacity(capacity);
      model.resize(capacity);
    } else if (kind < 0.98) {
      crowd.optimize();
      model.optimize();
    } else {
      const start = below(model.count);
      const count = below(model.count - start + 1);
      const visible = next() < 0.5;
      crowd.setVisibleAt({ start, count }, visible);
      for (let id = start; id < start + count; id++) {
        if (!model.slots[id].deleted) model.slots[id].hidden = !visible;
      }
    }
    expectSame(crowd, model);
    expect(hat.count).toBe(crowd.count);
    const after = crowd.visibility.bits;
    const changed = before.length !== after.length || before.some((word, i) => word !== after[i]);
    if (changed) expect(crowd.visibility.version).toBeGreaterThan(version);
    version = crowd.visibility.version;
  }
  expect(marks).toBeGreaterThan(800);
});

test('hidden and deleted instances are not hit, and bounds leave them out', () => {
  const { root, clips } = createCharacter();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 3);
  const hat = new JointAttachment(crowd, 'Head', new BoxGeometry(), new MeshBasicMaterial());
  for (let i = 0; i < 3; i++) mark(crowd, i, i * 100);
  const hits = (id: number) => {
    crowd.updateMatrixWorld();
    const ray = new Raycaster(new Vector3(id * 100, 0.9, 50), new Vector3(0, 0, -1));
    const onHat = new Vector3().setFromMatrixPosition(_matrix.fromArray(crowd.instanceMatrix.array, id * 16));
    const above = new Raycaster(onHat.setY(50), new Vector3(0, -1, 0));
    for (const object of [crowd, hat]) {
      for (const firstHitOnly of [false, true]) {
        const found = [ray, above].flatMap((one) =>
          Object.assign(one, { firstHitOnly }).intersectObject(object, false),
        );
        if (found.length === 0) return false;
        expect(found.every(({ instanceId }) => instanceId === id)).toBe(true);
      }
    }
    return true;
  };
  const right = () => {
    crowd.updateMatrixWorld();
    if (crowd.boundingSphere === null) crowd.computeBoundingSphere();
    if (crowd.boundingBox === null) crowd.computeBoundingBox();
    const { center, radius } = crowd.boundingSphere as NonNullable<typeof crowd.boundingSphere>;
    const x = crowd.boundingBox?.max.x as number;
    expect(center.x + radius).toBeGreaterThanOrEqual(x - 1e-3);
    return Math.round(x / 100) * 100;
  };
  expect([0, 1, 2].map(hits)).toEqual([true, true, true]);
  expect(right()).toBe(200);
  crowd.setVisibleAt(2, false);
  expect([0, 1, 2].map(hits)).toEqual([true, true, false]);
  expect(right()).toBe(100);
  crowd.deleteInstance(1);
  expect(hits(0)).toBe(true);
  expect(hits(1)).toBe(false);
  expect(right()).toBe(0);
  crowd.setVisibleAt(2, true);
  expect(right()).toBe(200);
  expect(crowd.clone().setVisibleAt(0, false).instanceCount).toBe(2);

  crowd.setVisibleAt(crowd.all, false);
  crowd.updateMatrixWorld();
  crowd.computeBoundingSphere();
  crowd.computeBoundingBox();
  expect(crowd.boundingBox?.isEmpty()).toBe(true);
  expect(crowd.boundingSphere?.isEmpty()).toBe(true);
  expect([0, 1, 2].map(hits)).toEqual([false, false, false]);
});

test('a hidden instance can be asked where it is, and its time goes on; a deleted one cannot', () => {
  const crowd = createStickCrowd(3);
  crowd.playAll('Slide');
  crowd.setVisibleAt(1, false).update(0.25);
  expect(tipOf(crowd, 1)).toBeCloseTo(0.25, 5);
  expect(getSocketMatrix(crowd, 1, 'Tip', new Matrix4()).elements[12]).toBeCloseTo(0.25, 5);
  crowd.deleteInstance(1);
  const calls: (() => unknown)[] = [
    () => crowd.play(1, 'Slide'),
    () => crowd.stop(1),
    () => crowd.pause(1),
    () => crowd.getTimeAt(1),
    () => crowd.getClipAt(1),
    () => crowd.getPoseRateAt(1),
    () => crowd.setMatrixAt(1, _matrix),
    () => crowd.getMatrixAt(1, _matrix),
    () => crowd.setColorAt(1, new Color()),
    () => crowd.getColorAt(1, new Color()),
    () => crowd.getMorphAt(1, new Mesh()),
    () => partsOf(crowd).setVisibleAt(1, 0, false),
    () => partsOf(crowd).getVisibleAt(1, 0),
    () => getSocketMatrix(crowd, 1, 'Tip', _matrix),
    () => getVertexPosition(crowd, 1, 0, new Vector3()),
    () => crowd.setVisibleAt(1, true),
    () => crowd.getVisibleAt(1),
    () => crowd.deleteInstance(1),
    () => crowd.swapInstances(0, 1),
    () => crowd.swapInstances(1, 0),
  ];
  for (const call of calls) expect(call).toThrow(/Instance 1 was deleted; use an id/);
  expect(() => crowd.deleteInstance(3)).toThrow('no instance 3; the crowd has 3');
  crowd.setCapacity(5);
  expect(() => crowd.deleteInstance(4)).toThrow("There is no instance 4; the crowd's count is 3");

  const asked: number[] = [];
  crowd.playAll((i) => {
    asked.push(i);
    return 'Slide';
  });
  expect(asked).toEqual([0, 2]);
  expect(crowd.instanceCount).toBe(2);
});

test('hidden and deleted instances have no events, and what happened while hidden is not told of', () => {
  const crowd = createStickCrowd(3);
  const log: string[] = [];
  crowd.addEventListener('loop', ({ instanceId, loopDelta }) => log.push(`${instanceId} loop ${loopDelta}`));
  crowd.addEventListener('finished', ({ instanceId }) => log.push(`${instanceId} finished`));
  const happened = (seconds: number) => {
    crowd.update(seconds);
    return log.splice(0);
  };
  crowd.playAll('Slide');
  crowd.play(2, 'Slide', { repetitions: 2 });
  expect(happened(1.1)).toEqual(['0 loop 1', '1 loop 1', '2 loop 1']);
  crowd.setVisibleAt({ start: 1, count: 2 }, false);
  expect(happened(1)).toEqual(['0 loop 1']);
  crowd.setVisibleAt(crowd.all, true);
  expect(happened(1)).toEqual(['0 loop 1', '1 loop 1']);
  expect(crowd.isPlayingAt(2)).toBe(false);

  // Played, sought and swapped while hidden.
  crowd.setVisibleAt(1, false).play(1, 'Slide').setTimeAt(1, 0.5);
  expect(happened(1)).toEqual(['0 loop 1']);
  crowd.swapInstances(0, 1);
  expect(crowd.getVisibleAt(0)).toBe(false);
  expect(happened(1)).toEqual(['1 loop 1']);
  crowd.setVisibleAt(0, true).deleteInstance(1);
  expect(happened(1)).toEqual(['0 loop 1']);
  expect(crowd.addInstance()).toBe(1);
  expect(happened(1)).toEqual(['0 loop 1']);

  // Ids that are hidden when count falls are visible when it is raised again.
  crowd.play(1, 'Slide').setVisibleAt(1, false);
  crowd.count = 1;
  crowd.count = 3;
  expect(happened(1.1).sort()).toEqual(['0 loop 1', '1 loop 1']);
});
