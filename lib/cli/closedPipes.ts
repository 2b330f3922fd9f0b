import type { EventEmitter } from 'node:events';

/** Lets whoever reads what is written stop reading, as `head` does, without an error of ours. */
export function allowClosing(stream: EventEmitter): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
