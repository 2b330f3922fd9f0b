import {
  type AnimationClip,
  type BufferGeometry,
  DataUtils,
  type Material,
  Matrix4,
  type MeshPhysicalMaterial,
  type TypedArray,
} from 'three';
import type { BoneTextureData } from '../animation/BoneTextureData.js';
import type { PoseTracks } from '../animation/PoseTracks.js';
import { TRS_SIZE } from '../animation/Rig.js';
import type { Character } from '../character/assembleCharacter.js';
import { FURTHER_INFLUENCES, makeMorphsRelative } from '../character/crowdGeometry.js';
import type { MergeMaterialsOptions } from '../character/mergeMaterials.js';
import { AFFINE_SIZE } from '../constants.js';
import { affineToMatrix4 } from '../utils/affine.js';
import {
  type Attribute,
  inFloats,
  isOfVertices,
  picked,
  plainArray,
  sharingCopy,
} from '../utils/geometries.js';
import { checkAreOptions, describe, isPositive, isWithin } from '../utils/messages.js';
import { type VertexTextureData, WORDS } from '../vertexTextures/VertexTextureData.js';
import type { StoredLevel } from './addLevelsOf.js';
import { materialCopier, type SourceOfLoader } from './copyMaterials.js';
import { EXTENSION, fileError, VERSION } from './fileErrors.js';
import { GltfWriter, type JSONObject, type MeshoptEncoderLike } from './GltfWriter.js';
import { digestOf, type Order, pack } from './pack.js';
import { quantizeGeometry, reorderGeometry } from './reorderGeometry.js';
import type { StoredFields } from './StoredCharacter.js';
import { writeAnimations } from './writeAnimations.js';

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
  checkAreOptions(options, 'writeCharacter');
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
  if (character?.boneTexture?.isBoneTexture !== true) {
    throw fileError(`writeCharacter takes what bakeCharacter returns, not ${describe(character)}.`);
  }
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
  const { textures = true, maxSize = 1 } = value ?? {};
  if (typeof value === 'object' && typeof textures === 'boolean' && isPositive(maxSize)) return value;
  throw fileError(
    `mergeMaterials is ${describe(value)}; use true, false or { textures, maxSize }, a size above 0.`,
  );
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

const LEVEL_OPTIONS = [
  ...(['hysteresis', 'influences', 'shadowInfluences', 'poseRate'] as const),
  ...(['attachments', 'castShadow', 'receiveShadow'] as const),
];

/** A level as it is stored. @throws If it could never be loaded. */
function levelOf(
  { geometry, vertices = new Uint32Array(0), distance, screenShare, error, ...options }: WrittenLevel,
  field: string,
  first: WrittenLevel,
  source: BufferGeometry,
): StoredLevel {
  const wrong = (what: string) => fileError(field + what);
  const isNear = distance !== undefined;
  const { hysteresis = 0, influences } = options;
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
  if (![undefined, 1, 2, 4].includes(influences))
    throw wrong(`.influences is ${describe(influences)}; use 1, 2 or 4.`);
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
    options: Object.fromEntries(LEVEL_OPTIONS.map((key) => [key, options[key]])),
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

/** A scene with nodes of the joints at rest, if there are any, and the mesh that follows them. */
function writeScene(
  writer: GltfWriter,
  data: BoneTextureData | null,
  name: string,
  mesh: number,
  animations: readonly AnimationClip[],
): void {
  const node: JSONObject = { name, mesh, extras: { [EXTENSION]: VERSION } };
  const roots: number[] = [];
  if (data !== null) {
    const first = writer.count('nodes');
    const { nodes, parents, joints, inverses } =
      data.tracks === null ? restOfFrames(data) : restOfTracks(data.tracks);
    nodes.forEach((one, i) => {
      const children = parents.flatMap((parent, k) => (parent === i ? [first + k] : []));
      writer.add('nodes', { ...one, ...(children.length > 0 && { children }) });
      if (parents[i] < 0) roots.push(first + i);
    });
    writeAnimations(writer, animations, nodes, first);
    const inverseBindMatrices = writer.accessor(Float32Array.from(inverses), 16, 'matrices');
    node.skin = writer.add('skins', { joints: joints.map((joint) => first + joint), inverseBindMatrices });
  }
  writer.add('scenes', { name, nodes: [...roots, writer.add('nodes', node)] });
}

/** Nodes at rest, the parent of each, and which of them the joints are, with their inverse bind matrices. */
function restOfTracks({ names, parents, rest, fixed, jointNodes, inverses }: PoseTracks) {
  const nodes: JSONObject[] = names.map((name, i) => {
    // The root's own transform is left out.
    if (i === 0) return { name };
    const at = i * AFFINE_SIZE;
    if (!Number.isNaN(fixed[at])) return { name, matrix: matrix4(fixed, at) };
    const trs = Array.from(rest.subarray(i * TRS_SIZE, (i + 1) * TRS_SIZE), short);
    return { name, translation: trs.slice(0, 3), rotation: trs.slice(3, 7), scale: trs.slice(7) };
  });
  const up = [...parents];
  // A skin has each node once.
  const joints = Array.from(jointNodes, (node, i) => {
    if (jointNodes.indexOf(node) === i) return node;
    up.push(node);
    return nodes.push({ name: names[node] }) - 1;
  });
  return {
    nodes,
    parents: up,
    joints,
    inverses: joints.flatMap((_, i) => matrix4(inverses, i * AFFINE_SIZE)),
  };
}

/** The same of frames, which know joints by what they make of vertices: the first frame is the rest pose. */
function restOfFrames({ jointNames, texels }: BoneTextureData): ReturnType<typeof restOfTracks> {
  const first = texels.subarray(0, jointNames.length * AFFINE_SIZE);
  const rest = first instanceof Uint16Array ? Array.from(first, DataUtils.fromHalfFloat) : first;
  return {
    nodes: jointNames.map((name, i) => ({ name, matrix: matrix4(rest, i * AFFINE_SIZE) })),
    parents: jointNames.map(() => -1),
    joints: [...jointNames.keys()],
    inverses: jointNames.flatMap(() => new Matrix4().elements),
  };
}

/** A number as viewers need it: what crowds play is stored elsewhere. */
const short = (value: number): number => Number(value.toPrecision(7));

/** Twelve numbers row by row as glTF's sixteen. */
const matrix4 = (affine: ArrayLike<number>, at: number): number[] =>
  affineToMatrix4(affine, at, new Matrix4()).elements;
