import type { Row } from './measure.js';

/** What the chart can show. */
export const METRICS = { js: 'JavaScript', gpu: 'GPU', frame: 'Whole frame' } as const;
export type Metric = keyof typeof METRICS;

const COLORS: Record<string, string> = {
  floor: '#a9b4bf',
  batched: '#6f8296',
  skinned: '#ff7a6b',
  instancedMesh2: '#ffb84d',
  tracks: '#4fe0c6',
  frames: '#c9a5ff',
  framesHalf: '#8a63d2',
  nearest: '#e6d8ff',
  lite: '#7fdc8c',
};

const LEFT = 76;
const RIGHT = 700;
const TOP = 16;
const BOTTOM = 340;
/** Room for what stands below the axis. */
const FOOT = 56;

/** Draws time per frame over the number of characters, both by powers of ten, and the legend of its lines. */
export function drawChart(svg: SVGElement, legend: Element, rows: readonly Row[], metric: Metric): void {
  const shown = rows.filter((row) => row[metric] !== null && (row[metric] as number) > 0);
  const [fromX, toX] = decades(shown.map(({ count }) => count));
  const [fromY, toY] = decades(shown.map((row) => row[metric] as number));
  const x = (value: number) => LEFT + ((Math.log10(value) - fromX) / (toX - fromX)) * (RIGHT - LEFT);
  const y = (value: number) => BOTTOM - ((Math.log10(value) - fromY) / (toY - fromY)) * (BOTTOM - TOP);

  const marks: Element[] = [];
  for (let power = fromX; power <= toX; power++) {
    marks.push(
      line(x(10 ** power), TOP, x(10 ** power), BOTTOM),
      text(x(10 ** power), BOTTOM + 26, 10 ** power),
    );
  }
  for (let power = fromY; power <= toY; power++) {
    marks.push(line(LEFT, y(10 ** power), RIGHT, y(10 ** power)));
    marks.push(text(LEFT - 8, y(10 ** power) + 4, 10 ** power, 'end'));
  }
  marks.push(text(RIGHT, BOTTOM + FOOT - 2, 'characters', 'end'), text(LEFT + 8, TOP + 14, 'ms', 'start'));

  const keys = [...new Set(shown.map(({ contender }) => contender))];
  for (const key of keys) {
    const points = shown.filter(({ contender }) => contender === key);
    const color = COLORS[key] ?? '#ffffff';
    const path = points.map((row) => `${x(row.count)},${y(row[metric] as number)}`).join(' ');
    marks.push(
      make('polyline', {
        points: path,
        fill: 'none',
        stroke: color,
        'stroke-width': key === 'tracks' || key === 'skinned' ? 5 : 2,
      }),
    );
    for (const row of points) {
      const dot = make('circle', { cx: x(row.count), cy: y(row[metric] as number), r: 4, fill: color });
      const title = make('title', {});
      title.textContent = `${row.name}, ${row.count.toLocaleString('en')}: ${(row[metric] as number).toFixed(3)} ms`;
      dot.append(title);
      marks.push(dot);
    }
  }
  svg.setAttribute('viewBox', `0 0 ${RIGHT + 44} ${BOTTOM + FOOT}`);
  svg.replaceChildren(...marks);

  legend.replaceChildren(
    ...keys.map((key) => {
      const entry = document.createElement('span');
      entry.style.setProperty('--color', COLORS[key] ?? '#ffffff');
      const { name, ...row } = shown.findLast(({ contender }) => contender === key)!;
      entry.textContent = `${name}: ${Number((row[metric] as number).toPrecision(2))} ms at ${row.count.toLocaleString('en')}`;
      return entry;
    }),
  );
}

/** Powers of ten around some values. */
function decades(values: number[]): [number, number] {
  if (values.length === 0) return [0, 1];
  const from = Math.floor(Math.log10(Math.min(...values)));
  return [from, Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values))))];
}

function line(x1: number, y1: number, x2: number, y2: number): Element {
  return make('line', { x1, y1, x2, y2, class: 'grid' });
}

function text(x: number, y: number, value: number | string, anchor = 'middle'): Element {
  const element = make('text', { x, y, 'text-anchor': anchor });
  element.textContent =
    typeof value === 'number' ? value.toLocaleString('en', { maximumFractionDigits: 6 }) : value;
  return element;
}

function make(name: string, attributes: Record<string, string | number>): Element {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}
