import type { PoseTracks } from '../tracks/PoseTracks.js';

/** Finds the nodes of pose tracks by name. */
export interface NodeNames {
  /** First node of each name. */
  first: Map<string, number>;
  /** For each node the next of its name; -1 if there is none. */
  next: Int32Array;
}

const known = /*@__PURE__*/ new WeakMap<PoseTracks, NodeNames>();

/** Nodes without a name are not among them. */
export function nodeNames(tracks: PoseTracks): NodeNames {
  let names = known.get(tracks);
  if (names === undefined) {
    names = { first: new Map(), next: new Int32Array(tracks.names.length).fill(-1) };
    for (let node = tracks.names.length - 1; node >= 0; node--) {
      const name = tracks.names[node];
      if (name === '') continue;
      names.next[node] = names.first.get(name) ?? -1;
      names.first.set(name, node);
    }
    known.set(tracks, names);
  }
  return names;
}

/** A function that gives for each node of some tracks the node of the same name in others; -1 if there is none. */
export function sameNodes(from: PoseTracks, to: PoseTracks): (node: number) => number {
  if (from === to) return (node) => node;
  const { first } = nodeNames(to);
  return (node) => (node === 0 ? 0 : (first.get(from.names[node]) ?? -1));
}
