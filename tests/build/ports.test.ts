import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { diffLines } from '../../demos/ports/lib/diffLines.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Those of the demos, and the one that tests/parity/ports.test.ts compares. */
const PORTS = [...['arena', 'rts', 'zoo'].map((name) => `demos/ports/${name}`), 'tests/ports/enemies'];

test.each(PORTS)('%s is ported by at most 12 added lines', (folder) => {
  const [before, after] = ['skinnedMesh', 'instances'].map((name) => {
    const path = `${root}/${folder}/${name}.ts`;
    return readFileSync(existsSync(path) ? path : `${path}x`, 'utf8');
  });
  const { added, changed } = diffLines(before, after);
  console.log(
    `${folder}: ${added} added, ${changed} of ${before.trimEnd().split('\n').length} lines changed`,
  );
  expect(added).toBeGreaterThan(0);
  expect(added).toBeLessThanOrEqual(12);
});
