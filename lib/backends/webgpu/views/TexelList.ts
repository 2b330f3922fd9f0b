import type { Texture } from 'three';
import { fract, int, uniform } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { texels } from '../../../../shaders/TexelNode.js';
import { componentsOf, type DrawFrame } from '../../../../shaders/tsl.js';
import { FADE_CODES, LIST_TEXELS, LIST_TEXELS_BITS } from '../../../constants.js';
import { InstanceTexture } from '../../../instances/InstanceTexture.js';
import type { DrawnCrowd } from '../../DrawnCrowd.js';
import type { DrawnList } from './DrawnList.js';
import { viewAtDraw } from './viewAtDraw.js';

/** Reads the list of a view, which the CPU has made. */
export class TexelList implements DrawnList {
  private readonly isListed = uniform(0, 'int');
  private readonly list = texels(emptyList());

  get listed(): Node<'bool'> {
    return this.isListed.notEqual(0);
  }

  id(drawn: Node<'int'>): Node<'int'> {
    return int(this.entry(drawn));
  }

  fade(drawn: Node<'int'>): Node<'int'> {
    return int(fract(this.entry(drawn)).mul(FADE_CODES));
  }

  private entry(drawn: Node<'int'>): Node<'float'> {
    const texel = drawn.shiftRight(2).toVar();
    const x = texel.bitAnd(LIST_TEXELS - 1);
    const [four] = this.list.rowTexels(x, texel.shiftRight(LIST_TEXELS_BITS).toVar(), 1);
    return componentsOf(four.toVar()).element(drawn.bitAnd(3));
  }

  show(crowd: DrawnCrowd, frame: DrawFrame): void {
    const view = viewAtDraw(crowd, frame);
    this.showAll(crowd);
    if (view === null || view.isWhole === true) return;
    this.isListed.value = 1;
    const { list, count } = view;
    list.texture.prepare(frame.renderer as object, always);
    this.list.value = list.texture.layered;
    // An attachment may be told to show fewer instances than there are. Lists are in ascending order then.
    crowd.skeleton.drawnCount = list.countBelow(crowd.count, count);
  }

  showAll({ skeleton }: DrawnCrowd): void {
    this.isListed.value = 0;
    skeleton.drawnCount = null;
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
