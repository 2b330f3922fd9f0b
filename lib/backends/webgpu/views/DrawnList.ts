import type { Node } from 'three/webgpu';
import type { ViewNodes } from '../../../../shaders/instanceIndex.tsl.js';
import type { DrawFrame } from '../../../../shaders/tsl.js';
import type { DrawnCrowd } from '../../DrawnCrowd.js';

/** The list that a build reads its instances from: another one in each draw. */
export interface DrawnList extends ViewNodes {
  /** Has the draw that comes next show what its camera sees. Call it right before, see `OnObjectUpdate`. */
  show(crowd: DrawnCrowd, frame: DrawFrame): void;
  /** Has it show all instances, in their order. */
  showAll(crowd: DrawnCrowd, frame: DrawFrame): void;
  /** The matrix of an instance, where shaders need no copy of it. Builds on the current stack. */
  matrix?(instance: Node<'int'>): Node<'mat4'>;
}
