import * as THREE from 'three';
import {
  AdditiveAnimationBlendMode,
  AnimationClip,
  Bone,
  BufferGeometry,
  DetachedBindMode,
  type EulerOrder,
  Float32BufferAttribute,
  Group,
  InterpolateDiscrete,
  type KeyframeTrack,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  NumberKeyframeTrack,
  Object3D,
  QuaternionKeyframeTrack,
  Skeleton,
  SkinnedMesh,
  Uint16BufferAttribute,
  Vector3,
  VectorKeyframeTrack,
} from 'three';
import { Dice } from './fuzz/Dice.js';

const ORDERS: EulerOrder[] = ['XYZ', 'YXZ', 'ZXY', 'ZYX', 'YZX', 'XZY'];

export interface RandomCharacter {
  root: Group;
  clips: AnimationClip[];
  /** Whether a skin is bound detached, which reads bones relative to the root and so wants an instance at its origin. */
  detached: boolean;
}

/** Numbers drawn from one seed, by threes and fours too. */
class Numbers extends Dice {
  between(low: number, high: number): number {
    return low + (high - low) * this.next();
  }

  whole(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1));
  }

  three(size: number): [number, number, number] {
    return [this.between(-size, size), this.between(-size, size), this.between(-size, size)];
  }

  /** Mostly one number for all axes; also uneven ones, and ones that mirror. */
  scale(): [number, number, number] {
    const kind = this.next();
    if (kind < 0.5) return [1, 1, 1];
    const size = this.between(0.5, 1.6);
    if (kind < 0.7) return [size, size, size];
    const uneven: [number, number, number] = [size, this.between(0.5, 1.6), this.between(0.5, 1.6)];
    if (kind > 0.85) uneven[this.whole(0, 2)] *= -1;
    return uneven;
  }

  quaternion(): number[] {
    const q = [this.between(-1, 1), this.between(-1, 1), this.between(-1, 1), this.between(-1, 1)];
    const length = Math.hypot(...q) || 1;
    return q.map((value) => value / length);
  }
}

/**
 * A character made by chance, the same for the same seed: a tree of bones and other nodes, skins of several kinds, rigid
 * meshes and morph targets, and two clips with every kind of track that moves them.
 *
 * @param cubic See `cubicSpline`.
 */
export function randomCharacter(
  seed: number,
  cubic: (track: KeyframeTrack) => KeyframeTrack,
): RandomCharacter {
  const dice = new Numbers(seed);
  const root = new Group();
  root.name = 'Root';
  stand(root, dice);

  const nodes: Object3D[] = [];
  for (let i = dice.whole(2, 7); i >= 0; i--) {
    const node = nodes.length === 0 || dice.chance(0.7) ? new Bone() : new Object3D();
    node.name = `Node${nodes.length}`;
    stand(node, dice);
    (nodes.length === 0 || dice.chance(0.2) ? root : dice.pick(nodes)).add(node);
    nodes.push(node);
  }
  const bones = nodes.filter((node): node is Bone => (node as Bone).isBone);

  const meshes: Mesh[] = [];
  const skins = dice.whole(0, 3);
  let detached = false;
  let skeleton: Skeleton | null = null;
  for (let i = 0; i < skins; i++) {
    const mesh = new SkinnedMesh(new BufferGeometry(), new MeshBasicMaterial());
    mesh.name = `Skin${i}`;
    stand(mesh, dice);
    (dice.chance(0.6) ? root : dice.pick(nodes)).add(mesh);
    root.updateMatrixWorld(true);
    if (skeleton === null || dice.chance(0.6)) {
      const chosen = bones.filter(() => dice.chance(0.7));
      skeleton = new Skeleton(chosen.length > 0 ? chosen : [bones[0]]);
      if (dice.chance(0.3)) for (const inverse of skeleton.boneInverses) place(inverse, dice);
    }
    mesh.bind(skeleton, dice.chance(0.5) ? undefined : place(new Matrix4(), dice));
    if (dice.chance(0.2)) {
      mesh.bindMode = DetachedBindMode;
      detached = true;
    }
    fill(mesh, dice, skeleton.bones.length);
    meshes.push(mesh);
  }
  for (let i = dice.whole(skins === 0 ? 1 : 0, 2); i > 0; i--) {
    const mesh = new Mesh(new BufferGeometry(), new MeshBasicMaterial());
    mesh.name = `Rigid${meshes.length}`;
    stand(mesh, dice);
    dice.pick([root, ...nodes]).add(mesh);
    fill(mesh, dice, 0);
    meshes.push(mesh);
  }

  const clips = ['One', 'Two'].map((name) => {
    const duration = dice.between(0.3, 2);
    const tracks = [...nodes, ...meshes].flatMap((node) =>
      dice.chance(0.6) ? tracksOf(node, meshes, duration, dice, cubic) : [],
    );
    if (tracks.length === 0) tracks.push(turn('Node0', [0, duration], dice));
    const clip = new AnimationClip(name, duration, tracks);
    if (dice.chance(0.15)) clip.blendMode = AdditiveAnimationBlendMode;
    return clip;
  });
  return { root, clips, detached };
}

