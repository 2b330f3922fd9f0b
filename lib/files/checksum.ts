import { expectField, fileError } from './fileErrors.js';

/** The polynomial of CRC-32 as zip, PNG and Ethernet have it, lowest bit first. */
const POLYNOMIAL = 0xedb88320;
/** JSON of what is baked is flatter than this. */
const MAX_DEPTH = 16;

let tables: Uint32Array[] | null = null;

/** Four tables, so that four bytes are taken at once. */
function createTables(): Uint32Array[] {
  const made = [0, 1, 2, 3].map(() => new Uint32Array(256));
  for (let i = 0; i < 256; i++) {
    let value = i;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
    made[0][i] = value;
  }
  for (let i = 0; i < 256; i++) {
    for (let k = 1; k < 4; k++) made[k][i] = (made[k - 1][i] >>> 8) ^ made[0][made[k - 1][i] & 255];
  }
  return made;
}

/** CRC-32 of bytes, going on from that of the bytes before them. */
function crc32(bytes: Uint8Array, before = 0): number {
  tables ??= createTables();
  const [table0, table1, table2, table3] = tables;
  let crc = ~before;
  let i = 0;
  for (const end = bytes.length - 3; i < end; i += 4) {
    crc ^= bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24);
    crc = table3[crc & 255] ^ table2[(crc >>> 8) & 255] ^ table1[(crc >>> 16) & 255] ^ table0[crc >>> 24];
  }
  for (; i < bytes.length; i++) crc = (crc >>> 8) ^ table0[(crc ^ bytes[i]) & 255];
  return ~crc >>> 0;
}

/**
 * CRC-32 of what was encoded: of its views one after the other, then of its JSON with keys in the order of the alphabet, without
 * `checksum` and `views`, which say where things are in a file.
 */
export function checksumOf(json: object, views: readonly Uint8Array[]): number {
  const { checksum: _, views: __, ...rest } = json as Record<string, unknown>;
  const crc = views.reduce((before, view) => crc32(view, before), 0);
  return crc32(new TextEncoder().encode(sortedJSON(rest, 0)), crc);
}

/** @throws If the JSON or the views are not what was written. */
export function checkChecksum(json: object, views: readonly Uint8Array[], field: string): void {
  const { checksum } = json as { checksum?: unknown };
  const actual = checksumOf(json, views);
  expectField(checksum === actual, `${field}.checksum`, checksum, `${actual}, for what the file holds`);
}

/** JSON that is the same whatever the order in which a tool has written the keys. */
function sortedJSON(value: unknown, depth: number): string {
  if (depth > MAX_DEPTH) throw fileError('the JSON is nested too deeply; the file is damaged.');
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((one) => sortedJSON(one, depth + 1)).join()}]`;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${sortedJSON(one, depth + 1)}`).join()}}`;
}
