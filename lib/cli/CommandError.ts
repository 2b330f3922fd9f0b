/** Exit codes of the command: what scripts and build tools go by. */
export const EXIT = { done: 0, input: 1, usage: 2 } as const;

/** An error that the user can do something about: it is shown as it is, without a stack. */
export class CommandError extends Error {
  /** What the process ends with. */
  readonly exitCode: number;

  constructor(message: string, exitCode: number, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** Something is wrong with a file, or with what the options ask of it. */
export function inputError(message: string, cause?: unknown): CommandError {
  return new CommandError(message, EXIT.input, { cause });
}

/** The command line itself makes no sense, whatever is in the files. */
export function usageError(message: string): CommandError {
  return new CommandError(message, EXIT.usage);
}
