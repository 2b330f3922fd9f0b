import type { BufferGeometry } from 'three';

/** 1 for each vertex that a triangle has. */
export function drawnVertices({ index, attributes }: BufferGeometry): Uint8Array {
  const drawn = new Uint8Array(attributes.position.count);
  if (index === null) return drawn.fill(1);
  for (let i = 0; i < index.count; i++) drawn[index.getX(i)] = 1;
  return drawn;
}
