import { Color, Material } from 'three';
import { NEARLY_BLACK } from '../constants.js';
import { hasUserHook } from '../utils/surfaceMaps.js';

/** A material with the constants that merging may take out of it. */
export type Constants = Material & {
  color?: Color;
  roughness?: number;
  metalness?: number;
  emissive?: Color;
  emissiveIntensity?: number;
};

/** What a material that was merged with others says of its vertices, which now carry it themselves. */
export interface MaterialShare {
  /** The merged material that is drawn in its place. */
  material: Material;
  /** Its own. */
  name: string;
  /** Multiplies the vertices' colours; nowhere quite black, so that parts can replace it. */
  color: Color;
  /** Whether the vertices' own colours count. */
  vertexColors: boolean;
  /** Place in the palette of roughness, metalness and emission, from 0 to 1; null where there is none. */
  palette: number | null;
  /** Which of the materials with different textures it is; 0 where there are none. */
  number: number;
}

/** See `MaterialShare`. */
export const shareOf = (
  { name, color, vertexColors }: Constants,
  material: Material,
  palette: number | null,
  number: number,
): MaterialShare => {
  const [r, g, b] = (color as Color).toArray().map((value) => Math.max(value, NEARLY_BLACK));
  return { material, name, color: new Color(r, g, b), vertexColors, palette, number };
};

/** Constants that vertices can hold in place of the material. */
export const SURFACE = ['roughness', 'metalness', 'emissive', 'emissiveIntensity'];
const OWN = ['uuid', 'name', 'version', 'userData', 'color', 'vertexColors', '_listeners'];

export const fieldsOf = (material: Material): Record<string, unknown> =>
  material as unknown as Record<string, unknown>;

/**
 * A text that is the same for two materials that differ in their colour and in the fields that are `left` out, and in nothing
 * else. No other material has that of one that cannot be merged.
 */
export function keyWithout(material: Constants, left: readonly string[]): string {
  const fields = fieldsOf(material);
  if (!(material.color instanceof Color) || hasUserHook(material)) return material.uuid;
  if (fields.isNodeMaterial === true || fields.isShaderMaterial === true) return material.uuid;
  if (Object.values(fields).some(isUserMethod)) return material.uuid;
  const names = Object.keys(fields)
    .filter((name) => typeof fields[name] !== 'function' && !OWN.includes(name) && !left.includes(name))
    .sort();
  return [material.type, ...names.map((name) => `${name}=${textOf(fields[name])}`)].join();
}

/** Whether something is a method that the user has set: those by which crowds are posed say what they are, or whose they call. */
const isUserMethod = (value: unknown): boolean => {
  if (typeof value !== 'function' || String(value) === 'crowd undefined') return false;
  const { userHook = value } = value as { userHook?: unknown };
  const { onBeforeCompile, customProgramCacheKey } = Material.prototype;
  return userHook !== onBeforeCompile && userHook !== customProgramCacheKey;
};

export function textOf(value: unknown): string {
  if (value === null || typeof value !== 'object') return String(value);
  const { uuid, toArray } = value as { uuid?: string; toArray?(): unknown };
  if (uuid !== undefined) return uuid;
  try {
    return JSON.stringify(typeof toArray === 'function' ? toArray.call(value) : value);
  } catch {
    // JSON has no way to write what refers to itself: such an object is the same as no other.
    if (!numbered.has(value)) numbered.set(value, `object ${++lastNumber}`);
    return numbered.get(value) as string;
  }
}

/** A text of its own for each object that cannot be written as one. */
let lastNumber = 0;
const numbered = /*@__PURE__*/ new WeakMap<object, string>();

/** A copy of a material that shares what its `userData` refers to: what refers to itself could not be copied. */
export function copyOf<T extends Material>(material: T): T {
  const { userData } = material;
  const copy = material.clone.call(Object.create(material, { userData: { value: {} } })) as T;
  return Object.assign(copy, { userData: { ...userData } });
}

/** What is drawn in the place of several materials, white: their colours are in the vertices. */
export function standInFor(members: readonly Constants[]): Constants {
  const material: Constants = copyOf(members[0]);
  material.name = members.map(({ name }) => name).join('+');
  material.vertexColors = true;
  material.color?.set(0xffffff);
  // Such as nodes, which plain materials may have, and which three.js does not copy. Not who listens to the other.
  for (const [name, value] of Object.entries(members[0])) {
    const isOwn = OWN.includes(name) || typeof value === 'function';
    if (!(name in material) && !isOwn) fieldsOf(material)[name] = value;
  }
  return material;
}

/** What a material emits, as numbers. */
export function emissionOf({ emissive = new Color(0), emissiveIntensity = 1 }: Constants): number[] {
  return emissive.toArray().map((value) => value * emissiveIntensity);
}
