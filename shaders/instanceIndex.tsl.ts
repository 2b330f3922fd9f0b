import { instanceIndex as drawnIndex, If, int, property, uint } from 'three/tsl';
import type { Node, Texture } from 'three/webgpu';
import { LIST_TEXELS, LIST_TEXELS_BITS, PARAM_LOOKS_UP } from '../lib/constants.js';
import { InstanceTexture } from '../lib/instances/InstanceTexture.js';
import { drawParameter } from './drawSlots.tsl.js';
import { layeredOf, type TexelNode } from './TexelNode.js';
import { componentsOf, type OverrideNode, withoutOverride } from './tsl.js';

/** The instance of an entry that is a row, or the row of one that is an instance: mostly of the same number. Builds on the current stack. */
export function lookedUp(others: TexelNode, entry: Node<'int'>): Node<'int'> {
  const other = entry.toVar();
  If(drawParameter(PARAM_LOOKS_UP).notEqual(0), () => {
    other.assign(int(numberAt(others, entry)));
  });
  return other;
}

/** The drawn index itself, which nodes of the user do not get to see. Builds on the current stack. */
export const ownDrawnIndex = (): Node<'int'> => int(withoutOverride(drawnIndex, drawnIndex)).toVar();

/** The instance that is drawn, for whatever else in a build reads three.js's node of the drawn index. */
const viewedIndex = /*@__PURE__*/ property('uint', 'crowdInstance');

/** Says which instance is drawn to readers of the drawn index. Builds on the current stack. */
export function assignDrawnIndex(instance: Node<'int'>): void {
  viewedIndex.assign(uint(instance));
}

/** Lets readers of the drawn index read the instance in its place, once it was assigned. */
export function overrideDrawnIndex(overrides: Map<Node, OverrideNode>): void {
  overrides.set(drawnIndex, () => viewedIndex);
}

/** A number of an `InstanceTexture` that has four in a texel, and `LIST_TEXELS` in a row. Builds on the current stack. */
export function numberAt(texture: TexelNode, index: Node<'int'>): Node<'float'> {
  const texel = index.shiftRight(2).toVar();
  const row = texel.shiftRight(LIST_TEXELS_BITS).toVar();
  const [four] = texture.rowTexels(texel.bitAnd(LIST_TEXELS - 1), row, 1);
  return componentsOf(four.toVar()).element(index.bitAnd(3));
}

const none: (InstanceTexture | undefined)[] = [];

/** Stands for a list, or for rows of instances, where there are none. Nodes of one texture are one binding, so these are two. */
export function noNumbers(what: 'list' | 'rows'): Texture {
  const index = what === 'list' ? 0 : 1;
  none[index] ??= new InstanceTexture(1, 4);
  return layeredOf(none[index]);
}
