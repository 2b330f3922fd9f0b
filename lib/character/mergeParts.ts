import type { Group, Material, MeshPhysicalMaterial, Object3D, Texture } from 'three';
import { BufferAttribute, BufferGeometry, Matrix3, NormalBlending } from 'three';
import type { ScenePart } from '../animation/Rig.js';
import { NO_CASTING, NO_RECEIVING, NO_TANGENTS } from '../constants.js';
import { linearDeterminant } from '../utils/affine.js';
import {
  floatsOf,
  morphOffsets,
  type NumberArray,
  plainArray,
  shareAttribute,
  sharingCopy,
} from '../utils/geometries.js';
import { type CharacterPart, FURTHER_INFLUENCES } from './crowdGeometry.js';
import { copyOf, type MaterialShare } from './materialFields.js';

/** Merges materials of characters, see {@link mergeMaterials}. */
export interface MaterialMerger {
  /**
   * Whether a lone mesh of this material is not drawn as it is.
   *
   * @param owner Material of a crowd whose materials were merged before.
   * @internal
   */
  changes(material: Material | Material[], owner: Material | Material[] | undefined): boolean;
  /**
   * Pieces of one material each.
   *
   * @internal
   */
  split(pieces: readonly Piece[]): readonly Piece[];
  /**
   * Merges those materials of a geometry that can be, and gives its vertices what the materials said of them.
   *
   * @param owner Material of a crowd whose materials were merged before: what is among them becomes what it became there.
   * @internal
   */
  paint(
    geometry: BufferGeometry,
    pieces: readonly Piece[],
    owner: Material | Material[] | undefined,
  ): {
    /** What became of materials, by what pieces lack. */
    shares: Map<Material, MaterialShare>[];
    /** Materials and textures that were made. */
    owned: (Material | Texture)[];
  };
  /**
   * Merges materials of a character from a file, whose vertices have one each, and makes one group of those that are drawn alike.
   *
   * @returns For each group the one that it has become part of.
   * @internal
   */
  mergeGroups(character: {
    geometry: BufferGeometry;
    material: Material | Material[];
    parts: readonly CharacterPart[];
    made: { dispose(): void }[];
  }): number[];
}

/** Vertices of one part, all of which have the same joints to choose from. */
export interface Piece {
  /** Index of the part. */
  part: number;
  source: ScenePart;
  /** `NO_CASTING` and the like, as far as its mesh has not what another has. */
  lacks: number;
  /** Joint of the rig for each index that `skinIndex` may hold. */
  joints: Int32Array;
  /** Whether triangles are turned around, as three.js does for a mesh whose matrix mirrors. */
  mirrored: boolean;
  geometry: BufferGeometry;
  runs: Run[];
  /** Which vertices of the merged geometry are its own. */
  first: number;
  count: number;
}

/** A run of triangles that has one material. */
export interface Run {
  start: number;
  count: number;
  material: Material;
}

/** Values for vertices of parts that lack an attribute which another part has; all others are zero. */
const FILL: Record<string, readonly number[]> = { color: [1, 1, 1, 1], tangent: [1, 0, 0, 1] };

/**
 * Makes one geometry of all parts of a character, with one group per material, so that each material is one draw call.
 * A lone skinned mesh keeps its geometry as it is, in the attribute types it has.
 *
 * @param shading For each part by which joint its normals are turned, see `shadingJoints`.
 * @param morphs Names of the morph targets of all parts.
 * @param merger What merges materials; undefined if they stay apart.
 * @param owner Material of a crowd whose materials were merged before: what is among them becomes what it became there.
 */
export function mergeParts(
  parts: readonly ScenePart[],
  shading: readonly number[],
  morphs: readonly string[],
  merger?: MaterialMerger,
  owner?: Material | Material[],
): {
  geometry: BufferGeometry;
  material: Material | Material[];
  /** For each part what became of materials that were merged. */
  shares?: readonly (ReadonlyMap<Material, MaterialShare> | undefined)[];
  /** Materials and textures that were made. */
  owned: (Material | Texture)[];
} {
  const [only] = parts;
  const asItIs =
    !only.rigid && !shading[0] && !isMirrored(only) && only.joints.every((joint, i) => joint === i);
  if (parts.length === 1 && asItIs && only.mirrorJoints === null && !merger?.changes(only.material, owner)) {
    return { geometry: only.geometry, material: only.material, owned: [] };
  }

  let first = 0;
  const all = withTangents(piecesOf(parts, shading));
  const pieces = (merger?.split(all) ?? all).map((piece) => {
    const { count } = piece.geometry.getAttribute('position');
    first += count;
    return { ...piece, first: first - count, count };
  });
  const geometry = new BufferGeometry();
  mergeAttributes(geometry, pieces, first);
  mergeSkins(geometry, pieces, shading);
  mergeMorphs(geometry, pieces, morphs);
  const { shares, owned } = merger?.paint(geometry, pieces, owner) ?? { shares: [], owned: [] };
  const runs = pieces.flatMap((piece) => {
    const orders = ordersOf(piece.source.mesh);
    return piece.runs.map((run) => {
      const material = shares[piece.lacks]?.get(run.material)?.material ?? run.material;
      return { ...piece, ...run, orders, material };
    });
  });
  const { material } = setTriangles(geometry, runs, owned);
  return { geometry, material, shares: parts.map((_, part) => shares[all[part].lacks]), owned };
}

