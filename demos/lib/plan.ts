import { Euler, type Matrix4, Quaternion, Vector3 } from 'three';

/** Where a figure stands and what it does; the same for both ways of drawing it. */
export interface Part {
  clip: number;
  timeScale: number;
  /** Seconds into the clip at the start. */
  time: number;
}

const _position = new Vector3();
const _quaternion = new Quaternion();
const _euler = new Euler();
const _scale = new Vector3();

/** The golden angle: figures on a sunflower spiral keep their distance from each other, however many there are. */
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));

/** A number from 0 to 1 that depends on the figure and on what it is for. */
function chance(index: number, what: number): number {
  const x = Math.sin(index * 127.1 + what * 311.7) * 43758.5453;
  return x - Math.floor(x);
}

/** The clips that characters may play again and again: no pose they were modelled in and no death, unless there is nothing else. */
export function movesOf<Clip extends { name: string }>(clips: readonly Clip[]): readonly Clip[] {
  const moves = clips.filter(({ name }) => !/t[-_ ]?pose|death|dead|die/i.test(name));
  return moves.length > 0 ? moves : clips;
}

/** What figure `index` plays. */
export function partOf(index: number, clips: number): Part {
  return {
    clip: Math.floor(chance(index, 1) * clips),
    timeScale: 0.8 + 0.4 * chance(index, 2),
    time: 10 * chance(index, 3),
  };
}

/** Where figure `index` stands, for characters that are `size` wide. */
export function placeOf(index: number, size: number, target: Matrix4): Matrix4 {
  const radius = size * 0.75 * Math.sqrt(index + 0.5);
  const angle = index * GOLDEN_ANGLE;
  _position.set(radius * Math.cos(angle), 0, radius * Math.sin(angle));
  _quaternion.setFromEuler(_euler.set(0, 2 * Math.PI * chance(index, 4), 0));
  const width = 0.9 + 0.16 * chance(index, 5);
  return target.compose(_position, _quaternion, _scale.set(width, 0.84 + 0.26 * chance(index, 6), width));
}

/** Radius of the ground that `count` figures cover. */
export function crowdRadius(count: number, size: number): number {
  return size * 0.75 * Math.sqrt(count + 0.5);
}
