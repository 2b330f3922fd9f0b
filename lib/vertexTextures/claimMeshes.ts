import type { Mesh } from 'three';

/** What a bake by code counts for: more than all bakes by clips together. */
const CODE = 2 ** 30;

/** How many bakes use a mesh or geometry now: 1 for each by clips, `CODE` for one by code. */
const claims = /*@__PURE__*/ new WeakMap<object, number>();

/**
 * Notes that meshes are being baked, until what is returned is called. Bakes by clips leave them as they were in each break, so that
 * there may be several at once. Code does not: another bake would take its frames for the rest pose.
 *
 * @throws If they are being baked, and one of the two bakes is by code.
 */
export function claimMeshes(meshes: readonly Mesh[], byCode: boolean, caller: string): () => void {
  const claimed = new Set<object>();
  for (const mesh of meshes) {
    const { geometry, name } = mesh;
    claimed.add(mesh).add(geometry);
    const others = Math.max(claims.get(mesh) ?? 0, claims.get(geometry) ?? 0);
    if (others === 0 || (!byCode && others < CODE)) continue;
    throw new Error(
      `${caller}: mesh "${name}" is being baked already, and motions of code pose it; await the other bake first, or bake a clone with geometries of its own.`,
    );
  }
  const count = byCode ? CODE : 1;
  const add = (change: number) => {
    for (const one of claimed) claims.set(one, (claims.get(one) ?? 0) + change);
  };
  add(count);
  return () => add(-count);
}
