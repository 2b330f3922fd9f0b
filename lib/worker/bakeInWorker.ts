import type { AnimationClip, KeyframeTrack, Object3D } from 'three';
import { BoneTexture } from '../animation/BoneTexture.js';
import type { BoneTextureData } from '../animation/BoneTextureData.js';
import type { BakeAsyncOptions, BakeOptions } from '../baking/BakeOptions.js';
import {
  type BakeCharacterAsyncOptions,
  bakeRig,
  collectCharacter,
  nameSources,
} from '../baking/bakeCharacter.js';
import { planClips } from '../baking/planClips.js';
import type { RootMotionOptions } from '../baking/rootMotion.js';
import { type Character, characterOf, refuseUnsupported } from '../character/assembleCharacter.js';
import { warnOnce } from '../utils/messages.js';
import { nextTask, runInSlices } from '../utils/slices.js';
import { type FromWorker, type Outcome, packClip, packRig, type ToWorker } from './sent.js';
import script from './workerScript.js?bundled';

/**
 * `bakeCharacter` in a worker: the page reads the scene and copies the keys, in slices of up to 4 milliseconds, and goes
 * on. The character is the same to the last bit.
 *
 * Where there are no workers, or the page's Content-Security-Policy allows none of `blob:`, or a track is played by code of its own,
 * it bakes in slices as `bakeCharacterAsync` does, and warns once. The scene may be drawn, but must not be posed or edited until
 * the promise settles. Of many bakes at once, four run at a time, each in a worker of its own that ends with it.
 *
 * @param root Holds the character's meshes, and the bones of those that have any, e.g. `gltf.scene`.
 * @param clips E.g. `gltf.animations`; without any, the character stands in its rest pose.
 * @throws What `bakeCharacter` throws, and the signal's reason when it aborts.
 *
 * @category Bake
 */
export async function bakeInWorker(
  root: Object3D,
  clips: readonly AnimationClip[],
  options: BakeCharacterAsyncOptions = {},
): Promise<Character> {
  refuseUnsupported(root, options);
  const { data, collected } = await inTurn(() => bakeData(root, clips, options), options.signal);
  // The constructor checks the data, for which the page needs a slice of its own.
  await nextTask();
  const boneTexture = new BoneTexture(data, options.encoding);
  return characterOf(root, collected, boneTexture, options, [boneTexture]);
}

async function bakeData(root: Object3D, clips: readonly AnimationClip[], options: BakeAsyncOptions) {
  const { signal, onProgress } = options;
  // Started first, since that takes a while too.
  const worker = typeof Worker === 'undefined' ? null : new BakeWorker(options);
  try {
    const job = await runInSlices(send(root, clips, options, worker), { signal });
    const { baked, planned, collected, refused } = job;
    const outcome = worker === null || refused !== null ? null : await worker.outcome;
    signal?.throwIfAborted();
    if (outcome !== null) {
      const data = nameSources(readOutcome(outcome), planned);
      onProgress?.(1);
      return { data, collected };
    }
    warnOnce(
      refused === null
        ? `No worker could be started, or it broke off, so that the page bakes in slices. A Content-Security-Policy has to allow "worker-src blob:".`
        : `Track "${refused.name}" has an interpolant of its own, which no worker can be sent, so that the page bakes in slices.`,
    );
    const data = await runInSlices(bakeRig(baked, planned, options), options);
    return { data: nameSources(data, planned), collected };
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
) {
  const planned = yield* planClips(clips, options.clips, options.fps);
  const { baked, collected } = yield* collectCharacter(root, planned, options);
  /** `refused`: a track that no worker can be sent, if there is one. */
  const job = { planned, baked, collected, refused: null as KeyframeTrack | null };
  if (worker === null) return job;
  for (const one of planned) {
    const buffers: Transferable[] = [];
    const clip = yield* packClip(one, buffers);
    if (!('tracks' in clip)) return { ...job, refused: clip };
    worker.post({ kind: 'clip', clip }, buffers);
    yield 0;
  }
  const rootMotion = plainRootMotion(options);
  const encoding = options.encoding?.name ?? 'tracks';
  const { precision, maxTextureSize, maxError } = options;
  const values = { precision, maxTextureSize, maxError };
  const character = { ...baked, rig: packRig(baked.rig) };
  worker.post({ kind: 'bake', character, values, rootMotion, encoding });
  return job;
}

/** The options of root motion without clips, which are more than a worker needs: it knows them by their names. */
function plainRootMotion({ rootMotion }: BakeOptions): RootMotionOptions | null {
  const { joint, yaw, vertical, clips } = rootMotion?.options ?? {};
  const names = clips?.map((clip) => (typeof clip === 'string' ? clip : clip.name));
  return rootMotion ? { joint, yaw, vertical, clips: names } : null;
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

/** A worker that bakes one character. Call `close` in the end, however that comes. */
class BakeWorker {
  /** Its answer; null if it could not be started, or died, or the signal has aborted. */
  readonly outcome: Promise<Outcome | null>;
  private worker: Worker | null = null;
  private readonly url: string;
  private settle: (outcome: Outcome | null) => void = () => {};
  private readonly stop = () => this.settle(null);

  constructor(private readonly options: Pick<BakeAsyncOptions, 'onProgress' | 'signal'>) {
    this.outcome = new Promise((resolve) => {
      this.settle = resolve;
    });
    // The script comes along as text. A file of its own would be lost by some bundlers, and a worker must not be loaded from
    // another site; pages whose Content-Security-Policy has no `worker-src blob:` do without a worker.
    this.url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
    try {
      this.worker = new Worker(this.url, { name: 'skinned-instanced-mesh' });
    } catch {
      this.stop();
      return;
    }
    this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.receive(data);
    this.worker.onmessageerror = this.stop;
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.stop();
    };
    options.signal?.addEventListener('abort', this.stop);
  }

  post(message: ToWorker, transfer: Transferable[] = []): void {
    this.worker?.postMessage(message, transfer);
  }

  /** Ends the worker, whatever it does. */
  close(): void {
    this.stop();
    this.worker?.terminate();
    this.worker = null;
    URL.revokeObjectURL(this.url);
    this.options.signal?.removeEventListener('abort', this.stop);
  }

  private receive(message: FromWorker): void {
    if (message.kind !== 'progress') {
      this.settle(message);
      return;
    }
    try {
      this.options.onProgress?.(message.share);
    } catch (error) {
      this.settle({ kind: 'error', error, warnings: [] });
    }
  }
}

/** How many may work at a time: about as many processors as are free. More workers would only take memory. */
const MOST = 4;

let working = 0;
const waiting: (() => void)[] = [];

/**
 * Does work as soon as no more than a few others are at theirs, in the order of the calls.
 *
 * @throws What the work throws, and the signal's reason when it aborts before its turn.
 */
async function inTurn<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  signal?.throwIfAborted();
  if (working === MOST) await nextTurn(signal);
  else working++;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    // Whoever comes next takes this one's place.
    if (next === undefined) working--;
    else next();
  }
}

function nextTurn(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const start = () => {
      signal?.removeEventListener('abort', leave);
      resolve();
    };
    const leave = () => {
      waiting.splice(waiting.indexOf(start), 1);
      reject(signal?.reason);
    };
    waiting.push(start);
    signal?.addEventListener('abort', leave, { once: true });
  });
}
