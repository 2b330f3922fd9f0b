import { InterpolateDiscrete, KeyframeTrack, QuaternionKeyframeTrack } from 'three';
import { GLTFCubicSpline, GLTFCubicSplineQuaternion } from './GLTFCubicSpline.js';

/**
 * three.js's methods that make interpolants, in the order of its constants for them: a track has one of these as its
 * `createInterpolant`, or a function that a loader has made.
 */
const FACTORIES = [
  'InterpolantFactoryMethodDiscrete',
  'InterpolantFactoryMethodLinear',
  'InterpolantFactoryMethodSmooth',
  'InterpolantFactoryMethodBezier',
];

/** What makes a track's interpolants. */
type Factory = { isInterpolantFactoryMethodGLTFCubicSpline?: boolean };

/** Stands behind those for the function that GLTFLoader makes, which is known by a mark. */
const GLTF_SPLINE = FACTORIES.length;

/**
 * A number that says how a track is played: twice the place of its factory, plus one for tracks of quaternions.
 *
 * @returns Null for tracks with code of their own, which cannot be sent.
 */
export function kindOf(track: KeyframeTrack): number | null {
  const isQuaternion = track.ValueTypeName === 'quaternion';
  const bit = isQuaternion ? 1 : 0;
  const { createInterpolant: factory } = track as unknown as { createInterpolant: Factory };
  if (factory.isInterpolantFactoryMethodGLTFCubicSpline === true) {
    return track instanceof QuaternionKeyframeTrack === isQuaternion ? GLTF_SPLINE * 2 + bit : null;
  }
  const { prototype } = isQuaternion ? QuaternionKeyframeTrack : KeyframeTrack;
  const place = FACTORIES.findIndex(
    (name) => (prototype as unknown as Record<string, unknown>)[name] === factory,
  );
  return place === -1 ? null : place * 2 + bit;
}

/** A track of a kind that {@link kindOf} has found. */
export function trackOfKind(
  kind: number,
  name: string,
  times: ArrayLike<number>,
  values: ArrayLike<number>,
): KeyframeTrack {
  const isQuaternion = kind % 2 === 1;
  const place = kind >> 1;
  const Track = isQuaternion ? QuaternionKeyframeTrack : KeyframeTrack;
  const interpolation = InterpolateDiscrete + (place === GLTF_SPLINE ? 0 : place);
  // The constructor copies arrays of other kinds than those it likes.
  const track = Object.assign(new Track(name, [0], [0], interpolation as never), { times, values });
  if (place !== GLTF_SPLINE) return track as KeyframeTrack;
  const Spline = isQuaternion ? GLTFCubicSplineQuaternion : GLTFCubicSpline;
  return Object.assign(track, {
    createInterpolant: (result: Float64Array) =>
      new Spline(times as Float32Array, values as Float32Array, track.getValueSize() / 3, result),
  }) as unknown as KeyframeTrack;
}
