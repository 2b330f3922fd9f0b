import { abs, cross, dot, float, If, ivec2, length, min, select, smoothstep, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { FAR_APART, LEAST_WEIGHT } from '../../lib/texture/encodings/quaternion.js';
import type { TexelNode } from '../TexelNode.js';
import type { LayerNodes, Rows } from './matrix.tsl.js';

interface DualQuaternion {
  q: Node<'vec4'>;
  d: Node<'vec4'>;
  scale: Node<'float'>;
}

function jointPose(
  boneTexture: TexelNode,
  { texel0, texel1, alpha }: LayerNodes,
  joint: Node<'int'>,
  interpolate: boolean,
): DualQuaternion {
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
  return { q, d, scale };
}

function poseMatrix({ q, d, scale: unweighted }: DualQuaternion, weight: Node<'float'>): Rows {
  const scale = unweighted.mul(weight).toVar();
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
}

/** Twin of `quaternion.glsl.ts`. */
export function jointMatrix_quaternion(
  boneTexture: TexelNode,
  layer: LayerNodes,
  weight: Node<'float'>,
  joint: Node<'int'>,
  interpolate: boolean,
): Rows {
  return poseMatrix(jointPose(boneTexture, layer, joint, interpolate), weight);
}

/** Twin of `quaternion.glsl.ts`. */
export function jointBlend_quaternion(
  boneTexture: TexelNode,
  [first, second, third]: readonly [LayerNodes, LayerNodes, LayerNodes],
  weight: Node<'float'>,
  joint: Node<'int'>,
  interpolate: boolean,
): Rows {
  const a = jointPose(boneTexture, first, joint, interpolate);
  const b = jointPose(boneTexture, second, joint, interpolate);
  const cosine = dot(a.q, b.q).div(length(a.q)).toVar() as Node<'float'>;
  const linear = apart(cosine, first.weight, second.weight).toVar();
  const sum = {
    q: a.q.mul(first.weight).toVar(),
    d: a.d.mul(first.weight).toVar(),
    scale: a.scale.mul(first.weight).toVar(),
  };
  addPose(sum, b, cosine, second.weight);

  const skin = [vec4(0).toVar(), vec4(0).toVar(), vec4(0).toVar()] as Rows;
  const mixed = [vec4(0).toVar(), vec4(0).toVar(), vec4(0).toVar()] as Rows;
  const addMixed = (pose: DualQuaternion, layer: LayerNodes) => {
    poseMatrix(pose, weight.mul(layer.weight).toVar()).forEach((row, i) => {
      mixed[i].addAssign(row);
    });
  };

  If(third.weight.greaterThan(0), () => {
    const c = jointPose(boneTexture, third, joint, interpolate);
    const toSum = dot(sum.q, c.q).div(length(sum.q)).toVar() as Node<'float'>;
    linear.addAssign(linear.oneMinus().mul(apart(toSum, third.weight.oneMinus(), third.weight)));
    addPose(sum, c, toSum, third.weight);
    If(linear.greaterThan(0), () => addMixed(c, third));
  });

  poseMatrix(sum, weight).forEach((row, i) => {
    skin[i].assign(row);
  });
  If(linear.greaterThan(0), () => {
    addMixed(a, first);
    addMixed(b, second);
    skin.forEach((row, i) => {
      row.addAssign(mixed[i].sub(row).mul(linear));
    });
  });
  return skin;
}

function addPose(
  sum: DualQuaternion,
  pose: DualQuaternion,
  cosine: Node<'float'>,
  weight: Node<'float'>,
): void {
  const turned = select(cosine.lessThan(0), weight.negate(), weight).toVar();
  sum.q.addAssign(pose.q.mul(turned));
  sum.d.addAssign(pose.d.mul(turned));
  sum.scale.addAssign(pose.scale.mul(weight));
}

function apart(cosine: Node<'float'>, weight0: Node<'float'>, weight1: Node<'float'>): Node<'float'> {
  const far = smoothstep(0, FAR_APART, abs(cosine)).oneMinus();
  return far.mul(min(float(1), min(weight0, weight1).mul(LEAST_WEIGHT))) as Node<'float'>;
}
