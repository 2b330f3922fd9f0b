import { isSoftwareName } from '../lib/deviceName.js';
import type { Row } from './measure.js';

/** What a run of the benchmark found: the content of its file, and of its link. */
export interface Result {
  /** When it ended, as ISO 8601 has it. */
  date: string;
  device: string;
  renderer: string;
  userAgent: string;
  /** Whether characters were drawn whole. */
  vertices: string;
  problems: string[];
  rows: Row[];
}

export const isFromGPU = ({ device }: Result): boolean => !isSoftwareName(device);

/** @throws If a text is not the JSON of a result. */
export function parseResult(text: string): Result {
  const result = JSON.parse(text) as Partial<Result> | null;
  const isResult = typeof result?.device === 'string' && Array.isArray(result.rows);
  if (!isResult) throw new Error('This is JSON, but no result of the benchmark.');
  return result as Result;
}

/** The benchmark page's address with a result in its hash, so that no server has to keep it. */
export async function linkTo(page: string, result: Result): Promise<string> {
  const packed = await stream(
    new TextEncoder().encode(JSON.stringify(result)),
    new CompressionStream('deflate-raw'),
  );
  const text = btoa(String.fromCharCode(...packed));
  return `${page.split('#')[0]}#result=${text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}

/**
 * The result in a link, or in a hash; null if there is none.
 *
 * @throws If it was cut off on its way.
 */
export async function resultIn(link: string): Promise<Result | null> {
  const text = /#result=([\w-]+)/.exec(link)?.[1];
  if (text === undefined) return null;
  const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const packed = Uint8Array.from(bytes, (byte) => byte.charCodeAt(0));
  try {
    return parseResult(
      new TextDecoder().decode(await stream(packed, new DecompressionStream('deflate-raw'))),
    );
  } catch {
    throw new Error('The result in this link is not whole; copy all of the link.');
  }
}

async function stream(
  bytes: Uint8Array<ArrayBuffer>,
  through: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
  const read = new Response(new Blob([bytes]).stream().pipeThrough(through)).arrayBuffer();
  return new Uint8Array(await read);
}
