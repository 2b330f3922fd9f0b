import type { BakeAsyncOptions } from '../baking/BakeOptions.js';
import type { FromWorker, Outcome, ToWorker } from './messages.js';
import script from './workerScript.js?bundled';

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
