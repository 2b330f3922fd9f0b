import type { InstanceParts, SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import { CrowdLevels, createLevel } from 'skinned-instanced-mesh';
import {
  BufferGeometry,
  Color,
  Group,
  Mesh,
  MeshStandardMaterial,
  type Object3D,
  Skeleton,
  SkinnedMesh,
} from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { createClips } from './character/clips.js';
import { createClothes } from './character/clothes.js';
import { createBodyGeometry, DEFAULT_PALETTE, type Palette } from './character/geometry.js';
import { createBones } from './character/skeleton.js';
import { type Character, createCharacter } from './character.js';

/** Which colours of the figure are which part of it; all but the face are white, for instances to colour. */
const BODY: Readonly<Record<string, (keyof Palette)[]>> = {
  Skin: ['skin'],
  Face: ['eyes', 'mouth'],
  Hair: ['hair'],
  Shirt: ['shirt'],
  Trousers: ['trousers'],
  Shoes: ['shoes', 'soles'],
};
/** Share of the figure's corners that the finest has: nobody looks at one alone. */
const FINEST = 0.75;
const HAIRY = ['Hair', 'LongHair', 'Hat', 'Beanie'];
const SKIN = [0xf2c9a8, 0xe8b48e, 0xd39a6c, 0xb27a4d, 0x8d5a3c, 0x5f3b28];
const HAIR = [0x17120f, 0x2e1d14, 0x5a3722, 0x8a4a24, 0xc99a52, 0x9c9890, 0x2a1a14];
const CLOTH = [
  0xc8553d, 0xe0a030, 0x2f7f79, 0xece2cf, 0x2f4a78, 0x7c8a3c, 0xd9828a, 0x6c3f66, 0x7fb3d5, 0x9a4f2c,
  0x3f6b45,
];
const LEGS = [0x33415c, 0x5a4632, 0x2f3136, 0xa58d68, 0x4d5a3a, 0x6b7b94, 0x3d2c2a];
const SHOES = [0x5a3a26, 0x23201f, 0xd8d2c4, 0xa8432f, 0x3b4a66];

/** The figure in parts that instances show and colour: what each wears, {@link outfitOf} says. */
export interface Outfit {
  parts: string[];
  colors: Record<string, Color>;
}

/** A number from 0 to 1 that is always the same for the same person and thing. */
function chance(person: number, thing: number): number {
  const x = Math.sin(person * 91.7 + thing * 47.3 + 13.1) * 43758.5453;
  return x - Math.floor(x);
}

/**
 * The figure of character.ts with clothes, each a mesh of its own, all in one material: a crowd of them is one draw call.
 *
 * @param options.clothed Whether there is more to wear than shirt, trousers and shoes.
 */
export function createPeople({ detail: share = 1, travel = false, clothed = true } = {}): Character {
  const detail = share * FINEST;
  const bones = createBones();
  const root = new Group();
  root.name = 'Person';
  root.add(bones[0]);
  root.updateMatrixWorld(true);
  const skeleton = new Skeleton(bones);
  const material = new MeshStandardMaterial({ name: 'Person', vertexColors: true, roughness: 0.8 });
  const pieces = new Map(
    Object.entries(BODY).map(([name, keys]) => {
      const colors = keys.map((key) => DEFAULT_PALETTE[key]);
      const geometry = createBodyGeometry(DEFAULT_PALETTE, detail, colors);
      if (name !== 'Face') geometry.getAttribute('color').array.fill(1);
      return [name, geometry];
    }),
  );
  if (clothed) for (const [name, geometry] of createClothes(detail)) pieces.set(name, geometry);
  for (const [name, geometry] of pieces) {
    // The fewer corners, the more the head would show through its hair.
    if (HAIRY.includes(name)) swell(geometry, 0.014 * (1 - detail));
    if (name === 'Sleeves' || name === 'Jacket') swell(geometry, 0.006 + 0.012 * (1 - detail));
    // Coarse figures have no faces.
    if (geometry.getAttribute('position').count === 0) continue;
    const mesh = new SkinnedMesh(geometry, material);
    mesh.name = name;
    mesh.castShadow = mesh.receiveShadow = true;
    root.add(mesh);
    mesh.bind(skeleton);
  }
  return { root, clips: createClips(travel) };
}

/** Moves corners outwards. */
function swell(geometry: BufferGeometry, by: number): void {
  const { position, normal } = geometry.attributes;
  for (let i = 0; i < position.count; i++) {
    position.setX(i, position.getX(i) + by * normal.getX(i));
    position.setY(i, position.getY(i) + by * normal.getY(i));
    position.setZ(i, position.getZ(i) + by * normal.getZ(i));
  }
}

/** What a person wears, in which colours. */
export function outfitOf(person: number): Outfit {
  let thing = 0;
  const roll = () => chance(person, thing++);
  const one = <T>(list: readonly T[]): T => list[Math.floor(roll() * list.length)];
  const color = (list: readonly number[]) => new Color(one(list)).multiplyScalar(0.85 + 0.3 * roll());
  const [skin, hair, shirt, jacket, legs, extra] = [SKIN, HAIR, CLOTH, CLOTH, LEGS, CLOTH].map(color);
  const isLong = roll() < 0.45;
  const parts = Object.keys(BODY);
  if (isLong) parts.push(roll() < 0.7 ? 'LongHair' : 'Bun');
  else if (roll() < 0.3) parts.push('Beard');
  const isSkirted = isLong && roll() < 0.55;
  if (isSkirted) parts.push('Skirt');
  const isJacket = roll() < 0.35;
  if (isJacket) parts.push('Jacket', 'Sleeves');
  else if (roll() < 0.5) parts.push('Sleeves');
  const head = roll();
  if (head < 0.14) parts.push('Hat');
  else if (head < 0.28) parts.push('Beanie');
  if (roll() < 0.2) parts.push('Scarf');
  const straw = new Color(0xd9b56a);
  return {
    parts,
    colors: {
      Skin: skin,
      Hair: hair,
      LongHair: hair,
      Bun: hair,
      Beard: hair,
      // it shows between jacket and sleeves
      Shirt: isJacket ? jacket : shirt,
      Sleeves: isJacket ? jacket : shirt,
      Jacket: jacket,
      Skirt: roll() < 0.5 ? shirt : extra,
      Trousers: legs,
      Shoes: color(SHOES),
      Hat: roll() < 0.6 ? straw : extra,
      Beanie: extra,
      Scarf: extra,
    },
  };
}

/** Dresses one person of a crowd. */
export function dress(parts: InstanceParts, index: number, person = index): void {
  const outfit = outfitOf(person);
  const known = outfit.parts.filter((part) => parts.names.includes(part));
  parts.setVisiblePartsAt(index, known);
  for (const part of known) if (part in outfit.colors) parts.setColorAt(index, part, outfit.colors[part]);
}

/** Dresses a clone of the figure, three.js's own: each mesh gets a material of its own. */
export function dressClone(root: Object3D, person: number): void {
  const { parts, colors } = outfitOf(person);
  root.traverse((node) => {
    const mesh = node as Mesh<never, MeshStandardMaterial>;
    if (!(mesh instanceof Mesh)) return;
    mesh.visible = parts.includes(mesh.name);
    mesh.material = mesh.material.clone();
    if (mesh.name in colors) mesh.material.color.copy(colors[mesh.name]);
  });
}

/** The first of those who wear nothing but shirt, trousers and shoes, each as one SkinnedMesh in the colours of its corners. */
export function createOutfits(count: number, detail = 1): Object3D[] {
  const { root } = createCharacter({ detail: detail * FINEST });
  const { geometry } = root.getObjectByName('Body') as SkinnedMesh;
  const plain = geometry.getAttribute('color');
  const color = new Color();
  const partOf = Array.from({ length: plain.count }, (_, i) => {
    const hex = color.fromBufferAttribute(plain, i).getHex();
    return Object.keys(BODY).find((name) => BODY[name].some((key) => DEFAULT_PALETTE[key] === hex)) ?? '';
  });
  return Array.from({ length: count }, (_, person) => {
    const outfit = outfitOf(person).colors;
    const colors = plain.clone();
    partOf.forEach((part, i) => outfit[part]?.toArray(colors.array, 3 * i));
    const clone = SkeletonUtils.clone(root) as Object3D;
    const body = clone.getObjectByName('Body') as SkinnedMesh;
    // All but the colours is shared.
    body.geometry = Object.assign(new BufferGeometry(), { boundingBox: geometry.boundingBox });
    body.geometry.boundingSphere = geometry.boundingSphere;
    body.geometry.index = geometry.index;
    Object.assign(body.geometry.attributes, geometry.attributes, { color: colors });
    return clone;
  });
}

/** Gives a crowd of such figures coarser ones in the distance; shadows are those of the next level. */
export function addLevels(crowd: SkinnedInstancedMesh, detail = 1, near = 13): CrowdLevels {
  const levels = new CrowdLevels(crowd, { shadowLevel: 1 });
  for (const [share, distance] of [
    [0.65, near],
    [0.35, 3 * near],
  ]) {
    const { root } = createPeople({ detail: Math.min(detail, share) });
    levels.add(createLevel(crowd, root), distance, { hysteresis: 0.05 });
  }
  return levels;
}
