import { describe } from '../utils/describe.js';
import {
  type ArrayJSON,
  type CharacterJSON,
  type Encoded,
  EXTENSION,
  type ExtensionJSON,
  type Stored,
  VERSION,
} from './bakedJSON.js';
import { type MeshoptEncoderLike, packView } from './compressedViews.js';
import { dropViews } from './droppedViews.js';
import { fileError } from './fileErrors.js';
import { buildGlb, parseGlb } from './glb.js';
import { charactersOf } from './readCharacters.js';

/** Views begin at multiples of so many bytes, so that arrays of 64-bit numbers can lie on them. */
const ALIGNMENT = 8;

/** JSON of something that was encoded, with its arrays by name. */
type WithArrays = { arrays: Record<string, ArrayJSON> };

/** Scene or node of a character. */
type Place = Pick<CharacterJSON, 'scene' | 'node'>;

/** Adds baked characters to a glTF document. */
export class GltfWriter {
  private readonly json: Record<string, unknown>;
  private readonly chunks: Uint8Array[] = [];
  private size = 0;

  /**
   * @param into The .glb to which they are added; without one, a document that has nothing but them.
   * @throws If that is no .glb, or has baked characters of a later version.
   */
  constructor(
    into: ArrayBuffer | Uint8Array | undefined,
    private readonly encoder: MeshoptEncoderLike | undefined,
  ) {
    if (into === undefined) {
      this.json = { asset: { version: '2.0', generator: 'skinned-instanced-mesh' } };
      return;
    }
    const { json, binary } = parseGlb(into);
    charactersOf(json);
    this.json = structuredClone(json);
    const [first] = this.list('buffers') as { uri?: string; byteLength: number }[];
    if (first?.uri !== undefined) {
      throw fileError('the first buffer of the file is another file; write it as one .glb first.');
    }
    // Behind the buffer there may be up to three bytes of padding.
    if (first !== undefined) this.append(binary.subarray(0, first.byteLength));
  }

  /** The glTF document. */
  get document(): Record<string, unknown> {
    return this.json;
  }

  /**
   * Where a character is: by default in the scene that viewers show, if the document has any.
   *
   * @throws If the document has no such scene or node.
   */
  placeOf({ scene, node }: Place): Place {
    const [kind, index] =
      node === undefined ? (['scene', scene ?? this.json.scene ?? 0] as const) : (['node', node] as const);
    const { [`${kind}s`]: list } = this.json;
    const count = Array.isArray(list) ? list.length : 0;
    if (count === 0 && scene === undefined && node === undefined) return {};
    if (Number.isInteger(index) && (index as number) >= 0 && (index as number) < count) {
      return { [kind]: index };
    }
    throw fileError(`${kind} is ${describe(index)}, and the file has ${count} of them, numbered from 0.`);
  }

  /** Removes a scene's or node's character, if there is one, before anything is added. */
  removeCharacter({ scene, node }: Place): void {
    const { extension } = this;
    const isOld = (one: CharacterJSON) => one.scene === scene && one.node === node;
    const unused = new Set(extension.characters.filter(isOld).flatMap(viewsOf));
    extension.characters = extension.characters.filter((one) => !isOld(one));
    if (unused.size === 0) return;
    const left = dropViews(this.list('bufferViews') as object[], unused, this.size);
    const [, old] = this.chunks.splice(0);
    this.size = 0;
    this.append(old.subarray(0, left));
  }

  /** Puts the views of something that was encoded into the file. */
  store<JSON extends WithArrays>({ json, views }: Encoded<JSON>): Stored<JSON> {
    const arrays = Object.values(json.arrays).sort((a, b) => a.view - b.view);
    const stored = views.map((bytes, i) => {
      const { bytes: packed, meshopt } = packView(bytes, arrays[i], this.encoder);
      const view = { buffer: 0, byteOffset: this.append(packed), byteLength: packed.length };
      const bufferView = this.list('bufferViews').push(view) - 1;
      return meshopt === undefined ? { bufferView } : { bufferView, meshopt };
    });
    return { ...json, views: stored };
  }

  /** Adds a character. */
  addCharacter(character: CharacterJSON): void {
    this.extension.characters.push(character);
    const used = this.list('extensionsUsed');
    if (!used.includes(EXTENSION)) used.push(EXTENSION);
  }

  /** The file. */
  build(): Uint8Array {
    const buffers = this.list('buffers') as Record<string, unknown>[];
    buffers[0] = { ...buffers[0], byteLength: this.size };
    const binary = new Uint8Array(this.size);
    let at = 0;
    for (const chunk of this.chunks) {
      binary.set(chunk, at);
      at += chunk.length;
    }
    return buildGlb(this.json, binary);
  }

  /** The extension in the document, which is made if there is none. */
  private get extension(): ExtensionJSON {
    this.json.extensions ??= {};
    const extensions = this.json.extensions as Record<string, ExtensionJSON>;
    extensions[EXTENSION] ??= { version: VERSION, characters: [] };
    return extensions[EXTENSION];
  }

  /** A list at the root of the document, which is made if there is none. */
  private list(name: string): unknown[] {
    this.json[name] ??= [];
    return this.json[name] as unknown[];
  }

  /** Puts bytes behind those that are there, and returns where they begin. */
  private append(bytes: Uint8Array): number {
    const padding = (ALIGNMENT - (this.size % ALIGNMENT)) % ALIGNMENT;
    this.chunks.push(new Uint8Array(padding), bytes);
    this.size += padding + bytes.length;
    return this.size - bytes.length;
  }
}

/** Indices of all buffer views of a character. */
function viewsOf({ boneTexture, vertexTexture, levels }: CharacterJSON): number[] {
  return [boneTexture, vertexTexture, levels]
    .flatMap((stored) => stored?.views ?? [])
    .map(({ bufferView }) => bufferView);
}
