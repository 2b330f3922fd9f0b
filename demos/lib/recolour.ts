import { createPalettes } from 'skinned-instanced-mesh';
import type { LoadedCharacter } from 'skinned-instanced-mesh/files';
import { type MeshStandardMaterial, SRGBColorSpace } from 'three';

/** Hue, saturation and lightness in place of others; `x` and `y` say which of the palette's 8 × 4 fields it is. */
type Change = (h: number, s: number, l: number, x: number, y: number) => [number, number, number];

/** Changes the palette of a baked character, before crowds are made of it: a tint would turn skin and steel too. */
export function recolour({ material }: LoadedCharacter, change: Change): void {
  const hsl = { h: 0, s: 0, l: 0 };
  for (const one of [material].flat() as MeshStandardMaterial[]) {
    one.map = createPalettes(one.map!, 1, (color, u, v) => {
      color.getHSL(hsl, SRGBColorSpace);
      color.setHSL(...change(hsl.h, hsl.s, hsl.l, Math.floor(u * 8), Math.floor(v * 4)), SRGBColorSpace);
    });
    one.map.anisotropy = 4;
  }
}
