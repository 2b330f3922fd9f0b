import type { BufferAttribute, BufferGeometry, InterleavedBufferAttribute } from 'three';

type Target = BufferAttribute | InterleavedBufferAttribute;

/** Geometries that have the same morph targets, and what three.js takes for all of them. */
interface SharedTargets {
  readonly substitute: BufferGeometry;
  /** Those that are neither disposed nor forgotten. */
  readonly geometries: Set<BufferGeometry>;
}

/** All that begin with a target: other lists may begin with it too. */
const byFirstTarget = /*@__PURE__*/ new WeakMap<Target, SharedTargets[]>();

const KINDS = ['position', 'normal', 'color'] as const;

/**
 * What three.js takes for a geometry when it makes the texture of its morph targets: one substitute for all geometries with the same
 * targets, which is disposed with the last of them.
 *
 * three.js frees that texture when the geometry it was made for is disposed. But another geometry with the same targets may share what
 * was built, which still has the texture and sends it anew, so that nothing ever frees it. The substitute has listeners of its own, so
 * that it is not disposed then. Call it before a geometry is drawn too: what was built for another may be shared by it.
 */
export function morphedGeometry(geometry: BufferGeometry): BufferGeometry {
  const { position, normal, color } = geometry.morphAttributes;
  const first = (position ?? normal ?? color)?.[0];
  if (first === undefined) return geometry;
  const shared = findShared(first, geometry);
  if (!shared.geometries.has(geometry)) addGeometry(shared, geometry);
  return shared.substitute;
}

/** Called for each draw, and therefore allocates nothing for targets that are known. */
function findShared(first: Target, geometry: BufferGeometry): SharedTargets {
  let all = byFirstTarget.get(first);
  if (all === undefined) {
    all = [];
    byFirstTarget.set(first, all);
  }
  for (let i = 0; i < all.length; i++) if (hasSameTargets(all[i].substitute, geometry)) return all[i];
  const { morphAttributes } = geometry;
  const substitute: BufferGeometry = Object.create(geometry, {
    _listeners: { value: {}, writable: true },
    // As it is now, should the geometry be given others.
    morphAttributes: { value: { ...morphAttributes }, writable: true },
  });
  const shared = { substitute, geometries: new Set<BufferGeometry>() };
  all.push(shared);
  return shared;
}

function addGeometry({ substitute, geometries }: SharedTargets, geometry: BufferGeometry): void {
  geometries.add(geometry);
  geometry.addEventListener('dispose', function dispose() {
    geometry.removeEventListener('dispose', dispose);
    geometries.delete(geometry);
    if (geometries.size === 0) substitute.dispose();
  });
}

function hasSameTargets(a: BufferGeometry, b: BufferGeometry): boolean {
  for (let k = 0; k < KINDS.length; k++) {
    const own = a.morphAttributes[KINDS[k]];
    const other = b.morphAttributes[KINDS[k]];
    const count = own?.length ?? 0;
    if (count !== (other?.length ?? 0)) return false;
    for (let i = 0; i < count; i++) if (own?.[i] !== other?.[i]) return false;
  }
  return true;
}
