import type { ClipChoice } from '../baking/BakeOptions.js';
import { listNames } from '../poses/ClipTable.js';
import { inputError } from './CommandError.js';
import { listed, numberOf } from './options.js';

interface Named {
  name: string;
}

/**
 * The clips of a file that the command line asks for.
 *
 * @param wanted Names, or patterns with `*`, each with `@60` behind it for frames per second of its own; empty for all clips.
 * @param unwanted Names or patterns of those that are left out.
 * @throws If there is no such clip, or none is left.
 */
export function chooseClips<Clip extends Named & NonNullable<ClipChoice['clip']>>(
  clips: readonly Clip[],
  wanted: readonly string[],
  unwanted: readonly string[],
): ClipChoice[] {
  const left = new Set(matching(clips, '--exclude', namesIn(clips, unwanted)));
  const chosen: ClipChoice[] =
    wanted.length === 0
      ? clips.map((clip) => ({ clip }))
      : namesIn(clips, wanted).flatMap((text) => {
          const { name, fps } = withoutRate(clips, text);
          return matching(clips, '--clips', [name]).map((clip) => ({ clip, fps }));
        });
  const result = chosen.filter(
    ({ clip }, i) => !left.has(clip as Clip) && chosen.findIndex((other) => other.clip === clip) === i,
  );
  if (result.length > 0 || clips.length === 0) return result;
  throw inputError(`bake: --exclude leaves no clip; there are ${listNames(clips)}`);
}

/**
 * Those clips that names or patterns mean.
 *
 * @throws If one means none.
 */
export function matching<Clip extends Named>(
  clips: readonly Clip[],
  option: string,
  texts: readonly string[],
): Clip[] {
  return texts.flatMap((text) => {
    const pattern = patternOf(text);
    const found = clips.filter(({ name }) => name === text);
    const all = found.length > 0 ? found : clips.filter(({ name }) => pattern.test(name));
    if (all.length > 0) return all;
    throw inputError(
      `bake: ${option} has "${text}", and there is no such clip; there are ${listNames(clips, 40)}`,
    );
  });
}

/** Splits lists at commas, but for what is the name of a clip as it is. */
export function namesIn(clips: readonly Named[], texts: readonly string[]): string[] {
  return texts.flatMap((text) => (clips.some(({ name }) => name === text) ? [text] : listed([text])));
}

/** `Punch@60` is the clip Punch at 60 frames a second, unless a clip has that very name. */
function withoutRate(clips: readonly Named[], text: string): { name: string; fps?: number } {
  const at = text.lastIndexOf('@');
  const fps = numberOf(text.slice(at + 1));
  if (at < 1 || !(fps > 0 && fps < Infinity) || clips.some(({ name }) => name === text))
    return { name: text };
  return { name: text.slice(0, at), fps };
}

/** A pattern in which `*` stands for any text. */
function patternOf(text: string): RegExp {
  const parts = text.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
}
