/**
 * Name of the glTF extension that holds baked characters.
 *
 * @category Save
 */
export const EXTENSION = 'SIM_baked_animation';
/** Version of the extension that is written and read. */
export const VERSION = 3;

/** The extension that compresses views. */
export const MESHOPT = 'EXT_meshopt_compression';

/** What bytes take in a file: views begin at multiples of 8, so that arrays of any numbers may be made of them in place. */
export const aligned = (bytes: number): number => Math.ceil(bytes / 8) * 8;

/** An error about a file: what is wrong, and what to do. */
export const fileError = (what: string, cause?: unknown): Error =>
  new Error(`${EXTENSION}: ${what}`, { cause });

/** An error about a file that is not as it was written. */
export const damaged = (cause: unknown): Error =>
  fileError(`${(cause as Error).message}; the file is damaged: bake it anew.`, cause);
