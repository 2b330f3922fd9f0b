import { CommandError, EXIT, usageError } from './CommandError.js';
import { BAKE_HELP, HELP, INSPECT_HELP } from './help.js';
import { type OutputStream, Progress } from './Progress.js';

/** Where the command writes to. */
export interface Streams {
  /** Results. */
  stdout: OutputStream;
  /** Progress and errors. */
  stderr: OutputStream;
}

/** Commands, and what each shows for `--help`. */
const COMMANDS = { bake: BAKE_HELP, inspect: INSPECT_HELP } as const;

/**
 * Runs the command.
 *
 * @param args What stands behind its name.
 * @param version What `--version` shows.
 * @returns The exit code.
 */
export async function run(args: string[], version: string, { stdout, stderr }: Streams): Promise<number> {
  const asJSON = args.includes('--json');
  const progress = new Progress(stderr);
  try {
    const [name = '', ...rest] = args;
    if (name === '--version' || name === '-v') {
      stdout.write(`${version}\n`);
      return EXIT.done;
    }
    if (name === '--help' || name === '-h' || name === 'help') {
      stdout.write(`${HELP}\n`);
      return EXIT.done;
    }
    if (!isCommand(name))
      throw usageError(name === '' ? HELP : `there is no command ${name}; use bake or inspect`);
    if (rest.includes('--help') || rest.includes('-h')) {
      stdout.write(`${COMMANDS[name]}\n`);
      return EXIT.done;
    }
    // Only now, so that help needs neither three.js nor time.
    const commands = await import('./commands.js');
    const { json, text } = await commands[name](rest, progress);
    progress.end();
    stdout.write(asJSON ? `${JSON.stringify(json, null, 2)}\n` : `${text}\n`);
    return EXIT.done;
  } catch (error) {
    progress.end();
    const { message, exitCode, stack } = asCommandError(error);
    if (asJSON) stdout.write(`${JSON.stringify({ error: message, exitCode }, null, 2)}\n`);
    stderr.write(`${stack ?? message}\n`);
    return exitCode;
  }
}

function isCommand(name: string): name is keyof typeof COMMANDS {
  return Object.hasOwn(COMMANDS, name);
}

/** What is said of an error, with the stack of those that only a mistake in the program explains. */
function asCommandError(error: unknown): { message: string; exitCode: number; stack?: string } {
  if (error instanceof CommandError) return { message: error.message, exitCode: error.exitCode };
  const { code, name, message, stack } = error as NodeJS.ErrnoException;
  if (code === 'ERR_MODULE_NOT_FOUND' && /'three/.test(message)) {
    return { message: 'three.js is not installed; run npm install three', exitCode: EXIT.input };
  }
  // The library's own errors, and those of files, say what is wrong.
  if (name === 'Error') return { message, exitCode: EXIT.input };
  return { message: `${name}: ${message}`, exitCode: EXIT.input, stack };
}
