import type { Influences } from '../constants.js';

/** How a mesh of a crowd is drawn. */
export interface DrawOptions {
  /** Joints that a vertex follows at most; its strongest are kept. @default 4 */
  influences?: Influences;
  /** The same in shadow maps, where two or one are often enough. @default influences */
  shadowInfluences?: Influences;
  /** Whether two baked frames are mixed; else the nearest is shown. @default true */
  interpolate?: boolean;
}

/** How a crowd is drawn. */
export interface SkinnedInstancedMeshOptions extends DrawOptions {}
