import type { BoneTextureData, EncodingName } from '../animation/BoneTextureData.js';
import type { BakeAsyncOptions, BakedCharacter, BakeOptions } from '../baking/BakeOptions.js';
import type { RootMotionOptions } from '../baking/rootMotion.js';
import type { SentClip, SentRig } from './sent.js';
import script from './workerScript.js?bundled';

/** What a worker is sent: the clips, one by one, then what to do with them. */
export type ToWorker =
  | { kind: 'clip'; clip: SentClip }
  | {
      kind: 'bake';
      character: Omit<BakedCharacter, 'rig'> & { rig: SentRig };
      values: Pick<BakeOptions, 'precision' | 'maxTextureSize' | 'maxError'>;
      rootMotion: RootMotionOptions | null;
      encoding: EncodingName;
    };

/** How a worker's baking ends, and what it warns of. */
export type Outcome = ({ kind: 'data'; data: BoneTextureData } | { kind: 'error'; error: unknown }) & {
  /** Texts, and whether each is to be shown but once. */
  warnings: { text: string; once: boolean }[];
};

/** What a worker answers. */
export type FromWorker = { kind: 'progress'; share: number } | Outcome;

/** A worker that bakes one character. Call `close` in the end, however that comes. */
export class BakeWorker {
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
export async function inTurn<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
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
