import type { Node, StorageBufferAttribute } from 'three/webgpu';
import { type Vectors, vectorsIn } from '../../shaders/tsl.js';
import type { ActionsReader } from '../backends/webgpu/StoredOnGPU.js';
import { actionsRowBits, actionsTexels } from '../playback/instanceLayout.js';

/** Reads what instances play off a buffer, in which the texels of all rows follow each other. */
export class StoredActions implements ActionsReader {
  private readonly texels: Vectors;

  constructor(buffer: StorageBufferAttribute) {
    this.texels = vectorsIn(buffer);
  }

  set value(buffer: StorageBufferAttribute) {
    this.texels.value = buffer;
  }

  rowTexels(x: Node<'int'>, row: Node<'int'>): Node<'vec4'>[] {
    return [this.texels.element(row.mul(2 ** actionsRowBits(1) * actionsTexels(1)).add(x))];
  }
}

/** Where in the buffer an instance begins. Builds on the current stack. */
export const firstTexel = (instance: Node<'int'>): Node<'int'> => instance.mul(actionsTexels(1)).toVar();
