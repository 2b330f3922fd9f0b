import { instanceIndex as drawnIndex, If, int, property, uint } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { type OverrideNode, withoutOverride } from './tsl.js';

/** Says which instance a drawn index stands for. Both build on the current stack. */
export interface ViewNodes {
  /** Whether there is a list; else the drawn index is the instance. */
  readonly listed: Node<'bool'>;
  /** The instance at a place of the list. */
  id(drawn: Node<'int'>): Node<'int'>;
  /** Which pixels are drawn of the instance at a place of the list, see `FADE_STEPS`. */
  fade(drawn: Node<'int'>): Node<'int'>;
}

/**
 * Twin of `instanceIndex.glsl.ts`: which instance is drawn. The only place that reads three.js's node of the drawn index.
 * Builds on the current stack where there is a view.
 *
 * @param view What a view shows, see `View`; null where the object drawn has none.
 */
export function instanceIndex(view: ViewNodes | null): Node<'int'> {
  if (view === null) return int(drawnIndex);
  const index = int(withoutOverride(drawnIndex, drawnIndex)).toVar();
  If(view.listed, () => {
    index.assign(view.id(index));
  });
  return index;
}

/** Which pixels of the instance that is drawn are, see `FADE_STEPS`. Builds on the current stack. */
export function drawnFade(view: ViewNodes): Node<'int'> {
  const fade = int(0).toVar();
  If(view.listed, () => {
    fade.assign(view.fade(int(withoutOverride(drawnIndex, drawnIndex)).toVar()));
  });
  return fade;
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
