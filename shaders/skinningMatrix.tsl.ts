import { attribute, Break, floor, If, int, ivec2, Loop, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { jointMatrix_matrix, type Rows } from './encodings/matrix.tsl.js';
import { jointMatrix_quaternion } from './encodings/quaternion.tsl.js';
import { frameAt } from './frameAt.tsl.js';
import type { ShaderVariant } from './ShaderVariant.js';
import type { TexelNode } from './TexelNode.js';

const JOINT_MATRIX = { matrix: jointMatrix_matrix, quaternion: jointMatrix_quaternion };

/** Playback state of the instance drawn: `instanceLayout`'s first four values, and its next two. */
export interface PlaybackNodes {
  clip: Node<'vec4'>;
  timing: Node<'vec2'>;
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
  { clip, timing }: PlaybackNodes,
  { clock, rows, stride }: DrawNodes,
  { encoding, interpolate, influences }: ShaderVariant,
): Rows {
  const frameTexel = (frame: Node<'float'>): Node<'ivec2'> => {
    const column = floor(frame.add(0.5).div(rows)).toVar();
    return ivec2(int(column.mul(stride)), int(frame.sub(column.mul(rows))));
  };

  const mixed = frameAt(clock, clip.x, clip.y, clip.z, clip.w, timing.x, timing.y, interpolate);
  const texel0 = frameTexel(mixed.frame0).toVar();
  const texel1 = interpolate ? frameTexel(mixed.frame1).toVar() : texel0;

  const joints = vec4(attribute<'vec4'>('skinIndex', 'vec4')).toVar();
  const weights = vec4(attribute<'vec4'>('skinWeight', 'vec4')).toVar();
  const row0 = vec4(0).toVar();
  const row1 = vec4(0).toVar();
  const row2 = vec4(0).toVar();

  Loop(influences, () => {
    If(weights.x.lessThanEqual(0), () => {
      Break();
    });
    const joint = int(joints.x).toVar();
    const [a, b, c] = JOINT_MATRIX[encoding](
      boneTexture,
      texel0,
      texel1,
      mixed.alpha,
      weights.x,
      joint,
      interpolate,
    );
    row0.addAssign(a);
    row1.addAssign(b);
    row2.addAssign(c);
    joints.assign(joints.yzwx);
    weights.assign(weights.yzwx);
  });

  return [row0, row1, row2];
}
