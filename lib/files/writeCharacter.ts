import {
  type AnimationClip,
  BufferAttribute,
  type BufferGeometry,
  type Material,
  type MeshPhysicalMaterial,
  type TypedArray,
} from 'three';
import type { BoneTextureData } from '../animation/BoneTextureData.js';
import type { Character } from '../character/assembleCharacter.js';
import { FURTHER_INFLUENCES, makeMorphsRelative } from '../character/crowdGeometry.js';
import type { MergeMaterialsOptions } from '../character/mergeMaterials.js';
import {
  type Attribute,
  inFloats,
  isOfVertices,
  pickCorners,
  picked,
  plainArray,
  sharingCopy,
} from '../utils/geometries.js';
import { describe, isPositive, isWithin } from '../utils/messages.js';
import { type VertexTextureData, WORDS } from '../vertexTextures/VertexTextureData.js';
import { materialCopier, type SourceOfLoader } from './copyMaterials.js';
import { GltfWriter, type JSONObject, type MeshoptEncoderLike } from './glb.js';
import { digestOf, type Order, pack } from './pack.js';
import { EXTENSION, fileError, type StoredFields, type StoredLevel, VERSION } from './StoredCharacter.js';
import { writeScene } from './writeScene.js';

/** A level of detail to be written: what `simplifyGeometry` returns of the crowd's geometry, and where it begins. */
export interface WrittenLevel extends Omit<StoredLevel['options'], 'material'> {
  /** Triangles of the level, as `simplifyGeometry` returns them; null for nothing from there on. */
  geometry: BufferGeometry | null;
  /** For each of its vertices the number of the one that it is in the crowd's geometry. */
  vertices?: Uint32Array;
  /** World units from the camera; either this or `screenShare`. */
  distance?: number;
  /** Share of the height of the picture. */
  screenShare?: number;
  /** How far its surface is off, as `simplifyGeometry` has estimated it; kept for those who look into the file. */
  error?: number;
}

/** How a character is written. */
export interface WriteOptions {
  /** The .glb that the character was baked of: its materials and textures are copied. */
  source?: ArrayBuffer | Uint8Array;
  /** What `GLTFLoader` has made of that file. */
  gltf?: SourceOfLoader;
  /** Clips that viewers play, e.g. `gltf.animations`: they know nothing of what crowds do. @default [] */
  animations?: readonly AnimationClip[];
  /** Levels of detail, from near to far, which `addLevelsOf` adds. */
  levels?: readonly WrittenLevel[];
  /** Whether and how loading shall merge materials: the character itself is to be baked without. @default false */
  mergeMaterials?: boolean | MergeMaterialsOptions;
  /** `MeshoptEncoder` of the package meshoptimizer, after its `ready`; with it the file gets smaller. It is exact. */
  meshoptEncoder?: MeshoptEncoderLike;
  /** Stores normals, texture coordinates, colours and weights in 8 and 16 bits. @default false */
  compressMeshes?: boolean;
}

/** glTF's names of three.js's attributes; all others get an underscore. */
const NAMES: Record<string, string> = {
  position: 'POSITION',
  normal: 'NORMAL',
  tangent: 'TANGENT',
  color: 'COLOR_0',
  skinIndex: 'JOINTS_0',
  skinWeight: 'WEIGHTS_0',
  uv: 'TEXCOORD_0',
  uv1: 'TEXCOORD_1',
  uv2: 'TEXCOORD_2',
  uv3: 'TEXCOORD_3',
};
/** What glTF has in whole numbers only where an extension allows it. */
const DIRECTIONS = /^(position|normal|tangent)$/;

/**
 * Writes a character as a .glb, or several, each with a scene of its own: as what `bakeCharacter` returns, number for number, in the
 * extension `SIM_baked_animation`. Every viewer shows them at rest.
 *
 * @returns The bytes of the file.
 * @throws If a material is neither the file's nor plain, or levels are not of the geometry or begin nowhere.
 *
 * @example
 * ```ts
 * const file = writeCharacter(bakeCharacter(gltf.scene, gltf.animations), { source, gltf, meshoptEncoder: MeshoptEncoder });
 * ```
 *
 * @category Save
 */
export function writeCharacter(
  characters: Character | readonly Character[],
  options: WriteOptions = {},
): Uint8Array {
  const { source, gltf, meshoptEncoder } = options;
  const writer = new GltfWriter(meshoptEncoder);
  writer.use(EXTENSION);
  const materialOf = materialCopier(writer, source, gltf);
  for (const one of [characters].flat() as Character[]) write(one, options, writer, materialOf);
  return writer.build();
}

