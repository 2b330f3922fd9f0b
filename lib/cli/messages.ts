/** Exit codes of the command: what scripts and build tools go by. */
export const EXIT = { done: 0, input: 1, usage: 2 } as const;

/** An error that the user can do something about: it is shown as it is, without a stack. */
export class CommandError extends Error {
  constructor(
    message: string,
    /** What the process ends with. */
    readonly exitCode: number,
  ) {
    super(message);
  }
}

/** Something is wrong with a file, or with what the options ask of it. */
export const inputError = (message: string): CommandError => new CommandError(message, EXIT.input);

/** The command line itself makes no sense, whatever is in the files. */
export const usageError = (message: string): CommandError => new CommandError(message, EXIT.usage);

/**
 * What an error says is wrong with a file, in words for those who did not write the program: one of JavaScript itself means that the
 * file is not as its own numbers say.
 */
export function reasonOf(error: unknown): string {
  const { message } = error as Error;
  const isOfJavaScript = error instanceof TypeError || error instanceof RangeError;
  return isOfJavaScript
    ? `it is damaged, or refers to something that is not in it (${message}); export it again`
    : message;
}

/**
 * Does something with a file.
 *
 * @param what Says in an error what could not be done.
 * @throws A CommandError with that and the reason.
 */
export async function attempt<Result>(what: string, work: () => Promise<Result> | Result): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw inputError(`${what}: ${reasonOf(error)}`);
  }
}

/**
 * Runs something whose warnings and errors go to the console, as those of three.js and of the library do, and keeps them.
 *
 * @param warnings Gets each of them once.
 */
export async function collectWarnings<Result>(
  warnings: string[],
  work: () => Promise<Result> | Result,
): Promise<Result> {
  const { warn, error } = console;
  // three.js adds the objects that it is about, which say nothing in a line.
  const keep = (...texts: unknown[]) => {
    const text = texts.filter((one) => typeof one !== 'object').join(' ');
    if (!warnings.includes(text)) warnings.push(text);
  };
  console.warn = keep;
  console.error = keep;
  try {
    return await work();
  } finally {
    console.warn = warn;
    console.error = error;
  }
}

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
