import type { BakedClip } from '../poses/ClipTable.js';
import { RAMP_FROM, RAMP_RATE, RAMP_SIZE, RAMP_TO } from './ramps.js';
import { MAX_ACTIONS } from './SlotOrder.js';
import { CLIP_NUMBERS, isWeight, readClip, type SavedClip } from './savedClips.js';

/** What an instance plays on a layer, as it was saved. */
export interface SavedLayer {
  /** Number of the layer. */
  layer: number;
  /** The ramp of its weight. */
  weight: readonly number[];
  clips: readonly SavedClip[];
}

/** A row of version 3, which has clips of the base alone, as one of version 4. */
export function toVersion4([paused, ...clips]: number[]): number[] {
  return [paused, 1, 1, 0, 0, clips.length / CLIP_NUMBERS, ...clips];
}

/**
 * What a row says of an instance.
 *
 * @param convert Makes a row of version 4 of it.
 * @param layers Numbers of the layers that it is about.
 * @throws If that is no row of a saved instance; `what` begins the message.
 */
export function readRow(
  row: unknown,
  convert: (row: number[]) => number[],
  layers: readonly number[],
  clips: readonly BakedClip[],
  what: string,
): SavedLayer[] {
  if (!Array.isArray(row) || !row.every(Number.isFinite)) {
    throw new Error(`${what} is no row of finite numbers.`);
  }
  if (row[0] !== 0 && row[0] !== 1) throw new Error(`${what} begins with ${row[0]}; 0 or 1 is needed.`);
  const numbers = convert(row);
  let at = 1;
  const saved = layers.map((layer) => {
    const weight = numbers.slice(at, at + RAMP_SIZE);
    const count = numbers[at + RAMP_SIZE];
    at += RAMP_SIZE + 1;
    const end = at + count * CLIP_NUMBERS;
    if (!(count >= 0 && count <= MAX_ACTIONS && Number.isInteger(count) && end <= numbers.length)) {
      throw new Error(
        `${what} has ${row.length} numbers; 1 and ${CLIP_NUMBERS} for each of up to ${MAX_ACTIONS} clips are needed, in version 4 with the weight of each layer and how many clips it has.`,
      );
    }
    if (!isWeight(weight[RAMP_FROM]) || !isWeight(weight[RAMP_TO]) || weight[RAMP_RATE] < 0) {
      throw new Error(`${what} has weights that no layer can have: ${weight.join(', ')}.`);
    }
    const first = at;
    at = end;
    return {
      layer,
      weight,
      clips: Array.from({ length: count }, (_, i) =>
        readClip(numbers.slice(first + i * CLIP_NUMBERS, first + (i + 1) * CLIP_NUMBERS), clips, what),
      ),
    };
  });
  if (at === numbers.length) return saved;
  throw new Error(`${what} has ${numbers.length} numbers; ${at} are needed for what it says.`);
}
