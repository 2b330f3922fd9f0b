import {
  type AnimationClip,
  type Bone,
  Euler,
  Interpolant,
  InterpolateDiscrete,
  KeyframeTrack,
  Object3D,
  Quaternion,
  QuaternionKeyframeTrack,
  type SkinnedMesh,
  Vector3,
} from 'three';
import type { BoneTextureData, EncodingName } from '../animation/BoneTextureData.js';
import type { Rig, RigPart } from '../animation/Rig.js';
import type { BakedCharacter, BakeOptions } from '../baking/BakeOptions.js';
import type { PlannedClip } from '../baking/planClips.js';
import type { RootMotionOptions } from '../baking/rootMotion.js';
import type { Steps } from '../utils/slices.js';

/** What a worker is sent: the clips, one by one, then what to do with them. */
export type ToWorker =
  | { kind: 'clip'; clip: SentClip }
  | {
      kind: 'bake';
      character: Omit<BakedCharacter, 'rig'> & { rig: SentRig };
      values: Pick<BakeOptions, 'precision' | 'maxTextureSize' | 'maxError'>;
      rootMotion: RootMotionOptions | null;
      encoding: EncodingName;
    };

/** How a worker's baking ends, and what it warns of. */
export type Outcome = ({ kind: 'data'; data: BoneTextureData } | { kind: 'error'; error: unknown }) & {
  /** Texts, and whether each is to be shown but once. */
  warnings: { text: string; once: boolean }[];
};

/** What a worker answers. */
export type FromWorker = { kind: 'progress'; share: number } | Outcome;

/** A clip as a worker is sent it: what baking reads of it, and no more. */
type SentClip = Omit<PlannedClip, 'clip'> & {
  clip: Pick<AnimationClip, 'name' | 'duration' | 'blendMode'>;
  tracks: SentTrack[];
};

/** A track, with how it is played. */
interface SentTrack {
  name: string;
  isQuaternion: boolean;
  /** One of three.js's constants, or `GLTF_SPLINE`. */
  interpolation: number;
  times: ArrayLike<number>;
  values: ArrayLike<number>;
  /** Tangents, of Bézier tracks alone. */
  settings?: Record<string, ArrayLike<number>>;
}

/**
 * Copies a clip into what a worker can be sent. Tracks that share an array share it there too. Arrays of a loaded file are mostly
 * views of one large buffer, which sending them as they are would copy whole, for each clip anew.
 *
 * @param buffers Takes up those of the copies.
 * @returns The track that cannot be sent, since it has code of its own, if there is one.
 */
export function* packClip(
  { clip: { name, duration, blendMode, tracks }, ...planned }: PlannedClip,
  buffers: Transferable[],
): Steps<SentClip | KeyframeTrack> {
  const copies = new Map<ArrayLike<number>, ArrayLike<number>>();
  const copy = (array: ArrayLike<number>): ArrayLike<number> => {
    const known = copies.get(array);
    if (known !== undefined) return known;
    const made = (array as Float32Array).slice();
    if (ArrayBuffer.isView(made)) buffers.push(made.buffer);
    copies.set(array, made);
    return made;
  };
  const sent: SentTrack[] = [];
  for (const track of tracks) {
    const played = playedAs(track);
    if (played === null) return track;
    const { times, values, settings } = track as KeyframeTrack & Pick<SentTrack, 'settings'>;
    sent.push({
      ...played,
      name: track.name,
      times: copy(times),
      values: copy(values),
      ...(settings?.inTangents && {
        settings: { inTangents: copy(settings.inTangents), outTangents: copy(settings.outTangents) },
      }),
    });
    if (sent.length % 16 === 0) yield 0;
  }
  return { ...planned, clip: { name, duration, blendMode }, tracks: sent };
}

/** The clip that `packClip` has packed. */
export function unpackClip({ clip, tracks: sent, ...planned }: SentClip): PlannedClip {
  const tracks = sent.map(unpackTrack);
  // Baking reads no more of a clip than this, and three.js's class would bring a lot along.
  return {
    ...planned,
    clip: { ...clip, tracks } as unknown as AnimationClip,
  };
}

/** In the place of three.js's constants for interpolation: GLTFLoader gives tracks a function of its own, which is known by a mark. */
const GLTF_SPLINE = 0;

/** How a track is played. @returns Null for tracks with code of their own, which cannot be sent. */
function playedAs(track: KeyframeTrack): Pick<SentTrack, 'isQuaternion' | 'interpolation'> | null {
  const isQuaternion = track.ValueTypeName === 'quaternion';
  const { createInterpolant: factory } = track as unknown as Played;
  if (factory.isInterpolantFactoryMethodGLTFCubicSpline === true)
    return track instanceof QuaternionKeyframeTrack === isQuaternion
      ? { isQuaternion, interpolation: GLTF_SPLINE }
      : null;
  const played = { isQuaternion, interpolation: track.getInterpolation() };
  return emptyTrack(played, '').createInterpolant === factory ? played : null;
}

/** What makes a track's interpolants. */
type Played = { createInterpolant: { isInterpolantFactoryMethodGLTFCubicSpline?: boolean } };

