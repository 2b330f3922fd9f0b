import { chipOf } from '../lib/deviceName.js';
import { choice, createNote, find, toggle } from '../lib/page.js';
import { drawChart, METRICS, type Metric } from './chart.js';
import { CONTENDERS } from './contenders.js';
import { BUDGET, type Row } from './measure.js';
import { linkTo, type Result, resultIn } from './Result.js';
import { recorded } from './recorded/index.js';
import type { MeasuredRow, Report } from './run/Report.js';
import { HEIGHT, WIDTH } from './view.js';

const COUNTS = [10, 100, 1_000, 10_000];
/** The short run: what is compared most, in half a minute. */
const SHORT = {
  ways: ['floor', 'batched', 'skinned', 'instancedMesh2', 'lite', 'tracks'],
  most: 1_000,
  budget: 400,
  seconds: 30,
};
/** Milliseconds of a frame beyond which a way of drawing is not tried with more characters. */
const PATIENCE = 2_000;
/** Milliseconds after which a measurement is given up. */
const TIMEOUT = 180_000;

const query = new URLSearchParams(location.search);
const renderer = query.get('renderer') === 'webgpu' ? 'webgpu' : 'webgl';
let budget = Number(query.get('budget') ?? BUDGET);
const counts = query.get('counts')?.split(',').map(Number) ?? COUNTS;

let whole = true;
let most = counts[counts.length - 1];
let metric: Metric = 'js';
/** Until Start is pressed, what was recorded on another machine, or what is in the page's link. */
let result: Result = recorded[renderer === 'webgpu' ? 1 : 0];
let stop: AbortController | null = null;

/** The ways of drawing that this renderer has. */
function contenders(): [key: string, name: string][] {
  const known = Object.entries(CONTENDERS)
    .filter(([, { renderers }]) => renderers.includes(renderer))
    .map(([key, { name }]): [string, string] => [key, name]);
  if (renderer === 'webgpu') known.push(['lite', 'Babylon Lite, baked']);
  const only = query.get('only')?.split(',');
  return known.filter(([key]) => only === undefined || only.includes(key));
}

// --- measuring ---

async function run(isShort: boolean): Promise<void> {
  stop = new AbortController();
  const { signal } = stop;
  const rows: Row[] = [];
  const problems: string[] = [];
  const { userAgent } = navigator;
  const vertices = whole ? 'whole characters' : 'one triangle each';
  result = { date: '', device: '', renderer: '', userAgent, vertices, problems, rows };
  if (isShort) budget = SHORT.budget;
  delete document.body.dataset.done;
  // What it has is no longer what is shown.
  if (location.hash !== '') history.replaceState(null, '', `${location.pathname}${location.search}`);
  showButtons();
  const tooSlow = new Set<string>();
  const ways = contenders().filter(([key]) => !isShort || SHORT.ways.includes(key));
  await warmBrowser(signal);
  const began = performance.now();
  for (const count of counts.filter((one) => one <= (isShort ? SHORT.most : most))) {
    for (const [key, name] of ways) {
      const isLate = isShort && performance.now() - began > SHORT.seconds * 1000;
      if (signal.aborted || isLate || tooSlow.has(key)) continue;
      find('[data-state]').textContent = `${name}, ${count.toLocaleString('en')} …`;
      try {
        const row = await measureRow(key, count, signal);
        rows.push(row);
        Object.assign(result, { device: row.device, renderer: row.renderer, date: new Date().toISOString() });
        if (row.frame > PATIENCE) tooSlow.add(key);
      } catch (error) {
        if (signal.aborted) break;
        problems.push(`${name}, ${count.toLocaleString('en')}: ${(error as Error).message}`);
        tooSlow.add(key);
      }
      show();
    }
  }
  const where = rows.length > 0 ? ` This was ${result.renderer} on ${result.device}.` : '';
  find('[data-state]').textContent = `${signal.aborted ? 'Stopped.' : 'Done.'}${where}`;
  stop = null;
  budget = Number(query.get('budget') ?? BUDGET);
  showButtons();
  show();
  document.body.dataset.done = '1';
}

/** The first page of all would be measured while the browser still loads and compiles what all pages share. */
async function warmBrowser(signal: AbortSignal): Promise<void> {
  find('[data-state]').textContent = 'Warming up …';
  const [[contender]] = contenders();
  const first = { contender, count: String(counts[0]), vertices: '0', measure: 'script' };
  // What is wrong with it is said when it is measured.
  await measureInFrame(first, signal).catch(() => {});
}

/** Measures JavaScript with next to nothing to draw, so that it is warm and never waits, and drawing with all there is. */
async function measureRow(contender: string, count: number, signal: AbortSignal): Promise<Row> {
  const which = { contender, count: String(count) };
  if (!whole) {
    return (await measureInFrame({ ...which, vertices: '0', measure: 'script,drawing' }, signal)) as Row;
  }
  const script = await measureInFrame({ ...which, vertices: '0', measure: 'script' }, signal);
  const drawing = await measureInFrame({ ...which, vertices: '1', measure: 'drawing' }, signal);
  return { ...script, ...drawing } as Row;
}

