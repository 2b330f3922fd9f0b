import type { Report } from './Report.js';

const say = (report: Report) => parent.postMessage(report, location.origin);

try {
  const query = new URLSearchParams(location.search);
  // Another engine, which no other measurement shall load.
  const { run } = query.get('contender') === 'lite' ? await import('./lite.js') : await import('./three.js');
  say({ row: await run(query) });
} catch (error) {
  say({ error: (error as Error).message });
}
