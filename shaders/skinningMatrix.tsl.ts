import { clamp, float, floor, If, int, ivec2, select, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { ACTION_TEXELS, firstAction, MAX_ACTIONS } from '../lib/playback/instanceLayout.js';
import { addJoints, type Followed } from './palette.tsl.js';
import { actionFrames, playedClock, playedTexel, rampAt } from './playedActions.tsl.js';
import type { ShaderVariant } from './ShaderVariant.js';
import type { TexelNode } from './TexelNode.js';
import { type Rows, While, zeroRows } from './tsl.js';

/** One clip's part in a pose: the texels at which its two frames begin, and how they mix. */
export interface LayerNodes {
  texel0: Node<'ivec2'>;
  texel1: Node<'ivec2'>;
  alpha: Node<'float'>;
}

/** What the instance drawn plays. */
export interface PlaybackNodes {
  instance: Node<'int'>;
  /** The actions of all instances, see `ActionTexels`. */
  actions: TexelNode;
  /** Reads what the vertex's part looks like, see `InstanceParts`; called where the variant has parts. */
  part(): Node<'vec4'>;
}

/** What a draw tells the shader; see `drawSlots.tsl.ts`. */
export interface DrawNodes {
  /** Seconds since the epoch began, and its number. */
  clock: Node<'vec2'>;
  rows: Node<'float'>;
  stride: Node<'float'>;
  morphTexel: Node<'int'>;
}

/** Component `i % 4` of a texel, where `i` is computed on the GPU. */
function component(texel: Node<'vec4'>, i: Node<'int'>): Node<'float'> {
  const place = i.sub(i.div(4).mul(4)).toVar();
  const later = select(place.equal(2), texel.z, texel.w);
  return select(place.equal(0), texel.x, select(place.equal(1), texel.y, later));
}

/** A variant, or the same for a vertex that follows another joint than its own. */
export type VertexVariant = Omit<ShaderVariant, 'influences'> & { influences: Followed };

/** What all clips that a draw shows have in common. */
export type ClockNodes = Pick<DrawNodes, 'clock' | 'rows' | 'stride'>;

/**
 * Twin of `eachClipGLSL` and, inside, of `poseLayerGLSL`: a loop over the clips that an instance shows. Builds on the current
 * stack.
 *
 * @param body Builds what is done with a clip's pose and its share of the whole.
 */
export function eachClip(
  { instance, actions, part }: PlaybackNodes,
  { clock, rows, stride }: ClockNodes,
  variant: Pick<ShaderVariant, 'interpolate' | 'parts'>,
  body: (pose: LayerNodes, share: Node<'float'>) => void,
): void {
  const { interpolate } = variant;
  const frameTexel = (frame: Node<'float'>): Node<'ivec2'> => {
    const column = floor(frame.add(0.5).div(rows)).toVar();
    return ivec2(int(column.mul(stride)), int(frame.sub(column.mul(rows))));
  };

  const { first, row } = playedTexel(instance, 1);
  const played = playedClock(clock, actions.rowTexels(first, row, 1)[0].toVar());
  const at = first.add(firstAction(1)).toVar();
  const place = int(0).toVar();
  const whole = shownShare(part, variant);
  const left = whole.toVar();

  While(left.greaterThan(0), () => {
    const share = left.toVar();
    const texel0 = ivec2(0, 0).toVar();
    const texel1 = ivec2(0, 0).toVar();
    const alpha = float(0).toVar();
    const clip = vec4(0).toVar();
    If(place.lessThan(MAX_ACTIONS), () => {
      clip.assign(actions.rowTexels(at, row, 1)[0]);
    });
    If(clip.x.greaterThan(0.5), () => {
      const [timing, weights] = actions.rowTexels(at.add(1).toVar(), row, 2).map((texel) => texel.toVar());
      // Shares of less are what rounding leaves of weights.
      share.assign(whole.mul(rampAt(played.since, weights)));
      share.assign(select(share.greaterThan(left.sub(1e-6)), left, share));
      const mixed = actionFrames(clip, timing, played, clip.x, interpolate);
      texel0.assign(frameTexel(mixed.frame0));
      if (interpolate) texel1.assign(frameTexel(mixed.frame1));
      alpha.assign(mixed.alpha);
    });
    left.subAssign(share);
    at.addAssign(ACTION_TEXELS);
    place.addAssign(1);
    If(share.greaterThan(0), () => {
      body({ texel0, texel1: interpolate ? texel1 : texel0, alpha }, share);
    });
  });
}

/**
 * Twin of `skinningMatrixGLSL`: the weighted sum of the vertex's joints, as rows. Builds on the current stack.
 *
 * @param morph Called for each clip that the instance shows, with a function that gives by how much the clip changes the
 * influence of a morph target.
 */
export function skinningMatrix(
  boneTexture: TexelNode,
  playback: PlaybackNodes,
  draw: DrawNodes,
  variant: VertexVariant,
  morph: ((influence: (i: Node<'int'>) => Node<'float'>) => void) | null = null,
): Rows {
  const { interpolate, morphs } = variant;
  const sum = zeroRows();
  eachClip(playback, draw, variant, (pose, share) => {
    addJoints(sum, jointMatrix(boneTexture, pose, share, interpolate), variant.influences);

    if (morphs && morph !== null) {
      morph((i) => {
        const at = ivec2(draw.morphTexel.add(i.div(4)), 0).toVar();
        const first = component(boneTexture.texel(pose.texel0.add(at)).toVar(), i).toVar();
        if (!interpolate) return first.mul(share);
        const second = component(boneTexture.texel(pose.texel1.add(at)).toVar(), i);
        return first.add(second.sub(first).mul(pose.alpha)).mul(share);
      });
    }
  });
  return sum;
}

/** Twin of `restMatrixGLSL`: the same where all instances show the rest pose. Builds on the current stack. */
export function restMatrix(
  boneTexture: TexelNode,
  part: PlaybackNodes['part'],
  variant: VertexVariant,
): Rows {
  const sum = zeroRows();
  const texel0 = ivec2(0, 0);
  const pose = { texel0, texel1: texel0, alpha: float(0) };
  addJoints(sum, jointMatrix(boneTexture, pose, shownShare(part, variant), false), variant.influences);
  return sum;
}

/** How much of a vertex is shown: nothing of hidden parts, whose vertices are all at one point. */
const shownShare = (part: PlaybackNodes['part'], { parts }: Pick<ShaderVariant, 'parts'>): Node<'float'> =>
  (parts ? clamp(part().w, 0, 1) : float(1)).toVar();

/** Twin of `jointMatrixGLSL`: reads a joint's skinning matrix in one clip's part of a pose, times a weight and the clip's share. */
const jointMatrix =
  (
    boneTexture: TexelNode,
    { texel0, texel1, alpha }: LayerNodes,
    share: Node<'float'>,
    interpolate: boolean,
  ) =>
  (joint: Node<'int'>, followed: Node<'float'>): Rows => {
    const weight = followed.mul(share).toVar();
    const row = (texel: Node<'ivec2'>, i: number) =>
      boneTexture.texel(texel.add(ivec2(joint.mul(3).add(i), 0)));
    const weight1 = weight.mul(alpha).toVar();
    const weight0 = weight.sub(weight1).toVar();
    const mixed = (i: number) =>
      interpolate ? weight0.mul(row(texel0, i)).add(weight1.mul(row(texel1, i))) : weight.mul(row(texel0, i));
    return [mixed(0), mixed(1), mixed(2)];
  };
