import { instanceIndex as drawnIndex, int, property, uint } from 'three/tsl';
import type { Node } from 'three/webgpu';
import type { TexelNode } from './TexelNode.js';
import { componentsOf, type OverrideNode, withoutOverride } from './tsl.js';

/**
 * Twin of `instanceIndex.glsl.ts`: which instance is drawn. The only place that reads three.js's node of the drawn index.
 * Builds on the current stack where there is a view.
 *
 * @param view The list of a view, see `View`; null where the object drawn has none.
 */
export function instanceIndex(view: TexelNode | null): Node<'int'> {
  if (view === null) return int(drawnIndex);
  const index = int(withoutOverride(drawnIndex, drawnIndex)).toVar();
  const [four] = view.instanceTexels(index.shiftRight(2).toVar(), 1, int(0), 1);
  return int(componentsOf(four).element(index.bitAnd(3))).toVar();
}

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
