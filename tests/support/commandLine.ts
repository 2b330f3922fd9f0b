import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { run } from '../../lib/cli/run.js';

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the command as a shell would, but for the process. */
export async function command(...args: string[]): Promise<Ran> {
  const written = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr') => ({
    write(text: string) {
      written[name] += text;
    },
  });
  const code = await run(args, '1.2.3', { stdout: stream('stdout'), stderr: stream('stderr') });
  return { code, ...written };
}

/** A folder that is gone when the tests of the file are done; gives paths in it. */
export function temporaryFolder(): (...names: string[]) => string {
  const folder = mkdtempSync(join(tmpdir(), 'sim-command-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return (...names) => join(folder, ...names);
}
