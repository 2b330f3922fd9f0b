import type { JointBoxes } from '../poses/jointBoxes.js';
import type { PartFlip } from '../poses/PartFlip.js';
import type { Rig } from '../poses/Rig.js';

/** What baking knows of a character: plain data, which a worker can be sent. */
export interface BakedCharacter {
  rig: Rig;
  /** Boxes of the vertices that follow each joint. */
  boxes: JointBoxes;
  /** Parts that clips mirror or flatten. */
  flips: PartFlip[];
  /** How far a morph target at full influence moves a vertex at most, in scene units. */
  morphReach: number;
  /** How many vertices it has. */
  vertices: number;
}
