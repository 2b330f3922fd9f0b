import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NodeIO } from '@gltf-transform/core';
import { afterAll, beforeAll } from 'vitest';
import { run } from '../../lib/cli/run.js';
import { armDocument } from './armDocument.js';

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

/** A folder with `arm.glb`, and apart from it the same as a `.gltf`, until the tests of the file are done; gives paths in it. */
export function armFolder(): (...names: string[]) => string {
  const folder = mkdtempSync(join(tmpdir(), 'sim-command-'));
  beforeAll(async () => {
    const io = new NodeIO();
    await io.write(join(folder, 'arm.glb'), armDocument());
    mkdirSync(join(folder, 'apart'));
    await io.write(join(folder, 'apart', 'arm.gltf'), armDocument());
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return (...names) => join(folder, ...names);
}
