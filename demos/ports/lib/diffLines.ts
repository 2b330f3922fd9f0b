export interface DiffLine {
  kind: 'same' | 'removed' | 'added';
  text: string;
}

export interface LineDiff {
  lines: DiffLine[];
  removed: number;
  added: number;
  /** Lines that were touched: where a line took the place of another, the two count once. */
  changed: number;
}

/** How one text becomes another line by line, by their longest common subsequence. */
export function diffLines(before: string, after: string): LineDiff {
  const a = before.trimEnd().split('\n');
  const b = after.trimEnd().split('\n');
  /** Length of what the rests of both have in common, by where they begin. */
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }

  const diff: LineDiff = { lines: [], removed: 0, added: 0, changed: 0 };
  let block = { removed: 0, added: 0 };
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      diff.lines.push({ kind: 'same', text: a[i] });
      block = { removed: 0, added: 0 };
      i++;
      j++;
      continue;
    }
    const isRemoved = j === b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1]);
    const kind = isRemoved ? 'removed' : 'added';
    const before = Math.max(block.removed, block.added);
    block[kind]++;
    diff[kind]++;
    diff.changed += Math.max(block.removed, block.added) - before;
    diff.lines.push({ kind, text: isRemoved ? a[i++] : b[j++] });
  }
  return diff;
}
