/** What has been warned of. */
export const warned = /*@__PURE__*/ new Set<string>();

/** Writes a warning to the console, the first time only: a message in a frame loop would bury everything else. */
export function warnOnce(message: string): void {
  if (warned.has(message)) return;
  warned.add(message);
  console.warn(message);
}
