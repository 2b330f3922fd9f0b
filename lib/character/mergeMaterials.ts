import {
  BufferAttribute,
  BufferGeometry,
  DataTexture,
  DataUtils,
  HalfFloatType,
  type Material,
  RGBAFormat,
  type Texture,
} from 'three';
import { PALETTE_CHANNEL } from '../constants.js';
import { type Attribute, floatsOf, pickCorners, shareAttribute, sharingCopy } from '../utils/geometries.js';
import { describe, listNames, warnOnce } from '../utils/messages.js';
import {
  type Constants,
  emissionOf,
  fieldsOf,
  keyWithout,
  type MaterialShare,
  SURFACE,
  shareOf,
  standInFor,
} from './materialFields.js';
import { type MaterialMerger, type Piece, setTriangles } from './mergeParts.js';
import { mergeTextured, texturedFamilies } from './mergeTextured.js';

/** How materials of a character are merged. */
export interface MergeMaterialsOptions {
  /**
   * Whether materials with different textures become one too: `map`, `normalMap`, `roughnessMap`, `metalnessMap`, `emissiveMap` and
   * `aoMap` become layers of texture arrays. Their images are read once, so what changes in them later is not seen.
   * @default true
   */
  textures?: boolean;
  /**
   * Width and height of layers at most, a whole number from 1. Smaller images are scaled to the largest among those that become one
   * texture. Compressed ones stay as large as they are.
   * @default 4096
   */
  maxSize?: number;
}

/** Of materials that were merged, what became of them and what was made. */
type MergedMaterials = { shares: Map<Material, MaterialShare>; owned: (Material | Texture)[] };

/** What each material that was made by merging was made of. */
const madeOf = /*@__PURE__*/ new WeakMap<Material, ReadonlyMap<Material, MaterialShare>>();

const SURFACE_MAPS = ['roughnessMap', 'metalnessMap', 'emissiveMap'];

/**
 * For the option `mergeMaterials` of `bakeCharacter` and the like: makes one material of those that differ only in colour, roughness,
 * metalness, emission and in textures, so that the character is one draw call in place of one for each.
 *
 * ```ts
 * const character = bakeCharacter(gltf.scene, gltf.animations, { mergeMaterials: mergeMaterials() });
 * ```
 *
 * @throws If `maxSize` is no whole number from 1.
 *
 * @category Bake
 */
export function mergeMaterials(options: MergeMaterialsOptions = {}): MaterialMerger {
  const { textures = true, maxSize = 4096 } = options;
  if (!(Number.isInteger(maxSize) && maxSize >= 1)) {
    throw new Error(`mergeMaterials: maxSize is ${describe(maxSize)}; use a whole number of texels from 1.`);
  }
  // Whoever says how large layers are gets textures of its own.
  const knownIn = (owner: Material | Material[] | undefined): ReadonlyMap<Material, MaterialShare> =>
    new Map(
      options.maxSize === undefined
        ? [owner ?? []].flat().flatMap((one) => [...(madeOf.get(one) ?? [])])
        : [],
    );
  return {
    changes: (material, owner) => Array.isArray(material) || knownIn(owner).has(material),
    split: splitPieces,
    paint(geometry, pieces, owner) {
      const painted: ReturnType<MaterialMerger['paint']> = { shares: [], owned: [] };
      for (let lacks = 0; lacks < 8; lacks++) {
        const alike = pieces.filter((piece) => piece.lacks === lacks);
        const drawn = new Set(alike.flatMap(({ runs }) => runs.map(({ material }) => material)));
        const palettes = !geometry.hasAttribute(`uv${PALETTE_CHANNEL}`);
        const { shares, owned } = mergeAll([...drawn], palettes, { textures, maxSize }, knownIn(owner));
        if (shares.size > 0) paintPieces(geometry, alike, shares);
        painted.shares.push(shares);
        painted.owned.push(...owned);
      }
      return painted;
    },
    mergeGroups,
  };
}

/** See `MaterialMerger`. */
function mergeGroups(
  this: MaterialMerger,
  character: Parameters<MaterialMerger['mergeGroups']>[0],
): number[] {
  const { geometry, made, parts } = character;
  const source = sharingCopy(geometry);
  const { array } = source.index as BufferAttribute;
  const runs = source.groups.map((group, i) => ({
    ...group,
    material: (character.material as Material[])[i],
    lacks: (source.userData.lacks?.[i] ?? 0) as number,
    orders: [0, 0] as [number, number],
    geometry: source,
    first: 0,
    mirrored: false,
  }));
  // Nobody warns that its colours are gone: who baked it was told.
  const unpainted = new BufferGeometry();
  // Of a vertex each.
  const pieces = runs.flatMap(({ start, count, ...run }) =>
    Array.from(new Set(array.subarray(start, start + count)), (first) => {
      return { ...run, runs: [run], first, count: 1, geometry: unpainted };
    }),
  );
  const { shares, owned } = this.paint(geometry, pieces as unknown as Piece[], undefined);
  made.push(...owned);
  let order = 0;
  runs.forEach((run, i) => {
    run.material = shares[run.lacks].get(run.material)?.material ?? run.material;
    // Transparent ones become one where they are neighbours alone, since their order is seen.
    const { material, lacks } = runs[i - 1] ?? run;
    if (run.material.transparent && (material !== run.material || lacks !== run.lacks)) order++;
    run.orders[1] = order;
  });
  geometry.clearGroups();
  const { groups, material } = setTriangles(geometry, runs, made);
  const all = new Map<unknown, MaterialShare>(shares.flatMap((one) => [...one]));
  character.material = material;
  character.parts = parts.map((part) => ({
    ...part,
    materials: part.materials.map((one) => all.get(one) ?? one),
  }));
  return runs.map((run) => groups.findIndex((group) => group.includes(run)));
}

