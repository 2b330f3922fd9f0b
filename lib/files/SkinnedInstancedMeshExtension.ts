import {
  BufferAttribute,
  BufferGeometry,
  Color,
  type Material,
  Mesh,
  type Object3D,
  SkinnedMesh,
} from 'three';
import { BoneTexture } from '../animation/BoneTexture.js';
import { TRACK_ROW, trackTexels } from '../animation/trackTexels.js';
import type { Encoding } from '../baking/BakeOptions.js';
import type { Character } from '../character/assembleCharacter.js';
import type { MergeMaterialsOptions } from '../character/mergeMaterials.js';
import type { MaterialMerger } from '../character/mergeParts.js';
import type { CrowdLevels } from '../features/levels/CrowdLevels.js';
import { pickCorners, plainArray } from '../utils/geometries.js';
import { expectField, warnOnce } from '../utils/messages.js';
import { digestOf, unpack } from './pack.js';
import {
  checkedIn,
  checkStored,
  type DocumentOfFile,
  damaged,
  EXTENSION,
  fileError,
  LOOKS,
  type StoredCharacter,
  type StoredFields,
  type StoredLevel,
  storedIn,
} from './StoredCharacter.js';

/** What is used of the parser that a `GLTFLoader` hands to its plugins. */
export interface ParserOfPlugin {
  /** The glTF document. */
  json: object;
  /** Loads a part of the file, or waits until it is there. */
  getDependency(type: string, index: number): Promise<unknown>;
  /** Makes geometries of primitives. */
  loadGeometries(primitives: never[]): Promise<BufferGeometry[]>;
  /** Gives a mesh a variant of its material that goes with its geometry. */
  assignFinalMaterial(mesh: never): void;
}

/** `VertexTexture` of the entry `skinned-instanced-mesh/vertex-textures`, which pages without such files need not load. */
export interface VertexTextureReader {
  /** Makes a vertex texture of its data, which it checks. */
  decode(data: never): BoneTexture;
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

/** A character with its levels of detail. */
export interface LeveledCharacter {
  /** From near to far, which `addLevelsOf` adds to a crowd's; empty if there are none. */
  levels: readonly StoredLevel[];
  /** For each group of the file the one that merging materials has made it part of, if they were merged. */
  merged?: readonly number[];
}

/** A baked character of a file that `GLTFLoader` has loaded: `new SkinnedInstancedMesh(gltf.bakedCharacters[0], 1_000)`. */
export interface LoadedCharacter extends Character, LeveledCharacter {
  /** The scene with its mesh at rest, as viewers show it that know nothing of the extension. */
  scene: Object3D;
}

/** What is used of the result of a `GLTFLoader`, which the plugin adds `bakedCharacters` to. */
export type ResultOfLoader = object;

/**
 * Plugin for a `GLTFLoader`, three.js's own or that of three-stdlib, that reads the characters which `writeCharacter` or the command
 * has written: it adds `bakedCharacters` to what the loader returns, which crowds are made of. Files without any are loaded as ever.
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
  private readonly stored: Map<number, StoredCharacter>;

  /**
   * For `loader.register`.
   *
   * @param parser What the loader hands to whom it registers.
   * @param options `vertexTextures`: the class `VertexTexture` of `skinned-instanced-mesh/vertex-textures`, for files that have one.
   * `frames`: the encoding of that name, for files that were baked with it. `mergeMaterials`: the function of that name, for files that were baked to have their materials merged.
   * @throws If what the file says of its characters is damaged or of another version.
   */
  constructor(
    private readonly parser: ParserOfPlugin,
    private readonly options: ExtensionOptions = {},
  ) {
    try {
      this.stored = checkedIn(parser.json);
    } catch (cause) {
      throw damaged(cause);
    }
  }

  /** Called by the loader: makes one mesh of a character's primitives, which have their vertices in common. @throws If they cannot be loaded. */
  loadMesh(index: number): Promise<Mesh> | null {
    if (!this.stored.has(index)) return null;
    return this.assemble(index).catch((cause) => {
      throw damaged(cause);
    });
  }

  private async assemble(mesh: number): Promise<Mesh> {
    const { parser } = this;
    const { primitives } = (parser.json as Required<DocumentOfFile>).meshes[mesh];
    const [[geometry], materials, pieces] = await Promise.all([
      parser.loadGeometries(primitives.slice(0, 1) as never[]),
      Promise.all(primitives.map(({ material }) => this.get<Material>('material', material))),
      Promise.all(primitives.map(({ indices = null }) => this.get<BufferAttribute>('accessor', indices))),
    ]);
    if (primitives.length > 1) {
      geometry.setIndex(pieces.flatMap(({ array }) => [...array]));
      let start = 0;
      pieces.forEach(({ count }, group) => {
        geometry.addGroup(start, count, group);
        start += count;
      });
    }
    const { skinIndex } = geometry.attributes;
    return new (skinIndex === undefined ? Mesh : SkinnedMesh)(geometry, materials);
  }

