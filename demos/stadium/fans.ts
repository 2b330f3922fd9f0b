import {
  type AnimationClip,
  type BufferGeometry,
  CylinderGeometry,
  Float32BufferAttribute,
  Group,
  IcosahedronGeometry,
  MathUtils,
  MeshStandardMaterial,
  OctahedronGeometry,
  Quaternion,
  Skeleton,
  SkinnedMesh,
  Uint16BufferAttribute,
  Vector3,
} from 'three';
import { mergeBufferGeometries } from 'three-stdlib';
import { type Motion, recordClip } from '../character/clips.js';
import { createBones } from '../character/skeleton.js';

/** Seconds that a wave takes round the stadium. */
export const ROUND = 14;

const UP = new Vector3(0, 1, 0);

/**
 * Somebody in the stands with as few vertices as the distance allows.
 *
 * @param sides Of arms, legs and body; with 3 there are neither legs, which a row in front hides, nor hair.
 */
export function createFan(sides: number): Group {
  const bones = createBones();
  const root = new Group();
  root.add(bones[0]);
  root.updateMatrixWorld(true);
  const place = (name: string) => bones.find((bone) => bone.name === name)!.getWorldPosition(new Vector3());
  const material = new MeshStandardMaterial({ name: 'Person', vertexColors: true, roughness: 0.8 });
  const skeleton = new Skeleton(bones);

  /** Moves with one joint. */
  const bound = (geometry: BufferGeometry, joint: string): BufferGeometry => {
    const { count } = geometry.getAttribute('position');
    const index = bones.findIndex((bone) => bone.name === joint);
    const indices = Array.from({ length: 4 * count }, (_, i) => (i % 4 === 0 ? index : 0));
    const weights = Array.from({ length: 4 * count }, (_, i) => (i % 4 === 0 ? 1 : 0));
    geometry.setAttribute('skinIndex', new Uint16BufferAttribute(indices, 4));
    geometry.setAttribute('skinWeight', new Float32BufferAttribute(weights, 4));
    geometry.setAttribute('color', new Float32BufferAttribute(new Array(3 * count).fill(1), 3));
    geometry.deleteAttribute('uv');
    return geometry;
  };
  const limb = (joint: string, from: Vector3, to: Vector3, thick: number, thin: number) => {
    const way = to.clone().sub(from);
    const geometry = new CylinderGeometry(thin, thick, way.length(), sides, 1, true);
    geometry.applyQuaternion(new Quaternion().setFromUnitVectors(UP, way.clone().normalize()));
    return bound(geometry.translate(...from.clone().addScaledVector(way, 0.5).toArray()), joint);
  };
  const ball = (radius: number, at: Vector3) => {
    const geometry = sides > 3 ? new IcosahedronGeometry(radius, 0) : new OctahedronGeometry(radius, 0);
    const count = geometry.getAttribute('position').count;
    geometry.setIndex(Array.from({ length: count }, (_, i) => i));
    return bound(geometry.translate(at.x, at.y, at.z), 'Head');
  };
  const head = place('Head').add(new Vector3(0, 0.1, 0.01));
  const neck = place('Neck');
  const pieces: Record<string, BufferGeometry[]> = {
    Skin: [ball(0.135, head)],
    Hair: [],
    Shirt: [],
    Trousers: [],
  };
  if (sides > 3) pieces.Hair.push(ball(0.14, head.clone().add(new Vector3(0, 0.035, -0.03))));
  pieces.Shirt.push(limb('Chest', place('Hips'), neck, 0.15, 0.17).scale(1, 1, 0.75));
  for (const side of ['Left', 'Right']) {
    const [shoulder, elbow, hand] = ['UpperArm', 'LowerArm', 'Hand'].map((joint) => place(side + joint));
    pieces.Shirt.push(limb(`${side}UpperArm`, shoulder, elbow, 0.07, 0.055));
    const fingers = hand.clone().add(hand.clone().sub(elbow).multiplyScalar(0.6));
    pieces.Skin.push(limb(`${side}LowerArm`, elbow, fingers, 0.05, 0.04));
    if (sides === 3) continue;
    const [hip, knee, foot] = ['UpperLeg', 'LowerLeg', 'Foot'].map((joint) => place(side + joint));
    pieces.Trousers.push(limb(`${side}UpperLeg`, hip, knee, 0.095, 0.07));
    pieces.Trousers.push(limb(`${side}LowerLeg`, knee, foot, 0.068, 0.05));
  }
  for (const [name, geometries] of Object.entries(pieces)) {
    if (geometries.length === 0) continue;
    const mesh = new SkinnedMesh(mergeBufferGeometries(geometries)!, material);
    mesh.name = name;
    root.add(mesh);
    mesh.bind(skeleton);
  }
  return root;
}

/** Sits, and once in a round gets up with both arms in the air. */
const wave: Motion = (pose, phase) => {
  const time = phase * ROUND;
  const up = MathUtils.smoothstep(time, 1, 1.6) - MathUtils.smoothstep(time, 2.2, 2.9);
  const sway = Math.sin(6 * phase * 2 * Math.PI);
  sit(pose, up, sway);
  for (const side of ['Left', 'Right'] as const)
    pose.arm(side, { spread: 12 + 12 * up, swing: 38 + 130 * up, elbow: 60 - 45 * up + 4 * sway });
};

/** Jumps for joy. */
const joy: Motion = (pose, phase) => {
  const bounce = Math.abs(Math.sin(2 * phase * Math.PI));
  sit(pose, 0.9 + 0.25 * bounce, 0);
  for (const side of ['Left', 'Right'] as const)
    pose.arm(side, { spread: 25 + 20 * bounce, swing: 150 + 20 * bounce, elbow: 30 - 20 * bounce });
};

/** @param up From 0, sitting, to 1, standing. */
function sit(pose: Parameters<Motion>[0], up: number, sway: number): void {
  pose.hips.add({ x: 0, y: -0.45 * (1 - up), z: -0.12 * (1 - up) });
  pose.turn('Spine', 6 * (1 - up), 5 * sway);
  pose.turn('Head', 0, 9 * sway);
  for (const side of ['Left', 'Right'] as const)
    pose.foot(side, { x: 0.11, z: 0.24 * (1 - Math.min(1, up)), lift: Math.max(0, up - 1) * 0.7 });
}

export const createFanClips = (): AnimationClip[] => [
  recordClip('Wave', ROUND, wave),
  recordClip('Joy', 0.9, joy),
];
