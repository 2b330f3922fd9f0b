import type { BufferGeometry } from 'three';

/** How far a morph target at full influence moves a vertex at most. */
export function morphReach(geometries: readonly BufferGeometry[]): number {
  let most = 0;
  for (const geometry of geometries) {
    const base = geometry.getAttribute('position');
    const relative = geometry.morphTargetsRelative;
    for (const target of geometry.morphAttributes.position ?? []) {
      for (let vertex = 0; vertex < target.count; vertex++) {
        const x = target.getX(vertex) - (relative ? 0 : base.getX(vertex));
        const y = target.getY(vertex) - (relative ? 0 : base.getY(vertex));
        const z = target.getZ(vertex) - (relative ? 0 : base.getZ(vertex));
        most = Math.max(most, Math.hypot(x, y, z));
      }
    }
  }
  return most;
}