  /** A part of the file. Of a damaged one the parser throws, in place of a promise that fails with all others. */
  private async get<Part>(type: string, index: number | null = 0): Promise<Part> {
    return (index === null ? null : await this.parser.getDependency(type, index)) as Part;
  }

  /**
   * Called by the loader.
   *
   * @throws If the file is damaged, a tool has changed what was baked, or it needs something that the plugin was not given; the message
   * says what.
   */
  async afterRoot(result: ResultOfLoader): Promise<void> {
    if (this.stored.size === 0) return;
    const bakedCharacters = await Promise.all(Array.from(this.stored, (one) => this.read(...one)));
    Object.assign(result, { bakedCharacters });
  }

  /** The mesh, whose geometry is as it was, what is stored of it, and what poses it. */
  private async open(
    index: number,
    { value, views: places, digest }: StoredCharacter,
  ): Promise<[Mesh<BufferGeometry, Material[]>, StoredFields, BoneTexture]> {
    const mesh = await this.get<Mesh<BufferGeometry, Material[]>>('mesh', index);
    const buffers = await Promise.all(places.map((view) => this.get<ArrayBuffer>('bufferView', view)));
    const views = buffers.map((buffer) => new Uint8Array(buffer));
    const { geometry } = mesh;
    const positions = Float32Array.from(plainArray(geometry.attributes.position, 3));
    if (digestOf(value, [...views, positions]) !== digest) {
      throw fileError(
        `what was baked is not as it was, which a tool may have changed; bake the file anew, last.`,
      );
    }
    const fields = unpack(value, views) as StoredFields;
    checkStored(fields);
    restoreGeometry(geometry, fields.geometry);
    return [mesh, fields, this.textureOf(fields)];
  }

  private async read(index: number, stored: StoredCharacter): Promise<LoadedCharacter> {
    const { options } = this;
    const [mesh, fields, boneTexture] = await this.open(index, stored).catch((cause) => {
      throw damaged(cause);
    });
    const { geometry } = mesh;
    const { geometry: _, looks, levels, mergeMaterials, data: __, vertices: ___, parts, ...rest } = fields;
    const materials = this.materialsOf(mesh.material, looks);
    mesh.material = (materials.length === 1 ? materials[0] : materials) as Material[];
    let scene: Object3D = mesh;
    mesh.traverseAncestors((one) => {
      scene = one;
    });
    const character: LoadedCharacter = {
      ...rest,
      geometry,
      material: mesh.material,
      boneTexture,
      parts: parts.map((part) => ({
        ...part,
        materials: part.materials.map(({ name, color, material }) =>
          material === undefined
            ? { name, color: color && new Color().fromArray(color) }
            : materials[material],
        ),
      })),
      scene,
      levels,
      made: [boneTexture, geometry],
    };
    const isMerged = mergeMaterials && materials.length > 1;
    if (isMerged && options.mergeMaterials !== undefined)
      character.merged = options.mergeMaterials(mergeMaterials).mergeGroups(character);
    else if (isMerged) {
      warnOnce(
        `characters of the file were baked to have their materials merged; pass { mergeMaterials } to the SkinnedInstancedMeshExtension. Until then each is a draw call.`,
      );
    }
    return character;
  }

  /** Materials as they were when the character was baked: variants, each by itself, and in the order in which they are drawn. */
  private materialsOf(materials: readonly Material[], looks: readonly number[]): Material[] {
    const made = new Map<Material, Material>();
    let last = -1;
    return materials.map((material, i) => {
      const shown = new BufferGeometry();
      const some = new BufferAttribute(new Float32Array(0), 1);
      LOOKS.forEach((name, bit) => {
        if (looks[i] & (1 << bit)) shown.setAttribute(name, some);
      });
      const mesh = new Mesh(shown, material);
      this.parser.assignFinalMaterial(mesh as never);
      // WebGLRenderer draws opaque materials in the order of their ids, and WebGPURenderer builds one for a mesh but once.
      const own = mesh.material;
      const one = made.get(own) ?? (own.id > last ? own : own.clone());
      last = Math.max(last, one.id);
      made.set(own, one);
      return one;
    });
  }

