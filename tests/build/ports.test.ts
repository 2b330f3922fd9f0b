import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { diffLines } from '../../demos/ports/lib/diffLines.js';

const ports = fileURLToPath(new URL('../../demos/ports', import.meta.url));

/** Lines that git says were added, and removed. git tells by its exit status too that files differ. */
function countByGit(before: string, after: string): [added: number, removed: number] {
  const command = ['diff', '--no-index', '--minimal', '--numstat', before, after];
  let text = '';
  try {
    execFileSync('git', command);
  } catch (error) {
    text = (error as { stdout: Buffer }).stdout.toString();
  }
  const [added, removed] = text.split('\t').map(Number);
  return [added, removed];
}

describe.each(['arena', 'rts', 'zoo'])('the port of the %s', (name) => {
  const files = ['skinnedMesh', 'instances'].map((file) => `${ports}/${name}/${file}.ts`);
  const [before, after] = files.map((file) => readFileSync(file, 'utf8'));
  const diff = diffLines(before, after);

  test('changes at most 15 lines', () => {
    console.log(`${name}: ${diff.changed} of ${before.trimEnd().split('\n').length} lines`);
    expect(diff.changed).toBeGreaterThan(0);
    expect(diff.changed).toBeLessThanOrEqual(15);
  });

  test('is counted as git counts', () => {
    expect([diff.added, diff.removed]).toEqual(countByGit(files[0], files[1]));
    const without = (kind: string) =>
      `${diff.lines.flatMap((line) => (line.kind === kind ? [] : [line.text])).join('\n')}\n`;
    expect(without('added')).toBe(before);
    expect(without('removed')).toBe(after);
  });
});

test('lines that take the place of others count once', () => {
  const diff = diffLines('a\nb\nc\nd\n', 'a\nx\ny\nd\ne\n');
  expect(diff).toMatchObject({ removed: 2, added: 3, changed: 3 });
});