/**
 * Makes one material of those that differ only in constants: the colour goes to the vertices, and where they differ,
 * roughness, metalness and emission go to a palette that the vertices look up. Nothing is changed in the materials.
 * Those that differ in textures become one as well if that is wanted, see `mergeTextured`.
 *
 * @param palettes Whether vertices have the palette's uv channel to spare.
 * @param known Of materials that were merged before, and become what they became then.
 */
export function mergeAll(
  materials: readonly Material[],
  palettes: boolean,
  { textures, maxSize }: Required<MergeMaterialsOptions>,
  known: ReadonlyMap<Material, MaterialShare> = new Map(),
): MergedMaterials {
  const merged: MergedMaterials = { shares: new Map(), owned: [] };
  for (const material of materials) {
    const share = textures ? known.get(material) : undefined;
    if (share && (palettes || share.palette === null)) merged.shares.set(material, share);
  }
  const fresh = materials.filter((material) => !merged.shares.has(material));
  const keyOf = (material: Constants) => {
    const bySurface = palettes && !SURFACE_MAPS.some((map) => fieldsOf(material)[map]);
    return keyWithout(material, bySurface ? SURFACE : []);
  };
  for (const family of textures ? texturedFamilies(fresh) : []) {
    const { members } = family;
    if (new Set(members.map(keyOf)).size === 1) continue;
    try {
      mergeTextured(family, maxSize, merged);
    } catch (error) {
      warnOnce(
        `mergeMaterials: the textures of materials ${listNames(members.map(({ name, type }) => name || type))} cannot be read (${(error as Error).message}), so these stay apart; ` +
          'load images with CORS, or pass mergeMaterials({ textures: false }).',
      );
    }
  }

  const families = new Map<string, Constants[]>();
  for (const material of fresh) {
    if (merged.shares.has(material)) continue;
    const key = keyOf(material);
    families.set(key, [...(families.get(key) ?? []), material]);
  }
  for (const members of families.values()) {
    if (members.length > 1) mergeConstants(members, merged);
  }
  for (const { material } of merged.shares.values()) {
    if (!madeOf.has(material)) madeOf.set(material, merged.shares);
  }
  return merged;
}

function mergeConstants(members: readonly Constants[], { shares, owned }: MergedMaterials): void {
  const material = standInFor(members);
  owned.push(material);
  const uneven = new Set(members.map((member) => keyWithout(member, []))).size > 1;
  if (uneven) owned.push(...givePalette(material, members));
  members.forEach((member, i) => {
    shares.set(member, shareOf(member, material, uneven ? (i + 0.5) / members.length : null, 0));
  });
}

/** Textures with one texel per material, which replace its constants; green is roughness, blue metalness, as in glTF. */
function givePalette(material: Constants, members: readonly Constants[]): Texture[] {
  const fields = fieldsOf(material);
  const made: Texture[] = [];
  const texture = (texelOf: (member: Constants) => readonly number[]) => {
    const texels = Uint16Array.from(members.flatMap(texelOf), (value) => DataUtils.toHalfFloat(value));
    const palette = new DataTexture(texels, members.length, 1, RGBAFormat, HalfFloatType);
    palette.channel = PALETTE_CHANNEL;
    palette.userData.isPalette = true;
    palette.needsUpdate = true;
    made.push(palette);
    return palette;
  };
  if ('roughness' in fields) {
    const surface = texture(({ roughness = 1, metalness = 0 }) => [0, roughness, metalness, 1]);
    fields.roughness = fields.metalness = 1;
    fields.roughnessMap = fields.metalnessMap = surface;
  }
  if (material.emissive !== undefined) {
    fields.emissiveMap = texture((member) => [...emissionOf(member), 1]);
    material.emissive.set(0xffffff);
    material.emissiveIntensity = 1;
  }
  return made;
}

/** Pieces of one material each: those that have several might share vertices, but not colours. */
function splitPieces(pieces: readonly Piece[]): Piece[] {
  return pieces.flatMap((piece) => {
    const { geometry, runs } = piece;
    if (runs.length < 2) return piece;
    return runs.map((run) => {
      const { start, count } = run;
      const corners = Array.from({ length: count }, (_, k) => geometry.index?.getX(start + k) ?? start + k);
      return { ...piece, geometry: pickCorners(geometry, corners).geometry, runs: [{ ...run, start: 0 }] };
    });
  });
}

/** Gives vertices of a merged geometry the constants that their merged materials had, and the numbers of these. */
function paintPieces(
  geometry: BufferGeometry,
  pieces: readonly Piece[],
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
