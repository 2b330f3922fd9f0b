import { storage } from 'three/tsl';
import type { StorageBufferAttribute } from 'three/webgpu';
import type { Elements } from '../../../../shaders/tsl.js';

/** Numbers in a storage buffer. */
export interface StoredFloats extends Elements<'float'> {
  value: StorageBufferAttribute;
  toReadOnly(): StoredFloats;
}

export const floatsIn = (buffer: StorageBufferAttribute): StoredFloats =>
  storage(buffer, 'float', buffer.count) as unknown as StoredFloats;
