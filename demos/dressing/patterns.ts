import {
  DataTexture,
  LinearFilter,
  LinearMipmapLinearFilter,
  type Mesh,
  type MeshStandardMaterial,
  type Object3D,
  RepeatWrapping,
  SRGBColorSpace,
} from 'three';

/** Texels on a side. */
const SIZE = 64;

/** Light and dark, for a place on the texture, from 0 to 1. */
type Pattern = (u: number, v: number) => boolean;

/** What some things are painted with; instances still multiply a colour. */
const PATTERNS: Readonly<Record<string, Pattern>> = {
  Cap: (u) => (u * 12) % 2 < 1,
  Backpack: (u, v) => (Math.floor(u * 6) + Math.floor(v * 6)) % 2 === 0,
  Shield: (u, v) => (Math.hypot(u - 0.5, v - 0.5) * 8) % 2 < 1,
};

/** Gives things to wear textures, each its own, as files have them: the crowd is one draw call all the same. */
export function wearPatterns(root: Object3D): void {
  for (const [name, pattern] of Object.entries(PATTERNS)) {
    const { material } = root.getObjectByName(name) as Mesh;
    (material as MeshStandardMaterial).map = painted(pattern);
  }
}

function painted(pattern: Pattern): DataTexture {
  const texels = new Uint8Array(SIZE * SIZE * 4).fill(255);
  for (let i = 0; i < SIZE * SIZE; i++) {
    const isLight = pattern(((i % SIZE) + 0.5) / SIZE, (Math.floor(i / SIZE) + 0.5) / SIZE);
    if (!isLight) texels.fill(110, i * 4, i * 4 + 3);
  }
  const map = new DataTexture(texels, SIZE, SIZE);
  map.colorSpace = SRGBColorSpace;
  map.wrapS = map.wrapT = RepeatWrapping;
  map.magFilter = LinearFilter;
  map.minFilter = LinearMipmapLinearFilter;
  map.generateMipmaps = true;
  map.needsUpdate = true;
  return map;
}
