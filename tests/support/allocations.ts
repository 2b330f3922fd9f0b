import { Session } from 'node:inspector/promises';
import { expect } from 'vitest';

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

/** How many objects a function made, and how large they are together. */
interface Made {
  count: number;
  bytes: number;
}

/**
 * Files of the library, and of tests that run it: V8 says of a function that it has compiled into its caller that the caller
 * made its objects.
 */
const ASKED = /\/(lib|unit)\/.*/;

/**
 * The objects that code makes while it runs, what is freed at once with them, by the function that made them: of functions
 * in files that are asked about, and what these call. Numbers on the heap are not counted.
 */
async function objectsMadeIn(work: () => void): Promise<Map<string, Made>> {
  const session = new Session();
  session.connect();
  const found = new Map<string, Made>();
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
    nameWithin(head, false, names);
    for (const { size, nodeId } of samples) {
      const name = names.get(nodeId);
      if (name === undefined || size <= NUMBER_BYTES) continue;
      const made = found.get(name) ?? { count: 0, bytes: 0 };
      made.count++;
      made.bytes += size;
      found.set(name, made);
    }
  } finally {
    session.disconnect();
  }
  return found;
}

/** What frames may make, each less than that. */
export interface FrameBounds {
  /** Objects a frame. */
  count: number;
  /** Bytes a frame, of all objects together. */
  bytes: number;
}

/**
 * Expects of frames that functions of the library, and what these call, make less than so much; `work` makes nothing itself.
 *
 * @param work Runs so many frames; what is made once has been made before.
 * @param rounds How often at most: the first round that stays below the bounds is the last, since V8 keeps notes on code that it
 *   has just met.
 */
export async function expectFewObjects(
  work: () => void,
  frames: number,
  rounds: number,
  bounds: FrameBounds,
): Promise<void> {
  let least: FrameBounds = { count: Infinity, bytes: Infinity };
  let makers = '';
  for (let round = 0; round < rounds && shareOf(least, bounds) >= 1; round++) {
    const found = [...(await objectsMadeIn(work))].sort(([, a], [, b]) => b.bytes - a.bytes);
    const made = { count: 0, bytes: 0 };
    for (const [, { count, bytes }] of found) {
      made.count += count / frames;
      made.bytes += bytes / frames;
    }
    if (shareOf(made, bounds) > shareOf(least, bounds)) continue;
    least = made;
    makers = found
      .map(([name, { count, bytes }]) => `${count / frames} objects, ${bytes / frames} bytes: ${name}`)
      .join('\n');
  }
  expect(least.count, makers).toBeLessThan(bounds.count);
  expect(least.bytes, makers).toBeLessThan(bounds.bytes);
}

/** The larger one of what was made as shares of what may be. */
const shareOf = (made: FrameBounds, bounds: FrameBounds): number =>
  Math.max(made.count / bounds.count, made.bytes / bounds.bytes);

/** Names the nodes that are asked about, and those below them. */
function nameWithin(node: ProfiledNode, within: boolean, names: Map<number, string>): void {
  const { url, functionName, lineNumber } = node.callFrame;
  const path = ASKED.exec(url)?.[0];
  const asked = within || path !== undefined;
  if (asked) names.set(node.id, `${functionName} (${path ?? url}:${lineNumber + 1})`);
  for (const child of node.children) nameWithin(child, asked, names);
}
