/**
 * The extension `SIM_baked_animation` for glTF-Transform, so that scripts that are built on it keep what was baked:
 * `new NodeIO().registerExtensions([BakedAnimation])`. It needs `@gltf-transform/core`, which such scripts have.
 *
 * @module skinned-instanced-mesh/gltf-transform
 */

import {
  type Buffer,
  Extension,
  ExtensionProperty,
  GLB_BUFFER,
  type GLTF,
  type Mesh,
  PropertyType,
  type ReaderContext,
  type WriterContext,
} from '@gltf-transform/core';
import {
  aligned,
  type DocumentOfFile,
  EXTENSION,
  MESHOPT,
  type StoredCharacter,
  storedIn,
  VERSION,
} from './files/StoredCharacter.js';

type Bytes = Uint8Array<ArrayBuffer>;

/** A view as it is in the file: with its compression, which GLTFLoader undoes. */
interface KeptView {
  bytes: Bytes;
  /** Without what is padding. */
  byteLength: number;
  meshopt: { count: number; byteStride: number } | null;
}

/** A baked character, of a mesh, as it is in the file. */
class BakedCharacter extends ExtensionProperty {
  static override EXTENSION_NAME = EXTENSION;
  declare extensionName: typeof EXTENSION;
  declare propertyType: 'BakedCharacter';
  declare parentTypes: [PropertyType.MESH];
  /** None of this is one of the attributes: glTF-Transform copies objects as JSON, which would make something else of the bytes. */
  stored: Partial<StoredCharacter> = {};
  views: readonly KeptView[] = [];

  protected override init(): void {
    this.extensionName = EXTENSION;
    this.propertyType = 'BakedCharacter';
    this.parentTypes = [PropertyType.MESH];
  }

  /** Makes this the same as another, e.g. one of another document. Bytes are its own. */
  override copy(other: this, resolve?: Parameters<ExtensionProperty['copy']>[1]): this {
    super.copy(other, resolve);
    this.stored = other.stored;
    this.views = other.views.map((view) => ({ ...view, bytes: view.bytes.slice() }));
    return this;
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
    for (const [mesh, { views, ...stored }] of storedIn(context.jsonDoc.json as DocumentOfFile)) {
      if (stored.version !== VERSION) continue;
      const character = new BakedCharacter(this.document.getGraph());
      character.stored = stored;
      character.views = views.map((view) => keptView(context, view));
      context.meshes[mesh].setExtension(EXTENSION, character);
    }
    return this;
  }

  /** @hidden */
  override prewrite(context: WriterContext): this {
    const buffer = (this.document.getRoot().listBuffers()[0] ?? this.document.createBuffer()) as Buffer;
    const others = context.otherBufferViews.get(buffer) ?? [];
    const own = this.characters().flatMap(([, { views }]) => views.map(({ bytes }) => bytes));
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
    for (const [mesh, { stored, views }] of this.characters()) {
      const { [context.meshIndexMap.get(mesh) as number]: written } = json.meshes as GLTF.IMesh[];
      const extension = { ...stored, views: views.map(viewOf) };
      written.extensions = { ...written.extensions, [EXTENSION]: extension };
    }
    if (unpacked > 0) {
      buffers.push({ byteLength: unpacked, extensions: { [MESHOPT]: { fallback: true } } } as GLTF.IBuffer);
      json.extensionsUsed = [...new Set([...(json.extensionsUsed ?? []), MESHOPT])];
      json.extensionsRequired = [...new Set([...(json.extensionsRequired ?? []), MESHOPT])];
    }
    return this;
  }

  private characters(): [Mesh, BakedCharacter][] {
    const meshes = this.document.getRoot().listMeshes();
    return meshes.flatMap((mesh) => {
      const character = mesh.getExtension<BakedCharacter>(EXTENSION);
      return character === null ? [] : [[mesh, character]];
    });
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
