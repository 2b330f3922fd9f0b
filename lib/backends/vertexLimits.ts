import type { BufferGeometry, InterleavedBufferAttribute } from 'three';

/** Vertex buffers that every WebGPU device has room for; WebGL knows no such limit. */
export const VERTEX_BUFFERS = 8;
/** Vertex attributes that every device has room for, with WebGL 2 as with WebGPU. */
export const VERTEX_ATTRIBUTES = 16;

/** Attributes that `instanceMatrix` and `instanceColor` take. */
export const MATRIX_ATTRIBUTES = 4;
export const COLOR_ATTRIBUTES = 1;

/** Attributes that three.js declares in every GLSL shader: they count even if the geometry does not have them. */
const DECLARED = ['position', 'normal', 'uv'];

const _buffers = /*@__PURE__*/ new Set<object>();

/** Vertex buffers in which a crowd geometry's attributes lie. */
export function ownVertexBuffers({ attributes }: BufferGeometry): number {
  _buffers.clear();
  for (const name in attributes) {
    const attribute = attributes[name];
    _buffers.add((attribute as InterleavedBufferAttribute).data ?? attribute);
  }
  const count = _buffers.size;
  _buffers.clear();
  return count;
}

/** Attributes that shaders may declare for a crowd geometry. */
export function ownVertexAttributes({ attributes }: BufferGeometry): number {
  let count = 0;
  for (const name in attributes) {
    count += Math.ceil(attributes[name].itemSize / 4);
  }
  for (let i = 0; i < DECLARED.length; i++) {
    if (!(DECLARED[i] in attributes)) count++;
  }
  return count;
}
