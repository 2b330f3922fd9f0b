import {
  BufferAttribute,
  type BufferGeometry,
  DataTexture,
  InterleavedBuffer,
  Matrix4,
  type Mesh,
  RGBAIntegerFormat,
  RGIntegerFormat,
  type SkinnedMesh,
  UnsignedIntType,
  Vector3,
  Vector4,
} from 'three';
import { BoneTexture, type VertexBinding } from '../animation/BoneTexture.js';
import type { Precision } from '../animation/BoneTextureData.js';
import { expectClips } from '../animation/ClipTable.js';
import type { ScenePart } from '../animation/Rig.js';
import { SKIN_PART, setSkin } from '../character/crowdGeometry.js';
import { AFFINE_SIZE, REST_FRAME } from '../constants.js';
import { affineFromMatrix4, affineToMatrix4, linearDeterminant } from '../utils/affine.js';
import { type Attribute, followJoint, sharingCopy } from '../utils/geometries.js';
import { expectField, expectFit, expectLength, expectShape, type Shape } from '../utils/messages.js';
import { VERTEX_SOURCES, VertexReader } from './VertexReader.js';
import {
  frameTable,
  layoutVertices,
  type VertexErrors,
  type VertexPart,
  type VertexTextureData,
  WORDS,
} from './VertexTextureData.js';

/**
 * Baked vertices of anything that deforms: cloth, fish, soft bodies, faces of hundreds of morph targets, skinned characters
 * too. Crowds play it as they play a {@link BoneTexture}: by `play`, with times, loops, fades and events of each instance.
 *
 * ```ts
 * const shoal = bakeVertexCharacter(fish, (time) => bend(fish, time), { name: 'Swim', duration: 1.2 });
 * const crowd = new SkinnedInstancedMesh(shoal, 10_000);
 * crowd.playAll('Swim');
 * ```
 *
 * `bakeVertexTexture` and `bakeVertexCharacter` make one; call `dispose()` when no crowd uses it any more. There are no joints: nothing can
 * be attached to them, turned or asked for.
 *
 * @category Bake
 */
export class VertexTexture extends BoneTexture {
  /** For type testing. */
  readonly isVertexTexture = true;
  /** Reads vertices on the CPU. @internal */
  readonly vertexReader: VertexReader;
  /** The vertices of all frames, as shaders read them. @internal */
  readonly vertexTexels: DataTexture;
  override readonly binding: VertexBinding;
  private readonly baked: VertexTextureData;

  /**
   * To bake motions, use `bakeVertexTexture`. The constructor takes the {@link VertexTexture.vertexData} of another one,
   * which may come from a worker or through `structuredClone`.
   *
   * The data are taken as they are: what reads files checks them.
   */
  constructor(data: VertexTextureData) {
    super(frameTable(data), { poseSource: VERTEX_SOURCES[data.precision] });
    this.name = 'VertexTexture';
    this.baked = data;
    this.vertexReader = new VertexReader(data);
    const { texels, width, height, precision } = data;
    const format = precision === 'half' ? RGIntegerFormat : RGBAIntegerFormat;
    const words = texels as Uint32Array<ArrayBuffer>;
    this.vertexTexels = new DataTexture(words, width, height, format, UnsignedIntType);
    this.vertexTexels.name = 'VertexTexture';
    this.vertexTexels.needsUpdate = true;
    this.binding = {
      place: (parts) => placeParts(parts, data, this.vertexReader),
      bind: (geometry: BufferGeometry, source: BufferGeometry) =>
        bindVertices(geometry, source, data, this.vertexReader),
    };
  }

  /**
   * A vertex texture of data from a file, which are checked: {@link VertexTexture.vertexData} of another.
   *
   * @param maxTextureSize Largest width and height of the texture. Devices take at least 2,048, nearly all 4,096.
   * @throws If they are none of this library's, or damaged; the message names the field.
   */
  static decode(data: VertexTextureData, maxTextureSize = 4096): VertexTexture {
    return new VertexTexture(checkVertices(data, maxTextureSize));
  }

  /** Everything the texture knows, to be kept or sent elsewhere: `new VertexTexture(other.vertexData)` is an equal one. */
  get vertexData(): Readonly<VertexTextureData> {
    // Markers may have been added.
    return { ...this.baked, clips: this.data.clips };
  }

  /** How far clips are from what was baked, see {@link VertexErrors}. */
  get errors(): readonly VertexErrors[] {
    return this.baked.errors;
  }

  /** Vertices of a frame. */
  get vertexCount(): number {
    return this.baked.vertices;
  }

  /** Kind of number that positions are made of. */
  override get precision(): Precision {
    return this.baked.precision;
  }

  override get byteLength(): number {
    return super.byteLength + this.baked.texels.byteLength;
  }

  /** @throws Always: there are no joints. */
  override jointIndex(_joint: string | number): number {
    throw new Error('A vertex texture has no joints; bake a BoneTexture of a skinned character.');
  }

  /** @internal */
  override checkSize(max?: number): void {
    super.checkSize(max, this.vertexTexels);
  }

