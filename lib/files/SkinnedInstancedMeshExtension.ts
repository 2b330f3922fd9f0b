import type { AnimationClip, Object3D } from 'three';
import type { Encoding } from '../baking/BakeOptions.js';
import {
  type AssembleCharacterOptions,
  type Character,
  characterOf,
  collectFor,
} from '../character/assembleCharacter.js';
import type { MergeMaterialsOptions } from '../character/mergeMaterials.js';
import type { MaterialMerger } from '../character/mergeParts.js';
import { warnOnce } from '../utils/messages.js';
import { type BakeOptionsJSON, EXTENSION, type MergeMaterialsJSON } from './bakedJSON.js';
import { bakeOptionsOf, mergingOf } from './bakeOptions.js';
import { meshCheck } from './checkMeshes.js';
import { checkChecksum } from './checksum.js';
import type { MeshoptDecoderLike } from './compressedViews.js';
import { countOf, expectField, fileError, objectOf, stringsOf } from './fileErrors.js';
import type { StoredLevels } from './levels.js';
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

/** What files may need besides. */
export interface ExtensionOptions {
  /** The class `VertexTexture` of `skinned-instanced-mesh/vertex-textures`. */
  vertexTextures?: VertexTextureReader;
  /** The encoding of that name, for files that were baked with it. */
  frames?: Encoding;
  /** The function of that name. */
  mergeMaterials?: (options?: MergeMaterialsOptions) => MaterialMerger;
}

/** A baked character of a file that `GLTFLoader` has loaded: `new SkinnedInstancedMesh(gltf.bakedCharacters[0], 1_000)`. */
export interface LoadedCharacter extends Character {
  /** What holds its meshes. */
  scene: Object3D;
  /** How it was baked. */
  bakeOptions: BakeOptionsJSON;
  /** Whether and how its materials were to be merged, which the extension does where it was given the means. */
  mergeMaterials: MergeMaterialsJSON;
  /** Levels of detail, which `addLevelsOf` adds to a crowd's; null if there are none. */
  levels: StoredLevels | null;
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
 * has baked into a file: it adds `bakedCharacters` to what the loader returns, which crowds are made of. Files without any are loaded as ever.
 *
 * ```ts
 * loader.register((parser) => new SkinnedInstancedMeshExtension(parser));
 * const gltf = await loader.loadAsync('knight.glb');
 * const crowd = new SkinnedInstancedMesh(bakedCharactersOf(gltf)[0]!, 1_000);
 * ```
 *
 * @category Save
 */
export class SkinnedInstancedMeshExtension {
  /** Of the extension. */
  readonly name = EXTENSION;

  /**
   * For `loader.register`.
   *
   * @param parser What the loader hands to whom it registers.
   * @param options `vertexTextures`: the class `VertexTexture` of `skinned-instanced-mesh/vertex-textures`, for files that have one.
   * `frames`: the encoding of that name, for files that were baked with it. `mergeMaterials`: the function of that name, for files that were baked to have their materials merged.
   */
  constructor(
    private readonly parser: ParserOfPlugin,
    private readonly options: ExtensionOptions = {},
  ) {}

  /**
   * Called by the loader.
   *
   * @throws If the file is damaged or of another version; the message says what and where.
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
      frames: this.options.frames,
    };
    const bakedCharacters: LoadedCharacter[] = [];
    for (const [i, character] of characters.entries()) {
      const scene = await this.placeOf(character, `characters[${i}]`, json, result);
      if (scene !== null)
        bakedCharacters.push(await load(source, character, i, scene, this.options.mergeMaterials));
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
  merger: ExtensionOptions['mergeMaterials'],
): Promise<LoadedCharacter> {
  const field = `characters[${index}]`;
  const { name = '', hiddenParts = [], mergeMaterials = false, levels } = character;
  expectField(typeof name === 'string', `${field}.name`, name, 'a string');
  const merging = mergingOf(mergeMaterials);
  expectField(
    merging !== null,
    `${field}.mergeMaterials`,
    mergeMaterials,
    'true, false or { textures, maxSize }',
  );
  if (merging !== false && merger === undefined) {
    warnOnce(
      `${field} of the file was baked to have its materials merged; pass { mergeMaterials } to the SkinnedInstancedMeshExtension. Until then each is a draw call.`,
    );
  }
  const boneTexture = await readTexture(source, character, index);
  const bakeOptions = bakeOptionsOf(character.bakeOptions, `${field}.bakeOptions`);
  const options: AssembleCharacterOptions = {
    joints: bakeOptions.joints,
    morphTargets: bakeOptions.morphTargets,
    hiddenParts: stringsOf(hiddenParts, `${field}.hiddenParts`),
    mergeMaterials: merging === false ? undefined : merger?.(merging === true ? {} : merging),
  };
  const check = meshCheck(scene, boneTexture, field);
  const assemble = () => {
    const collected = collectFor(scene, boneTexture, options);
    check(collected);
    return characterOf(scene, collected, boneTexture, options);
  };
  const made = [boneTexture];
  const loaded = assembledLater(
    { name, scene, boneTexture, made, bakeOptions, mergeMaterials: merging },
    assemble,
  );
  if (levels !== undefined) {
    const at = `${field}.levels`;
    const json = objectOf(levels, at);
    const views = await readViews(source, json, at);
    checkChecksum(json, views, at);
    loaded.levels = { json, views, field: at };
  }
  return loaded;
}

/** What is made of the scene when it is first asked for. */
const ASSEMBLED = [
  'geometry',
  'material',
  'parts',
  'castShadow',
  'receiveShadow',
  'frustumCulled',
  'renderOrder',
  'layers',
  'morphTargetInfluences',
  'morphTargetDictionary',
] as const;

/** A character whose meshes are merged when it is first used: until then the scene is the user's to change. */
function assembledLater(
  read: Pick<LoadedCharacter, 'name' | 'scene' | 'boneTexture' | 'made' | 'bakeOptions'> & {
    mergeMaterials: unknown;
  },
  assemble: () => Character,
): LoadedCharacter {
  const loaded = { ...read, levels: null } as LoadedCharacter;
  let assembled: Character | null = null;
  const character = () => {
    if (assembled === null) {
      assembled = assemble();
      loaded.made.push(...assembled.made);
    }
    return assembled;
  };
  for (const key of ASSEMBLED) {
    Object.defineProperty(loaded, key, {
      configurable: true,
      enumerable: true,
      get: () => character()[key],
      set: (value) => Object.assign(character(), { [key]: value }),
    });
  }
  return loaded;
}

/**
 * The baked characters of what a `GLTFLoader` has returned; none if nothing was baked into the file.
 *
 * @throws If the file has some, but the loader had no plugin to read them, or a tool took their meshes away.
 *
 * @category Save
 */
export function bakedCharactersOf(gltf: object): readonly LoadedCharacter[] {
  const { bakedCharacters, userData } = gltf as {
    bakedCharacters?: readonly LoadedCharacter[];
    userData?: { gltfExtensions?: Record<string, unknown> };
  };
  if (bakedCharacters === undefined && userData?.gltfExtensions?.[EXTENSION] !== undefined) {
    throw fileError(
      'the file has baked characters, but the loader did not read them; call loader.register((parser) => new SkinnedInstancedMeshExtension(parser)).',
    );
  }
  if (bakedCharacters?.length === 0) {
    throw fileError(
      "the file's baked character has no scene or node, which a tool may have removed; bake the file anew.",
    );
  }
  return bakedCharacters ?? [];
}