function write(
  character: Character,
  { levels: wanted = [], animations = [], mergeMaterials, meshoptEncoder, compressMeshes }: WriteOptions,
  writer: GltfWriter,
  materialOf: (material: Material) => number,
): void {
  const { geometry: given, material, boneTexture, made: _, parts, ...fields } = character;
  let geometry = inFloats(given);
  let levels = wanted.map((level, i) => levelOf(level, `levels[${i}]`, wanted[0], given));
  // A draw range is of triangles in their order.
  if (meshoptEncoder !== undefined && given.drawRange.count === Infinity)
    ({ geometry, levels } = reorderGeometry(geometry, levels, meshoptEncoder));
  else if (compressMeshes) geometry = geometry.clone();
  if (compressMeshes) quantizeGeometry(geometry);

  const { vertexData } = boneTexture as { vertexData?: VertexTextureData };
  geometry = sharingCopy(geometry);
  makeMorphsRelative(geometry);
  if (vertexData) geometry.deleteAttribute('skinIndex').deleteAttribute('skinWeight');
  const { primitives, attributes, corners, drawn } = primitivesOf(writer, geometry, material, materialOf);
  const { name, morphTargetInfluences: weights, morphTargetDictionary = {} } = fields;
  const extras = weights && { targetNames: Object.keys(morphTargetDictionary) };
  const mesh: JSONObject = { name, primitives, weights, extras };
  writeScene(writer, vertexData ? null : boneTexture.data, name, writer.add('meshes', mesh), animations);

  const stored: Omit<StoredFields, 'data'> = {
    ...fields,
    parts: parts.map((part) => ({
      ...part,
      materials: part.materials.map((one) => {
        const material = drawn.indexOf(one as Material);
        return { name: one.name, ...(material < 0 ? { color: one.color?.toArray() } : { material }) };
      }),
    })),
    geometry: { attributes, corners, userData: { lacks: given.userData.lacks } },
    looks: drawn.map(lookOf),
    levels: Array.isArray(material) ? levels : levels.map((level) => ({ ...level, groups: [] })),
    mergeMaterials: mergingOf(mergeMaterials),
    ...(vertexData ? { vertices: storedVertices(vertexData) } : { data: storedData(boneTexture.data) }),
  };
  const { value, views } = pack(stored, ordersFor(boneTexture.data));
  const positions = Float32Array.from(plainArray(geometry.attributes.position, 3));
  const digest = digestOf(value, [...views.map(({ bytes }) => bytes), positions]);
  const places = views.map(({ bytes, stride }) => writer.view(bytes, stride));
  mesh.extensions = { [EXTENSION]: { version: VERSION, value, views: places, digest } };
}

/** @throws If it says nothing that loading could do. */
function mergingOf(value: WriteOptions['mergeMaterials'] = false): MergeMaterialsOptions | null {
  if (typeof value === 'boolean') return value ? {} : null;
  const { maxSize = 1 } = value;
  if (isPositive(maxSize)) return value;
  throw fileError(`mergeMaterials.maxSize is ${describe(maxSize)}; use a number of texels above 0.`);
}

/** The data of a bone texture without what is made of them, and without what is of this page. */
function storedData(data: Readonly<BoneTextureData>): object {
  const clips = data.clips.map(({ source: _, ...clip }) => clip);
  return { ...data, clips, texels: data.tracks === null ? data.texels : null };
}

/** The data of a vertex texture without the texels behind the last. */
function storedVertices(data: VertexTextureData): object {
  const used = (data.boxes.length / 6) * data.vertices * WORDS[data.precision];
  return { ...data, texels: data.texels.subarray(0, used) };
}

/** In which order large arrays are stored. */
function ordersFor({ tracks, texels, layout }: BoneTextureData): (array: TypedArray) => Order {
  const blocks = tracks?.clips.flatMap(({ frames, stride }) => [frames, stride]) ?? [];
  const area = blocks.reduce((sum, rows, i) => sum + (i % 2 ? 0 : rows * blocks[i + 1]), 0);
  return (array) => {
    const size = array.length % 4 === 0 ? 4 : 1;
    if (array === texels) return { size, rows: [0, layout.height, layout.width] };
    if (tracks === null || array !== (tracks.shorts ?? tracks.keys)) return { size };
    // In float32 they stand behind what never changes, at the end of the array.
    return { size, rows: [tracks.shorts === null ? array.length / 4 - area : 0, ...blocks] };
  };
}

