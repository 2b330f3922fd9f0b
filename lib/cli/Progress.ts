/** Where a command writes to, e.g. `process.stdout`. */
export interface OutputStream {
  write(text: string): unknown;
  /** Whether someone looks at it, who likes a line that changes better than many. */
  isTTY?: boolean;
}

/** Says what is being done: on a terminal in one line that changes, elsewhere in a line for each step. */
export class Progress {
  private step = '';

  constructor(private readonly stream: OutputStream) {}

  /** Begins a step, e.g. `baking 76 clips`. */
  begin(step: string): void {
    this.step = step;
    if (this.stream.isTTY) this.show(`${step} …`);
    else this.stream.write(`${step}\n`);
  }

  /** How much of the step is done, 0 to 1; shown on terminals alone. */
  share(done: number): void {
    if (this.stream.isTTY) this.show(`${this.step} … ${Math.round(done * 100)} %`);
  }

  /** Takes the line away, so that what is written next stands at its place. */
  end(): void {
    if (this.stream.isTTY) this.show('');
  }

  private show(text: string): void {
    // Back to the first column, and erase to the end of the line.
    this.stream.write(`\r\x1b[K${text}`);
  }
}

/** What a command has to say. */
export interface Result {
  /** For programs. */
  json: object;
  /** For people. */
  text: string;
}
