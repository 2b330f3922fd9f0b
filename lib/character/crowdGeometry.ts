import {
  type BufferAttribute,
  BufferGeometry,
  Float32BufferAttribute,
  InterleavedBuffer,
  InterleavedBufferAttribute,
} from 'three';
import type { Influences } from '../../shaders/ShaderVariant.js';
import { ownVertexBuffers, VERTEX_BUFFERS } from '../backends/vertexLimits.js';
import type { InstancePlayback } from '../playback/InstancePlayback.js';
import { INSTANCE_ATTRIBUTES } from '../playback/instanceLayout.js';
import type { BoneTexture } from '../texture/BoneTexture.js';

/** Floats per vertex: four joints, their four weights, then the part of the character that the vertex belongs to. */
export const SKIN_STRIDE = 9;
export const SKIN_WEIGHT = 4;
export const SKIN_PART = 8;

/** uv sets that are put into one buffer where the geometry would otherwise have too many buffers. */
const PACKED_UVS = ['uv1', 'uv2', 'uv3'];

/**
 * Weights whose sum is off by more than this are normalised. Less is what 8-bit weights round to, and three.js draws it
 * as it is.
 */
const SUM_TOLERANCE = 0.01;

/**
 * The geometry that a crowd draws: a copy of `source` with sorted skin weights and the instances' playback state.
 * A copy, because one geometry holds the instanced attributes of one mesh, and `source` may be drawn by others.
 *
 * @throws If `source` cannot be skinned by `boneTexture`; the message names the vertex.
 */
export function createCrowdGeometry(
  source: BufferGeometry,
  boneTexture: BoneTexture,
  influences: Influences,
  caller: string,
): BufferGeometry {
  for (const name of ['position', 'skinIndex', 'skinWeight']) {
    if (source.getAttribute(name) === undefined) {
      throw new Error(
        `${caller}: the geometry "${source.name}" has no attribute "${name}"; pass the geometry of a SkinnedMesh, or use SkinnedInstancedMesh.from(root, clips, count).`,
      );
    }
  }

  const geometry = new BufferGeometry().copy(source);
  removePlaybackAttributes(geometry);
  // One buffer for all of it: WebGPU binds no more than eight, and geometry may bring six of its own.
  const skin = new InterleavedBuffer(sortedSkin(source, boneTexture, influences, caller), SKIN_STRIDE);
  geometry.setAttribute('skinIndex', new InterleavedBufferAttribute(skin, 4, 0));
  geometry.setAttribute('skinWeight', new InterleavedBufferAttribute(skin, 4, SKIN_WEIGHT));
  geometry.setAttribute('partIndex', new InterleavedBufferAttribute(skin, 1, SKIN_PART));
  makeMorphsRelative(geometry);
  if (ownVertexBuffers(geometry) > VERTEX_BUFFERS) packUVs(geometry);
  return geometry;
}

/** Puts the further uv sets of a geometry into one buffer. */
function packUVs(geometry: BufferGeometry): void {
  const names = PACKED_UVS.filter((name) => geometry.hasAttribute(name));
  if (names.length < 2) return;
  const stride = names.length * 2;
  const { count } = geometry.getAttribute('position');
  const packed = new InterleavedBuffer(new Float32Array(count * stride), stride);
  names.forEach((name, i) => {
    const source = geometry.getAttribute(name);
    for (let vertex = 0; vertex < count; vertex++) {
      packed.array[vertex * stride + i * 2] = source.getX(vertex);
      packed.array[vertex * stride + i * 2 + 1] = source.getY(vertex);
    }
    geometry.setAttribute(name, new InterleavedBufferAttribute(packed, 2, i * 2));
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

/** Gives a crowd geometry the playback state of its instances. */
export function setPlaybackAttributes(geometry: BufferGeometry, playback: InstancePlayback): void {
  for (const { name, size, offset } of INSTANCE_ATTRIBUTES) {
    geometry.setAttribute(name, new InterleavedBufferAttribute(playback.buffer, size, offset));
  }
}

/** Removes them again. Their buffer may be shared with other geometries, and must not be disposed with this one. */
export function removePlaybackAttributes(geometry: BufferGeometry): void {
  for (const { name } of INSTANCE_ATTRIBUTES) geometry.deleteAttribute(name);
}

/** Every joint that a vertex of a crowd geometry follows. */
export function jointsOf(geometry: BufferGeometry): Set<number> {
  const skin = (geometry.getAttribute('skinIndex') as InterleavedBufferAttribute).data.array;
  const joints = new Set<number>();
  for (let at = 0; at < skin.length; at += SKIN_STRIDE) {
    for (let i = 0; i < 4 && skin[at + SKIN_WEIGHT + i] > 0; i++) joints.add(skin[at + i]);
  }
  return joints;
}

/** Joints and weights of each vertex, strongest first, and its part. */
function sortedSkin(
  source: BufferGeometry,
  boneTexture: BoneTexture,
  influences: Influences,
  caller: string,
): Float32Array {
  const sourceIndex = source.getAttribute('skinIndex');
  const sourceWeight = source.getAttribute('skinWeight');
  const partIndex = source.getAttribute('partIndex');
  const joints = boneTexture.jointNames.length;
  const count = source.getAttribute('position').count;
  const skin = new Float32Array(count * SKIN_STRIDE);
  const order = [0, 1, 2, 3];
  const weight = [0, 0, 0, 0];

  for (let vertex = 0; vertex < count; vertex++) {
    let sum = 0;
    for (let i = 0; i < 4; i++) {
      weight[i] = i < sourceWeight.itemSize ? component(sourceWeight, vertex, i) : 0;
      sum += weight[i];
      order[i] = i;
    }
    if (!(sum > 0 && sum < Infinity) || Math.min(...weight) < 0) {
      throw new Error(
        `${caller}: the skin weights of vertex ${vertex} of geometry "${source.name}" are ${weight.join(', ')}; ` +
          'they must not be negative and must add up to 1 (SkinnedMesh.normalizeSkinWeights mends sums).',
      );
    }
    skin[vertex * SKIN_STRIDE + SKIN_PART] = partIndex === undefined ? 0 : partIndex.getX(vertex);
    order.sort((a, b) => weight[b] - weight[a]);

    let kept = 0;
    for (let i = 0; i < influences; i++) kept += weight[order[i]];
    const scale = (Math.abs(sum - 1) > SUM_TOLERANCE ? 1 : sum) / kept;

    for (let i = 0; i < influences && weight[order[i]] > 0; i++) {
      const joint = component(sourceIndex, vertex, order[i]);
      if (!(joint >= 0 && joint < joints)) {
        throw new Error(
          `${caller}: vertex ${vertex} of geometry "${source.name}" follows joint ${joint}, but the bone texture has ${joints} joints; ` +
            'was it baked for another skeleton?',
        );
      }
      skin[vertex * SKIN_STRIDE + i] = joint;
      skin[vertex * SKIN_STRIDE + SKIN_WEIGHT + i] = weight[order[i]] * scale;
    }
  }

  return skin;
}

function component(
  attribute: BufferAttribute | InterleavedBufferAttribute,
  vertex: number,
  i: number,
): number {
  return i === 0
    ? attribute.getX(vertex)
    : i === 1
      ? attribute.getY(vertex)
      : i === 2
        ? attribute.getZ(vertex)
        : attribute.getW(vertex);
}
