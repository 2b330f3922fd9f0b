import { BoneTexture } from '../animation/BoneTexture.js';
import type { BoneTextureData } from '../animation/BoneTextureData.js';
import type { Encoding } from '../baking/BakeOptions.js';
import { checkAreOptions } from '../utils/messages.js';
import { EXTENSION, VERSION, type ViewJSON } from './bakedJSON.js';
import { type MeshoptDecoderLike, unpackView } from './compressedViews.js';
import { decodeBoneTexture } from './decodeBoneTexture.js';
import { countOf, expectField, fileError, objectOf, objectsOf } from './fileErrors.js';
import { parseGlb, readBufferView } from './glb.js';
import { readVertices, type VertexTextureReader } from './storedVertices.js';

/** Where the parts of a glTF file come from. */
export interface FileSource {
  /** The glTF document. */
  json: Record<string, unknown>;
  /** The bytes of a buffer. */
  buffer(index: number): Promise<Uint8Array>;
  /** What decompresses views. */
  meshoptDecoder: MeshoptDecoderLike | undefined;
  /** What reads vertex textures. */
  vertexTextures: VertexTextureReader | undefined;
  /** What poses by frames. */
  frames: Encoding | undefined;
  /** Buffer views that were read, kept by `readViews`. */
  used?: Set<number>;
}

/** How a file is read. */
export interface ReadOptions {
  /**
   * For files that are compressed: `MeshoptDecoder` of `three/addons/libs/meshopt_decoder.module.js`, or of the package
   * meshoptimizer.
   */
  meshoptDecoder?: MeshoptDecoderLike;
  /** `VertexTexture` of `skinned-instanced-mesh/vertex-textures`, for files that have one. */
  vertexTextures?: VertexTextureReader;
  /** The encoding of that name, for files that were baked with it. */
  frames?: Encoding;
  /** Which character of the file, by name or index. @default 0 */
  character?: string | number;
}

/**
 * Reads a bone texture from a .glb that `writeBoneTexture` or the command has written. Nothing else of the file is looked at: to have
 * its meshes too, let a `GLTFLoader` load it, with {@link SkinnedInstancedMeshExtension}.
 *
 * @param file Bytes of the file.
 * @throws If the file has none, is damaged, of another version, or compressed and there is no decoder. The message says what.
 *
 * @category Save
 */
export async function readBoneTexture(
  file: ArrayBuffer | Uint8Array,
  options: ReadOptions = {},
): Promise<BoneTexture> {
  checkAreOptions(options, 'readBoneTexture');
  const { meshoptDecoder, vertexTextures, frames, character = 0 } = options;
  const { json, binary } = parseGlb(file);
  const buffer = async (index: number) => {
    const { uri } = objectOf((json.buffers as unknown[])[index], `buffers[${index}]`);
    if (index === 0 && uri === undefined) return binary;
    throw fileError(
      `buffers[${index}] is in another file; read it with GLTFLoader, or write it as one .glb.`,
    );
  };
  const characters = charactersOf(json);
  if (characters === null) {
    throw fileError('the file has no baked animation; write one with writeBoneTexture, or bake it.');
  }
  const index =
    typeof character === 'number' ? character : characters.findIndex(({ name }) => name === character);
  if (characters[index] === undefined) {
    const names = characters.map(({ name }, i) => (typeof name === 'string' ? `"${name}"` : i));
    throw fileError(`the file has no character ${JSON.stringify(character)}; it has ${names.join(', ')}.`);
  }
  const source = { json, buffer, meshoptDecoder, vertexTextures, frames };
  return readTexture(source, characters[index], index);
}

/** The characters of a file; null if it has none. @throws If they are of another version. */
export function charactersOf(json: Record<string, unknown>): Record<string, unknown>[] | null {
  if (json.extensions === undefined) return null;
  const extension = objectOf(json.extensions, 'extensions')[EXTENSION];
  if (extension === undefined) return null;
  const { version, characters } = objectOf(extension, `extensions.${EXTENSION}`);
  if (version !== VERSION) {
    throw fileError(
      `the file is of version ${version}, and this library reads version ${VERSION}; bake the file anew.`,
    );
  }
  return objectsOf(characters, 'characters');
}

/** A character's bone texture or vertex texture. */
export async function readTexture(
  source: FileSource,
  character: Record<string, unknown>,
  index: number,
): Promise<BoneTexture> {
  const { vertexTexture } = character;
  if (vertexTexture === undefined) {
    const data = await readBaked(source, character, index);
    if (data.encoding === 'tracks') return new BoneTexture(data);
    if (source.frames !== undefined) return new BoneTexture(data, source.frames);
    throw fileError(
      `characters[${index}] was baked into frames; import { frames } beside SkinnedInstancedMesh, and pass { frames } to the ` +
        'SkinnedInstancedMeshExtension or to readBoneTexture.',
    );
  }
  const field = `characters[${index}].vertexTexture`;
  const views = await readViews(source, objectOf(vertexTexture, field), field);
  return readVertices(vertexTexture, views, source.vertexTextures, field);
}

/** The data of a character's bone texture. */
export async function readBaked(
  source: FileSource,
  { boneTexture }: Record<string, unknown>,
  index: number,
): Promise<BoneTextureData> {
  const field = `characters[${index}].boneTexture`;
  const json = objectOf(boneTexture, field);
  return decodeBoneTexture(json, await readViews(source, json, field));
}

/**
 * The bytes of the views of something that was encoded.
 *
 * @throws If there are not as many as arrays, or a buffer view is named again: a small file could name one that unpacks to a lot any
 * number of times. It is looked at before anything is unpacked.
 */
export async function readViews(
  source: FileSource,
  stored: Record<string, unknown>,
  field: string,
): Promise<Uint8Array[]> {
  source.used ??= new Set();
  const { json, buffer, meshoptDecoder, used } = source;
  const list = objectsOf(stored.views, `${field}.views`);
  const arrays = Object.keys(objectOf(stored.arrays, `${field}.arrays`)).length;
  expectField(list.length === arrays, `${field}.views`, list, `one for each of ${arrays} arrays`);
  const { bufferViews } = json;
  const places = list.map(({ bufferView }, i) => {
    const isList = Array.isArray(bufferViews) && bufferViews.length > 0;
    expectField(isList, 'bufferViews', bufferViews, 'an array of buffer views');
    const at = countOf(bufferView, `${field}.views[${i}].bufferView`, (bufferViews as unknown[]).length - 1);
    expectField(!used.has(at), `${field}.views[${i}].bufferView`, at, 'one that nothing else has');
    used.add(at);
    return at;
  });
  await meshoptDecoder?.ready;
  const read: Uint8Array[] = [];
  for (const [i, view] of list.entries()) {
    const bytes = await readBufferView(json, places[i], buffer);
    read.push(unpackView(bytes, view as unknown as ViewJSON, meshoptDecoder, `${field}.views[${i}]`));
  }
  return read;
}
