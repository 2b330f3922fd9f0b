import type { BufferAttribute, InterleavedBufferAttribute, Material, Texture } from 'three';
import { BufferGeometry, Float32BufferAttribute, Uint16BufferAttribute, Uint32BufferAttribute } from 'three';
import { PALETTE_CHANNEL } from '../constants.js';
import { warnOnce } from '../utils/warnOnce.js';
import { weightChecker } from './checkWeights.js';
import type { ScenePart } from './collectParts.js';
import type { MaterialShare } from './materialFields.js';
import type { MaterialMerger } from './mergeMaterials.js';
import { giveTangents, isMirrored, type Piece, piecesOf } from './pieces.js';
import { type NumberArray, shareAttribute } from './shareAttribute.js';

export interface MergedParts {
  geometry: BufferGeometry;
  material: Material | Material[];
  /** Materials and textures that were made in merging. */
  owned: (Material | Texture)[];
}

/** Values for vertices of parts that lack an attribute which another part has. */
const FILL: Record<string, readonly number[]> = { color: [1, 1, 1, 1], tangent: [1, 0, 0, 1] };

/**
 * Makes one geometry of all parts of a character, with one group per material, so that each material is one draw call.
 * A lone skinned mesh keeps its geometry as it is, in the attribute types it has.
 *
 * @param morphs Names of the morph targets of all parts.
 * @param merger What merges materials; undefined if they stay apart.
 * @param owner Material of a crowd whose materials were merged before: what is among them becomes what it became there.
 */
export function mergeParts(
  parts: readonly ScenePart[],
  morphs: readonly string[],
  merger?: MaterialMerger,
  owner?: Material | Material[],
): MergedParts {
  const [first] = parts;
  const merging = merger !== undefined;
  const known = owner === undefined ? undefined : merger?.sharesIn(owner);
  const merges = merging && (Array.isArray(first.material) || known?.has(first.material) === true);
  const several = parts.length > 1 || merges;
  const asItIs = !first.rigid && !isMirrored(first) && first.mirrorJoints === null;
  if (!several && asItIs && first.joints.every((joint, i) => joint === i)) {
    return { geometry: first.geometry, material: first.material, owned: [] };
  }

  // Copies for poses in which a clip mirrors come last, so that all other vertices are in the order of the parts.
  const pieces = [false, true].flatMap((copies) =>
    parts.flatMap((rig, part) => piecesOf(rig, part, copies, merging)),
  );
  giveTangents(pieces);
  const sources = pieces.map((piece) => piece.geometry);
  const offsets: number[] = [];
  let vertices = 0;
  for (const source of sources) {
    offsets.push(vertices);
    vertices += source.getAttribute('position').count;
  }

  const geometry = new BufferGeometry();
  for (const [name, itemSize] of attributeSizes(sources)) {
    // Colours that are multiplied by those of materials are no shares of one any more.
    const inFloats = name === 'color' && merging;
    geometry.setAttribute(name, mergedAttribute(sources, offsets, vertices, name, itemSize, inFloats));
  }
  const { skinIndex, skinWeight } = mergedSkin(pieces, offsets, vertices);
  geometry.setAttribute('skinIndex', skinIndex);
  geometry.setAttribute('skinWeight', skinWeight);
  mergeMorphs(geometry, pieces, offsets, morphs);

  const drawn = [...new Set(pieces.flatMap(({ runs }) => runs.map(({ material }) => material)))];
  const palettes = !geometry.hasAttribute(`uv${PALETTE_CHANNEL}`);
  const { shares, owned } = merger?.merge(drawn, palettes, known) ?? {
    shares: new Map<Material, MaterialShare>(),
    owned: [],
  };
  if (shares.size > 0) moveToVertices(geometry, pieces, offsets, shares);
  geometry.setAttribute('partIndex', partIndices(pieces, offsets, vertices, shares));

  const standIn = (material: Material) => shares.get(material)?.material ?? material;
  const materials = [...new Set(drawn.map(standIn))];
  const total = pieces.reduce((sum, { runs }) => sum + runs.reduce((count, run) => count + run.count, 0), 0);
  const index = vertices > 65535 ? new Uint32Array(total) : new Uint16Array(total);
  let at = 0;

  materials.forEach((material, materialIndex) => {
    const groupStart = at;
    pieces.forEach(({ geometry: { index: source }, mirrored, runs }, i) => {
      for (const run of runs) {
        if (standIn(run.material) !== material) continue;
        for (let k = run.start; k < run.start + run.count; k++) {
          index[at++] = (source ? source.getX(k) : k) + offsets[i];
          if (mirrored && (k - run.start) % 3 === 2) swapLastTwo(index, at);
        }
      }
    });
    geometry.addGroup(groupStart, at - groupStart, materialIndex);
  });

  geometry.setIndex(
    index instanceof Uint32Array ? new Uint32BufferAttribute(index, 1) : new Uint16BufferAttribute(index, 1),
  );
  if (materials.length === 1) geometry.clearGroups();
  return { geometry, material: materials.length === 1 ? materials[0] : materials, owned };
}

