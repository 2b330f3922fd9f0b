import type { Row } from './measure.js';

/** What a page that measures says to the page that it is in. */
export type Report = { row: Row } | { error: string };

/** Runs one measurement, as the page's query asks for it, and reports it to the page around this one. */
export async function report(work: (query: URLSearchParams) => Promise<Row>): Promise<void> {
  const say = (message: Report) => parent.postMessage(message, location.origin);
  try {
    say({ row: await work(new URLSearchParams(location.search)) });
  } catch (error) {
    say({ error: (error as Error).message });
  }
}
