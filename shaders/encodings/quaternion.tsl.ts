import { cross, dot, ivec2, length, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import type { JointMatrixNodes } from './matrix.tsl.js';

/** Twin of `quaternion.glsl.ts`. */
export const jointMatrix_quaternion: JointMatrixNodes = (
  boneTexture,
  { texel0, texel1, alpha },
  weight,
  joint,
  interpolate,
) => {
  const texel = (frame: Node<'ivec2'>, i: number) =>
    boneTexture.texel(frame.add(ivec2(joint.mul(2).add(i), 0)));

  const q = texel(texel0, 0).toVar();
  const d = texel(texel0, 1).toVar();
  const scale = length(q).toVar();
  q.divAssign(scale);

  if (interpolate) {
    const r = texel(texel1, 0).toVar();
    const scale1 = length(r).toVar();
    q.addAssign(r.div(scale1).sub(q).mul(alpha));
    d.addAssign(texel(texel1, 1).sub(d).mul(alpha));
    scale.addAssign(scale1.sub(scale).mul(alpha));
  }

  scale.mulAssign(weight);
  const s = dot(q, q).reciprocal().mul(2).toVar();
  const t = d.xyz.mul(q.w).sub(q.xyz.mul(d.w)).add(cross(q.xyz, d.xyz)).mul(s.mul(weight)).toVar();
  const v = q.xyz.mul(s.mul(scale)).toVar();
  const square = v.mul(q.xyz).toVar();
  const xy = v.x.mul(q.y).toVar();
  const xz = v.x.mul(q.z).toVar();
  const yz = v.y.mul(q.z).toVar();
  const turn = v.mul(q.w).toVar();

  return [
    vec4(scale.sub(square.y).sub(square.z), xy.sub(turn.z), xz.add(turn.y), t.x),
    vec4(xy.add(turn.z), scale.sub(square.x).sub(square.z), yz.sub(turn.x), t.y),
    vec4(xz.sub(turn.y), yz.add(turn.x), scale.sub(square.x).sub(square.y), t.z),
  ];
};