/** Opens the page that measures in a frame, and waits for what it reports. */
function measureInFrame(parameters: Record<string, string>, signal: AbortSignal): Promise<MeasuredRow> {
  const frame = document.createElement('iframe');
  frame.title = 'What is being measured';
  frame.width = String(WIDTH);
  frame.height = String(HEIGHT);
  frame.src = `./run/index.html?${new URLSearchParams({ ...parameters, renderer, budget: String(budget) })}`;
  const measured = new AbortController();
  return new Promise<MeasuredRow>((resolve, reject) => {
    const onMessage = ({ source, data }: MessageEvent<Report>) => {
      if (source !== frame.contentWindow) return;
      if ('row' in data) resolve(data.row);
      else reject(new Error(data.error));
    };
    const until = { signal: measured.signal };
    window.addEventListener('message', onMessage, until);
    signal.addEventListener('abort', () => reject(new Error('stopped')), until);
    const tooLong = () => reject(new Error('no answer within three minutes'));
    AbortSignal.timeout(TIMEOUT).addEventListener('abort', tooLong, until);
    find('[data-frame]').replaceChildren(frame);
  }).finally(() => {
    measured.abort();
    frame.remove();
  });
}

// --- the page ---

function show(): void {
  const { rows, problems } = result;
  drawChart(find('[data-chart]'), find('[data-legend]'), rows, metric);
  find('[data-said]').textContent = said(rows);
  find('tbody').replaceChildren(...rows.map(tableRow));
  find('[data-problems]').replaceChildren(
    ...problems.map((problem) => {
      const item = document.createElement('li');
      item.textContent = problem;
      return item;
    }),
  );
  find('[data-json]').textContent = JSON.stringify(result, null, 2);
}

/** What the chart says of the most characters that were drawn as SkinnedMeshes. */
function said(rows: readonly Row[]): string {
  const each = rows.findLast(({ contender }) => contender === 'skinned');
  const crowd = rows.find(({ contender, count }) => contender === 'tracks' && count === each?.count);
  if (!each?.[metric] || !crowd?.[metric]) return '';
  const [before, after] = [each[metric], crowd[metric]].map((time) => Number(time?.toPrecision(2)));
  return `${each.count.toLocaleString('en')} characters, ${METRICS[metric]}: ${before} ms a frame as SkinnedMeshes, ${after} ms as one crowd.`;
}

function showButtons(): void {
  const isRunning = stop !== null;
  find('button[name=start]').textContent = isRunning ? 'Stop' : `Start: ${SHORT.seconds} seconds`;
  for (const name of ['everything', 'copy', 'save', 'link'])
    find<HTMLButtonElement>(`button[name=${name}]`).disabled = isRunning;
}

function tableRow(row: Row): HTMLTableRowElement {
  const floor = result.rows.find((other) => other.contender === 'floor' && other.count === row.count);
  const ratio = floor === undefined ? Number.NaN : row.js / floor.js;
  const element = document.createElement('tr');
  for (const text of [
    row.count.toLocaleString('en'),
    row.name,
    row.js.toFixed(3),
    Number.isFinite(ratio) ? ratio.toFixed(ratio < 10 ? 2 : 0) : '–',
    row.gpu?.toFixed(2) ?? '–',
    row.frame.toFixed(2),
    row.draws.toLocaleString('en'),
    row.uploads.toLocaleString('en'),
    row.bytes.toLocaleString('en'),
  ]) {
    element.insertCell().textContent = text;
  }
  return element;
}

find('button[name=start]').addEventListener('click', () => {
  if (stop === null) run(true);
  else stop.abort();
});
find('button[name=everything]').addEventListener('click', () => run(false));
find('button[name=copy]').addEventListener('click', async () => {
  await navigator.clipboard.writeText(JSON.stringify(result, null, 2));
  find('[data-state]').textContent = 'Copied.';
});
find('button[name=link]').addEventListener('click', async () => {
  await navigator.clipboard.writeText(await linkTo(location.href, result));
  find('[data-state]').textContent = 'Copied: whoever opens the link sees these numbers.';
});
find('button[name=save]').addEventListener('click', () => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([JSON.stringify(result, null, 2)], { type: 'application/json' }));
  link.download = `benchmark-${result.date.slice(0, 10)}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
});
find('[data-size]').textContent = `${WIDTH} × ${HEIGHT}`;
toggle('whole', query.get('vertices') !== '0', (value) => {
  whole = value;
});
choice(
  '[data-most]',
  counts.map((count): [number, string] => [count, `to ${count.toLocaleString('en')}`]),
  most,
  (value) => {
    most = value;
  },
);
choice('[data-metrics]', Object.entries(METRICS) as [Metric, string][], metric, (value) => {
  metric = value;
  show();
});
find('main').append(createNote(renderer === 'webgpu' ? 'Measures WebGPURenderer' : 'Measures WebGLRenderer'));
try {
  const shared = await resultIn(location.hash);
  if (shared !== null) result = shared;
  const { renderer: label, device, date, vertices } = result;
  const by = shared === null ? 'Recorded' : 'Measured by whoever sent the link';
  find('[data-state]').textContent =
    `${by}: ${label} on ${chipOf(device)}, ${date.slice(0, 10)}, ${vertices}. Press Start for this machine.`;
} catch (error) {
  find('[data-state]').textContent = (error as Error).message;
}
showButtons();
show();
document.body.dataset.ready = '1';
if (query.get('auto') === '1') run(false);
