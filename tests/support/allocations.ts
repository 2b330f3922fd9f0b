import { Session } from 'node:inspector/promises';

interface SampledNode {
  callFrame: { functionName: string; url: string; lineNumber: number };
  selfSize: number;
  children: SampledNode[];
}

/** Bytes between two samples, about. */
const INTERVAL = 64;

/**
 * What code allocates while it runs, what is freed at once with it: bytes by the function that did, of functions in files whose path
 * has `part` in it.
 */
export async function allocationsOf(work: () => void, part: string): Promise<Map<string, number>> {
  const session = new Session();
  session.connect();
  const found = new Map<string, number>();
  try {
    await session.post('HeapProfiler.enable');
    await session.post('HeapProfiler.startSampling', {
      samplingInterval: INTERVAL,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    } as object);
    work();
    const { profile } = await session.post('HeapProfiler.stopSampling');
    const visit = ({ callFrame, selfSize, children }: SampledNode) => {
      const { url, functionName, lineNumber } = callFrame;
      if (selfSize > 0 && url.includes(part)) {
        const name = `${functionName} (${url.slice(url.indexOf(part))}:${lineNumber + 1})`;
        found.set(name, (found.get(name) ?? 0) + selfSize);
      }
      for (const child of children) visit(child);
    };
    visit(profile.head as SampledNode);
  } finally {
    session.disconnect();
  }
  return found;
}
