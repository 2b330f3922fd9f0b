import {
  BufferAttribute,
  type BufferGeometry,
  InterleavedBuffer,
  Matrix4,
  type Mesh,
  type SkinnedMesh,
  Vector3,
  Vector4,
} from 'three';
import type { ScenePart } from '../animation/Rig.js';
import { SKIN_PART, setSkin } from '../character/crowdGeometry.js';
import { AFFINE_SIZE, REST_FRAME } from '../constants.js';
import { affineFromMatrix4, affineToMatrix4, linearDeterminant } from '../utils/affine.js';
import { type Attribute, sharingCopy } from '../utils/geometries.js';
import type { VertexReader } from './VertexReader.js';
import type { VertexPart, VertexTextureData } from './VertexTextureData.js';

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
export function placeParts(
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
  const geometry = sharingCopy(source).deleteAttribute('skinIndex').deleteAttribute('skinWeight');
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
export function bindVertices(
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
