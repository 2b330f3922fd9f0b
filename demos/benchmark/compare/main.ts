import { choice, createNote, find } from '../../lib/page.js';
import { METRICS, type Metric } from '../chart.js';
import type { Row } from '../measure.js';
import { isFromGPU, parseResult, type Result, resultIn } from '../Result.js';
import { recorded } from '../recorded/index.js';

const results: Result[] = [...recorded];
let metric: Metric = 'js';

function add(result: Result | null): void {
  if (result === null)
    throw new Error('There is no result in this link: press "Copy a link" on the benchmark page.');
  results.push(result);
}

/** Takes in what was given, and says what of it is no result. */
async function take(given: Promise<void>[]): Promise<void> {
  const problems: string[] = [];
  for (const one of await Promise.allSettled(given))
    if (one.status === 'rejected') problems.push((one.reason as Error).message);
  show(problems);
}

function show(problems: string[] = []): void {
  const onGPU = results.filter(isFromGPU).length;
  const where = `${onGPU} of ${results.length} from a GPU.`;
  find('[data-state]').textContent = [...problems, where].join(' ');

  const head = document.createElement('tr');
  for (const text of ['Characters', 'Drawn as']) addCell(head, text, 'th');
  for (const { device, date, vertices } of results)
    addCell(head, `${device}, ${vertices}, ${date.slice(0, 10)}`, 'th');
  find('thead').replaceChildren(head);

  const keys = new Map<string, Row>();
  for (const { rows } of results) for (const row of rows) keys.set(`${row.count} ${row.contender}`, row);
  const measured = (of: number) =>
    results.filter(({ rows }) => rows.some(({ count }) => count === of)).length;
  // what all have measured first, and of that the most: what tells them apart
  const sorted = [...keys.values()].sort(
    (a, b) => measured(b.count) - measured(a.count) || b.count - a.count,
  );
  find('tbody').replaceChildren(
    ...sorted.map(({ count, contender, name }) => {
      const line = document.createElement('tr');
      addCell(line, count.toLocaleString('en'));
      addCell(line, name);
      for (const { rows } of results) {
        const alike = rows.filter((row) => row.count === count);
        const timeOf = (key: string) => alike.find((row) => row.contender === key)?.[metric] ?? null;
        const [value, floor] = [timeOf(contender), timeOf('floor')];
        const ratio = value && floor ? ` (${(value / floor).toFixed(1)} ×)` : '';
        const cell = addCell(line, value === null ? '–' : `${value.toFixed(2)} ms${ratio}`);
        const longest = Math.max(...alike.map((row) => row[metric] ?? 0));
        if (value !== null) cell.style.setProperty('--share', `${(100 * value) / longest}%`);
      }
      return line;
    }),
  );
  document.body.dataset.results = String(results.length);
}

function addCell(row: HTMLTableRowElement, text: string, tag: 'td' | 'th' = 'td'): HTMLElement {
  const cell = Object.assign(document.createElement(tag), { textContent: text });
  row.append(cell);
  return cell;
}

find('[name=files]').addEventListener('change', ({ target }) => {
  const files = [...((target as HTMLInputElement).files ?? [])];
  void take(files.map(async (file) => add(parseResult(await file.text()))));
});
find('[name=link]').addEventListener('change', ({ target }) => {
  const input = target as HTMLInputElement;
  void take([resultIn(input.value).then(add)]);
  input.value = '';
});
choice('[data-metrics]', Object.entries(METRICS) as [Metric, string][], metric, (value) => {
  metric = value;
  show();
});
find('main').append(createNote('In brackets: times the still InstancedMesh', 'benchmark/compare'));
show();
document.body.dataset.ready = '1';
