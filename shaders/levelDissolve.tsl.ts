import { Discard, If, int, ivec2, screenCoordinate, varyingProperty } from 'three/tsl';
import type { Node } from 'three/webgpu';
import fadedNodes from './levelDissolve.glsl.js?nodes=fadedGLSL';

/** Which pixels of the instance that is drawn are, see `FADE_STEPS`; vertices write it. */
const crowdFade = /*@__PURE__*/ varyingProperty('int', 'crowdFade');

/** Tells fragments which of them are drawn. Builds on the current stack of a vertex. */
export function writeFade(fade: Node<'int'>): void {
  crowdFade.assign(fade);
}

/** Leaves out pixels that another level draws. Builds on the current stack of a fragment. */
export function discardFaded(): void {
  const { isFaded } = fadedNodes<{ isFaded(at: Node<'ivec2'>, fade: Node<'int'>): Node<'bool'> }>();
  If(isFaded(ivec2(screenCoordinate), int(crowdFade)), () => {
    Discard();
  });
}
