import { attribute, Break, clamp, float, floor, If, int, ivec2, Loop, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { jointBlend_matrix, jointMatrix_matrix, type LayerNodes, type Rows } from './encodings/matrix.tsl.js';
import { jointBlend_quaternion, jointMatrix_quaternion } from './encodings/quaternion.tsl.js';
import { frameAt } from './frameAt.tsl.js';
import type { ShaderVariant } from './ShaderVariant.js';
import type { TexelNode } from './TexelNode.js';

const JOINT_MATRIX = { matrix: jointMatrix_matrix, quaternion: jointMatrix_quaternion };
const JOINT_BLEND = { matrix: jointBlend_matrix, quaternion: jointBlend_quaternion };

/** One slot of the instance drawn; see `instanceLayout`. */
export interface SlotNodes {
  clip: Node<'vec4'>;
  timing: Node<'vec4'>;
}

/** Playback state of the instance drawn. */
export interface PlaybackNodes extends SlotNodes {
  /** Reads the two slots that fade out; called where a stack is built that only instances that fade run. */
  older(): [SlotNodes, SlotNodes];
}

/** What a draw tells the shader; see `DrawParameters`. */
export interface DrawNodes {
  clock: Node<'float'>;
  rows: Node<'float'>;
  stride: Node<'float'>;
}

/** Twin of `skinningMatrix.glsl.ts`: the weighted sum of the vertex's joints, as rows. Builds on the current stack. */
export function skinningMatrix(
  boneTexture: TexelNode,
  playback: PlaybackNodes,
  { clock, rows, stride }: DrawNodes,
  { encoding, interpolate, influences }: ShaderVariant,
): Rows {
  const frameTexel = (frame: Node<'float'>): Node<'ivec2'> => {
    const column = floor(frame.add(0.5).div(rows)).toVar();
    return ivec2(int(column.mul(stride)), int(frame.sub(column.mul(rows))));
  };

  const poseLayer = (
    { clip, timing }: SlotNodes,
    warp: Node<'float'> | null,
    weight: Node<'float'>,
  ): LayerNodes => {
    const time = warp === null ? clip.z : clip.z.add(warp);
    const mixed = frameAt(clock, clip.x, clip.y, time, clip.w, timing.x, timing.y, interpolate);
    const texel0 = frameTexel(mixed.frame0).toVar();
    const texel1 = interpolate ? frameTexel(mixed.frame1).toVar() : texel0;
    return { texel0, texel1, alpha: mixed.alpha, weight };
  };

  const olderWeight = ({ timing }: SlotNodes): Node<'float'> =>
    clamp(timing.z.sub(clock.mul(timing.w)), 0, 1).toVar() as Node<'float'>;

  const fadingLayers = (faded: Node<'float'>): readonly [LayerNodes, LayerNodes, LayerNodes] => {
    const [second, third] = playback.older();
    const left = faded.oneMinus().toVar();
    const oldest = olderWeight(second);
    const warps = third.timing;
    return [
      poseLayer(playback, warps.z.mul(faded).mul(faded), left),
      poseLayer(second, warps.w.mul(left).mul(left), faded.mul(oldest.oneMinus()).toVar()),
      poseLayer(third, null, faded.mul(oldest).toVar()),
    ];
  };

  const sum = [vec4(0).toVar(), vec4(0).toVar(), vec4(0).toVar()] as Rows;
  const sumJoints = (matrixOf: (weight: Node<'float'>, joint: Node<'int'>) => Rows) => {
    const joints = vec4(attribute<'vec4'>('skinIndex', 'vec4')).toVar();
    const weights = vec4(attribute<'vec4'>('skinWeight', 'vec4')).toVar();
    Loop(influences, () => {
      If(weights.x.lessThanEqual(0), () => {
        Break();
      });
      matrixOf(weights.x, int(joints.x).toVar()).forEach((row, i) => {
        sum[i].addAssign(row);
      });
      joints.assign(joints.yzwx);
      weights.assign(weights.yzwx);
    });
  };

  const faded = olderWeight(playback);
  If(faded.greaterThan(0), () => {
    const layers = fadingLayers(faded);
    sumJoints((weight, joint) => JOINT_BLEND[encoding](boneTexture, layers, weight, joint, interpolate));
  }).Else(() => {
    const pose = poseLayer(playback, null, float(1));
    sumJoints((weight, joint) => JOINT_MATRIX[encoding](boneTexture, pose, weight, joint, interpolate));
  });
  return sum;
}
