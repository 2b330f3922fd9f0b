import type { IUniform, Material, Texture, TextureDataType, Vector2 } from 'three';
import type { InstanceTexture } from '../../instances/InstanceTexture.js';

/** What shaders are told of the tiles of an impostor. */
export interface ShownTiles {
  /** Whether instances colour parts. */
  readonly hasParts: boolean;
  readonly uniforms: Record<
    'impostorColors' | 'impostorShapes' | 'impostorParts' | 'impostorPartColors',
    IUniform<Texture | null>
  > & {
    /** Parts of an instance, and instances in a row. */
    impostorPartLayout: IUniform<Vector2>;
  };
}

/** How one kind of renderer draws tiles, and shows them. */
export interface TilePrinter {
  readonly isWebGL: boolean;
  /** Of the colours on tiles. */
  readonly colorType: TextureDataType;
  /** Texels of a tile, about. */
  readonly tileTexels: number;
  /** Lets a material show the tiles. */
  dress(material: Material, tiles: ShownTiles, isShadow: boolean): void;
  /** Lets a copy of a material of the character write what tiles hold of it: colour, normal and depth, number of the part. */
  dressTile(copy: Material, source: Material, hasParts: boolean): void;
  /** A material that draws such a picture half as large. Around what is covered, colours, normals and depths go on. */
  createResolve(stage: readonly Texture[], hasParts: boolean): Material;
  /** The texture in which a renderer has numbers of instances. */
  numbersOf(texture: InstanceTexture): Texture;
  /** Whether a renderer still has a texture. */
  has(texture: Texture, renderer: object): boolean;
  /** Lets a renderer draw something else in the middle of a picture. Returns what lets it go on; null where it cannot. */
  enter(renderer: object): (() => void) | null;
}

/** Those of the renderers that the page has imported. */
export const printers: TilePrinter[] = [];

/** Lets one more kind of renderer draw impostors. */
export function registerTiles(printer: TilePrinter): void {
  if (!printers.includes(printer)) printers.push(printer);
}

/** @throws If the page has not imported it. */
export function printerOf(renderer: object): TilePrinter {
  const isWebGL = 'isWebGLRenderer' in renderer;
  const found = printers.find((printer) => printer.isWebGL === isWebGL);
  if (found !== undefined) return found;
  const [name, entry] = isWebGL ? ['WebGLRenderer', ''] : ['WebGPURenderer', '/webgpu'];
  throw new Error(
    `${name} draws Impostor of the entry 'skinned-instanced-mesh${entry}': import Impostor from there.`,
  );
}
