import { find } from '../../lib/page.js';
import { type DiffLine, diffLines } from './diffLines.js';

/** Unchanged lines that are shown around those that were changed. */
const CONTEXT = 2;
const SIGNS = { same: ' ', removed: '-', added: '+' };
const TAGS = { same: 'em', removed: 'del', added: 'ins' };

/** Shows which lines were changed, with some around them, and how many. */
export function showDiff(before: string, after: string): void {
  const { lines, changed, removed, added } = diffLines(before, after);
  const all = before.trimEnd().split('\n').length;
  find('[data-lines]').textContent = `${changed} lines changed`;
  find('[data-counts]').textContent =
    `of ${all}: ${removed} went, ${added} came; one in the place of another counts once.`;
  const isNear = (i: number) =>
    lines.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some(({ kind }) => kind !== 'same');
  const rows = lines.flatMap((line, i) => {
    if (isNear(i)) return [rowOf(line), '\n'];
    return i > 0 && isNear(i - 1) ? [rowOf({ kind: 'same', text: '…' }), '\n'] : [];
  });
  find('.diff').replaceChildren(...rows);
}

function rowOf({ kind, text }: DiffLine): Node {
  const row = document.createElement(TAGS[kind]);
  row.textContent = `${SIGNS[kind]} ${text}`;
  return row;
}
