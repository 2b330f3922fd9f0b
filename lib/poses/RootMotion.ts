/** Numbers per frame of a root motion: x, y, z in scene units, and the turn about y in radians. */
export const MOTION_SIZE = 4;
