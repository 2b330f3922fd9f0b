import type { Material, Texture } from 'three';
import type { Constants } from '../character/materialFields.js';
import { type GltfWriter, type JSONObject, parseGlb } from './glb.js';
import { fileError } from './StoredCharacter.js';

/** What a `GLTFLoader` has made of the file that a character is of, as far as it is looked at. */
export interface SourceOfLoader {
  /** What has read it. */
  parser: ParserOfSource;
}

/** What is used of the parser of a `GLTFLoader`. */
export interface ParserOfSource {
  /** Where in the file each object is from. */
  associations: Map<unknown, unknown>;
}

/** Where lists of a glTF document are named in objects of others. */
const REFERENCES: [list: string, key: RegExp][] = [
  ['textures', /texture$/i],
  ['images', /^source$/],
  ['samplers', /^sampler$/],
];

/**
 * Copies materials of a file into another one, with the textures and images that they have.
 *
 * @param source The .glb that they are of.
 * @param gltf What a `GLTFLoader` has made of it.
 */
export function materialCopier(
  writer: GltfWriter,
  source: ArrayBuffer | Uint8Array | undefined,
  gltf: SourceOfLoader | undefined,
): (material: Material) => number {
  const { json, binary } = source === undefined ? { json: {}, binary: new Uint8Array(0) } : parseGlb(source);
  const lists = json as Record<string, JSONObject[] | undefined>;
  const required = (json.extensionsRequired ?? []) as string[];
  const bufferViews = json.bufferViews as { byteOffset?: number; byteLength: number }[];
  /** Numbers of objects of the file and of materials, in what is written. */
  const copies = new Map<object, number>();

  /** Adds a copy of an object of a list, and of what it refers to. */
  const copy = (list: string, index: number): number => {
    const one = lists[list]?.[index];
    if (one === undefined)
      throw fileError(`the file has no ${list}[${index}], which its materials name; export it again.`);
    // Each of the materials that a loader has made of one is written, as it may have changed since.
    const known = list === 'materials' ? undefined : copies.get(one);
    if (known !== undefined) return known;
    const made = JSON.parse(JSON.stringify(one), (key, value) => {
      const to = REFERENCES.find(([, names]) => names.test(key))?.[0];
      if (key === 'extensions') for (const name in value) writer.use(name, required.includes(name));
      if (key === 'bufferView') {
        const { byteOffset = 0, byteLength } = bufferViews[value];
        return writer.view(binary.subarray(byteOffset, byteOffset + byteLength), 1);
      }
      if (to !== undefined && typeof value === 'number') return copy(to, value);
      const isTexture = to === 'textures' && typeof value?.index === 'number';
      return isTexture ? { ...value, index: copy(to, value.index) } : value;
    });
    copies.set(one, writer.add(list, made));
    return copies.get(one) as number;
  };
  return (material) => {
    const known = copies.get(material);
    if (known !== undefined) return known;
    const from = gltf?.parser.associations ?? new Map<unknown, unknown>();
    // Baking makes copies of what is drawn at several places.
    const own = from.has(material) ? material : [...from.keys()].find((one) => isCopy(material, one));
    const { materials } = (from.get(own) ?? {}) as { materials?: number };
    const made =
      materials === undefined
        ? writer.add('materials', constantsOf(material, writer))
        : copy('materials', materials);
    copies.set(material, made);
    return made;
  };
}

/** Whether a material is like another one in all but what each has of its own. */
function isCopy(material: Material, other: unknown): boolean {
  const fields = other as Record<string, unknown>;
  return (
    (other as Material).isMaterial === true &&
    Object.entries(material).every(([key, value]) => {
      if (key === 'uuid' || key === 'version' || value === fields[key]) return true;
      const isPlain = value !== null && typeof value === 'object' && !(value as Texture).isTexture;
      return isPlain && JSON.stringify(value) === JSON.stringify(fields[key]);
    })
  );
}

/** A material that is of no file. @throws If it has textures. */
function constantsOf(material: Constants, writer: GltfWriter): JSONObject {
  const textured = Object.values(material).find((value: Partial<Texture> | null) => value?.isTexture);
  if (textured) {
    throw fileError(
      `material "${material.name}" has textures and is none of the file's; pass { source, gltf }, of which the character was baked, without mergeMaterials.`,
    );
  }
  const { name, color, opacity, transparent, alphaTest, side, emissive } = material;
  const { roughness = 1, metalness = 0 } = material;
  const isUnlit = 'isMeshBasicMaterial' in material;
  if (isUnlit) writer.use('KHR_materials_unlit');
  const blends = { alphaMode: 'BLEND' };
  const masks = alphaTest > 0 && { alphaMode: 'MASK', alphaCutoff: alphaTest };
  return {
    name,
    pbrMetallicRoughness: {
      baseColorFactor: [...(color?.toArray() ?? [1, 1, 1]), opacity],
      metallicFactor: metalness,
      roughnessFactor: roughness,
    },
    ...(isUnlit && { extensions: { KHR_materials_unlit: {} } }),
    ...(emissive && { emissiveFactor: emissive.toArray() }),
    ...(side === 2 && { doubleSided: true }),
    ...(transparent ? blends : masks),
  };
}
