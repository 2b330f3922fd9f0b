import type { BufferGeometry } from 'three';
import type { Steps } from './runBake.js';

/** Vertices between two steps. */
const VERTICES = 512;

/** How far a morph target at full influence moves a vertex at most. */
export function* morphReach(geometry: BufferGeometry): Steps<number> {
  const base = geometry.getAttribute('position');
  const relative = geometry.morphTargetsRelative;
  let most = 0;
  for (const target of geometry.morphAttributes.position ?? []) {
    for (let vertex = 0; vertex < target.count; vertex++) {
      const x = target.getX(vertex) - (relative ? 0 : base.getX(vertex));
      const y = target.getY(vertex) - (relative ? 0 : base.getY(vertex));
      const z = target.getZ(vertex) - (relative ? 0 : base.getZ(vertex));
      most = Math.max(most, Math.hypot(x, y, z));
      if (vertex % VERTICES === 0) yield 0;
    }
  }
  return most;
}
