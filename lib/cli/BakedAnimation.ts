import {
  type Buffer,
  Extension,
  ExtensionProperty,
  GLB_BUFFER,
  type GLTF,
  type IProperty,
  type Mesh,
  PropertyType,
  type ReaderContext,
  RefList,
  type Root,
  type WriterContext,
} from '@gltf-transform/core';
import { EXTENSION, VERSION } from '../files/fileErrors.js';
import type { StoredCharacter } from '../files/StoredCharacter.js';

type Nullable<T> = { [Key in keyof T]: T[Key] | null };
type Bytes = Uint8Array<ArrayBuffer>;

const MESHOPT = 'EXT_meshopt_compression';
/** What views take in a writer: at multiples of so many bytes, so that arrays of any numbers may be made of them in place. */
const ALIGNMENT = 8;
const aligned = (bytes: number) => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

/** A view as it is in the file: with its compression, which GLTFLoader undoes. */
interface KeptView {
  bytes: Bytes;
  /** Without what is padding. */
  byteLength: number;
  meshopt: { count: number; byteStride: number } | null;
}

interface IBakedCharacter extends IProperty {
  mesh: Mesh;
  value: unknown;
  digest: number;
}

/** A baked character: its mesh, and all else as it is in the file. */
export class BakedCharacter extends ExtensionProperty<IBakedCharacter> {
  static override EXTENSION_NAME = EXTENSION;
  declare extensionName: typeof EXTENSION;
  declare propertyType: 'BakedCharacter';
  declare parentTypes: ['BakedAnimation'];
  /** Not one of the attributes: glTF-Transform copies objects as JSON, which would make something else of the bytes. */
  views: readonly KeptView[] = [];

  protected override init(): void {
    this.extensionName = EXTENSION;
    this.propertyType = 'BakedCharacter';
    this.parentTypes = ['BakedAnimation'];
  }

  protected override getDefaults(): Nullable<IBakedCharacter> {
    return Object.assign(super.getDefaults(), { mesh: null, value: null, digest: 0 });
  }

  /** Makes this the same as another, e.g. one of another document. Bytes are its own. */
  override copy(other: this, resolve?: Parameters<ExtensionProperty['copy']>[1]): this {
    super.copy(other, resolve);
    this.views = other.views.map((view) => ({ ...view, bytes: view.bytes.slice() }));
    return this;
  }

  getMesh(): Mesh | null {
    return this.getRef('mesh');
  }

  fill(mesh: Mesh | null, { value, digest }: Pick<StoredCharacter, 'value' | 'digest'>): this {
    return this.setRef('mesh', mesh)
      .set('value' as never, value as never)
      .set('digest', digest);
  }

  toJSON(): Pick<StoredCharacter, 'value' | 'digest'> {
    return { value: this.get('value' as never), digest: this.get('digest') };
  }
}

interface IBakedAnimationRoot extends IProperty {
  characters: RefList<BakedCharacter>;
}

/** What the extension is at the root of a document. */
export class BakedAnimationRoot extends ExtensionProperty<IBakedAnimationRoot> {
  static override EXTENSION_NAME = EXTENSION;
  declare extensionName: typeof EXTENSION;
  declare propertyType: 'BakedAnimation';
  declare parentTypes: [PropertyType.ROOT];

  protected override init(): void {
    this.extensionName = EXTENSION;
    this.propertyType = 'BakedAnimation';
    this.parentTypes = [PropertyType.ROOT];
  }

  protected override getDefaults(): Nullable<IBakedAnimationRoot> {
    return Object.assign(super.getDefaults(), { characters: new RefList<BakedCharacter>() });
  }

  /**
   * Makes this the same as another. glTF-Transform also calls it where one document is merged into another, but then it does not set the
   * extension of the root: this adds the copied characters to those that the other document has already.
   */
  override copy(other: this, resolve?: Parameters<ExtensionProperty['copy']>[1]): this {
    super.copy(other, resolve);
    if (resolve === undefined || other.getGraph() === this.getGraph()) return this;
    const there = other.listParents().find((parent): parent is Root => parent.propertyType === 'Root');
    const root = there && (resolve(there) as Root);
    if (root?.propertyType !== 'Root' || root.getGraph() !== this.getGraph()) return this;
    const before = root.getExtension<BakedAnimationRoot>(EXTENSION) ?? this;
    if (before === this) root.setExtension(EXTENSION, before);
    else for (const character of this.listCharacters()) before.addCharacter(character);
    return this;
  }

