import type { Drawing, Row, Script } from '../measure.js';

/** A row with those measurements that were asked for. */
export type MeasuredRow = Omit<Row, keyof (Script & Drawing)> & Partial<Script & Drawing>;

/** What the page that measures says to the one that it is in. */
export type Report = { row: MeasuredRow } | { error: string };