/** Parts with their normals; copies for poses in which a clip mirrors come last, so that all other vertices are in the order of the parts. */
function piecesOf(parts: readonly ScenePart[], shading: readonly number[]): Piece[] {
  const casts = parts.some(({ mesh }) => mesh.castShadow);
  const receives = parts.some(({ mesh }) => mesh.receiveShadow);
  const pieces = parts.map((source, part): Piece => {
    const { joints, mirrorJoints, mesh } = source;
    const lacks =
      (casts && !mesh.castShadow ? NO_CASTING : 0) | (receives && !mesh.receiveShadow ? NO_RECEIVING : 0);
    // Where there is a mirrored copy, each pose draws the one of the two whose triangles face the right way.
    const mirrored = mirrorJoints === null && isMirrored(source);
    return {
      part,
      source,
      lacks,
      joints,
      mirrored,
      geometry: withNormals(source, !shading[part]),
      runs: runsOf(source),
      first: 0,
      count: 0,
    };
  });
  const copies = pieces.flatMap((piece) => {
    const { mirrorJoints } = piece.source;
    return mirrorJoints === null ? [] : [{ ...piece, joints: mirrorJoints, mirrored: true }];
  });
  return [...pieces, ...copies];
}

/** Whether a part's matrix mirrors. three.js then swaps front and back for the whole mesh; here only the part may be swapped. */
const isMirrored = ({ model }: ScenePart): boolean => linearDeterminant(model, 0) < 0;

/**
 * The part's geometry with normals, computed where there are none. three.js carries those of a rigid mesh by the inverse
 * transpose of its matrix, and those of a skinned one by the matrix; what lies between is done here if it is always the same.
 */
function withNormals({ geometry: source, rigid, model: m }: ScenePart, isSame: boolean): BufferGeometry {
  const linear = new Matrix3().set(m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]);
  const square = linear.clone().transpose().multiply(linear);
  const [size] = square.elements;
  // All directions are scaled alike where this is a multiple of the identity.
  const isUneven = square.elements.some((value, i) => Math.abs(value - (i % 4 ? 0 : size)) > 1e-5 * size);
  const isTurned = rigid && isSame && isUneven && linear.determinant() !== 0;
  if (source.hasAttribute('normal') && !isTurned) return source;
  const geometry = source.clone();
  if (!source.hasAttribute('normal')) geometry.computeVertexNormals();
  if (isTurned) {
    const normals = floatsOf(geometry.getAttribute('normal'));
    geometry.setAttribute('normal', normals.applyMatrix3(square.invert()));
  }
  return geometry;
}

/** As three.js's renderers do: what the groups and the geometry's draw range have in common. */
function runsOf({ geometry, material }: ScenePart): Run[] {
  const { index, drawRange, groups } = geometry;
  const { count: length } = index ?? geometry.getAttribute('position');
  const least = Math.max(drawRange.start, 0);
  const most = Math.min(drawRange.start + drawRange.count, length);
  const all = Array.isArray(material) ? groups : [{ start: 0, count: length }];
  return all.flatMap(({ start, count, materialIndex = 0 }: BufferGeometry['groups'][number]) => {
    const from = Math.max(start, least);
    const run = {
      start: from,
      count: Math.max(0, Math.min(start + count, most) - from),
      material: [material].flat()[materialIndex],
    };
    return run.material && (run.count > 0 || !Array.isArray(material)) ? [run] : [];
  });
}

/**
 * A geometry has tangents as a whole or not at all. Where some pieces have them, those of which normal maps read none are marked, so that
 * they are derived as three.js does; where only such read them, none has.
 */