  listCharacters(): BakedCharacter[] {
    return this.listRefs('characters');
  }

  addCharacter(character: BakedCharacter): this {
    return this.addRef('characters', character);
  }
}

/**
 * `SIM_baked_animation` for glTF-Transform: with it, tools that are built on that keep baked characters, which they would
 * otherwise leave out of what they write.
 *
 * @category Save
 */
export class BakedAnimation extends Extension {
  /** Of the extension. */
  static override readonly EXTENSION_NAME = EXTENSION;
  /** Of the extension. */
  override readonly extensionName = EXTENSION;
  /** @hidden */
  override readonly prewriteTypes = [PropertyType.BUFFER];

  /** @hidden */
  override read(context: ReaderContext): this {
    const { version, characters = [] } = (context.jsonDoc.json.extensions?.[EXTENSION] ?? {}) as {
      version?: number;
      characters?: StoredCharacter[];
    };
    if (version !== VERSION) return this;
    const graph = this.document.getGraph();
    const root = new BakedAnimationRoot(graph);
    for (const stored of characters) {
      const character = new BakedCharacter(graph).fill(context.meshes[stored.mesh] ?? null, stored);
      character.views = stored.views.map((view) => keptView(context, view));
      root.addCharacter(character);
    }
    this.document.getRoot().setExtension(EXTENSION, root);
    return this;
  }

  /** @hidden */
  override prewrite(context: WriterContext): this {
    const buffer = (this.document.getRoot().listBuffers()[0] ?? this.document.createBuffer()) as Buffer;
    const others = context.otherBufferViews.get(buffer) ?? [];
    const own = this.characters().flatMap(({ views }) => views.map(({ bytes }) => bytes));
    context.otherBufferViews.set(buffer, [...others, ...own]);
    return this;
  }

  /** @hidden */
  override write(context: WriterContext): this {
    const { json } = context.jsonDoc;
    const { bufferViews = [], buffers = [] } = json;
    let unpacked = 0;
    const viewOf = ({ bytes, byteLength, meshopt }: KeptView): number => {
      const index = context.otherBufferViewsIndexMap.get(bytes) as number;
      const view = bufferViews[index];
      view.byteLength = byteLength;
      if (meshopt === null) return index;
      const { buffer, byteOffset } = view;
      const size = meshopt.count * meshopt.byteStride;
      view.extensions = { [MESHOPT]: { ...meshopt, buffer, byteOffset, byteLength } };
      Object.assign(view, { buffer: buffers.length, byteOffset: unpacked, byteLength: size });
      unpacked += aligned(size);
      return index;
    };
    const characters = this.characters().flatMap((character) => {
      const mesh = context.meshIndexMap.get(character.getMesh() as Mesh);
      // Who has disposed of the mesh wants no character.
      return mesh === undefined ? [] : { mesh, ...character.toJSON(), views: character.views.map(viewOf) };
    });
    if (unpacked > 0) {
      buffers.push({ byteLength: unpacked, extensions: { [MESHOPT]: { fallback: true } } } as GLTF.IBuffer);
      json.extensionsUsed = [...new Set([...(json.extensionsUsed ?? []), MESHOPT])];
      json.extensionsRequired = [...new Set([...(json.extensionsRequired ?? []), MESHOPT])];
    }
    json.extensions = { ...json.extensions, [EXTENSION]: { version: VERSION, characters } };
    return this;
  }

  private characters(): BakedCharacter[] {
    return this.document.getRoot().getExtension<BakedAnimationRoot>(EXTENSION)?.listCharacters() ?? [];
  }
}

/** The bytes of a view as they lie in the file, padded: a copy, since what is read lies among all else. */
function keptView({ jsonDoc, bufferViews }: ReaderContext, index: number): KeptView {
  const { json, resources } = jsonDoc;
  const meshopt = json.bufferViews?.[index].extensions?.[MESHOPT] as GLTF.IBufferView & KeptView['meshopt'];
  let source = bufferViews[index];
  if (meshopt) {
    const { uri } = (json.buffers as GLTF.IBuffer[])[meshopt.buffer];
    const { byteOffset = 0, byteLength } = meshopt;
    source = resources[uri ?? GLB_BUFFER].subarray(byteOffset, byteOffset + byteLength);
  }
  const bytes = new Uint8Array(aligned(source.byteLength));
  bytes.set(source);
  return { bytes, byteLength: source.byteLength, meshopt: meshopt ?? null };
}
