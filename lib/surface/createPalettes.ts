import { Color, DataArrayTexture, SRGBColorSpace, type Texture } from 'three';

/**
 * Changes a color of a palette.
 *
 * @param color As it is; is changed in place.
 * @param u Where it is on the texture: from 0 to 1 across, from the left.
 * @param v The same down, from the top of the picture.
 * @param layer Number of the variant, from 0.
 */
export type PaintPalette = (color: Color, u: number, v: number, layer: number) => void;

/**
 * Variants of a texture in other colors, for figures that have all their colors on one palette: teams by the colors of their cloth,
 * which leave skin and hair as they are. Each is a layer of one texture, and instances choose theirs:
 *
 * ```ts
 * skin.map = createPalettes(texture, 2, (color, u, v, layer) => {
 *   if (layer === 1 && u < 0.25) color.setHSL(0, 0.7, color.getHSL(hsl).l);
 * });
 * new InstanceUniforms(crowd).setAt(7, 'mapLayer', 1);
 * ```
 *
 * @param map Has a picture that a canvas can draw. It stays as it is; dispose it if nothing else is drawn with it.
 * @param layers Number of variants.
 * @param size Texels along a side; palettes need few.
 * @throws If the picture is not loaded.
 *
 * @category Dress and attach
 */
export function createPalettes(
  map: Texture,
  layers: number,
  paint: PaintPalette,
  size = 256,
): DataArrayTexture {
  const image = map.image as CanvasImageSource | null;
  if (!image) throw new Error(`createPalettes: the picture of texture "${map.name}" is not loaded.`);
  const context = new OffscreenCanvas(size, size).getContext('2d') as OffscreenCanvasRenderingContext2D;
  // What is uploaded upside down begins with its last row.
  if (map.flipY) context.transform(1, 0, 0, -1, 0, size);
  context.drawImage(image, 0, 0, size, size);
  const { data: source } = context.getImageData(0, 0, size, size);
  const data = new Uint8Array(source.length * layers);
  const color = new Color();
  for (let layer = 0, to = 0; layer < layers; layer++) {
    for (let at = 0; at < source.length; at += 4, to += 4) {
      const row = (Math.floor(at / 4 / size) + 0.5) / size;
      color.setRGB(source[at] / 255, source[at + 1] / 255, source[at + 2] / 255, SRGBColorSpace);
      paint(color, (((at / 4) % size) + 0.5) / size, map.flipY ? 1 - row : row, layer);
      const hex = color.getHex();
      data.set([hex >> 16, (hex >> 8) & 255, hex & 255, source[at + 3]], to);
    }
  }
  const palettes = new DataArrayTexture(data, size, size, layers);
  const settings = palettes as unknown as Record<string, unknown>;
  const kept = 'name wrapS wrapT magFilter minFilter anisotropy generateMipmaps colorSpace channel rotation';
  for (const key of kept.split(' ')) settings[key] = map[key as 'name'];
  for (const key of ['offset', 'repeat', 'center'] as const) palettes[key].copy(map[key]);
  palettes.needsUpdate = true;
  return palettes;
}
