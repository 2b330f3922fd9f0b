import { Discard, If, int, ivec2, screenCoordinate, varyingProperty } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { FADE_NEAR, FADE_STEPS } from '../lib/constants.js';

/** Which pixels of the instance that is drawn are, see `FADE_STEPS`; vertices write it. */
const crowdFade = /*@__PURE__*/ varyingProperty('int', 'crowdFade');

/** Twin of `levelDissolve.glsl.ts`. Builds on the current stack. */
function fadeThreshold(): Node<'int'> {
  const at = ivec2(screenCoordinate).toVar();
  const both = at.x.bitXor(at.y).toVar();
  return both
    .bitAnd(1)
    .shiftLeft(5)
    .bitOr(at.y.bitAnd(1).shiftLeft(4))
    .bitOr(both.bitAnd(2).shiftLeft(2))
    .bitOr(at.y.bitAnd(2).shiftLeft(1))
    .bitOr(both.bitAnd(4).shiftRight(1))
    .bitOr(at.y.bitAnd(4).shiftRight(2))
    .toVar();
}

/** Tells fragments which of them are drawn. Builds on the current stack of a vertex. */
export function writeFade(fade: Node<'int'>): void {
  crowdFade.assign(fade);
}

/** Leaves out pixels that another level draws. Builds on the current stack of a fragment. */
export function discardFaded(): void {
  const fade = int(crowdFade).toVar();
  const below = fadeThreshold()
    .lessThan(fade.bitAnd(FADE_STEPS - 1))
    .toVar();
  const isNear = fade.greaterThanEqual(FADE_NEAR).toVar();
  const isOthers = below.and(isNear).or(below.or(isNear).not());
  If(fade.notEqual(0).and(isOthers), () => {
    Discard();
  });
}