/** Which of `LOOKS` a geometry has of which `GLTFLoader` makes a material like this. */
function lookOf(material: Material): number {
  const { flatShading, vertexColors, normalScale, clearcoatNormalScale } = material as MeshPhysicalMaterial;
  const isDerived = [normalScale, clearcoatNormalScale].some((scale) => scale && scale.x !== scale.y);
  return (isDerived ? 0 : 1) | (vertexColors ? 2 : 0) | (flatShading ? 0 : 4);
}

const LEVEL_OPTIONS = 'hysteresis influences shadowInfluences poseRate attachments castShadow receiveShadow';

/** A level as it is stored. @throws If it could never be loaded. */
function levelOf(
  { geometry, vertices = new Uint32Array(0), distance, screenShare, error, ...options }: WrittenLevel,
  field: string,
  first: WrittenLevel,
  source: BufferGeometry,
): StoredLevel {
  const wrong = (what: string) => fileError(field + what);
  const isNear = distance !== undefined;
  const { hysteresis = 0 } = options;
  if (isNear === (screenShare !== undefined))
    throw wrong(` begins at distance ${distance} and screenShare ${screenShare}; pass one of the two.`);
  if ((first.distance !== undefined) !== isNear) {
    const way = isNear ? 'distance' : 'screenShare';
    throw wrong(` begins by ${way}, and the first level by the other; use one for all.`);
  }
  if (isNear && !isWithin(distance, Number.MAX_VALUE))
    throw wrong(`.distance is ${describe(distance)}; use world units, 0 or more.`);
  if (!isNear && !isPositive(screenShare))
    throw wrong(`.screenShare is ${describe(screenShare)}; use a share of the picture's height above 0.`);
  if (!isWithin(hysteresis, 1))
    throw wrong(`.hysteresis is ${describe(hysteresis)}; use a share of the distance, 0 to 1.`);
  const { count } = source.getAttribute('position');
  const corners = geometry?.index?.array ?? [];
  if (geometry !== null && (corners.length === 0 || vertices.length === 0))
    throw wrong(' is not what simplifyGeometry returns; pass all of that, and its distance.');
  const indices = Uint32Array.from(corners, (corner) => vertices[corner]);
  if (indices.some((vertex) => !(vertex < count)))
    throw wrong(
      ` has vertices that the character's geometry, of ${count}, has not; simplify crowd.geometry.`,
    );
  return {
    start: distance ?? { screenShare: screenShare as number },
    options: Object.fromEntries(LEVEL_OPTIONS.split(' ').map((key) => [key, options[key as 'poseRate']])),
    error,
    indices: geometry && indices,
    groups: (geometry?.groups ?? []).map((group) => ({ ...group, materialIndex: group.materialIndex ?? 0 })),
  };
}

/** A primitive for each group; all have the same vertices. */
function primitivesOf(
  writer: GltfWriter,
  geometry: BufferGeometry,
  material: Material | Material[],
  materialOf: (material: Material) => number,
) {
  const { index, drawRange, morphAttributes } = geometry;
  const { position } = geometry.attributes;
  const primitive: Record<string, number> = {};
  const attributes: Record<string, string> = {};
  for (const [name, attribute] of Object.entries(geometry.attributes)) {
    if (FURTHER_INFLUENCES.test(name) || !isOfVertices(attribute)) continue;
    let stored = NAMES[name] ?? `_${name.replace(/^_/, '').toUpperCase()}`;
    while (stored in primitive) stored += '_';
    primitive[stored] = writeAttribute(writer, attribute, name);
    attributes[name in NAMES ? name : stored.toLowerCase()] = name;
  }
  const targets: Record<string, number>[] = [];
  for (const [name, list] of Object.entries(morphAttributes))
    list.forEach((target, i) => {
      targets[i] = { ...targets[i], [NAMES[name]]: writeAttribute(writer, target, name) };
    });
  const length = index?.count ?? position.count;
  const end = Math.min(length, drawRange.start + drawRange.count);
  const whole = [{ start: 0, count: length, materialIndex: 0 }];
  const drawn: Material[] = [];
  const corners: number[] = [];
  const primitives = (Array.isArray(material) ? geometry.groups : whole).map(
    ({ start, count, materialIndex = 0 }) => {
      const from = Math.max(start, drawRange.start);
      const to = Math.max(from, Math.min(start + count, end));
      const own = [material].flat()[materialIndex];
      drawn.push(own);
      corners.push(to - from);
      const isWhole = index === null && from === 0 && to === length;
      const all = index?.array ?? Uint32Array.from({ length }, (_, i) => i);
      return {
        attributes: primitive,
        ...(!isWhole && { indices: writer.accessor(all.slice(from, to) as TypedArray, 1, 'index') }),
        material: materialOf(own),
        ...(targets.length > 0 && { targets }),
      };
    },
  );
  return { primitives, attributes, corners, drawn };
}

