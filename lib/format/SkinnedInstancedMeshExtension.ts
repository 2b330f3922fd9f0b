import type { AnimationClip, Object3D } from 'three';
import { describe } from '../utils/describe.js';
import { EXTENSION } from './bakedJSON.js';
import { bakeOptionsOf } from './bakeOptions.js';
import { meshCheck } from './checkMeshes.js';
import type { MeshoptDecoderLike } from './compressedViews.js';
import { countOf, expectField, fileError, objectOf, stringsOf } from './fileErrors.js';
import type { LoadedCharacter } from './LoadedCharacter.js';
import { decodeLevels } from './levels.js';
import { mergingOf } from './mergeMaterialsJSON.js';
import { charactersOf, type FileSource, readTexture, readViews } from './readCharacters.js';
import type { VertexTextureReader } from './storedVertices.js';

/** What is used of the parser that a `GLTFLoader` hands to its plugins. */
export interface ParserOfPlugin {
  /** The glTF document. */
  json: unknown;
  /** As the loader was set up. */
  options: object;
  /** Loads a part of the file, or waits until it is there. */
  getDependency(type: string, index: number): Promise<unknown>;
}

/** What is used of the result of a `GLTFLoader`, which the plugin adds `bakedCharacters` to. */
export interface ResultOfLoader {
  /** The scene that is shown. */
  scene: Object3D;
  /** All scenes. */
  scenes: Object3D[];
  /** The file's clips. */
  animations: AnimationClip[];
}

/**
 * Plugin for a `GLTFLoader`, three.js's own or that of three-stdlib, that reads the characters which `writeBoneTexture` or the command
 * has baked into a file: it adds `bakedCharacters` to what the loader returns, and `SkinnedInstancedMesh.from` takes them from there.
 * Files without any are loaded as ever.
 *
 * ```ts
 * loader.register((parser) => new SkinnedInstancedMeshExtension(parser));
 * const gltf = await loader.loadAsync('knight.glb');
 * const crowd = SkinnedInstancedMesh.from(gltf, 1_000);
 * ```
 */
export class SkinnedInstancedMeshExtension {
  /** Of the extension. */
  readonly name = EXTENSION;

  /**
   * For `loader.register`.
   *
   * @param parser What the loader hands to whom it registers.
   * @param options `vertexTextures`: the class `VertexTexture` of `skinned-instanced-mesh/vertex-textures`, for files that have one.
   */
  constructor(
    private readonly parser: ParserOfPlugin,
    private readonly options: { vertexTextures?: VertexTextureReader } = {},
  ) {}

  /**
   * Called by the loader.
   *
   * @throws If the file is damaged or of a later version; the message says what and where.
   */
  async afterRoot(result: ResultOfLoader): Promise<void> {
    const json = objectOf(this.parser.json, 'the document');
    const characters = charactersOf(json);
    if (characters === null) return;
    const { meshoptDecoder } = this.parser.options as { meshoptDecoder?: MeshoptDecoderLike | null };
    const source: FileSource = {
      json,
      buffer: async (index) =>
        new Uint8Array((await this.parser.getDependency('buffer', index)) as ArrayBuffer),
      meshoptDecoder: meshoptDecoder ?? undefined,
      vertexTextures: this.options.vertexTextures,
    };
    const bakedCharacters: LoadedCharacter[] = [];
    for (const [i, character] of characters.entries()) {
      const scene = await this.placeOf(character, `characters[${i}]`, json, result);
      if (scene !== null) bakedCharacters.push(await load(source, character, i, scene, result.animations));
    }
    Object.assign(result, { bakedCharacters });
  }

  /** What holds a character's meshes; null if the file has its bone texture alone. */
  private async placeOf(
    { scene, node }: Record<string, unknown>,
    field: string,
    { nodes }: Record<string, unknown>,
    { scenes }: ResultOfLoader,
  ): Promise<Object3D | null> {
    if (node !== undefined) {
      const last = (Array.isArray(nodes) ? nodes.length : 0) - 1;
      return (await this.parser.getDependency('node', countOf(node, `${field}.node`, last))) as Object3D;
    }
    if (scene === undefined) return null;
    return scenes[countOf(scene, `${field}.scene`, scenes.length - 1)];
  }
}

async function load(
  source: FileSource,
  character: Record<string, unknown>,
  index: number,
  scene: Object3D,
  animations: AnimationClip[],
): Promise<LoadedCharacter> {
  const field = `characters[${index}]`;
  const { name = '', hiddenParts = [], mergeMaterials = false, levels } = character;
  expectField(typeof name === 'string', `${field}.name`, name, 'a string');
  const merging = mergingOf(mergeMaterials);
  const wanted = 'true, false or { textures, maxSize }';
  expectField(merging !== null, `${field}.mergeMaterials`, mergeMaterials, wanted);
  const boneTexture = await readTexture(source, character, index);
  const loaded: LoadedCharacter = {
    name,
    scene,
    animations,
    boneTexture,
    bakeOptions: bakeOptionsOf(character.bakeOptions, `${field}.bakeOptions`),
    hiddenParts: stringsOf(hiddenParts, `${field}.hiddenParts`),
    mergeMaterials: merging,
    levels: null,
    check: meshCheck(scene, boneTexture, field),
  };
  if (levels !== undefined) {
    const at = `${field}.levels`;
    loaded.levels = decodeLevels(levels, await readViews(source, objectOf(levels, at), at), at);
  }
  return loaded;
}

/**
 * The baked characters of what a `GLTFLoader` has returned, for TypeScript, which does not know that the plugin has added them.
 *
 * @throws If the file has some, but the loader had no plugin to read them.
 */
export function bakedCharactersOf(gltf: object): readonly LoadedCharacter[] {
  if (typeof gltf !== 'object' || gltf === null) {
    throw fileError(`bakedCharactersOf takes what GLTFLoader returns, not ${describe(gltf)}.`);
  }
  const { bakedCharacters, userData } = gltf as {
    bakedCharacters?: readonly LoadedCharacter[];
    userData?: { gltfExtensions?: Record<string, unknown> };
  };
  if (bakedCharacters === undefined && userData?.gltfExtensions?.[EXTENSION] !== undefined) {
    throw fileError(
      'the file has baked characters, but the loader did not read them; call loader.register((parser) => new SkinnedInstancedMeshExtension(parser)).',
    );
  }
  return bakedCharacters ?? [];
}
