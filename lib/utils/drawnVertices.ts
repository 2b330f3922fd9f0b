import type { BufferGeometry } from 'three';

/** 1 for each vertex that a triangle within the draw range has. */
export function drawnVertices({ index, attributes, drawRange }: BufferGeometry): Uint8Array {
  const { count } = attributes.position;
  const drawn = new Uint8Array(count);
  const from = Math.max(0, drawRange.start);
  const to = Math.min(index?.count ?? count, drawRange.start + drawRange.count);
  if (index === null) return to > from ? drawn.fill(1, from, to) : drawn;
  for (let i = from; i < to; i++) drawn[index.getX(i)] = 1;
  return drawn;
}
