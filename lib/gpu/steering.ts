import { float, If, length, max, min, select, vec2 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import type { NeighbourGrid } from './NeighbourGrid.js';

/**
 * Steering for agents on the ground, after Reynolds: each function says how one wants to move, as a velocity; add them up, and let
 * `accelerate` bring the agent to it. All build on the current stack, in the `Fn` of a step.
 */

type Vec2 = Node<'vec2'>;
type Float = Node<'float'> | number;
/** `float` takes both, though not as one type. */
const number = (value: Float): Node<'float'> => float(value as number);

/** Less than that counts as no way at all. */
const SHORT = 1e-5;

/**
 * Straight to a place, at a speed.
 *
 * @category Crowd
 */
export function seek(from: Vec2, to: Vec2, speed: Float): Vec2 {
  const way = to.sub(from).toVar();
  return way.mul(number(speed).div(max(length(way), SHORT)));
}

/**
 * The same, and slower within `slowing` of it, so that it is where one stops.
 *
 * @category Crowd
 */
export function arrive(from: Vec2, to: Vec2, speed: Float, slowing: Float): Vec2 {
  const way = to.sub(from).toVar();
  const distance = length(way).toVar();
  return way.mul(
    number(speed)
      .mul(min(distance.div(slowing), 1))
      .div(max(distance, SHORT)),
  );
}

/**
 * Away from all who are nearer than `radius`, the more the nearer they are; who is at the very edge counts nothing.
 *
 * @category Crowd
 */
export function separate(
  grid: NeighbourGrid,
  index: Node<'int'>,
  place: Vec2,
  radius: Float,
  placeOf: (index: Node<'int'>) => Vec2,
): Vec2 {
  const sum = vec2(0).toVar();
  grid.forEach(place, (other) => {
    If(other.notEqual(index), () => {
      const away = place.sub(placeOf(other)).toVar();
      const distance = length(away).toVar();
      If(distance.lessThan(radius).and(distance.greaterThan(SHORT)), () => {
        sum.addAssign(away.mul(distance.reciprocal().sub(number(radius).reciprocal())));
      });
    });
  });
  return sum;
}

/**
 * A velocity that comes nearer to what is wanted, by `change` at most.
 *
 * @category Crowd
 */
export function accelerate(velocity: Vec2, wanted: Vec2, change: Float): Vec2 {
  const difference = wanted.sub(velocity).toVar();
  return velocity.add(difference.mul(min(number(change).div(max(length(difference), SHORT)), 1)));
}

/**
 * A vector that is no longer than that.
 *
 * @category Crowd
 */
export function limit(vector: Vec2, most: Float): Vec2 {
  return vector.mul(min(number(most).div(max(length(vector), SHORT)), 1));
}

/** A clip of `GPUInstances.clip`, the speed at which its feet do not slide, and the speed from which on it is played. */
export type GaitStep = readonly [clip: number, speed: number, from: number];

/**
 * The clip for a speed, and how fast it plays, in steps of an eighth, so that it is not told anew in each frame: `x` and `z` of what
 * `plays` takes.
 *
 * @param gaits From slow to fast. One of speed 0 plays as it was made.
 *
 * @category Crowd
 */
export function gaitOf(speed: Node<'float'>, gaits: readonly GaitStep[]): Vec2 {
  const scale = (of: number): Node<'float'> =>
    of === 0
      ? float(1)
      : max(
          speed
            .mul(8 / of)
            .round()
            .div(8),
          0.125,
        );
  return gaits
    .slice(1)
    .reduce<Vec2>(
      (slower, [clip, of, from]) => select(speed.lessThan(from), slower, vec2(clip, scale(of))) as Vec2,
      vec2(gaits[0][0], scale(gaits[0][1])) as Vec2,
    );
}
