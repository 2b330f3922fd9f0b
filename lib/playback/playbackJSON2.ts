import { FADING_OUT } from './slots.js';

/** Numbers of a clip in a row of version 2. */
const CLIP_NUMBERS = 9;

/** What a row of version 2 has in the place of a clip that is not there. */
const NOTHING = [-1, 0, 0, 0, 0, 0, 0, 0, 0];

/**
 * Clips of nested fades as version 2 has them: the newest first, and behind it, if anything fades out, always two more. Each
 * ends with its share of those behind it at the time 0, and what that share loses each second.
 *
 * @param rows Clips as version 3 has them.
 */
export function toVersion2(rows: readonly (readonly number[])[]): number[] {
  const clips = rows.map(
    ([clip, , place, pass, speed, loop, repetitions, warp, , , from, to, start, rate], i) => {
      const loses = i === 0 ? 0 : (to - from) * rate;
      const share = i === 0 ? 0 : 1 - (loses === 0 ? to : from) + loses * start;
      return [clip, place, pass, speed, loop & ~FADING_OUT, repetitions, warp, share, loses];
    },
  );
  if (clips.length === 0) return NOTHING;
  while (clips.length === 2) clips.unshift(NOTHING);
  return clips.reverse().flat();
}

/**
 * A row of version 2 as one of version 3, in which fades still are nested.
 *
 * @throws If it is of another length; `what` begins the message.
 */
export function fromVersion2(row: readonly number[], what: string): number[] {
  const lengths = [1, 3].map((clips) => 1 + clips * CLIP_NUMBERS);
  if (!lengths.includes(row.length)) {
    throw new Error(`${what} has ${row.length} numbers; ${lengths.join(' or ')} are needed.`);
  }
  const [newest, second, oldest] = [0, 1, 2].map((i) =>
    row.slice(1 + i * CLIP_NUMBERS, 1 + (i + 1) * CLIP_NUMBERS),
  );
  const [start, rate] = fadeOf(newest);
  if (second.length === 0) return [row[0], ...clipOf(newest, true, 0, [1, 1, 0, 0], start, 0)];
  return [
    row[0],
    ...clipOf(oldest, false, 0, [1, 1, 0, 0], 0, 0),
    ...clipOf(second, false, second[6], rampOf(second), start, rate),
    ...clipOf(newest, true, newest[6], rampOf(newest), start, -rate),
  ];
}

/** The time at which a clip's share of those behind it was 1, and how much it loses each second. */
function fadeOf(clip: readonly number[]): [start: number, rate: number] {
  const [share, rate] = clip.slice(7);
  return [rate === 0 ? 0 : (share - 1) / rate, rate];
}

function rampOf(clip: readonly number[]): number[] {
  const [start, rate] = fadeOf(clip);
  return rate === 0 ? [1 - clip[7], 1 - clip[7], 0, 0] : [0, 1, start, rate];
}

function clipOf(
  [clip, place, pass, speed, loop, repetitions]: readonly number[],
  current: boolean,
  warp: number,
  fade: readonly number[],
  warpStart: number,
  warpRate: number,
): number[] {
  const bits = current ? loop : loop | FADING_OUT;
  return [clip, current ? 1 : 0, place, pass, speed, bits, repetitions, warp, warpStart, warpRate, ...fade];
}