  /** @throws Always: what was bound to one vertex texture cannot become another. Make a new one of its `vertexData`. */
  override copy(): this {
    throw new Error(
      'A vertex texture is not copied into; use clone(), or new VertexTexture(other.vertexData).',
    );
  }

  /** A second texture object with the same texels. */
  override clone(): this {
    return new VertexTexture(this.vertexData) as this;
  }

  /** Frees what is on GPUs. */
  override dispose(): void {
    super.dispose();
    this.vertexTexels.dispose();
  }
}

/** Whether a vertex may be at a number: sums of much larger ones are not finite any more. Baking refuses the same. */
const isPlace = (value: number): boolean => Math.abs(value) < 1e30;

const SHAPE: Shape = {
  parts: [{ name: 'text', vertices: 'count' }],
  vertices: 'count',
  frames: 'words',
  boxes: 'floats',
  texels: 'words',
  restBounds: 6,
  errors: [{ clip: 'text', stored: 'number', between: '?number' }],
};

/**
 * The data of a vertex texture from a file, whose texels may end behind the last that is used. All of them are checked; nothing larger than
 * what is there is allocated before.
 *
 * @param maxTextureSize Largest width and height of the texture. Devices take at least 2,048, nearly all 4,096.
 * @throws If something does not fit; the message names the field.
 */
function checkVertices(data: VertexTextureData, maxTextureSize: number): VertexTextureData {
  expectShape(data, SHAPE, 'vertices');
  const { parts, vertices, precision, frames, boxes, texels, clips } = data;
  const words = WORDS[precision];
  expectField(words !== undefined, 'vertices.precision', precision, '"half" or "float"');
  const sum = parts.reduce((all, part) => all + part.vertices, 0);
  const stored = boxes.length / 6;
  expectFit(sum === vertices && vertices > 0 && vertices < 2 ** 24, 'vertices.parts');
  expectFit(frames.length > 0 && frames.every((frame) => frame < stored), 'vertices.frames');
  expectFit(boxes.every(isPlace), 'vertices.boxes');
  const used = texels.subarray(0, stored * vertices * words);
  expectLength(used, stored * vertices * words, 'vertices.texels');
  const floats = new Float32Array(used.buffer, used.byteOffset, used.length);
  const arePlaces = precision === 'half' || floats.every((value, i) => i % 4 === 3 || isPlace(value));
  expectFit(arePlaces, 'vertices.texels');
  expectClips(clips, frames.length, 'vertices.clips');
  const { width, height } = layoutVertices(stored * vertices, maxTextureSize);
  const all = new Uint32Array(width * height * words);
  all.set(used);
  return { ...data, texels: all, width, height };
}

/** Attribute in which vertices of parts carry their numbers while parts are merged, which may reorder them. */
const NUMBERS = 'vertexNumber';

/** Numbers of 16 bits a vertex, as of a skinned geometry: see `Skin`. */
const STRIDE = 6;

const _vector = /*@__PURE__*/ new Vector3();
const _direction = /*@__PURE__*/ new Vector4();

/**
 * The meshes under an object as parts of a crowd, in the positions of the rest pose.
 *
 * @param collected As they are collected for any crowd.
 * @throws If they are not those that were baked.
 */
function placeParts(
  collected: readonly ScenePart[],
  data: VertexTextureData,
  reader: VertexReader,
): ScenePart[] {
  const sorted = [...collected].sort((a, b) => a.node - b.node);
  const found = sorted.map(({ mesh, geometry }) => ({
    name: mesh.name,
    vertices: geometry.attributes.position.count,
  }));
  const isOther = ({ vertices }: VertexPart, i: number) => vertices !== found[i]?.vertices;
  if (found.length !== data.parts.length || data.parts.some(isOther)) {
    const list = (of: readonly VertexPart[]) =>
      of.map(({ name, vertices }) => `"${name}" with ${vertices} vertices`).join(', ');
    throw new Error(
      `The vertex texture was baked of other meshes: ${list(data.parts)}; here are ${list(found)}. Bake one of this object.`,
    );
  }
  let first = 0;
  return sorted.map((part, i) => {
    const model = new Float64Array(AFFINE_SIZE);
    // Positions are the root's; whether triangles are turned around is all that is left of the mesh's matrix.
    const mirrored = linearDeterminant(part.model, 0) < 0;
    affineFromMatrix4(new Matrix4().makeScale(mirrored ? -1 : 1, 1, 1), model, 0);
    const geometry = atRest(part, data, reader, first);
    first += found[i].vertices;
    const joints = Int32Array.of(0);
    const follows = { joints, mirrorJoints: null, followed: new Set([0]), rigid: true, model };
    return { ...part, geometry, ...follows, morphOffset: -1, morphCount: 0, morphIndices: {} };
  });
}

/** The geometry of a mesh with the vertices of the rest frame, and their numbers. */
function atRest(
  { mesh, geometry: source, model }: ScenePart,
  data: VertexTextureData,
  reader: VertexReader,
  first: number,
): BufferGeometry {
  const geometry = followJoint(sharingCopy(source), 0);
  geometry.morphAttributes = {};
  const { position, tangent } = source.attributes;
  const numbers = Float32Array.from({ length: position.count }, (_, vertex) => first + vertex);
  geometry.setAttribute(NUMBERS, new BufferAttribute(numbers, 1));
  geometry.setAttribute('position', atRestFrame(numbers, reader, 'addPosition'));
  if (data.normals) geometry.setAttribute('normal', atRestFrame(numbers, reader, 'addNormal'));
  if (tangent !== undefined) geometry.setAttribute('tangent', restTangents(mesh, model, tangent));
  return geometry;
}

