import type { Drawing, Row, Script } from '../measure.js';

/** A row with those measurements that were asked for. */
export type MeasuredRow = Omit<Row, keyof (Script & Drawing)> & Partial<Script & Drawing>;

/** What this page says to the one that it is in. */
export type Report = { row: MeasuredRow } | { error: string };

const say = (report: Report) => parent.postMessage(report, location.origin);

try {
  const query = new URLSearchParams(location.search);
  // Another engine, which no other measurement shall load.
  const { run } = query.get('contender') === 'lite' ? await import('./lite.js') : await import('./three.js');
  say({ row: await run(query) });
} catch (error) {
  say({ error: (error as Error).message });
}
