import { attribute, Break, clamp, float, floor, If, int, ivec2, ivec4, Loop, select, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { LOOP_MODES } from '../lib/constants.js';
import type { JointMatrixNodes, LayerNodes } from './encodings/matrix.tsl.js';
import { frameAt } from './frameAt.tsl.js';
import type { ShaderVariant } from './ShaderVariant.js';
import type { TexelNode } from './TexelNode.js';
import { type Rows, While, zeroRows } from './tsl.js';

/** One slot of the instance drawn; see `instanceLayout`. */
export interface SlotNodes {
  clip: Node<'vec4'>;
  timing: Node<'vec4'>;
}

/** Playback state of the instance drawn. */
export interface PlaybackNodes extends SlotNodes {
  /** Reads one of the slots that fade out, 0 or 1; called where a stack is built. */
  fading(slot: Node<'int'>): SlotNodes;
  /** Reads what the vertex's part looks like, see `InstanceParts`; called where the variant has parts. */
  part(): Node<'vec4'>;
}

/** What a draw tells the shader; see `drawSlots.tsl.ts`. */
export interface DrawNodes {
  clock: Node<'float'>;
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

/** What all clips that a draw shows have in common. */
export type ClockNodes = Pick<DrawNodes, 'clock' | 'rows' | 'stride'>;

/**
 * Twin of `eachClipGLSL` and, inside, of `poseLayerGLSL`: a loop over the clips that an instance shows. Builds on the current
 * stack.
 *
 * @param body Builds what is done with a clip's pose and its share of the whole.
 */
export function eachClip(
  playback: PlaybackNodes,
  { clock, rows, stride }: ClockNodes,
  variant: Pick<ShaderVariant, 'interpolate' | 'parts'>,
  body: (pose: LayerNodes, share: Node<'float'>) => void,
): void {
  const { interpolate } = variant;
  const frameTexel = (frame: Node<'float'>): Node<'ivec2'> => {
    const column = floor(frame.add(0.5).div(rows)).toVar();
    return ivec2(int(column.mul(stride)), int(frame.sub(column.mul(rows))));
  };

  const poseLayer = ({ clip, timing }: SlotNodes, ease: Node<'float'>): LayerNodes => {
    const count = floor(clip.y.mul(1 / LOOP_MODES)).toVar();
    const loop = clip.y.sub(count.mul(LOOP_MODES));
    const time = clip.z.add(clip.w.mul(ease).mul(ease));
    const mixed = frameAt(clock, clip.x, count, time, loop, timing.x, timing.y, interpolate);
    const texel0 = frameTexel(mixed.frame0).toVar();
    const texel1 = interpolate ? frameTexel(mixed.frame1).toVar() : texel0;
    return { texel0, texel1, alpha: mixed.alpha };
  };

  const fadingWeight = ({ timing }: SlotNodes) => clamp(timing.z.sub(clock.mul(timing.w)), 0, 1);

  const slot = { clip: vec4(playback.clip).toVar(), timing: vec4(playback.timing).toVar() };
  const fadingSlot = int(0).toVar();
  const ease = fadingWeight(slot).toVar();
  const left = shownShare(playback.part, variant);

  While(left.greaterThan(0), () => {
    const fading = left.mul(fadingWeight(slot)).toVar();
    const share = left.sub(fading).toVar();
    body(poseLayer(slot, ease), share);

    left.assign(fading);
    ease.assign(fading.oneMinus());
    If(left.greaterThan(0), () => {
      const { clip, timing } = playback.fading(fadingSlot);
      slot.clip.assign(clip);
      slot.timing.assign(timing);
      fadingSlot.addAssign(1);
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
  jointMatrix: JointMatrixNodes,
  playback: PlaybackNodes,
  draw: DrawNodes,
  variant: ShaderVariant,
  morph: ((influence: (i: Node<'int'>) => Node<'float'>) => void) | null = null,
): Rows {
  const { interpolate, morphs } = variant;
  const sum = zeroRows();
  eachClip(playback, draw, variant, (pose, share) => {
    addJoints(sum, boneTexture, jointMatrix, pose, share, variant, interpolate);

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
  jointMatrix: JointMatrixNodes,
  part: PlaybackNodes['part'],
  variant: ShaderVariant,
): Rows {
  const sum = zeroRows();
  const texel0 = ivec2(0, 0);
  const pose = { texel0, texel1: texel0, alpha: float(0) };
  addJoints(sum, boneTexture, jointMatrix, pose, shownShare(part, variant), variant, false);
  return sum;
}

/** How much of a vertex is shown: nothing of hidden parts, whose vertices are all at one point. */
const shownShare = (part: PlaybackNodes['part'], { parts }: Pick<ShaderVariant, 'parts'>): Node<'float'> =>
  (parts ? clamp(part().w, 0, 1) : float(1)).toVar();

/** Adds up the vertex's joints in a pose, times a share. */
function addJoints(
  sum: Rows,
  boneTexture: TexelNode,
  jointMatrix: JointMatrixNodes,
  pose: LayerNodes,
  share: Node<'float'>,
  { influences }: ShaderVariant,
  interpolate: boolean,
): void {
  const joints = ivec4(attribute<'ivec4'>('skinIndex', 'ivec4')).toVar();
  const weights = vec4(attribute<'vec4'>('skinWeight', 'vec4')).toVar();
  // A variant may follow fewer joints than the geometry has: then weights of those it follows add up to 1 again.
  if (influences === 1) weights.x.assign(1);
  if (influences === 2) weights.divAssign(weights.x.add(weights.y));

  Loop(influences, () => {
    If(weights.x.lessThanEqual(0), () => {
      Break();
    });
    const weight = weights.x.mul(share).toVar();
    const joint = joints.x.toVar();
    jointMatrix(boneTexture, pose, weight, joint, interpolate).forEach((row, i) => {
      sum[i].addAssign(row);
    });
    joints.assign(joints.yzwx);
    weights.assign(weights.yzwx);
  });
}
