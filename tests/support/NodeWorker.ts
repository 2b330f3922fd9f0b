import { type MessagePort, Worker as Thread } from 'node:worker_threads';
import script from '../../lib/worker/workerScript.js?bundled';

/** What a thread of Node has to have for a script that a browser's worker runs. */
const SHIM = `
const { parentPort } = require('node:worker_threads');
globalThis.self = {
  postMessage: (message, { transfer = [] } = {}) => parentPort.postMessage(message, transfer),
  set onmessage(listen) { parentPort.on('message', (data) => listen({ data })); },
};
`;

type Listener = ((event: unknown) => void) | null;

/** A thread of Node in the place of a browser's `Worker`: it runs the very script that the library starts workers with. */
export class NodeWorker {
  /** How many threads there are: one that was told to end takes a while to, on a busy machine a long one. */
  static running = 0;
  /** How many there are that were not told to end. */
  private static wanted = 0;
  /** How many of these there have been at a time. */
  static most = 0;

  onmessage: Listener = null;
  onerror: Listener = null;
  onmessageerror: Listener = null;
  private readonly thread: Thread;
  private isWanted = true;

  constructor(_url: string) {
    NodeWorker.running++;
    NodeWorker.wanted++;
    NodeWorker.most = Math.max(NodeWorker.most, NodeWorker.wanted);
    this.thread = new Thread(SHIM + script, { eval: true });
    this.thread.on('message', (data) => this.onmessage?.({ data }));
    this.thread.on('error', (error) => this.onerror?.({ error, preventDefault: () => {} }));
    this.thread.on('exit', () => {
      NodeWorker.running--;
      this.dismiss();
    });
  }

  postMessage(message: unknown, transfer: readonly (ArrayBuffer | MessagePort)[]): void {
    this.thread.postMessage(message, transfer);
  }

  terminate(): void {
    this.dismiss();
    this.thread.terminate();
  }

  private dismiss(): void {
    if (this.isWanted) NodeWorker.wanted--;
    this.isWanted = false;
  }
}
