import type { LoadedCharacter } from 'skinned-instanced-mesh/files';
import { CanvasTexture, Color, type MeshStandardMaterial, SRGBColorSpace } from 'three';

/** Pixels of a palette are gradients: so many along a side are enough. */
const SIZE = 256;

/** Hue, saturation and lightness in place of others; `x` and `y` say which of the palette's 8 × 4 fields it is. */
type Change = (h: number, s: number, l: number, x: number, y: number) => [number, number, number];

/** Changes the palette of a baked character, before crowds are made of it: a tint would turn skin and steel too. */
export function recolour({ material }: LoadedCharacter, change: Change): void {
  const color = new Color();
  const hsl = { h: 0, s: 0, l: 0 };
  for (const one of [material].flat() as MeshStandardMaterial[]) {
    const { image, flipY } = one.map!;
    const context = new OffscreenCanvas(SIZE, SIZE).getContext('2d')!;
    context.drawImage(image as ImageBitmap, 0, 0, SIZE, SIZE);
    const pixels = context.getImageData(0, 0, SIZE, SIZE);
    const { data } = pixels;
    for (let i = 0; i < data.length; i += 4) {
      const [x, y] = [(i / 4) % SIZE, Math.floor(i / 4 / SIZE)];
      color.setRGB(data[i] / 255, data[i + 1] / 255, data[i + 2] / 255).getHSL(hsl);
      color.setHSL(...change(hsl.h, hsl.s, hsl.l, Math.floor((x / SIZE) * 8), Math.floor((y / SIZE) * 4)));
      [data[i], data[i + 1], data[i + 2]] = [color.r * 255, color.g * 255, color.b * 255];
    }
    context.putImageData(pixels, 0, 0);
    one.map = new CanvasTexture(context.canvas);
    Object.assign(one.map, { flipY, colorSpace: SRGBColorSpace, anisotropy: 4 });
  }
}
