import type { BufferAttribute, BufferGeometry, InterleavedBufferAttribute } from 'three';
import { isReleasing } from '../../utils/releaseBuffers.js';

type Target = BufferAttribute | InterleavedBufferAttribute;

/** What three.js takes for the geometries that have the same morph targets. */
interface Stand {
  readonly geometry: BufferGeometry;
  readonly users: Set<BufferGeometry>;
}

const stands = /*@__PURE__*/ new WeakMap<Target, Stand>();

/**
 * What three.js takes for a geometry when it makes the texture of its morph targets. It frees that texture with the geometry, but what it
 * has built goes on with the texture and sends it anew, to be freed never: when only the buffers of the geometry were freed, since its
 * crowd got room for more instances, and when what it built is shared by a geometry with the same targets. So this one has listeners of its
 * own, and is disposed with the last of those geometries.
 */
export function morphedGeometry(geometry: BufferGeometry): BufferGeometry {
  return standOf(geometry)?.geometry ?? geometry;
}

/** Call before a geometry is drawn: what was built for another may be shared by it. */
export function keepMorphTargets(geometry: BufferGeometry): void {
  standOf(geometry);
}

function standOf(geometry: BufferGeometry): Stand | null {
  const { position, normal, color } = geometry.morphAttributes;
  const first = (position ?? normal ?? color)?.[0];
  if (first === undefined) return null;
  let stand = stands.get(first);
  if (stand === undefined || !hasSameTargets(stand.geometry, geometry)) {
    const listeners = { value: {}, writable: true };
    stand = { geometry: Object.create(geometry, { _listeners: listeners }), users: new Set() };
    stands.set(first, stand);
  }
  const { users, geometry: made } = stand;
  if (users.has(geometry)) return stand;
  users.add(geometry);
  geometry.addEventListener('dispose', function dispose() {
    if (isReleasing(geometry)) return;
    geometry.removeEventListener('dispose', dispose);
    users.delete(geometry);
    if (users.size === 0) made.dispose();
  });
  return stand;
}

function hasSameTargets(a: BufferGeometry, b: BufferGeometry): boolean {
  for (const name of ['position', 'normal', 'color'] as const) {
    const [own = [], other = []] = [a.morphAttributes[name], b.morphAttributes[name]];
    if (own.length !== other.length || own.some((target, i) => target !== other[i])) return false;
  }
  return true;
}
