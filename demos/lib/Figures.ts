/** What drawing a crowd once has cost. */
export interface Cost {
  js: number;
  /** Draw calls of the characters in the picture; not those of the ground. */
  draws: number;
  /** Draw calls of the characters in the shadow map. */
  shadowDraws: number;
  /** Draw calls that pose the characters, once for the picture and the shadow map; WebGPU computes poses without any. */
  poseDraws: number;
  triangles: number;
  bytes: number;
}

const LABELS: [keyof Cost, string][] = [
  ['js', 'JavaScript, ms'],
  ['draws', 'Draw calls, crowd'],
  ['shadowDraws', 'Draw calls, shadows'],
  ['poseDraws', 'Draw calls, poses'],
  ['triangles', 'Triangles, in all'],
  ['bytes', 'Bytes uploaded'],
];

/** Frames per second, with a digit more the fewer there are: a page that takes ten seconds a frame does not show 0. */
export function rateText(rate: number): string {
  return rate < 1 ? rate.toPrecision(2) : rate.toFixed(rate < 10 ? 1 : 0);
}

/** The table of live figures, one column for each of some `sides`: smoothed, and written a few times a second so that they can be read. */
export class Figures<Side extends string> {
  private readonly cells = new Map<string, HTMLTableCellElement>();
  private readonly smooth = new Map<Side, Cost>();
  private readonly begun = new Set<Side>();
  private readonly fps: HTMLTableCellElement;
  /** Beside the panel's title, where the table is not to be seen. */
  private readonly brief = document.createElement('span');
  private frames = 0;
  private since = performance.now();

  constructor(
    body: HTMLTableSectionElement,
    private readonly sides: readonly Side[],
  ) {
    for (const [key, label] of LABELS) {
      const row = body.insertRow();
      row.insertCell().textContent = label;
      for (const side of sides) this.cells.set(`${side} ${key}`, row.insertCell());
    }
    const row = body.insertRow();
    row.insertCell().textContent = 'Frames per second';
    this.fps = row.insertCell();
    this.fps.colSpan = sides.length;
    this.brief.className = 'brief figures';
    body.closest('.panel')?.querySelector('summary')?.append(this.brief);
  }

  add(side: Side, cost: Cost): void {
    // The first frame compiles shaders.
    if (!this.begun.has(side)) {
      this.begun.add(side);
      return;
    }
    const before = this.smooth.get(side);
    this.smooth.set(side, before ? { ...cost, js: before.js * 0.9 + cost.js * 0.1 } : cost);
  }

  /** Forgets a side, when its crowd has changed or is not drawn. */
  clear(side: Side): void {
    this.smooth.delete(side);
    this.begun.delete(side);
  }

  /** Call once a frame. */
  write(): void {
    this.frames++;
    const now = performance.now();
    if (now - this.since < 400) return;
    const rate = rateText((this.frames * 1000) / (now - this.since));
    this.fps.textContent = rate;
    const draws = this.sides.map((side) => this.smooth.get(side)?.draws).filter((one) => one !== undefined);
    this.brief.textContent = `${draws.join(' / ')} draws · ${rate} fps`;
    this.frames = 0;
    this.since = now;

    for (const side of this.sides) {
      const cost = this.smooth.get(side);
      for (const [key] of LABELS) {
        const cell = this.cells.get(`${side} ${key}`);
        if (!cell) continue;
        cell.textContent =
          cost === undefined ? '–' : key === 'js' ? cost.js.toFixed(2) : cost[key].toLocaleString('en');
      }
    }
  }
}
