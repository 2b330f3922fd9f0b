import {
  type Buffer,
  Extension,
  ExtensionProperty,
  type IProperty,
  type Node,
  PropertyType,
  type ReaderContext,
  RefList,
  type Root,
  type Scene,
  type WriterContext,
} from '@gltf-transform/core';
import { type CharacterJSON, EXTENSION, type ExtensionJSON, type ViewJSON } from '../files/bakedJSON.js';

type Nullable<T> = { [Key in keyof T]: T[Key] | null };

/** What views take in a writer: at multiples of so many bytes, so that arrays of any numbers may be made of them in place. */
const ALIGNMENT = 8;

interface IBakedCharacter extends IProperty {
  definition: Record<string, unknown>;
  scene: Scene;
  node: Node;
}

/** A baked character: its JSON, but for what points elsewhere in the file. */
export class BakedCharacter extends ExtensionProperty<IBakedCharacter> {
  static override EXTENSION_NAME = EXTENSION;
  declare extensionName: typeof EXTENSION;
  declare propertyType: 'BakedCharacter';
  declare parentTypes: ['BakedAnimation'];
  /** Not one of the attributes: glTF-Transform copies objects as JSON, which would make something else of the bytes. */
  private views: Record<string, Uint8Array[]> = {};

  protected override init(): void {
    this.extensionName = EXTENSION;
    this.propertyType = 'BakedCharacter';
    this.parentTypes = ['BakedAnimation'];
  }

  protected override getDefaults(): Nullable<IBakedCharacter> {
    return Object.assign(super.getDefaults(), {
      definition: {},
      scene: null,
      node: null,
    });
  }

  /** Makes this the same as another, e.g. one of another document. Bytes are its own. */
  override copy(other: this, resolve?: Parameters<ExtensionProperty['copy']>[1]): this {
    super.copy(other, resolve);
    const views = Object.entries(other.views);
    return this.setViews(
      Object.fromEntries(views.map(([field, all]) => [field, all.map((view) => view.slice())])),
    );
  }

  /** Its JSON without `scene` and `node`. What `views` say of buffer views is of no account: they are numbered anew. */
  getDefinition(): Record<string, unknown> {
    return this.get('definition');
  }

  setDefinition(definition: Record<string, unknown>): this {
    return this.set('definition', definition);
  }

  /** For each field of the JSON that has arrays, e.g. `boneTexture` and `levels`, their bytes as they are in the file. */
  getViews(): Record<string, Uint8Array[]> {
    return this.views;
  }

  setViews(views: Record<string, Uint8Array[]>): this {
    this.views = views;
    return this;
  }

  getScene(): Scene | null {
    return this.getRef('scene');
  }

  setScene(scene: Scene | null): this {
    return this.setRef('scene', scene);
  }

  getNode(): Node | null {
    return this.getRef('node');
  }

  setNode(node: Node | null): this {
    return this.setRef('node', node);
  }
}

interface IBakedAnimationRoot extends IProperty {
  version: number;
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
    return Object.assign(super.getDefaults(), { version: 1, characters: new RefList<BakedCharacter>() });
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

  getVersion(): number {
    return this.get('version');
  }

  setVersion(version: number): this {
    return this.set('version', version);
  }

  listCharacters(): BakedCharacter[] {
    return this.listRefs('characters');
  }

  addCharacter(character: BakedCharacter): this {
    return this.addRef('characters', character);
  }