/**
 * Tangents are in no frame: they are those of the mesh, in the root's space as the positions are. Unlike normals they lie in the surface, so
 * that they take the mesh's matrix as it is.
 */
function restTangents(mesh: Mesh, model: Float64Array, tangent: Attribute): BufferAttribute {
  mesh.updateWorldMatrix(true, true);
  const toRoot = affineToMatrix4(model, 0, new Matrix4());
  const array = new Float32Array(tangent.count * 4);
  for (let vertex = 0; vertex < tangent.count; vertex++) {
    _direction.fromBufferAttribute(tangent as BufferAttribute, vertex).setW(0);
    if ((mesh as SkinnedMesh).isSkinnedMesh) (mesh as SkinnedMesh).applyBoneTransform(vertex, _direction);
    _direction.setW(0).applyMatrix4(toRoot).normalize();
    _direction.w = tangent.itemSize > 3 ? tangent.getW(vertex) : 1;
    _direction.toArray(array, vertex * 4);
  }
  return new BufferAttribute(array, 4);
}

/** What vertices have in the rest frame. */
function atRestFrame(
  numbers: ArrayLike<number>,
  reader: VertexReader,
  read: 'addPosition' | 'addNormal',
): BufferAttribute {
  const array = new Float32Array(numbers.length * 3);
  for (let i = 0; i < numbers.length; i++) {
    reader[read](REST_FRAME, numbers[i], 1, _vector.set(0, 0, 0));
    _vector.toArray(array, i * 3);
  }
  return new BufferAttribute(array, 3);
}

/**
 * Numbers the vertices of a crowd geometry. The numbers lie where those of the second and third joint would be, so that they
 * need no attribute more: in 16 bits each, counted from 1. The one joint is the first and only one.
 *
 * @throws If the geometry is not the one that was baked, nor made of it.
 */
function bindVertices(
  geometry: BufferGeometry,
  source: BufferGeometry,
  data: VertexTextureData,
  reader: VertexReader,
): void {
  const { count } = source.getAttribute('position');
  const numbers = numbersOf(source, data);
  const integers = new Uint16Array(count * STRIDE);
  const weights = new Uint16Array(count * 4);
  const parts = source.getAttribute('partIndex');
  for (let vertex = 0; vertex < count; vertex++) {
    const number = numbers[vertex] + 1;
    integers[vertex * STRIDE + 1] = number & 0xffff;
    integers[vertex * STRIDE + 2] = number >>> 16;
    if (parts !== undefined) integers[vertex * STRIDE + SKIN_PART] = parts.getX(vertex);
    weights[vertex * 4] = 65535;
  }
  setSkin(geometry, new InterleavedBuffer(integers, STRIDE), weights);
  geometry.deleteAttribute(NUMBERS);
  // They are in the frames.
  geometry.morphAttributes = {};
  if (data.normals && !geometry.hasAttribute('normal'))
    geometry.setAttribute('normal', atRestFrame(numbers, reader, 'addNormal'));
}

/** For each vertex of a geometry the one that was baked. */
function numbersOf(source: BufferGeometry, { vertices }: VertexTextureData): Uint32Array {
  const { count } = source.getAttribute('position');
  const merged = source.getAttribute(NUMBERS);
  const joints = source.getAttribute('skinIndex');
  const isNumbered = merged === undefined && joints?.itemSize === 4 && isBound(source);
  if (merged === undefined && !isNumbered && count !== vertices) {
    throw new Error(
      `The geometry "${source.name}" has ${count} vertices, but the vertex texture was baked of ${vertices}; ` +
        'pass the geometry that was baked, or use assembleCharacter(object, vertexTexture).',
    );
  }
  return Uint32Array.from({ length: count }, (_, vertex) => {
    let number = vertex;
    if (merged !== undefined) number = merged.getX(vertex);
    else if (isNumbered) number = joints.getY(vertex) + joints.getZ(vertex) * 65536 - 1;
    if (number < vertices) return number;
    throw new Error(
      `Vertex ${vertex} of the geometry "${source.name}" is number ${number} of what was baked, but the vertex texture has ${vertices}; was it made for another one?`,
    );
  });
}

/** Whether vertices of a geometry are numbered: they follow one joint alone, and yet have a second one. */
function isBound(source: BufferGeometry): boolean {
  const joints = source.getAttribute('skinIndex');
  const weights = source.getAttribute('skinWeight');
  if (weights === undefined) return false;
  for (let vertex = 0; vertex < joints.count; vertex++) {
    if (weights.getX(vertex) !== 1 || joints.getX(vertex) !== 0) return false;
    if (joints.getY(vertex) === 0 && joints.getZ(vertex) === 0) return false;
  }
  return true;
}
