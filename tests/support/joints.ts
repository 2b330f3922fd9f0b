import {
  AnimationClip,
  Bone,
  BoxGeometry,
  Float32BufferAttribute,
  type KeyframeTrack,
  MeshStandardMaterial,
  NumberKeyframeTrack,
  Quaternion,
  QuaternionKeyframeTrack,
  Skeleton,
  SkinnedMesh,
  Uint16BufferAttribute,
  Vector3,
} from 'three';

/**
 * A box on so many joints 0.1 apart, which all turn, with a morph target that a clip stretches it by.
 *
 * @param parentOf The joint that another hangs on: the one before it makes a chain, the one of half its number a bush.
 */
export function createJoints(
  count: number,
  parentOf: (joint: number) => number,
): { root: SkinnedMesh; clips: AnimationClip[] } {
  const joints = Array.from({ length: count }, (_, i) => Object.assign(new Bone(), { name: `joint${i}` }));
  for (let i = 1; i < joints.length; i++) joints[parentOf(i)].add(joints[i].translateY(0.1));
  const geometry = new BoxGeometry(0.1, count / 10, 0.1, 1, 25, 1);
  const position = geometry.getAttribute('position');
  const indices = new Uint16Array(position.count * 4);
  const weights = new Float32Array(position.count * 4);
  for (let i = 0; i < position.count; i++) {
    indices[i * 4] = Math.floor((i / position.count) * joints.length);
    weights[i * 4] = 1;
  }
  geometry.setAttribute('skinIndex', new Uint16BufferAttribute(indices, 4));
  geometry.setAttribute('skinWeight', new Float32BufferAttribute(weights, 4));
  geometry.morphAttributes.position = [new Float32BufferAttribute(position.array.slice(), 3)];
  geometry.morphTargetsRelative = true;
  const mesh = new SkinnedMesh(geometry, new MeshStandardMaterial());
  mesh.name = 'mesh';
  mesh.add(joints[0]);
  mesh.bind(new Skeleton(joints));
  const axis = new Vector3(0, 0, 1);
  const tracks: KeyframeTrack[] = joints.map(({ name }, i) => {
    const turned = new Quaternion().setFromAxisAngle(axis, 0.02 + i * 1e-4);
    return new QuaternionKeyframeTrack(`${name}.quaternion`, [0, 1], [0, 0, 0, 1, ...turned.toArray()]);
  });
  tracks.push(new NumberKeyframeTrack('.morphTargetInfluences[0]', [0, 1], [0, 0.5]));
  return { root: mesh, clips: [new AnimationClip('turn', 1, tracks)] };
}
