import { Session } from 'node:inspector/promises';

/**
 * How often the block of code ran that ran most often, of files whose path has `part` in it: what takes how long, whatever else the
 * machine does.
 *
 * @param work Has to import these files anew, by a query behind their name: blocks are counted in code that is compiled meanwhile.
 */
export async function mostRuns(part: string, work: () => Promise<void>): Promise<number> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    await work();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const counts = result
      .filter(({ url }) => url.includes(part))
      .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges.map(({ count }) => count)));
    return Math.max(0, ...counts);
  } finally {
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
  }
}
