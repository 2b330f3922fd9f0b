import { BufferGeometry, Float32BufferAttribute, InterleavedBuffer, InterleavedBufferAttribute } from 'three';
import type { Influences } from '../../shaders/ShaderVariant.js';
import { ownVertexBuffers, VERTEX_BUFFERS } from '../backends/vertexLimits.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import { describe } from '../utils/describe.js';
import { inFloats } from '../utils/inFloats.js';
import { setSkin } from './crowdSkin.js';
import type { NumberArray } from './shareAttribute.js';

/** Buffers that the instances may need: one for their matrices, one for their colours. */
const INSTANCE_BUFFERS = 2;

/** What is put into one buffer where the geometry would otherwise have too many: WebGPU binds no more than eight. */
const PACKED = ['normal', 'tangent', 'uv', 'uv1', 'uv2', 'uv3'];

/**
 * The geometry that a crowd draws: a copy of `given` with sorted skin weights.
 * A copy, because one geometry holds the instanced attributes of one mesh, and `given` may be drawn by others.
 *
 * @throws If `given` cannot be skinned by `boneTexture`; the message names the vertex.
 */
export function createCrowdGeometry(
  given: BufferGeometry,
  boneTexture: BoneTexture,
  influences: Influences,
): BufferGeometry {
  if (given?.isBufferGeometry !== true) {
    throw new Error(`${describe(given)} is no geometry; pass a BufferGeometry.`);
  }
  const source = inFloats(given);
  const { binding } = boneTexture;
  for (const name of binding === null ? ['position', 'skinIndex', 'skinWeight'] : ['position']) {
    if (source.getAttribute(name) === undefined) {
      throw new Error(
        `The geometry "${source.name}" has no attribute "${name}"; pass the geometry of a SkinnedMesh, or use bakeCharacter(root, clips).`,
      );
    }
  }

  const geometry = new BufferGeometry().copy(source);
  if (binding === null) setSkin(geometry, source, boneTexture, influences);
  else binding.bind(geometry, source);
  makeMorphsRelative(geometry);
  if (isCrowded(geometry)) packAttributes(geometry);
  return geometry;
}

/**
 * Puts normals, tangents and uv sets of a geometry into one buffer for each kind of numbers that they are, or if there are too many
 * kinds all of them, as floats, into one.
 */
function packAttributes(geometry: BufferGeometry): void {
  const names = PACKED.filter((name) => geometry.hasAttribute(name));
  const kindOf = (name: string) => geometry.getAttribute(name).array.constructor as NumberArray;
  for (const kind of new Set(names.map(kindOf))) {
    const alike = names.filter((name) => kindOf(name) === kind);
    if (alike.length > 1) packTogether(geometry, alike, kind);
  }
  if (isCrowded(geometry)) packTogether(geometry, names, Float32Array);
}

const isCrowded = (geometry: BufferGeometry): boolean =>
  ownVertexBuffers(geometry) + INSTANCE_BUFFERS > VERTEX_BUFFERS;

function packTogether(geometry: BufferGeometry, names: readonly string[], Numbers: NumberArray): void {
  const sources = names.map((name) => geometry.getAttribute(name));
  // Each begins at a multiple of four bytes.
  const perWord = 4 / new Numbers(0).BYTES_PER_ELEMENT;
  const sizes = sources.map(({ itemSize }) => Math.ceil(itemSize / perWord) * perWord);
  const stride = sizes.reduce((sum, size) => sum + size, 0);
  const { count } = geometry.getAttribute('position');
  const packed = new InterleavedBuffer(new Numbers(count * stride), stride);
  let offset = 0;
  sources.forEach((source, i) => {
    const normalized = source.normalized && Numbers !== Float32Array;
    const attribute = new InterleavedBufferAttribute(packed, source.itemSize, offset, normalized);
    for (let vertex = 0; vertex < count; vertex++) {
      for (let k = 0; k < source.itemSize; k++)
        attribute.setComponent(vertex, k, source.getComponent(vertex, k));
    }
    geometry.setAttribute(names[i], attribute);
    offset += sizes[i];
  });
}

/** Makes morph targets offsets from the base geometry, so that influences of clips and of instances can be added up. */
function makeMorphsRelative(geometry: BufferGeometry): void {
  if (geometry.morphTargetsRelative) return;
  for (const [name, targets] of Object.entries(geometry.morphAttributes)) {
    const base = geometry.getAttribute(name);
    if (base === undefined) continue;
    geometry.morphAttributes[name as 'position'] = targets.map((target) => {
      const { count, itemSize } = target;
      const ways = new Float32BufferAttribute(new Float32Array(count * itemSize), itemSize);
      ways.name = target.name;
      for (let vertex = 0; vertex < count; vertex++) {
        for (let i = 0; i < itemSize; i++) {
          ways.setComponent(vertex, i, target.getComponent(vertex, i) - base.getComponent(vertex, i));
        }
      }
      return ways;
    });
  }
  geometry.morphTargetsRelative = true;
}
