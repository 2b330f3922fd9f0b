import { type BufferGeometry, InterleavedBuffer, InterleavedBufferAttribute } from 'three';
import type { DrawnCrowd } from '../../core/Crowd.js';

/** What every device has room for; WebGL knows no such limit. */
const VERTEX_BUFFERS = 8;

/** What is read of a renderer. */
export interface NodeRenderer {
  backend: {
    device?: GPUDevice;
    gl?: WebGL2RenderingContext;
  };
}

const readLimits = ({ backend: { device, gl } }: NodeRenderer) => ({
  textureSize: device?.limits.maxTextureDimension2D ?? gl?.getParameter(gl.MAX_TEXTURE_SIZE),
  textureLayers: device?.limits.maxTextureArrayLayers ?? gl?.getParameter(gl.MAX_ARRAY_TEXTURE_LAYERS),
  vertexBuffers: device?.limits.maxVertexBuffers ?? (gl ? Infinity : VERTEX_BUFFERS),
  bufferSize: device?.limits.maxBufferSize ?? Infinity,
});

const known = /*@__PURE__*/ new WeakMap<object, ReturnType<typeof readLimits>>();

/** Limits of a renderer's device. They are kept, since WebGL takes its time to answer. */
function limitsOf(renderer: NodeRenderer) {
  const limits = known.get(renderer) ?? readLimits(renderer);
  if (!known.has(renderer)) known.set(renderer, limits);
  return limits;
}

/** @throws If the device has no room for a texture of the crowd, or for its matrices. */
export function checkSizes(renderer: NodeRenderer, crowd: DrawnCrowd): void {
  const { boneTexture, morphTexture, geometry, instanceMatrix } = crowd;
  const { textureSize, textureLayers, bufferSize } = limitsOf(renderer);
  boneTexture.checkSize(textureSize);
  const { byteLength } = instanceMatrix.array;
  if (byteLength > bufferSize) {
    throw new Error(
      `SkinnedInstancedMesh: matrices of the instances need a buffer of size ${byteLength}, this device takes ${bufferSize}; split the crowd.`,
    );
  }
  const height = morphTexture?.image.height ?? 0;
  if (height > textureSize) {
    throw new Error(
      `SkinnedInstancedMesh: morph weights of the instances need a texture of height ${height}, this device takes ${textureSize}; split the crowd.`,
    );
  }
  const targets = geometry.morphAttributes.position?.length ?? 0;
  if (targets > textureLayers) {
    throw new Error(
      `SkinnedInstancedMesh: the geometry has ${targets} morph targets, this device takes ${textureLayers}; leave some out, or all with morphTargets: false.`,
    );
  }
}

const packed = /*@__PURE__*/ new WeakSet<BufferGeometry>();

/** Sees to it that a geometry, before it is drawn first, has no more vertex buffers than the device binds, if that can be. */
export function fitVertexBuffers(renderer: NodeRenderer, { geometry }: DrawnCrowd): void {
  const { vertexBuffers } = limitsOf(renderer);
  if (vertexBuffers === Infinity || packed.has(geometry)) return;
  packed.add(geometry);
  packAttributes(geometry, vertexBuffers);
}

/** What is put into one buffer where the geometry would otherwise have too many. */
const PACKED = ['normal', 'tangent', 'uv', 'uv1', 'uv2', 'uv3'];

/**
 * Puts normals, tangents and uv sets of a crowd geometry into one buffer, as floats, where it has more than there is room for.
 *
 * @param most Vertex buffers that the device binds.
 */
function packAttributes(geometry: BufferGeometry, most: number): void {
  const attributes = Object.values(geometry.attributes) as InterleavedBufferAttribute[];
  if (new Set(attributes.map((attribute) => attribute.data ?? attribute)).size <= most) return;
  const names = PACKED.filter((name) => geometry.hasAttribute(name));
  const stride = names.reduce((sum, name) => sum + geometry.getAttribute(name).itemSize, 0);
  const { count } = geometry.getAttribute('position');
  const packed = new InterleavedBuffer(new Float32Array(count * stride), stride);
  let offset = 0;
  for (const name of names) {
    const source = geometry.getAttribute(name);
    const attribute = new InterleavedBufferAttribute(packed, source.itemSize, offset);
    for (let vertex = 0; vertex < count; vertex++) {
      for (let k = 0; k < source.itemSize; k++)
        attribute.setComponent(vertex, k, source.getComponent(vertex, k));
    }
    geometry.setAttribute(name, attribute);
    offset += source.itemSize;
  }
}
