import { describe } from '../utils/messages.js';
import {
  type ArrayJSON,
  type CharacterJSON,
  type Encoded,
  EXTENSION,
  type ExtensionJSON,
  type Stored,
  VERSION,
  type ViewJSON,
} from './bakedJSON.js';
import { type MeshoptEncoderLike, packView } from './compressedViews.js';
import { ALIGNMENT, cutViews, type View } from './cutViews.js';
import { fileError, objectsOf } from './fileErrors.js';
import { buildGlb, type Chunk, parseGlb } from './glb.js';
import { charactersOf } from './readCharacters.js';

/** JSON of something that was encoded, with its arrays by name. */
type WithArrays = { arrays: Record<string, ArrayJSON> };

/** Scene or node of a character. */
type Place = Pick<CharacterJSON, 'scene' | 'node'>;

/** Adds baked characters to a glTF document. */
export class GltfWriter {
  private readonly json: Record<string, unknown>;
  private parts: Uint8Array[] = [];
  private size = 0;
  /** What the file has besides its JSON and its buffer. */
  private readonly chunks: readonly Chunk[] = [];
  /** Numbers of buffer views that nothing uses any more, for new ones; the least is the last of them. */
  private free: number[] = [];
  /** Where the next character stands among the others, if it takes the place of one. */
  private index: number | null = null;

  /**
   * @param into The .glb to which they are added; without one, a document that has nothing but them.
   * @throws If that is no .glb, or has baked characters of another version.
   */
  constructor(
    into: ArrayBuffer | Uint8Array | undefined,
    private readonly encoder: MeshoptEncoderLike | undefined,
  ) {
    if (into === undefined) {
      this.json = { asset: { version: '2.0', generator: 'skinned-instanced-mesh' } };
      return;
    }
    const { json, binary, chunks } = parseGlb(into);
    charactersOf(json);
    this.json = structuredClone(json);
    this.chunks = chunks;
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

  /** Removes a scene's or node's character with all its bytes, if there is one, before anything is added. */
  removeCharacter({ scene, node }: Place): void {
    const { extension, parts } = this;
    const isOld = (one: CharacterJSON) => one.scene === scene && one.node === node;
    const old = extension.characters.filter(isOld);
    if (old.length === 0) return;
    this.index = extension.characters.findIndex(isOld);
    extension.characters = extension.characters.filter((one) => !isOld(one));
    const views = objectsOf(this.list('bufferViews'), 'bufferViews') as View[];
    const named = new Set(viewsIn(this.json));
    const unused = new Set(viewsIn(old).filter((view) => !named.has(view) && view < views.length));
    this.free = [...unused].sort((a, b) => b - a);
    const left = cutViews(views, unused, parts[1] ?? new Uint8Array(0));
    this.parts = [];
    this.size = 0;
    this.append(left);
  }

  /** Puts the views of something that was encoded into the file. */
  store<JSON extends WithArrays>({ json, views }: Encoded<JSON>): Stored<JSON> {
    const arrays = Object.values(json.arrays).sort((a, b) => a.view - b.view);
    const list = this.list('bufferViews');
    const stored = views.map((bytes, i) => {
      const { bytes: packed, meshopt } = packView(bytes, arrays[i], this.encoder);
      const bufferView = this.free.pop() ?? list.length;
      list[bufferView] = { buffer: 0, byteOffset: this.append(packed), byteLength: packed.length };
      return meshopt === undefined ? { bufferView } : { bufferView, meshopt };
    });
    return { ...json, views: stored };
  }

  /** Adds a character. */
  addCharacter(character: CharacterJSON): void {
    const { characters } = this.extension;
    characters.splice(this.index ?? characters.length, 0, character);
    const used = this.list('extensionsUsed');
    if (!used.includes(EXTENSION)) used.push(EXTENSION);
  }

  /** The file. */
  build(): Uint8Array {
    this.closeGaps();
    // To a whole multiple, so that the size does not go by which array is the last.
    this.append(new Uint8Array(0));
    const buffers = this.list('buffers') as Record<string, unknown>[];
    buffers[0] = { ...buffers[0], byteLength: this.size };
    const binary = new Uint8Array(this.size);
    let at = 0;
    for (const part of this.parts) {
      binary.set(part, at);
      at += part.length;
    }
    return buildGlb(this.json, binary, this.chunks);
  }

  /**
   * Gives the numbers that are still free to the last buffer views, as far as these are of baked characters: all else in the document
   * may be referred to by extensions that nobody here knows.
   */
  private closeGaps(): void {
    const views = this.list('bufferViews');
    // Our views by the number of the buffer view that they name, which no other of them does.
    const ours = new Map(
      this.extension.characters.flatMap(storedViewsOf).map((view) => [view.bufferView, view]),
    );
    for (const gap of this.free) {
      const last = views.length - 1;
      const moved = ours.get(last);
      if (gap < last && moved === undefined) {
        // A view must have a byte; that of another is in the file anyway.
        views[gap] = { buffer: 0, byteOffset: 0, byteLength: 1 };
        continue;
      }
      views[gap] = views[last];
      if (moved) {
        moved.bufferView = gap;
        ours.set(gap, moved);
      }
      views.pop();
    }
    this.free = [];
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
    this.parts.push(new Uint8Array(padding), bytes);
    this.size += padding + bytes.length;
    return this.size - bytes.length;
  }
}

/** Where the arrays of a character are. */
function storedViewsOf({ boneTexture, vertexTexture, levels }: CharacterJSON): ViewJSON[] {
  return [boneTexture, vertexTexture, levels].flatMap((stored) => stored?.views ?? []);
}

/** Numbers of all buffer views that are named somewhere in JSON, by whatever extension. */
function viewsIn(json: unknown): number[] {
  if (typeof json !== 'object' || json === null) return [];
  return Object.entries(json).flatMap(([key, value]) =>
    key === 'bufferView' && Number.isInteger(value) ? [value as number] : viewsIn(value),
  );
}
