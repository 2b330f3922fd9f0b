import { Color, DataTexture, DataUtils, HalfFloatType, type Material, RGBAFormat, type Texture } from 'three';
import { markPalette } from '../backends/surfaceMaps.js';
import { hasUserHook } from '../backends/webgl/patchMaterial.js';

/** What a material that was merged with others says of its vertices, which now carry it themselves. */
export interface MaterialShare {
  /** The merged material that is drawn in its place. */
  material: Material;
  /** Multiplies the vertices' colours. */
  color: Color;
  /** Whether the vertices' own colours count. */
  vertexColors: boolean;
  /** Place in the palette of roughness, metalness and emission, from 0 to 1; null where there is none. */
  palette: number | null;
}

export interface MergedMaterials {
  shares: Map<Material, MaterialShare>;
  /** Materials and textures that were made. */
  owned: (Material | Texture)[];
}

/** The uv channel by which merged materials look up their palette. */
export const PALETTE_CHANNEL = 3;

/** Constants that vertices can hold in place of the material, if no texture is multiplied by them. */
const SURFACE = ['roughness', 'metalness', 'emissive', 'emissiveIntensity'];
const SURFACE_MAPS = ['roughnessMap', 'metalnessMap', 'emissiveMap'];
const OWN = ['uuid', 'name', 'version', 'userData', 'color', 'vertexColors', '_listeners'];

type Constants = Material & {
  color?: Color;
  roughness?: number;
  metalness?: number;
  emissive?: Color;
  emissiveIntensity?: number;
};

/**
 * Makes one material of those that differ only in constants: the colour goes to the vertices, and where they differ,
 * roughness, metalness and emission go to a palette that the vertices look up. Nothing is changed in the materials.
 *
 * @param palettes Whether vertices have the palette's uv channel to spare.
 */
export function mergeMaterials(materials: readonly Material[], palettes: boolean): MergedMaterials {
  const families = new Map<string, Constants[]>();
  for (const material of materials) {
    const key = keyOf(material, palettes);
    families.set(key, [...(families.get(key) ?? []), material]);
  }

  const shares = new Map<Material, MaterialShare>();
  const owned: (Material | Texture)[] = [];
  for (const members of families.values()) {
    if (members.length < 2) continue;
    const material = members[0].clone() as Constants;
    owned.push(material);
    material.name = members.map(({ name }) => name).join('+');
    material.vertexColors = true;
    material.color?.set(0xffffff);

    const uneven = members.some((member) => surfaceOf(member) !== surfaceOf(members[0]));
    if (uneven) owned.push(...givePalette(material, members));
    members.forEach((member, i) => {
      shares.set(member, {
        material,
        color: member.color as Color,
        vertexColors: member.vertexColors,
        palette: uneven ? (i + 0.5) / members.length : null,
      });
    });
  }
  return { shares, owned };
}

/** A text that is the same for two materials if they can be merged. */
function keyOf(material: Constants, palettes: boolean): string {
  if (!(material.color instanceof Color) || hasUserHook(material)) return material.uuid;
  const fields = material as unknown as Record<string, unknown>;
  if (fields.isNodeMaterial === true || fields.isShaderMaterial === true) return material.uuid;

  const bySurface = palettes && !SURFACE_MAPS.some((map) => fields[map]);
  const names = Object.keys(fields)
    .filter((name) => !OWN.includes(name) && !(bySurface && SURFACE.includes(name)))
    .sort();
  return [material.type, ...names.map((name) => `${name}=${textOf(fields[name])}`)].join();
}

function textOf(value: unknown): string {
  if (typeof value === 'function') return '';
  if (value === null || typeof value !== 'object') return String(value);
  const { uuid, toArray } = value as { uuid?: string; toArray?(): unknown };
  if (uuid !== undefined) return uuid;
  return JSON.stringify(typeof toArray === 'function' ? toArray.call(value) : value);
}

function surfaceOf(material: Constants): string {
  const fields = material as unknown as Record<string, unknown>;
  return SURFACE.map((name) => textOf(fields[name])).join();
}

/** Textures with one texel per material, which replace its constants; green is roughness, blue metalness, as in glTF. */
function givePalette(material: Constants, members: readonly Constants[]): Texture[] {
  const fields = material as unknown as Record<string, unknown>;
  const made: Texture[] = [];
  const texture = (texelOf: (member: Constants) => readonly number[]) => {
    const texels = Uint16Array.from(members.flatMap(texelOf), (value) => DataUtils.toHalfFloat(value));
    const palette = new DataTexture(texels, members.length, 1, RGBAFormat, HalfFloatType);
    palette.channel = PALETTE_CHANNEL;
    markPalette(palette);
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
    fields.emissiveMap = texture(({ emissive = new Color(0), emissiveIntensity = 1 }) => [
      emissive.r * emissiveIntensity,
      emissive.g * emissiveIntensity,
      emissive.b * emissiveIntensity,
      1,
    ]);
    material.emissive.set(0xffffff);
    material.emissiveIntensity = 1;
  }
  return made;
}
