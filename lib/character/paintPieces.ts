import { BufferAttribute, type BufferGeometry, type Material } from 'three';
import { PALETTE_CHANNEL } from '../constants.js';
import { type Attribute, floatsOf, pickCorners, shareAttribute } from '../utils/geometries.js';
import { warnOnce } from '../utils/messages.js';
import type { MaterialShare } from './materialFields.js';
import type { Piece, PlacedPiece, Run } from './mergeParts.js';

/** Pieces of one material each: those that have several might share vertices, but not colours. */
export function splitPieces(pieces: readonly Piece[]): Piece[] {
  return pieces.flatMap((piece) => {
    const { geometry, runs } = piece;
    if (runs.length < 2) return piece;
    return runs.map((run) => ({
      ...piece,
      geometry: trianglesOf(geometry, run),
      runs: [{ ...run, start: 0 }],
    }));
  });
}

/** A new geometry of the triangles of one run. */
function trianglesOf(source: BufferGeometry, { start, count }: Run): BufferGeometry {
  const corners = Array.from({ length: count }, (_, k) => source.index?.getX(start + k) ?? start + k);
  return pickCorners(source, corners).geometry;
}

/** Gives vertices of a merged geometry the constants that their merged materials had, and the numbers of these. */
export function paintPieces(
  geometry: BufferGeometry,
  pieces: readonly PlacedPiece[],
  shares: ReadonlyMap<Material, MaterialShare>,
): void {
  const { position, color, partIndex } = geometry.attributes;
  const { count } = position;
  // Colours that are multiplied by those of materials are no shares of one any more.
  const colors = color ? floatsOf(color) : new BufferAttribute(new Float32Array(count * 3).fill(1), 3);
  geometry.setAttribute('color', colors);
  const { color: targets = [] } = geometry.morphAttributes;
  const palette = shareAttribute(Uint16Array, count, 2);
  for (const { runs, first, count: own, geometry: painted, source } of pieces) {
    const share = runs[0] && shares.get(runs[0].material);
    if (!share) continue;
    const { r, g, b } = share.color;
    const tint = (one: Attribute, at: number, by = 1) =>
      one.setXYZ(at, one.getX(at) * r * by, one.getY(at) * g * by, one.getZ(at) * b * by);
    if (!share.vertexColors && painted.hasAttribute('color')) warnPainted(source.mesh.name);
    for (let vertex = first; vertex < first + own; vertex++) {
      if (!share.vertexColors) for (let k = 0; k < colors.itemSize; k++) colors.setComponent(vertex, k, 1);
      tint(colors, vertex);
      for (const one of targets) tint(one, vertex, +share.vertexColors);
      palette.setX(vertex, share.palette ?? 0);
      partIndex.setY(vertex, share.number);
    }
  }
  if ([...shares.values()].some((share) => share.palette !== null)) {
    geometry.setAttribute(`uv${PALETTE_CHANNEL}`, palette);
  }
}

/** Colours that no material shows may be meant for motions, which would read those of materials. */
function warnPainted(name: string): void {
  warnOnce(
    `mergeMaterials: vertex colours of mesh "${name}" give way to the colour of its material, which has no vertexColors; if motions ` +
      "shall read them, leave mergeMaterials out, else delete the attribute 'color'.",
  );
}
