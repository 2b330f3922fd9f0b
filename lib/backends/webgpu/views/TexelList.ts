import type { Texture } from 'three';
import { int, uniform } from 'three/tsl';
import type { Node } from 'three/webgpu';
import type { ViewNodes } from '../../../../shaders/instanceIndex.tsl.js';
import { texels } from '../../../../shaders/TexelNode.js';
import { componentsOf } from '../../../../shaders/tsl.js';
import { InstanceTexture } from '../../../instances/InstanceTexture.js';
import type { View } from '../../../views/View.js';

/** Reads the list of a view, which the CPU has made. */
export class TexelList implements ViewNodes {
  private readonly isListed = uniform(0, 'int');
  private readonly list = texels(emptyList());

  get listed(): Node<'bool'> {
    return this.isListed.notEqual(0);
  }

  id(drawn: Node<'int'>): Node<'int'> {
    const [four] = this.list.instanceTexels(drawn.shiftRight(2).toVar(), 1, int(0), 1);
    return int(componentsOf(four).element(drawn.bitAnd(3)));
  }

  /** From the next draw on, what was built draws this; null for all instances. */
  use(renderer: object, view: View | null): void {
    const listed = view !== null && view.isWhole !== true;
    this.isListed.value = listed ? 1 : 0;
    if (!listed) return;
    const { texture } = view.list;
    texture.prepare(renderer, always);
    this.list.value = texture.layered;
  }
}

let empty: InstanceTexture | null = null;

/** Stands in the place of a list before there is one. */
function emptyList(): Texture {
  empty ??= new InstanceTexture(1, 4);
  return empty.layered;
}

/** WebGPURenderer neither loses textures nor says which it has. */
const always = (): boolean => true;
