import { chipOf } from '../../lib/deviceName.js';
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
  addCell(head, 'Drawn as', 'th');
  for (const { device, renderer, date, vertices } of results)
    addCell(head, chipOf(device), 'th').append(
      small([renderer.split('Renderer')[0], vertices, date.slice(0, 10)].join(', ')),
    );
  find('thead').replaceChildren(head);

  const keys = new Map<string, Row>();
  for (const { rows } of results) for (const row of rows) keys.set(`${row.count} ${row.contender}`, row);
  const measured = (of: number) =>
    results.filter(({ rows }) => rows.some(({ count }) => count === of)).length;
  // what all have measured first, and of that the most: what tells them apart
  const sorted = [...keys.values()].sort(
    (a, b) => measured(b.count) - measured(a.count) || b.count - a.count,
  );
  const lines: HTMLElement[] = [];
  for (const [i, { count, contender, name }] of sorted.entries()) {
    if (count !== sorted[i - 1]?.count) lines.push(headOf(count));
    const line = document.createElement('tr');
    line.className = contender;
    addCell(line, name);
    for (const { rows } of results) {
      const timeOf = timesOf(rows, count);
      const [value, floor] = [timeOf(contender), timeOf('floor')];
      const cell = addCell(line, value === null ? '–' : `${value.toFixed(2)} ms`);
      if (value && floor) cell.append(small(times(value / floor)));
      const longest = Math.max(...rows.map((row) => (row.count === count ? (row[metric] ?? 0) : 0)));
      if (value !== null) cell.style.setProperty('--share', `${(100 * value) / longest}%`);
    }
    lines.push(line);
  }
  find('tbody').replaceChildren(...lines);
  document.body.dataset.results = String(results.length);
}

/** So many characters, and what SkinnedMeshes take of the time of one crowd. */
function headOf(count: number): HTMLElement {
  const line = document.createElement('tr');
  addCell(line, `${count.toLocaleString('en')} characters`, 'th');
  for (const { rows } of results) {
    const timeOf = timesOf(rows, count);
    const [each, crowd] = [timeOf('skinned'), timeOf('tracks')];
    const cell = addCell(line, each && crowd ? times(each / crowd) : '', 'th');
    if (each && crowd) cell.append(small('SkinnedMeshes ÷ crowd'));
  }
  return line;
}

const timesOf = (rows: readonly Row[], count: number) => (key: string) =>
  rows.find((row) => row.count === count && row.contender === key)?.[metric] ?? null;

const times = (ratio: number) =>
  `${ratio.toLocaleString('en', { maximumFractionDigits: ratio < 10 ? 1 : 0 })} ×`;

const small = (text: string) => Object.assign(document.createElement('small'), { textContent: text });

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
find('main').append(createNote('Small: times the still InstancedMesh', 'benchmark/compare'));
show();
document.body.dataset.ready = '1';
