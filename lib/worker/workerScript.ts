/**
 * The script that a worker runs. The library's build makes one text of it and of all that it imports, parts of three.js among
 * that: workers know nothing of import maps and bundlers.
 */

import type { BoneTextureData } from '../animation/BoneTextureData.js';
import { bakeRig } from '../baking/bakeCharacter.js';
import { frames } from '../baking/frames.js';
import type { PlannedClip } from '../baking/planClips.js';
import { extractRootMotion } from '../baking/rootMotion.js';
import { warned } from '../utils/messages.js';
import { type FromWorker, type Outcome, type ToWorker, unpackClip, unpackRig } from './sent.js';

/** Milliseconds between two messages that say how much is done. */
const PAUSE = 16;

const clips: PlannedClip[] = [];
const warnings: Outcome['warnings'] = [];

// For the page to show, which knows what it has been warned of before.
console.warn = (text: string) => {
  warnings.push({ text, once: warned.has(text) });
};

const answer = (message: FromWorker, transfer: Transferable[] = []) =>
  self.postMessage(message, { transfer });

self.onmessage = ({ data: message }: MessageEvent<ToWorker>) => {
  if (message.kind === 'clip') {
    clips.push(unpackClip(message.clip));
    return;
  }
  try {
    const data = bake(message);
    answer({ kind: 'data', data, warnings }, [...buffersOf(data)]);
  } catch (error) {
    answer({ kind: 'error', error, warnings });
  }
};

function bake({ character, values, rootMotion, encoding }: ToWorker & { kind: 'bake' }): BoneTextureData {
  const motion = rootMotion ? extractRootMotion(rootMotion) : undefined;
  const options = { ...values, rootMotion: motion, encoding: encoding === 'frames' ? frames : undefined };
  const steps = bakeRig({ ...character, rig: unpackRig(character.rig) }, clips, options);
  let next = 0;
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    const now = performance.now();
    if (now < next) continue;
    next = now + PAUSE;
    answer({ kind: 'progress', share: step.value });
  }
}

/** The buffers of all arrays in plain data, which are handed over without being copied. */
function buffersOf(value: unknown, found = new Set<ArrayBuffer>()): Set<ArrayBuffer> {
  if (ArrayBuffer.isView(value)) found.add(value.buffer as ArrayBuffer);
  else if (value !== null && typeof value === 'object') {
    for (const item of Object.values(value)) buffersOf(item, found);
  }
  return found;
}
