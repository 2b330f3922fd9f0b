/** How many may work at a time: about as many processors as are free. More workers would only take memory. */
const MOST = 4;

let working = 0;
const waiting: (() => void)[] = [];

/** Does work as soon as no more than a few others are at theirs, in the order of the calls. */
export async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (working === MOST) await new Promise<void>((start) => waiting.push(start));
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
