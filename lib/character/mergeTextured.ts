import {
  DataTexture,
  FloatType,
  type Material,
  RGBAFormat,
  TangentSpaceNormalMap,
  type Texture,
} from 'three';
import { warnOnce } from '../utils/messages.js';
import {
  MERGED_MAPS,
  type MergedMap,
  noteMerged,
  TABLE_EMISSIVE,
  TABLE_METALNESS,
  TABLE_ROUGHNESS,
  TABLE_TEXELS,
} from '../utils/surfaceMaps.js';
import {
  type Constants,
  emissionOf,
  fieldsOf,
  keyWithout,
  type MaterialShare,
  SURFACE,
  shareOf,
  standInFor,
  textOf,
} from './materialFields.js';
import { isLoaded, layerKey, packLayers } from './packTextures.js';

/** Constants that belong to a texture, and mean nothing without it. */
const OF_MAP: Partial<Record<MergedMap, readonly string[]>> = {
  normalMap: ['normalScale', 'normalMapType'],
  aoMap: ['aoMapIntensity'],
};

/** Textures that lie in one with those of another name, since files have one image for both. */
const LIES_IN: Partial<Record<MergedMap, MergedMap>> = {
  metalnessMap: 'roughnessMap',
  aoMap: 'roughnessMap',
};

/** Materials that can be drawn as one. */
interface TexturedFamily {
  members: Constants[];
  /** What all of them have in common. */
  key: string;
  /** For each of `MERGED_MAPS` what members that have the texture have in common; undefined while there is none. */
  maps: (string | undefined)[];
}

/** Families of materials that differ in constants, and in textures that can be layers of one. */
export function texturedFamilies(materials: readonly Constants[]): TexturedFamily[] {
  const families: TexturedFamily[] = [];
  for (const material of materials) {
    const maps = MERGED_MAPS.map((name) => mapKey(material, name));
    const key = commonKey(material, maps);
    const family = families.find((other) => {
      return other.key === key && maps.every((map, i) => (map ?? other.maps[i]) === (other.maps[i] ?? map));
    });
    if (family === undefined) families.push({ members: [material], key, maps });
    else {
      family.members.push(material);
      family.maps = family.maps.map((map, i) => map ?? maps[i]);
    }
  }
  if (families.length > 1) for (const material of materials) warnUnloaded(material);
  return families;
}

/** Says what may be why materials stay apart. */
function warnUnloaded(material: Constants): void {
  const name = MERGED_MAPS.find((one) => {
    const map = fieldsOf(material)[one] as Texture | null | undefined;
    return map && !isLoaded(map);
  });
  if (name === undefined) return;
  warnOnce(
    `mergeMaterials: the ${name} of material "${material.name || material.type}" is not loaded yet, so it stays apart; await its image first.`,
  );
}

/** What a texture of a material must have in common with others; undefined if there is none, or if it is left as it is. */
function mapKey(material: Constants, name: MergedMap): string | undefined {
  const fields = fieldsOf(material);
  const map = fields[name] as Texture | null | undefined;
  if (!map) return undefined;
  // Without it, a bump map would count, and in the object's space no texel says "as the vertices".
  const isNormal = name === 'normalMap';
  if (isNormal && (fields.bumpMap || fields.normalMapType !== TangentSpaceNormalMap)) return undefined;
  const key = layerKey(map);
  if (key === null) return undefined;
  return [key, ...(OF_MAP[name] ?? []).map((constant) => textOf(fields[constant]))].join(' ');
}

function commonKey(material: Constants, maps: readonly (string | undefined)[]): string {
  const merged = [...SURFACE];
  MERGED_MAPS.forEach((name, i) => {
    const map = fieldsOf(material)[name] as Texture | null | undefined;
    if (!map || maps[i] !== undefined) merged.push(name, ...(OF_MAP[name] ?? []));
  });
  return keyWithout(material, merged);
}

/**
 * Makes one material of those of a family. Textures become layers of arrays; which of them a material has, and its constants, stand in
 * a table that shaders look up by the number of the material, which vertices have.
 *
 * @returns Whether there was a texture to do it with.
 * @throws If an image cannot be read.
 */
export function mergeTextured(
  { members, maps }: TexturedFamily,
  maxSize: number,
  { shares, owned }: { shares: Map<Material, MaterialShare>; owned: (Material | Texture)[] },
): boolean {
  if (maps.every((map) => map === undefined)) return false;
  const pools = new Map<string, Texture[]>();
  const poolOf = MERGED_MAPS.map((name, i) => {
    const settings = maps[i]?.split(' ')[0];
    if (settings === undefined) return null;
    const key = `${LIES_IN[name] ?? name} ${settings}`;
    const pool = pools.get(key) ?? [];
    pools.set(key, pool);
    return pool;
  });
  const numbers = new Float32Array(members.length * TABLE_TEXELS * 4);
  members.forEach((member, row) => {
    const at = row * TABLE_TEXELS * 4;
    MERGED_MAPS.forEach((name, i) => {
      const map = fieldsOf(member)[name] as Texture | null | undefined;
      const pool = poolOf[i];
      numbers[at + i] = -1;
      if (!map || pool === null) return;
      const layer = pool.indexOf(map);
      numbers[at + i] = layer < 0 ? pool.push(map) - 1 : layer;
    });
    numbers[at + TABLE_ROUGHNESS] = member.roughness ?? 1;
    numbers[at + TABLE_METALNESS] = member.metalness ?? 0;
    numbers.set(emissionOf(member), at + TABLE_EMISSIVE);
  });

  const packed = new Map([...pools.values()].map((pool) => [pool, packLayers(pool, maxSize)]));
  const width = members.length * TABLE_TEXELS;
  const table = new DataTexture(numbers, width, 1, RGBAFormat, FloatType);
  table.needsUpdate = true;
  const material = standInFor(members);
  const fields = fieldsOf(material);
  owned.push(material, table, ...packed.values());
  for (const texture of packed.values()) noteMerged(texture, table);
  MERGED_MAPS.forEach((name, i) => {
    const pool = poolOf[i];
    if (pool === null) return;
    fields[name] = packed.get(pool);
    // Constants that belong to it, of one that has it.
    const owner = fieldsOf(members.find((member) => mapKey(member, name) !== undefined) as Constants);
    for (const constant of OF_MAP[name] ?? []) fields[constant] = owner[constant];
  });
  members.forEach((member, number) => shares.set(member, shareOf(member, material, null, number)));
  return true;
}
