import { Session } from 'node:inspector/promises';

interface ProfiledNode {
  id: number;
  callFrame: { functionName: string; url: string; lineNumber: number };
  children: ProfiledNode[];
}

/** What is sampled; not yet in the types of Node. */
interface Profile {
  head: ProfiledNode;
  samples: { size: number; nodeId: number }[];
}

/**
 * Bytes of a number that V8 has on the heap. Whether numbers are there depends on what V8 has compiled by then, so they say
 * nothing of the code; nothing else is as small.
 */
const NUMBER_BYTES = 16;

/**
 * The objects that code makes while it runs, what is freed at once with them: how many by the function that made them, of functions
 * in files whose path has `part` in it, and what these call. Numbers on the heap are not counted.
 */
export async function objectsMadeIn(work: () => void, part: string): Promise<Map<string, number>> {
  const session = new Session();
  session.connect();
  const found = new Map<string, number>();
  try {
    await session.post('HeapProfiler.enable');
    await session.post('HeapProfiler.startSampling', {
      // Every object.
      samplingInterval: 1,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    } as object);
    work();
    const { profile } = await session.post('HeapProfiler.stopSampling');
    const { head, samples } = profile as unknown as Profile;
    const names = new Map<number, string>();
    nameWithin(head, part, false, names);
    for (const { size, nodeId } of samples) {
      const name = names.get(nodeId);
      if (name !== undefined && size > NUMBER_BYTES) found.set(name, (found.get(name) ?? 0) + 1);
    }
  } finally {
    session.disconnect();
  }
  return found;
}

/** Names the nodes that are asked about, and those below them. */
function nameWithin(node: ProfiledNode, part: string, within: boolean, names: Map<number, string>): void {
  const { url, functionName, lineNumber } = node.callFrame;
  const asked = within || url.includes(part);
  if (asked) {
    const path = url.slice(Math.max(0, url.indexOf(part)));
    names.set(node.id, `${functionName} (${path}:${lineNumber + 1})`);
  }
  for (const child of node.children) nameWithin(child, part, asked, names);
}
