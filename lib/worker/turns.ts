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