/** Gives an object a place, angles past 90° among them. */
function stand(object: Object3D, dice: Numbers): void {
  object.position.set(...dice.three(0.5));
  object.rotation.set(...dice.three(3), dice.pick(ORDERS));
  object.scale.set(...dice.scale());
  // Newer three.js has pivots.
  if ('pivot' in object && dice.chance(0.1)) object.pivot = new Vector3(...dice.three(0.3));
  if (dice.chance(0.05)) {
    object.updateMatrix();
    object.matrixAutoUpdate = false;
  }
}

function place(matrix: Matrix4, dice: Numbers): Matrix4 {
  const object = new Object3D();
  object.position.set(...dice.three(0.5));
  object.quaternion.fromArray(dice.quaternion());
  object.scale.set(...dice.scale());
  object.updateMatrix();
  return matrix.copy(object.matrix);
}

/** Gives a mesh ten vertices, weights, and now and then morph targets. */
function fill(mesh: Mesh, dice: Numbers, bones: number): void {
  const count = 9;
  const vectors = (size: number) =>
    new Float32BufferAttribute(Array.from({ length: count }, () => dice.three(size)).flat(), 3);
  const { geometry } = mesh;
  geometry.setAttribute('position', vectors(1));
  if (dice.chance(0.5)) geometry.setIndex(Array.from({ length: 12 }, () => dice.whole(0, count - 1)));
  if (bones > 0) {
    const indices: number[] = [];
    const weights: number[] = [];
    for (let i = 0; i < count; i++) {
      const four = [dice.next() + 0.01, dice.next(), dice.next(), dice.next()].map((weight, k) =>
        k > 0 && dice.chance(0.4) ? 0 : weight,
      );
      const sum = four.reduce((a, b) => a + b);
      weights.push(...four.map((weight) => weight / sum));
      // what has no weight may name a joint that is not there
      indices.push(...four.map((weight) => (weight > 0 ? dice.whole(0, bones - 1) : dice.whole(0, 999))));
    }
    geometry.setAttribute('skinIndex', new Uint16BufferAttribute(indices, 4));
    geometry.setAttribute('skinWeight', new Float32BufferAttribute(weights, 4));
  }
  if (dice.chance(0.3)) {
    geometry.morphAttributes.position = [vectors(0.5), vectors(0.5)];
    geometry.morphTargetsRelative = dice.chance(0.5);
    mesh.updateMorphTargets();
    mesh.morphTargetInfluences = [dice.next(), dice.chance(0.5) ? 0 : dice.next()];
  }
}

/** Times from the beginning to the end of a clip, or not quite. */
function keyTimes(duration: number, dice: Numbers): number[] {
  const times = Array.from({ length: dice.whole(1, 5) }, () => dice.between(0, duration));
  if (dice.chance(0.7)) times.push(0, duration);
  // Two keys at one time are a jump.
  if (dice.chance(0.1)) times.push(times[0]);
  return times.sort((a, b) => a - b);
}

function turn(node: string, times: number[], dice: Numbers): KeyframeTrack {
  const values = times.flatMap(() => dice.quaternion());
  return new QuaternionKeyframeTrack(`${node}.quaternion`, times, values);
}

