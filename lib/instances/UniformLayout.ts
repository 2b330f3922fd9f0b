/** Kinds of numbers that an instance can have for shaders. A color is three numbers in linear-sRGB, as `Color` keeps them. */
export type UniformType = 'float' | 'vec2' | 'vec3' | 'vec4' | 'color';

/** Names and types of numbers that every instance of a crowd has for shaders. */
export type InstanceUniformTypes = Readonly<Record<string, UniformType>>;

/** Where a uniform lies among the numbers of an instance. */
export interface UniformPlace {
  readonly name: string;
  readonly type: UniformType;
  /** Index of its first number. It never goes over the end of a texel, which is four numbers. */
  readonly at: number;
  /** How many numbers it is. */
  readonly size: number;
}

/** What instances can have of their own in the place of the material's, and what each begins with. */
export const SURFACE_VALUES = {
  /** Is added to what the material emits. */
  emissive: { type: 'color', initial: [0, 0, 0] },
  /** Multiplies the material's. */
  opacity: { type: 'float', initial: [1] },
  /** Stands in the place of the material's, unless it is negative. */
  roughness: { type: 'float', initial: [-1] },
  metalness: { type: 'float', initial: [-1] },
  /** Layer of a `map` that is a texture array. */
  mapLayer: { type: 'float', initial: [0] },
} as const satisfies Record<string, { type: UniformType; initial: readonly number[] }>;

export type SurfaceValue = keyof typeof SURFACE_VALUES;

export const isSurfaceValue = (name: string): name is SurfaceValue => Object.hasOwn(SURFACE_VALUES, name);

const SIZES: Readonly<Record<UniformType, number>> = { float: 1, vec2: 2, vec3: 3, vec4: 4, color: 3 };
const NO_NUMBERS: readonly number[] = [0, 0, 0, 0];

/** How many numbers a uniform is; undefined where there is no such type. */
export const sizeOf = (type: UniformType): number | undefined => SIZES[type];

/** The numbers that a uniform begins with. */
export const initialOf = (name: string): readonly number[] =>
  isSurfaceValue(name) ? SURFACE_VALUES[name].initial : NO_NUMBERS;

/** Which uniforms instances have, and where their numbers lie. Crowds with the same uniforms share one layout. */
export class UniformLayout {
  /** Texels of four numbers that an instance takes. */
  readonly texels: number;
  readonly places: ReadonlyMap<string, UniformPlace>;

  /** @param number Stands for the layout in codes of shader variants; 0 is that of no uniforms. */
  constructor(
    readonly number: number,
    sorted: readonly (readonly [name: string, type: UniformType])[],
  ) {
    const places = new Map<string, UniformPlace>();
    /** How many numbers of each texel are taken. */
    const taken: number[] = [];
    for (const [name, type] of sorted) {
      const size = SIZES[type];
      let texel = taken.findIndex((count) => count + size <= 4);
      if (texel < 0) texel = taken.push(0) - 1;
      places.set(name, { name, type, at: texel * 4 + taken[texel], size });
      taken[texel] += size;
    }
    this.texels = taken.length;
    this.places = places;
  }

  /** The layout that has one more uniform. */
  with(name: string, type: UniformType): UniformLayout {
    return layoutOf([...this.types(), [name, type]]);
  }

  *types(): Iterable<[name: string, type: UniformType]> {
    for (const { name, type } of this.places.values()) yield [name, type];
  }
}

/** Layouts that codes of shader variants tell apart: as many as keep those below 2^23. */
export const MAX_LAYOUTS = 360;

const layouts = /*@__PURE__*/ new Map<string, UniformLayout>();
const numbered: UniformLayout[] = [];

/**
 * The layout of these uniforms, in whatever order they are.
 *
 * @throws If a page has too many different ones.
 */
export function layoutOf(types: Iterable<readonly [name: string, type: UniformType]>): UniformLayout {
  // Large ones first, so that small ones fill what is left of a texel.
  const sorted = [...types].sort(([a, typeA], [b, typeB]) => SIZES[typeB] - SIZES[typeA] || (a < b ? -1 : 1));
  const key = sorted.join(';');
  let layout = layouts.get(key);
  if (layout === undefined) {
    if (numbered.length === 0 && sorted.length > 0) layoutOf([]);
    if (numbered.length === MAX_LAYOUTS) {
      throw new Error(
        `SkinnedInstancedMesh: there are ${MAX_LAYOUTS} sets of uniforms already; declare the same for several crowds.`,
      );
    }
    layout = new UniformLayout(numbered.length, sorted);
    layouts.set(key, layout);
    numbered.push(layout);
  }
  return layout;
}

/** The layout of a number. */
export const layoutOfNumber = (number: number): UniformLayout => numbered[number] ?? layoutOf([]);