/** For each vertex the part that it belongs to, and which of several merged materials it has. */
function partIndices(
  pieces: readonly Piece[],
  offsets: readonly number[],
  vertices: number,
  shares: ReadonlyMap<Material, MaterialShare>,
): Uint16BufferAttribute {
  const indices = new Uint16BufferAttribute(new Uint16Array(vertices * 2), 2);
  pieces.forEach(({ part, runs: [run] }, i) => {
    const number = (run && shares.get(run.material)?.number) ?? 0;
    for (let vertex = offsets[i]; vertex < (offsets[i + 1] ?? vertices); vertex++)
      indices.setXY(vertex, part, number);
  });
  return indices;
}

/** Gives vertices the constants that their merged materials had. */
function moveToVertices(
  geometry: BufferGeometry,
  pieces: readonly Piece[],
  offsets: readonly number[],
  shares: ReadonlyMap<Material, MaterialShare>,
): void {
  const { count } = geometry.getAttribute('position');
  const colors = (geometry.getAttribute('color') ??
    new Float32BufferAttribute(new Float32Array(count * 3).fill(1), 3)) as Float32BufferAttribute;
  geometry.setAttribute('color', colors);
  const palette = shareAttribute(Uint16Array, count, 2);

  pieces.forEach(({ runs: [run], geometry: painted, rig }, i) => {
    const share = run && shares.get(run.material);
    if (!share) return;
    const { r, g, b } = share.color;
    if (!share.vertexColors && painted.hasAttribute('color')) warnPainted(rig);
    for (let vertex = offsets[i]; vertex < (offsets[i + 1] ?? count); vertex++) {
      if (!share.vertexColors) for (let k = 0; k < colors.itemSize; k++) colors.setComponent(vertex, k, 1);
      colors.setXYZ(vertex, colors.getX(vertex) * r, colors.getY(vertex) * g, colors.getZ(vertex) * b);
      palette.setX(vertex, share.palette ?? 0);
    }
  });
  if ([...shares.values()].some((share) => share.palette !== null)) {
    geometry.setAttribute(`uv${PALETTE_CHANNEL}`, palette);
  }
}

/** Colours that no material shows may be meant for motions, which would read those of materials. */
function warnPainted({ mesh }: ScenePart): void {
  warnOnce(
    `mergeMaterials: vertex colours of mesh "${mesh.name}" give way to the colour of its material, which has no vertexColors; if motions ` +
      "shall read them, leave mergeMaterials out, else delete the attribute 'color'.",
  );
}

function swapLastTwo(index: Uint16Array | Uint32Array, end: number): void {
  const last = index[end - 1];
  index[end - 1] = index[end - 2];
  index[end - 2] = last;
}

/** Morph targets of all parts as offsets from the base geometry; each moves only the vertices of its own part. */
function mergeMorphs(
  geometry: BufferGeometry,
  pieces: readonly Piece[],
  offsets: readonly number[],
  morphs: readonly string[],
): void {
  if (morphs.length === 0) return;
  geometry.morphTargetsRelative = true;
  const { count } = geometry.getAttribute('position');
  const normals = pieces.some((piece) => piece.geometry.morphAttributes.normal !== undefined);
  for (const name of normals ? (['position', 'normal'] as const) : (['position'] as const)) {
    geometry.morphAttributes[name] = morphs.map((target, morph) => {
      const ways = new Float32BufferAttribute(new Float32Array(count * 3), 3);
      ways.name = target;
      pieces.forEach(({ geometry: source, rig: { morphOffset } }, i) => {
        const target = morphOffset < 0 ? undefined : source.morphAttributes[name]?.[morph - morphOffset];
        if (target === undefined) return;
        const base = source.getAttribute(name);
        for (let vertex = 0; vertex < target.count; vertex++) {
          for (let k = 0; k < 3; k++) {
            const origin = source.morphTargetsRelative ? 0 : base.getComponent(vertex, k);
            ways.setComponent(offsets[i] + vertex, k, target.getComponent(vertex, k) - origin);
          }
        }
      });
      return ways;
    });
  }
}

