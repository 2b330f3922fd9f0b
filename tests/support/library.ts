import { type Encoding, type EncodingName, frames } from 'skinned-instanced-mesh';
import { LoopOnce } from 'three';

export * from 'skinned-instanced-mesh';

/** Plays a clip once and stays on its end, so that a time means the same at both ends of the clip. */
export const LoopOnceOptions = { loop: LoopOnce, clampWhenFinished: true } as const;

/** Names of encodings. */
export const ENCODINGS = ['tracks', 'frames'] as const;

/** What the option `encoding` takes for the encoding of a name. */
export const encodingOf = (name: EncodingName): Encoding | undefined =>
  name === 'frames' ? frames : undefined;
