import { bool, float, int, ivec2 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { PARAM_MORPH_TEXEL, PARAM_ROWS, PARAM_STRIDE } from '../lib/constants.js';
import { drawParameter } from './drawSlots.tsl.js';
import frameAtNodes from './fadesAndFrames.glsl.js?nodes=frameAtGLSL';
import type { FollowJoints } from './palette.tsl.js';
import { playedNeeds } from './playedActions.tsl.js';
import type { ShaderVariant } from './ShaderVariant.js';
import clipsNodes from './skinningMatrix.glsl.js?nodes=clipsGLSL';
import type { TexelNode } from './TexelNode.js';
import { type Rows, zeroRows } from './tsl.js';

/**
 * What `eachClipGLSL` needs.
 *
 * @param actions Those of all instances, see `ActionTexels`.
 * @param clock Seconds since the epoch began, and its number.
 */
export const clipNeeds = (
  boneTexture: TexelNode,
  actions: TexelNode,
  instance: Node<'int'>,
  clock: Node<'vec2'>,
  { interpolate }: ShaderVariant,
) => ({
  ...frameAtNodes(),
  ...playedNeeds({ actions, clock, layers: 1 }),
  CROWD_BAKED: boneTexture,
  CROWD_ROWS: drawParameter(PARAM_ROWS),
  CROWD_STRIDE: drawParameter(PARAM_STRIDE),
  CROWD_MORPH_TEXEL: int(drawParameter(PARAM_MORPH_TEXEL)),
  INTERPOLATES: bool(interpolate),
  instanceIndex: () => instance,
});

/** Functions of `clipsGLSL`. All build on the current stack. */
interface ClipNodes {
  eachClip(): void;
  addPosed(sum: Rows, pose: object, weight: Node, joint: Node, interpolate: Node): void;
  morphInfluence(pose: object, share: Node, i: Node, interpolate: Node): Node<'float'>;
}

/**
 * A loop over the clips that an instance shows, see `eachClipGLSL`. Builds on the current stack.
 *
 * @param showClip Builds what is done with a clip's pose and its share of the whole.
 */
export function eachClip(
  clips: ReturnType<typeof clipNeeds>,
  showClip: (pose: object, share: Node<'float'>, nodes: ClipNodes) => void,
): void {
  const nodes: ClipNodes = clipsNodes<ClipNodes>({
    ...clips,
    showClip: (pose: object, share: Node<'float'>) => showClip(pose, share, nodes),
  });
  nodes.eachClip();
}

/**
 * The weighted sum of the vertex's joints, as rows, see `skinningMatrixGLSL`. Builds on the current stack.
 *
 * @param morph Called for each clip that the instance shows, with a function that gives by how much the clip changes the
 * influence of a morph target.
 */
export function skinningMatrix(
  clips: ReturnType<typeof clipNeeds>,
  follow: FollowJoints,
  morph?: (influence: (i: Node<'int'>) => Node<'float'>) => void,
): Rows {
  const sum = zeroRows();
  eachClip(clips, (pose, share, { addPosed, morphInfluence }) => {
    follow((joint, weight) => addPosed(sum, pose, weight.mul(share).toVar(), joint, clips.INTERPOLATES));
    morph?.((i) => morphInfluence(pose, share, i, clips.INTERPOLATES));
  });
  return sum;
}

/** The same where all instances show the rest pose, see `restMatrixGLSL`. Builds on the current stack. */
export function restMatrix(boneTexture: TexelNode, follow: FollowJoints): Rows {
  const { addPosed } = clipsNodes<ClipNodes>({ CROWD_BAKED: boneTexture });
  const pose = { texel0: ivec2(0), texel1: ivec2(0), alpha: float(0) };
  const sum = zeroRows();
  follow((joint, weight) => addPosed(sum, pose, weight, joint, bool(false)));
  return sum;
}
