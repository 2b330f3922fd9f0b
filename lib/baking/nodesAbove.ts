/**
 * Marks nodes and everything above them in the hierarchy.
 *
 * @param parents Index of each node's parent, -1 for the root.
 * @returns 1 for each of `nodes`, their parents, and so on up to the root; 0 for all others.
 */
export function nodesAbove(parents: Int32Array, nodes: Iterable<number>): Uint8Array {
  const found = new Uint8Array(parents.length);
  for (const start of nodes) {
    for (let node = start; node !== -1 && found[node] === 0; node = parents[node]) found[node] = 1;
  }
  return found;
}