/** Some tracks of a node: no two of them move the same property, which three.js would mix. */
function tracksOf(
  node: Object3D,
  meshes: readonly Mesh[],
  duration: number,
  dice: Numbers,
  cubic: (track: KeyframeTrack) => KeyframeTrack,
): KeyframeTrack[] {
  const tracks: KeyframeTrack[] = [];
  const name = nameOf(node, meshes, dice);
  /** Adds a track whose keys are drawn with `draw`, in one of the ways in which there may be something between keys. */
  const add = (property: string, kind: typeof VectorKeyframeTrack, draw: () => number[]) => {
    const times = keyTimes(duration, dice);
    const way = dice.next();
    const splined = way > 0.8;
    const values = times.flatMap(() =>
      splined
        ? [...draw().map(() => dice.between(-1, 1)), ...draw(), ...draw().map(() => dice.between(-1, 1))]
        : draw(),
    );
    const track = new kind(`${name}.${property}`, times, values);
    if (splined) cubic(track);
    else if (way > 0.65) track.setInterpolation(InterpolateDiscrete);
    else if (way > 0.6) bend(track, dice);
    tracks.push(track);
  };
  const number = NumberKeyframeTrack as unknown as typeof VectorKeyframeTrack;
  const quaternion = QuaternionKeyframeTrack as unknown as typeof VectorKeyframeTrack;

  const place = dice.next();
  if (place < 0.3) add('position', VectorKeyframeTrack, () => dice.three(0.6));
  else if (place < 0.5)
    add(`position[${dice.pick(['x', 'y', 'z'])}]`, number, () => dice.three(0.6).slice(2));

  const turning = dice.next();
  if (turning < 0.35) add('quaternion', quaternion, () => dice.quaternion());
  else if (turning < 0.7) {
    for (const axis of ['x', 'y', 'z'].filter(() => dice.chance(0.6)))
      add(`rotation[${axis}]`, number, () => [dice.between(-7, 7)]);
  } else if (turning < 0.75) add('quaternion[w]', number, () => [dice.between(0.5, 1)]);

  const size = dice.next();
  const nothing = dice.chance(0.1);
  if (size < 0.25)
    add('scale', VectorKeyframeTrack, () => (nothing && dice.chance(0.5) ? [0, 0, 0] : dice.scale()));
  else if (size < 0.35) add(`scale[${dice.pick(['x', 'y', 'z'])}]`, number, () => dice.scale().slice(2));

  const { morphTargetInfluences } = node as Mesh;
  if (morphTargetInfluences !== undefined) {
    if (dice.chance(0.5))
      add('morphTargetInfluences', number, () => morphTargetInfluences.map(() => dice.next()));
    else add(`morphTargetInfluences[${dice.whole(0, 1)}]`, number, () => [dice.next()]);
  }
  return tracks;
}

/** A node is called by its name, or as a bone of a mesh. */
function nameOf(node: Object3D, meshes: readonly Mesh[], dice: Numbers): string {
  const owner = meshes.find((mesh) => (mesh as SkinnedMesh).skeleton?.bones.includes(node as Bone));
  return owner !== undefined && dice.chance(0.3) ? `${owner.name}.bones[${node.name}]` : node.name;
}

/** Newer three.js has Bézier tracks, with tangents of times and values beside the values. */
function bend(track: KeyframeTrack, dice: Numbers): void {
  const { InterpolateBezier } = THREE as { InterpolateBezier?: number };
  if (InterpolateBezier === undefined || track.ValueTypeName === 'quaternion') return;
  const size = track.getValueSize();
  const tangents = (side: number) =>
    Float32Array.from({ length: track.values.length * 2 }, (_, i) => {
      if (i % 2 === 1) return track.values[i >> 1] + dice.between(-0.3, 0.3);
      const key = Math.floor((i >> 1) / size);
      const other = track.times[key + side] ?? track.times[key];
      return track.times[key] + (other - track.times[key]) / 3;
    });
  track.setInterpolation(InterpolateBezier as never);
  Object.assign(track, { settings: { inTangents: tangents(-1), outTangents: tangents(1) } });
}
