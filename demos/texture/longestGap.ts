/**
 * How long a page could not do anything else at a stretch while work was going on, in milliseconds: the longest time between two of
 * many messages that it sends itself.
 */
export async function longestGap(work: () => unknown): Promise<number> {
  const { port1, port2 } = new MessageChannel();
  let longest = 0;
  let last = performance.now();
  const listen = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  port1.onmessage = () => {
    listen();
    port2.postMessage(null);
  };
  port2.postMessage(null);
  await new Promise((resolve) => setTimeout(resolve));
  longest = 0;
  last = performance.now();
  await work();
  await new Promise((resolve) => setTimeout(resolve));
  listen();
  port1.close();
  return longest;
}