  removeCharacter(character: BakedCharacter): this {
    return this.removeRef('characters', character);
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
  /** Each view as it was given to the writer, while it writes. */
  private readonly written = new Map<Uint8Array, Uint8Array>();

  /** @hidden */
  createRoot(): BakedAnimationRoot {
    return new BakedAnimationRoot(this.document.getGraph());
  }

  /** @hidden */
  assembleCharacter(): BakedCharacter {
    return new BakedCharacter(this.document.getGraph());
  }

  /** @hidden */
  override read(context: ReaderContext): this {
    const json = context.jsonDoc.json.extensions?.[EXTENSION] as ExtensionJSON | undefined;
    if (json === undefined) return this;
    const root = this.createRoot().setVersion(json.version);
    for (const character of json.characters ?? []) root.addCharacter(this.readCharacter(character, context));
    this.document.getRoot().setExtension(EXTENSION, root);
    return this;
  }

  private readCharacter(json: CharacterJSON, context: ReaderContext): BakedCharacter {
    const { scene, node, ...definition } = json;
    const character = this.assembleCharacter();
    if (scene !== undefined) character.setScene(context.scenes[scene] ?? null);
    if (node !== undefined) character.setNode(context.nodes[node] ?? null);
    const views: Record<string, Uint8Array[]> = {};
    for (const [field, stored] of storedFields(definition)) {
      // A copy: what is read lies among all else that is in the file.
      views[field] = stored.map(({ bufferView }) => context.bufferViews[bufferView].slice());
    }
    return character.setDefinition(definition).setViews(views);
  }

  /** @hidden */
  override prewrite(context: WriterContext): this {
    const buffer = this.document.getRoot().listBuffers()[0] ?? this.document.createBuffer();
    const others = context.otherBufferViews.get(buffer) ?? [];
    for (const view of this.characters().flatMap((character) => Object.values(character.getViews()).flat())) {
      const padded = paddedOf(view);
      this.written.set(view, padded);
      others.push(padded);
    }
    context.otherBufferViews.set(buffer as Buffer, others as Uint8Array<ArrayBuffer>[]);
    return this;
  }

  /** @hidden */
  override write(context: WriterContext): this {
    const root = this.document.getRoot().getExtension<BakedAnimationRoot>(EXTENSION);
    if (root === null) return this;
    const characters = root.listCharacters().map((character) => this.writeCharacter(character, context));
    const { json } = context.jsonDoc;
    json.extensions = { ...json.extensions, [EXTENSION]: { version: root.getVersion(), characters } };
    this.written.clear();
    return this;
  }

  private writeCharacter(character: BakedCharacter, context: WriterContext): Record<string, unknown> {
    const json: Record<string, unknown> = { ...character.getDefinition() };
    const scene = character.getScene();
    const node = character.getNode();
    if (scene !== null) json.scene = context.sceneIndexMap.get(scene);
    if (node !== null) json.node = context.nodeIndexMap.get(node);
    for (const [field, stored] of storedFields(json)) {
      const bytes = character.getViews()[field];
      const views = stored.map((view, i) => ({ ...view, bufferView: this.viewIndex(bytes[i], context) }));
      json[field] = { ...(json[field] as object), views };
    }
    return json;
  }

  /** Where the writer has put a view, whose length is then said without what it was padded by. */
  private viewIndex(view: Uint8Array, context: WriterContext): number {
    const index = context.otherBufferViewsIndexMap.get(
      this.written.get(view) as Uint8Array<ArrayBuffer>,
    ) as number;
    const { bufferViews = [] } = context.jsonDoc.json;
    bufferViews[index].byteLength = view.byteLength;
    return index;
  }

  private characters(): BakedCharacter[] {
    return this.document.getRoot().getExtension<BakedAnimationRoot>(EXTENSION)?.listCharacters() ?? [];
  }
}

/** Fields of a character's JSON that have arrays in buffer views. */
function storedFields(json: object): [field: string, views: ViewJSON[]][] {
  return Object.entries(json).flatMap(([field, value]) => {
    const views = (value as { views?: ViewJSON[] } | null)?.views;
    return Array.isArray(views) ? [[field, views] as [string, ViewJSON[]]] : [];
  });
}

function paddedOf(view: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil(view.byteLength / ALIGNMENT) * ALIGNMENT);
  padded.set(view);
  return padded;
}
