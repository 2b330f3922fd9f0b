import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { diffLines } from '../../demos/ports/lib/diffLines.js';

const ports = fileURLToPath(new URL('../../demos/ports', import.meta.url));

describe.each(['arena', 'rts', 'zoo'])('the port of the %s', (name) => {
  const files = ['skinnedMesh', 'instances'].map((file) => `${ports}/${name}/${file}.ts`);
  const [before, after] = files.map((file) => readFileSync(file, 'utf8'));
  const diff = diffLines(before, after);

  test('changes at most 15 lines', () => {
    console.log(`${name}: ${diff.changed} of ${before.trimEnd().split('\n').length} lines`);
    expect(diff.changed).toBeGreaterThan(0);
    expect(diff.changed).toBeLessThanOrEqual(15);
  });
});
