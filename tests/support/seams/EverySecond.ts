import { InstanceList } from '../../../lib/views/InstanceList.js';
import type { View } from '../../../lib/views/View.js';

/** Shows every second instance. */
export class EverySecond implements View {
  readonly list: InstanceList;
  count = 0;

  constructor(capacity: number) {
    this.list = new InstanceList(capacity);
  }

  update(count: number): void {
    this.count = Math.ceil(count / 2);
    for (let i = 0; i < this.count; i++) if (this.list.get(i) !== 2 * i) this.list.set(i, 2 * i);
  }
}