function writeAttribute(writer: GltfWriter, attribute: Attribute, name: string): number {
  const { itemSize, normalized, count } = attribute;
  // One item after the other.
  let { array } = 'data' in attribute ? picked(attribute, [...Array(count).keys()]) : attribute;
  if (name === 'skinIndex')
    array = (array.some((joint) => joint > 255) ? Uint16Array : Uint8Array).from(array);
  // glTF has such numbers for indices alone.
  else if (/^(Uint32|Int32|Float64)/.test(array.constructor.name)) array = Float32Array.from(array);
  if (!(array instanceof Float32Array) && DIRECTIONS.test(name)) writer.use('KHR_mesh_quantization', true);
  return writer.accessor(array, itemSize, name === 'position' ? 'positions' : 'vertices', normalized);
}

/** The geometry with triangles and vertices in an order that compresses well, group by group, and levels of it; vertices that nothing has are left out. */
export function reorderGeometry(
  source: BufferGeometry,
  levels: readonly StoredLevel[],
  encoder: MeshoptEncoderLike,
): { geometry: BufferGeometry; levels: StoredLevel[] } {
  const corners = Uint32Array.from(source.index?.array ?? Array(source.attributes.position.count).keys());
  const { groups } = source;
  for (const { start, count } of groups.length > 0 ? groups : [{ start: 0, count: corners.length }]) {
    const own = corners.slice(start, start + count);
    const [places] = encoder.reorderMesh(own, true, true);
    const old = new Uint32Array(places.length);
    places.forEach((to, from) => {
      if (to !== 0xffffffff) old[to] = from;
    });
    for (let i = 0; i < count; i++) corners[start + i] = old[own[i]];
  }
  // The simplifier takes the first of vertices that are alike, which may be one that no triangle of the whole has.
  const all = [...corners, ...levels.flatMap(({ indices }) => [...(indices ?? [])])];
  const { geometry, vertices } = pickCorners(source, all);
  geometry.setIndex([...(geometry.index?.array.subarray(0, corners.length) ?? [])]);
  geometry.groups = groups;
  const places = new Map(vertices.map((vertex, place) => [vertex, place]));
  const indices = (level: StoredLevel) =>
    level.indices?.map((vertex) => places.get(vertex) as number) ?? null;
  return { geometry, levels: levels.map((level) => ({ ...level, indices: indices(level) })) };
}

/** What numbers become, by the names of their attributes; those of `Int8Array` are between -1 and 1, all others from 0. Positions stay. */
const SHORTER = [
  [/^(normal|tangent)$/, Int8Array],
  [/^uv[123]?$/, Uint16Array],
  [/^(color|skinWeight)$/, Uint8Array],
] as const;

/** Makes integers of normals, texture coordinates, colours and weights where these are between -1 or 0 and 1. */
export function quantizeGeometry(geometry: BufferGeometry): void {
  for (const [name, source] of Object.entries(geometry.attributes)) {
    const [, Numbers] = SHORTER.find(([names]) => names.test(name)) ?? [];
    const { array, itemSize, count } = source as BufferAttribute;
    if (Numbers === undefined || !(array instanceof Float32Array) || 'data' in source) continue;
    const least = Numbers === Int8Array ? -1 : 0;
    if (array.some((value) => !(value >= least && value <= 1))) continue;
    const target = new BufferAttribute(new Numbers(array.length), itemSize, true);
    const sums = name === 'skinWeight';
    for (let i = 0; i < count; i++) {
      const own = array.subarray(i * itemSize, (i + 1) * itemSize);
      const sum = sums ? own.reduce((all, value) => all + value, 0) || 1 : 1;
      own.forEach((value, k) => {
        target.setComponent(i, k, value / sum);
      });
      // What rounding takes from weights, the strongest gets back.
      const shares = target.array.subarray(i * itemSize, (i + 1) * itemSize) as Uint8Array;
      const left = sums ? 255 - shares.reduce((all, share) => all + share, 0) : 255;
      if (left < 255) shares[own.indexOf(Math.max(...own))] += left;
    }
    geometry.setAttribute(name, target);
  }
}