function attributeSizes(sources: readonly BufferGeometry[]): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const source of sources) {
    for (const [name, attribute] of Object.entries(source.attributes)) {
      if (name === 'skinIndex' || name === 'skinWeight') continue;
      sizes.set(name, Math.max(sizes.get(name) ?? 0, attribute.itemSize));
    }
  }
  return sizes;
}

/**
 * An attribute of all pieces: in floats, or where all have it in whole numbers of one kind that stand for shares, as compressed files
 * do, in these.
 */
function mergedAttribute(
  sources: readonly BufferGeometry[],
  offsets: readonly number[],
  vertices: number,
  name: string,
  itemSize: number,
  inFloats: boolean,
): BufferAttribute | InterleavedBufferAttribute {
  const Shares = inFloats ? null : sharesOf(sources, name);
  const merged =
    Shares === null
      ? new Float32BufferAttribute(new Float32Array(vertices * itemSize), itemSize)
      : shareAttribute(Shares, vertices, itemSize);
  const fill = FILL[name] ?? [0, 0, 0, 0];

  sources.forEach((source, part) => {
    const attribute = source.getAttribute(name) as BufferAttribute | InterleavedBufferAttribute | undefined;
    const count = source.getAttribute('position').count;
    if (attribute && Shares === null && isPlain(attribute, itemSize, count)) {
      (merged.array as Float32Array).set(attribute.array, offsets[part] * itemSize);
      return;
    }
    for (let vertex = 0; vertex < count; vertex++) {
      for (let i = 0; i < itemSize; i++) {
        const value = attribute && i < attribute.itemSize ? attribute.getComponent(vertex, i) : fill[i];
        merged.setComponent(offsets[part] + vertex, i, value);
      }
    }
  });

  return merged;
}

/** Whether an attribute is an array of floats, vertex after vertex, that can be copied in one go. */
const isPlain = (
  attribute: BufferAttribute | InterleavedBufferAttribute,
  itemSize: number,
  count: number,
): boolean =>
  !('isInterleavedBufferAttribute' in attribute) &&
  attribute.itemSize === itemSize &&
  attribute.array instanceof Float32Array &&
  attribute.array.length === count * itemSize;

/** The arrays that an attribute has in all geometries, if it holds shares in each of them; else null. */
function sharesOf(sources: readonly BufferGeometry[], name: string): NumberArray | null {
  const arrays = sources.map((source) => {
    const attribute = source.getAttribute(name) as BufferAttribute | InterleavedBufferAttribute | undefined;
    return attribute?.normalized ? attribute.array.constructor : null;
  });
  return arrays.every((array) => array === arrays[0]) ? (arrays[0] as NumberArray | null) : null;
}

function mergedSkin(pieces: readonly Piece[], offsets: readonly number[], vertices: number) {
  const indices = new Uint16Array(vertices * 4);
  const weights = new Float32Array(vertices * 4);

  const four = [0, 0, 0, 0];
  pieces.forEach(({ geometry, joints, rig: { rigid, mesh } }, piece) => {
    const skinIndex = geometry.getAttribute('skinIndex');
    const skinWeight = geometry.getAttribute('skinWeight');
    const width = rigid ? 0 : Math.min(4, skinIndex.itemSize, skinWeight.itemSize);
    const count = geometry.getAttribute('position').count;
    four.fill(0);
    const checkWeights = weightChecker(geometry, `SkinnedMesh "${mesh.name}"`);
    for (let vertex = 0; vertex < count; vertex++) {
      const at = (offsets[piece] + vertex) * 4;
      for (let i = 0; i < width; i++) four[i] = skinWeight.getComponent(vertex, i);
      if (rigid || !checkWeights(four, vertex)) {
        indices[at] = joints[0];
        weights[at] = 1;
        continue;
      }
      for (let i = 0; i < width; i++) {
        const weight = four[i];
        // Where the weight is 0, the file may name a joint that does not exist.
        indices[at + i] = weight > 0 ? joints[skinIndex.getComponent(vertex, i)] : 0;
        weights[at + i] = weight;
      }
    }
  });

  return {
    skinIndex: new Uint16BufferAttribute(indices, 4),
    skinWeight: new Float32BufferAttribute(weights, 4),
  };
}
