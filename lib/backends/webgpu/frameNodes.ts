import { Loop, uniform } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { drawClock } from '../../../shaders/drawSlots.tsl.js';
import type { ShaderVariant } from '../../../shaders/ShaderVariant.js';
import { clipNeeds, restMatrix, skinningMatrix } from '../../../shaders/skinningMatrix.tsl.js';
import { layeredOf, type TexelNode } from '../../../shaders/TexelNode.js';
import { zeroFloats } from '../../../shaders/tsl.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { drawnTexels, numbersBefore, onCrowdUpdate } from './crowdNodes.js';
import type { NodeSource } from './NodeSource.js';

/** Twin of `lib/baking/frames.ts`: each vertex reads and mixes skinning matrices that were baked frame by frame. */
export const frameNodes: NodeSource = {
  name: 'frames',

  skinningMatrix({ crowd, variant, instance, follow, shown, morph }) {
    const clips = shownClips(crowd, instance, variant);
    const { length: targets } = (morph && variant.morphs && crowd.morphTargetInfluences) || [];
    const influences = zeroFloats(Math.max(1, targets));
    const addClip = (influence: (target: Node<'int'>) => Node<'float'>) =>
      Loop(targets, ({ i }) => {
        influences.element(i).addAssign(influence(i));
      });
    const rows = shown(() => skinningMatrix(clips(drawClock()), follow, targets > 0 ? addClip : undefined));
    return {
      rows,
      influence: targets > 0 ? (target) => influences.element(target) : null,
      // From the morphed position: three.js keeps no weights of the frame before.
      previous: () => ({ rows: shown(() => skinningMatrix(clips(previousClock()), follow)) }),
    };
  },
};

/** Twin of `restSource` in the same file. */
export const restNodes: NodeSource = {
  name: 'rest',

  skinningMatrix({ crowd, follow, shown }) {
    const boneTexture = boneTextureNode(crowd);
    return { rows: shown(() => restMatrix(boneTexture, follow)), previous: null };
  },
};

/** The bone texture of whichever crowd is drawn. */
const boneTextureNode = (crowd: DrawnCrowd): TexelNode => drawnTexels(crowd, (drawn) => drawn.boneTexture);

/** What an instance plays at a time, where vertices read that themselves. Builds on the current stack. */
export function shownClips(crowd: DrawnCrowd, drawn: Node<'int'>, variant: ShaderVariant) {
  const boneTexture = boneTextureNode(crowd);
  const actions = drawnTexels(crowd, ({ playback }) => layeredOf(playback.texels.texture));
  const instance = drawn.toVar();
  return (clock: Node<'vec2'>) => clipNeeds(boneTexture, actions, instance, clock, variant);
}

const _elapsed = /*@__PURE__*/ new Float64Array(1);

/** The clock of the frame drawn before, however often the crowd was updated since, in the epoch of now. Builds on the current stack. */
export function previousClock(): Node<'vec2'> {
  const seconds = uniform(0);
  onCrowdUpdate((crowd, _renderer, { frameId }) => {
    const { clock, elapsed } = crowd;
    _elapsed[0] = elapsed;
    seconds.value = numbersBefore(crowd, _elapsed, frameId)[0] - elapsed + clock;
  });
  return drawClock(seconds as unknown as Node<'float'>);
}