function withTangents(pieces: readonly Piece[]): readonly Piece[] {
  const has = ({ geometry }: Piece) => geometry.hasAttribute('tangent');
  const isRead = pieces.some((piece) => has(piece) && (isMapped(piece) || piece.runs.some(mayReadAny)));
  return pieces.map((piece) => {
    if (isRead === has(piece)) return piece;
    if (isRead) return isMapped(piece) ? { ...piece, lacks: piece.lacks | NO_TANGENTS } : piece;
    return { ...piece, geometry: sharingCopy(piece.geometry).deleteAttribute('tangent') };
  });
}

/** Whether a material of three.js's reads tangents. */
const isMapped = ({ runs }: Piece): boolean =>
  runs.some(({ material }) => {
    const { normalMap, clearcoatNormalMap, anisotropy } = material as MeshPhysicalMaterial;
    return normalMap || clearcoatNormalMap || anisotropy > 0;
  });

/** Whether a material has shaders or nodes of a user's, which may read any attribute. */
const mayReadAny = ({ material }: Run): boolean =>
  Object.hasOwn(material, 'onBeforeCompile') ||
  'isShaderMaterial' in material ||
  'isNodeMaterial' in material;

/**
 * Attributes of all pieces but those of skins: in floats, or where all have one in whole numbers of one kind that stand for shares, as
 * compressed files do, in these.
 */
function mergeAttributes(merged: BufferGeometry, pieces: readonly Piece[], vertices: number): void {
  const names = new Set(pieces.flatMap(({ geometry }) => Object.keys(geometry.attributes)));
  for (const name of names) {
    if (name === 'skinIndex' || name === 'skinWeight' || FURTHER_INFLUENCES.test(name)) continue;
    const sources = pieces.map(({ geometry }) => geometry.attributes[name] ?? null);
    const size = Math.max(...sources.map((source) => source?.itemSize ?? 0));
    const kinds = new Set(sources.map((source) => (source?.normalized ? source.array.constructor : null)));
    const [Shares] = kinds;
    const target =
      kinds.size > 1 || Shares === null
        ? new BufferAttribute(new Float32Array(vertices * size), size)
        : shareAttribute(Shares as NumberArray, vertices, size);
    pieces.forEach(({ first, count }, i) => {
      const source = sources[i];
      if (source?.itemSize === size && target.array instanceof Float32Array) {
        target.array.set(plainArray(source, size, 0, count), first * size);
        return;
      }
      for (let vertex = 0; vertex < count; vertex++) {
        for (let k = 0; k < size; k++) {
          const isOwn = source !== null && k < source.itemSize;
          const value = isOwn ? source.getComponent(vertex, k) : (FILL[name]?.[k] ?? 0);
          target.setComponent(first + vertex, k, value);
        }
      }
    });
    merged.setAttribute(name, target);
  }
}

/**
 * The joints and weights of all pieces, for each vertex the part that it belongs to, and by which joint its normal is turned: 0 where it
 * follows no other than the vertex does itself.
 */
function mergeSkins(merged: BufferGeometry, pieces: readonly Piece[], shading: readonly number[]): void {
  const vertices = merged.attributes.position.count;
  const indices = new Uint16Array(vertices * 4);
  const weights = new Float32Array(vertices * 4);
  const parts = new Uint16Array(vertices * 2);
  const shaded = new Float32Array(vertices);
  for (const { part, first, count, joints, geometry, source } of pieces) {
    const shadedBy = source.rigid && shading[part] > 0 ? joints[0] + 1 : shading[part];
    shaded.fill(shadedBy, first, first + count);
    for (let vertex = first; vertex < first + count; vertex++) parts[vertex * 2] = part;
    const { skinIndex, skinWeight } = geometry.attributes;
    const own = plainArray(skinIndex, 4);
    weights.set(plainArray(skinWeight, 4, 0, count), first * 4);
    for (let i = 0, at = first * 4; i < count * 4; i++, at++) {
      // Where the weight is 0, the file may name a joint that does not exist.
      if (weights[at] > 0) indices[at] = joints[own[i]];
    }
  }
  merged.setAttribute('skinIndex', new BufferAttribute(indices, 4));
  merged.setAttribute('skinWeight', new BufferAttribute(weights, 4));
  merged.setAttribute('partIndex', new BufferAttribute(parts, 2));
  if (shading.some(Boolean)) merged.setAttribute('shadingJoint', new BufferAttribute(shaded, 1));
}