/** A track that is played in a way; its constructor copies arrays of other kinds than those it likes. */
function emptyTrack(
  { isQuaternion, interpolation }: Pick<SentTrack, 'isQuaternion' | 'interpolation'>,
  name: string,
): KeyframeTrack & Played {
  const Track = isQuaternion ? QuaternionKeyframeTrack : KeyframeTrack;
  return new Track(name, [0], [0], (interpolation || InterpolateDiscrete) as never) as never;
}

function unpackTrack({ times, values, settings, ...sent }: SentTrack): KeyframeTrack {
  const track = Object.assign(emptyTrack(sent, sent.name), { times, values }, settings && { settings });
  if (sent.interpolation !== GLTF_SPLINE) return track as KeyframeTrack;
  const Spline = sent.isQuaternion ? GLTFCubicSplineQuaternion : GLTFCubicSpline;
  return Object.assign(track, {
    createInterpolant: (result: Float64Array) =>
      new Spline(times as Float32Array, values as Float32Array, track.getValueSize() / 3, result),
  }) as unknown as KeyframeTrack;
}

const _quaternion = /*@__PURE__*/ new Quaternion();

/**
 * glTF's cubic splines, whose keys hold a tangent, a value and another tangent. GLTFLoader has the same, and gives tracks a function
 * that makes one; a function cannot be sent to a worker.
 */
class GLTFCubicSpline extends Interpolant {
  override copySampleValue_(index: number) {
    const { resultBuffer, sampleValues, valueSize } = this;
    const from = (index * 3 + 1) * valueSize;
    for (let i = 0; i < valueSize; i++) resultBuffer[i] = sampleValues[from + i];
    return resultBuffer;
  }

  // In the order of GLTFLoader's arithmetic, so that both give the same to the last bit.
  override interpolate_(key: number, t0: number, t: number, t1: number) {
    const { resultBuffer, sampleValues: values, valueSize: size } = this;
    const td = t1 - t0;
    const p = (t - t0) / td;
    const pp = p * p;
    const ppp = pp * p;
    const after = key * size * 3;
    const before = after - size * 3;
    const s2 = -2 * ppp + 3 * pp;
    const s3 = ppp - pp;
    const s0 = 1 - s2;
    const s1 = s3 - pp + p;
    for (let i = 0; i < size; i++) {
      const p0 = values[before + i + size];
      const m0 = values[before + i + size * 2] * td;
      const p1 = values[after + i + size];
      const m1 = values[after + i] * td;
      resultBuffer[i] = s0 * p0 + s1 * m0 + s2 * p1 + s3 * m1;
    }
    return resultBuffer;
  }
}

/** The same of rotations. */
class GLTFCubicSplineQuaternion extends GLTFCubicSpline {
  override interpolate_(key: number, t0: number, t: number, t1: number) {
    const result = super.interpolate_(key, t0, t, t1);
    _quaternion.fromArray(result).normalize().toArray(result);
    return result;
  }
}

/** A rig as plain data, which a worker can be sent. */
type SentRig = Omit<Rig, 'nodes'> & { nodes: ReturnType<typeof packNode>[] };

type WithPivot = Object3D & { pivot?: Vector3 | null };

export const packRig = ({ nodes, parts, ...rig }: Rig): SentRig => ({
  ...rig,
  nodes: nodes.map((node) => packNode(node, nodes)),
  parts: parts.map(
    ({ node, joints, mirrorJoints, rigid, model, morphOffset, morphCount, morphIndices }): RigPart => {
      return { node, joints, mirrorJoints, rigid, model, morphOffset, morphCount, morphIndices };
    },
  ),
});

function packNode(node: Object3D, nodes: Object3D[]) {
  const { name, uuid, type, matrixAutoUpdate, position, quaternion, scale, rotation, matrix } = node;
  const { x, y, z, order } = rotation;
  return {
    own: { name, uuid, type, matrixAutoUpdate },
    position: position.toArray(),
    quaternion: quaternion.toArray(),
    scale: scale.toArray(),
    rotation: [x, y, z, order] as const,
    matrix: matrix.toArray(),
    pivot: (node as WithPivot).pivot?.toArray(),
    bones: (node as Partial<SkinnedMesh>).skeleton?.bones.map((bone) => nodes.indexOf(bone)),
  };
}

/** The rig that `packRig` has packed, with nodes as in the scene that it is from. */
export function unpackRig({ nodes: sent, ...rig }: SentRig): Rig {
  const nodes = sent.map(({ own, position, quaternion, scale, rotation, matrix, pivot }) => {
    const node: WithPivot = Object.assign(new Object3D(), own);
    node.position.fromArray(position);
    node.quaternion.fromArray(quaternion);
    // The node's own would compute the quaternion anew.
    Object.defineProperty(node, 'rotation', { value: new Euler(...rotation) });
    node.scale.fromArray(scale);
    node.matrix.fromArray(matrix);
    if (pivot) node.pivot = new Vector3().fromArray(pivot);
    return node;
  });
  sent.forEach(({ bones }, i) => {
    if (bones) Object.assign(nodes[i], { skeleton: { bones: bones.map((bone) => nodes[bone] as Bone) } });
  });
  return { ...rig, nodes };
}
