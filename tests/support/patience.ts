/**
 * Milliseconds to wait for a page to do what it does in seconds: enough on a machine that is several times slower, or busy
 * with other things.
 */
export const PATIENCE = 300_000;
