import type { BufferAttribute } from 'three';

/** Makes renderers free the buffer of an attribute. The oldest three.js that is supported leaves that to the garbage collector. */
export function disposeAttribute(attribute: BufferAttribute): void {
  attribute.dispose?.();
}
