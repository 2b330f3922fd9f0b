import { expect, test } from 'vitest';
import { MAX_ACTIONS, SlotOrder } from '../../../lib/playback/SlotOrder.js';
import { random, SEEDS } from '../../support/random.js';

/** What an order is to be, in plain arrays. */
interface Plain {
  slots: number[];
  current: number;
}

const read = (order: SlotOrder, index: number): Plain => ({
  slots: Array.from({ length: order.count(index) }, (_, place) => order.slot(index, place)),
  current: order.current(index),
});

test.each(SEEDS)('slots are taken, freed, exchanged and kept in their order (seed %i)', (seed) => {
  const next = random(seed);
  const integer = (below: number) => Math.floor(next() * below);
  let order = new SlotOrder(3);
  let plain: Plain[] = Array.from({ length: 3 }, () => ({ slots: [], current: -1 }));
  for (let step = 0; step < 600; step++) {
    const index = integer(plain.length);
    const one = plain[index];
    const kind = next();
    if (kind < 0.45 && one.slots.length < MAX_ACTIONS) {
      const slot = order.add(index);
      expect(one.slots).not.toContain(slot);
      expect(slot, 'the lowest that is free').toBe([0, 1, 2, 3].find((i) => !one.slots.includes(i)));
      one.slots.push(slot);
      if (next() < 0.7) {
        order.setCurrent(index, slot);
        one.current = slot;
      }
    } else if (kind < 0.75 && one.slots.length > 0) {
      const place = integer(one.slots.length);
      order.remove(index, place);
      const [slot] = one.slots.splice(place, 1);
      if (slot === one.current) one.current = -1;
    } else if (kind < 0.8) {
      order.clear(index);
      plain[index] = { slots: [], current: -1 };
    } else if (kind < 0.9) {
      const other = integer(plain.length);
      order.swap(index, other);
      [plain[index], plain[other]] = [plain[other], plain[index]];
    } else if (kind < 0.95) {
      const capacity = 1 + integer(5);
      order.resize(capacity);
      plain = Array.from({ length: capacity }, (_, i) => plain[i] ?? { slots: [], current: -1 });
    } else {
      const copy = new SlotOrder(plain.length);
      copy.copy(order);
      order = copy;
    }
    plain.forEach((expected, i) => {
      expect(read(order, i)).toEqual(expected);
    });
  }
});
