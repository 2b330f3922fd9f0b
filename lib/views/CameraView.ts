import { InstanceList } from './InstanceList.js';
import type { View } from './View.js';

/** Which instances a camera sees, in one frame. */
export class CameraView {
  private readonly whole: { count: number; list: InstanceList; isWhole: boolean };

  constructor(count: number) {
    this.whole = { count, list: new InstanceList(0), isWhole: true };
  }

  /**
   * What a mesh of the crowd draws.
   *
   * @param _level Its level of detail; null for all levels together.
   */
  of(_level: number | null): View {
    return this.whole;
  }

  dispose(): void {
    this.whole.list.dispose();
  }
}
