import type { AnimationClip, KeyframeTrack, Object3D } from 'three';
import type { BakedCharacter } from '../baking/BakedCharacter.js';
import type { BakeAsyncOptions, BakeOptions } from '../baking/BakeOptions.js';
import { collectCharacter } from '../baking/bake.js';
import { type BakeOptionValues, bakeOptionValues } from '../baking/bakeOptionValues.js';
import { bakeRig } from '../baking/bakeRig.js';
import { type PlannedClip, planClips } from '../baking/planClips.js';
import { nextTask, runInSlices, type Steps } from '../baking/runBake.js';
import type { BoneTextureData } from '../encodings/BoneTextureData.js';
import { BoneTexture } from '../texture/BoneTexture.js';
import { warnOnce } from '../utils/warnOnce.js';
import { BakeWorker } from './BakeWorker.js';
import type { Outcome } from './messages.js';
import { packClip } from './packClip.js';
import { inTurn } from './turns.js';

const NAME = 'bakeInWorker';

/** What is baked, of the page. */
interface Job {
  values: BakeOptionValues;
  planned: PlannedClip[];
  character: BakedCharacter;
  /** A track that no worker can be sent, if there is one. */
  refused: KeyframeTrack | null;
}

/**
 * {@link BoneTexture.bake} in a worker: the page reads the scene and copies the keys, in slices of up to 4 milliseconds, and goes
 * on. The bone texture is the same to the last bit.
 *
 * Where there are no workers, or the page's Content-Security-Policy allows none of `blob:`, or a track is played by code of its own,
 * it bakes in slices as `BoneTexture.bakeAsync` does, and warns once. The scene may be drawn, but must not be posed or edited until
 * the promise settles. Of many bakes at once, four run at a time, each in a worker of its own that ends with it.
 *
 * @param root Holds the character's meshes, and the bones of those that have any, e.g. `gltf.scene`.
 * @param clips E.g. `gltf.animations`; without any, the texture holds the rest pose alone.
 * @throws What `bake` throws, and the signal's reason when it aborts.
 */
export async function bakeInWorker(
  root: Object3D,
  clips: readonly AnimationClip[],
  options: BakeAsyncOptions = {},
): Promise<BoneTexture> {
  // Before a worker is started, and the options are taken apart.
  bakeOptionValues(options);
  const data = await inTurn(() => bakeData(root, clips, options), options.signal);
  // The constructor checks the data, for which the page needs a slice of its own.
  await nextTask();
  return new BoneTexture(data);
}

async function bakeData(
  root: Object3D,
  clips: readonly AnimationClip[],
  options: BakeAsyncOptions,
): Promise<BoneTextureData> {
  const { signal, onProgress } = options;
  // Started first, since that takes a while too.
  const worker = typeof Worker === 'undefined' ? null : new BakeWorker(options);
  try {
    const job = await runInSlices(send(root, clips, options, worker), { signal });
    const outcome = worker === null || job.refused !== null ? null : await worker.outcome;
    signal?.throwIfAborted();
    if (outcome !== null) {
      const data = readOutcome(outcome);
      onProgress?.(1);
      return data;
    }
    warnOnce(
      job.refused === null
        ? `${NAME}: no worker could be started, or it broke off, so that the page bakes in slices. A Content-Security-Policy has to allow "worker-src blob:".`
        : `${NAME}: track "${job.refused.name}" has an interpolant of its own, which no worker can be sent, so that the page bakes in slices.`,
    );
    return await runInSlices(bakeRig(job.character, job.planned, job.values, options.rootMotion), options);
  } finally {
    worker?.close();
  }
}

/** Reads the scene, and sends a worker what it needs. */
function* send(
  root: Object3D,
  clips: readonly AnimationClip[],
  options: BakeOptions,
  worker: BakeWorker | null,
): Steps<Job> {
  const values = bakeOptionValues(options);
  const planned = yield* planClips(clips, options.clips, values.fps);
  const character = yield* collectCharacter(root, planned, options);
  if (worker === null) return { values, planned, character, refused: null };
  for (const one of planned) {
    const clip = yield* packClip(one);
    if (!('numbers' in clip)) return { values, planned, character, refused: clip };
    worker.post({ kind: 'clip', clip }, [clip.numbers.buffer]);
    yield 0;
  }
  worker.post({ kind: 'bake', character, values, rootMotion: plainRootMotion(options.rootMotion) });
  return { values, planned, character, refused: null };
}

/** The same without clips, which are more than a worker needs: it knows them by their names. */
function plainRootMotion(rootMotion: BakeOptions['rootMotion']): BakeOptions['rootMotion'] {
  if (typeof rootMotion !== 'object' || !rootMotion) return rootMotion;
  const { joint, yaw, vertical, clips } = rootMotion;
  return {
    joint,
    yaw,
    vertical,
    clips: clips?.map((clip) => (typeof clip === 'string' ? clip : clip?.name)),
  };
}

/** @throws What the worker has thrown. */
function readOutcome(outcome: Outcome): BoneTextureData {
  for (const { text, once } of outcome.warnings) {
    if (once) warnOnce(text);
    else console.warn(text);
  }
  if (outcome.kind === 'error') throw outcome.error;
  return outcome.data;
}
