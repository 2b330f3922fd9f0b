/** What drawing a crowd once has cost. */
export interface Cost {
  js: number;
  draws: number;
  triangles: number;
  bytes: number;
}

const LABELS: [keyof Cost, string][] = [
  ['js', 'JavaScript, ms'],
  ['draws', 'Draw calls'],
  ['triangles', 'Triangles'],
  ['bytes', 'Bytes uploaded'],
];

/** The table of live figures, one column for each of some `sides`: smoothed, and written a few times a second so that they can be read. */
export class Figures<Side extends string> {
  private readonly cells = new Map<string, HTMLTableCellElement>();
  private readonly smooth = new Map<Side, Cost>();
  private readonly begun = new Set<Side>();
  private readonly fps: HTMLTableCellElement;
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
    this.fps.textContent = ((this.frames * 1000) / (now - this.since)).toFixed(0);
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