/** Morph targets of all parts as offsets from the base geometry; each moves only the vertices of its own part. */
function mergeMorphs(merged: BufferGeometry, pieces: readonly Piece[], morphs: readonly string[]): void {
  if (morphs.length === 0) return;
  merged.morphTargetsRelative = true;
  for (const name of ['position', 'normal', 'color'] as const) {
    if (!pieces.some(({ geometry }) => geometry.morphAttributes[name])) continue;
    const size = merged.attributes[name]?.itemSize ?? 3;
    merged.morphAttributes[name] = morphs.map((morph, i) => {
      const offsets = new BufferAttribute(new Float32Array(merged.attributes.position.count * size), size);
      offsets.name = morph;
      for (const { first, geometry, source } of pieces) {
        const { attributes, morphAttributes, morphTargetsRelative } = geometry;
        const target = source.morphOffset < 0 ? undefined : morphAttributes[name]?.[i - source.morphOffset];
        if (target === undefined) continue;
        const base = morphTargetsRelative ? null : (attributes[name] ?? null);
        offsets.set(morphOffsets(target, base, size), first * size);
      }
      return offsets;
    });
  }
}

/** A run of triangles, in the material that is drawn. */
type PlacedRun = Run &
  Pick<Piece, 'geometry' | 'first' | 'lacks' | 'mirrored'> & {
    orders: readonly [group: number, own: number];
  };

/**
 * Writes the triangles in the order in which three.js would draw the meshes, with a group for all that are drawn alike.
 *
 * @param owned Takes up materials that are made.
 * @returns What each group was made of, and its material; of one group it is no list.
 */
export function setTriangles<T extends PlacedRun>(
  merged: BufferGeometry,
  runs: readonly T[],
  owned: { dispose(): void }[],
): { groups: T[][]; material: Material | Material[] } {
  const isOrdered = runs.some(isOrderSeen);
  const alike = new Map<string, T[]>();
  for (const run of runs) {
    const { material, lacks } = run;
    const key = [material.uuid, lacks, ...(isOrdered || material.transparent ? run.orders : [])].join();
    alike.set(key, [...(alike.get(key) ?? []), run]);
  }
  const groups = [...alike.values()].sort(([a], [b]) => byOrder(a, b));
  const materials: Material[] = [];
  for (const [run] of groups) {
    const { material, lacks } = run;
    // WebGLRenderer draws opaque materials in the order of their ids, and WebGPURenderer builds one for a mesh but once.
    const isTaken = materials.some((before, i) => {
      const [other] = groups[i];
      if (before === material) return ((other.lacks ^ lacks) & (NO_RECEIVING | NO_TANGENTS)) > 0;
      const isAfter = isOrdered && !before.transparent && !material.transparent && byOrder(other, run) < 0;
      return isAfter && before.id > material.id;
    });
    const own = isTaken ? twinOf(material) : material;
    if (isTaken) owned.push(own);
    materials.push(own);
  }
  if (runs.some(({ lacks }) => lacks)) merged.userData.lacks = groups.map(([{ lacks }]) => lacks);
  const index: number[] = [];
  groups.forEach((group, i) => {
    const from = index.length;
    for (const { geometry, first, mirrored, start, count } of group) {
      const { index: corners } = geometry;
      for (let k = 0; k < count; k++) {
        index.push((corners?.getX(start + k) ?? start + k) + first);
        // Swaps the last two corners of each triangle.
        if (mirrored && k % 3 === 2) index.push(...index.splice(-2).reverse());
      }
    }
    if (groups.length > 1) merged.addGroup(from, index.length - from, i);
  });
  merged.setIndex(index);
  return { groups, material: materials.length === 1 ? materials[0] : materials };
}

/** Whether a picture shows when an opaque material was drawn: depth does not decide. */
const isOrderSeen = ({ material }: Run): boolean => {
  const { transparent, depthTest, depthWrite, colorWrite, stencilWrite, blending } = material;
  const isSolid = depthTest && depthWrite && colorWrite && !stencilWrite && blending <= NormalBlending;
  return !transparent && !isSolid;
};

/** The `renderOrder` of the group that a mesh is in, by which three.js sorts first, and its own. */
function ordersOf(mesh: Object3D): [number, number] {
  let group: Object3D | null = mesh;
  while (group !== null && !(group as Group).isGroup) group = group.parent;
  return [group?.renderOrder ?? 0, mesh.renderOrder];
}

const byOrder = ({ orders: a }: PlacedRun, { orders: b }: PlacedRun): number => a[0] - b[0] || a[1] - b[1];

/** A material that draws what another one does. */
function twinOf(material: Material): Material {
  const { onBeforeCompile, customProgramCacheKey } = material;
  return Object.assign(copyOf(material), { onBeforeCompile, customProgramCacheKey });
}