  private textureOf({ data, vertices }: StoredFields): BoneTexture {
    const { frames, vertexTextures } = this.options;
    if (!data) {
      if (vertexTextures !== undefined) return vertexTextures.decode(vertices as never);
      throw fileError(
        "a character is a vertex texture; import { VertexTexture } from 'skinned-instanced-mesh/vertex-textures', and pass " +
          '{ vertexTextures: VertexTexture } to the SkinnedInstancedMeshExtension.',
      );
    }
    if (data.tracks !== null) {
      const { texels, height } = trackTexels(data.tracks, data.jointBoxes);
      return new BoneTexture({ ...data, texels, layout: { width: TRACK_ROW, height, stride: TRACK_ROW } });
    }
    if (frames !== undefined) return new BoneTexture(data, frames);
    throw fileError(
      'a character was baked into frames; import { frames } beside SkinnedInstancedMesh, and pass { frames } to the SkinnedInstancedMeshExtension.',
    );
  }
}

/** Gives a geometry what glTF does not say. @throws If a tool has changed what it has. */
function restoreGeometry(
  geometry: BufferGeometry,
  { attributes, corners, userData }: StoredFields['geometry'],
): void {
  const { position } = geometry.attributes;
  const groups = geometry.groups.length > 0 ? geometry.groups : [geometry.index ?? position];
  const seen = groups.map(({ count }) => count);
  expectField(seen.join() === corners.join(), 'the triangles of the mesh', seen.join(), corners.join());
  for (const [stored, name] of Object.entries(attributes)) {
    const attribute = geometry.getAttribute(stored);
    expectField(attribute?.count === position.count, `attribute ${stored}`, attribute, 'in the mesh');
    if (stored !== name) geometry.deleteAttribute(stored).setAttribute(name, attribute);
  }
  Object.assign(geometry.userData, userData);
}

/**
 * The baked characters of what a `GLTFLoader` has returned; none if nothing was baked into the file.
 *
 * @throws If the file has some, but the loader had no plugin to read them, or a tool has left them out.
 *
 * @category Save
 */
export function bakedCharactersOf(gltf: object): readonly LoadedCharacter[] {
  const { bakedCharacters, parser } = gltf as {
    bakedCharacters?: readonly LoadedCharacter[];
    parser?: { json: DocumentOfFile };
  };
  if (bakedCharacters !== undefined) return bakedCharacters;
  const { nodes = [], ...json } = parser?.json ?? {};
  if (storedIn(json).size > 0) {
    throw fileError(
      'the file has baked characters, but the loader did not read them; call loader.register((parser) => new SkinnedInstancedMeshExtension(parser)).',
    );
  }
  if (nodes.some(({ mesh, extras = {} }) => mesh !== undefined && EXTENSION in extras)) {
    throw fileError(
      'a tool has left out what was baked into the file; bake it last, or have the tool keep it: BakedAnimation of skinned-instanced-mesh/gltf-transform.',
    );
  }
  return [];
}

/**
 * Adds the levels of detail of a character from a file to those of a crowd; does nothing if the file has none:
 * `addLevelsOf(character, new CrowdLevels(crowd))`.
 *
 * @throws If the crowd is one of another geometry.
 *
 * @category Save
 */
export function addLevelsOf({ levels, merged }: LeveledCharacter, target: CrowdLevels): void {
  const { geometry } = target.crowd;
  const { count } = geometry.getAttribute('position');
  for (const { start, options, indices, groups } of levels) {
    // Many runs of all corners would take any amount of memory.
    const length = groups.reduce((sum, run) => sum + run.count, 0);
    if (length > (indices?.length ?? 0) || indices?.some((vertex) => vertex >= count)) {
      throw fileError(
        `the file's levels of detail are not for this crowd, whose geometry has ${count} vertices; add them to one of the file's character.`,
      );
    }
    const corners = cornersOf(indices ?? new Uint32Array(0), groups, merged);
    const level = indices === null ? null : pickCorners(geometry, corners.flat()).geometry;
    let at = 0;
    corners.forEach(({ length }, group) => {
      if (length > 0 && groups.length > 0) level?.addGroup(at, length, group);
      at += length;
    });
    target.add(level, start, options);
    level?.dispose();
  }
}

/** Corners of a level for each group of the crowd; one list if it has none. */
function cornersOf(
  indices: Uint32Array,
  groups: StoredLevel['groups'],
  merged: LeveledCharacter['merged'],
): number[][] {
  if (groups.length === 0) return [[...indices]];
  const lists: number[][] = [];
  for (const { start, count, materialIndex = 0 } of groups) {
    const group = merged?.[materialIndex] ?? materialIndex;
    lists[group] = [...(lists[group] ?? []), ...indices.subarray(start, start + count)];
  }
  return Array.from(lists, (list) => list ?? []);
}
