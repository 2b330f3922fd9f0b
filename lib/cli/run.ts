import type { EventEmitter } from 'node:events';
import { CommandError, EXIT, type OutputStream, Progress, usageError } from './messages.js';
import { BAKE_HELP, HELP, INSPECT_HELP } from './options.js';

/** Commands, each loaded only when it runs: help needs neither three.js nor time. */
const COMMANDS = {
  bake: { help: BAKE_HELP, load: async () => (await import('./bakeCommand.js')).bakeCommand },
  inspect: { help: INSPECT_HELP, load: async () => (await import('./inspectCommand.js')).inspectCommand },
};

/**
 * Runs the command.
 *
 * @param args What stands behind its name.
 * @param version What `--version` shows.
 * @param streams Where it writes to: results, and progress and errors.
 * @returns The exit code.
 */
export async function run(
  args: string[],
  version: string,
  { stdout, stderr }: Record<'stdout' | 'stderr', OutputStream>,
): Promise<number> {
  const asJSON = args.includes('--json');
  const progress = new Progress(stderr);
  try {
    const [name = '', ...rest] = args;
    const { help, load } = new Map(Object.entries(COMMANDS)).get(name) ?? {};
    const isVersion = /^(--version|-v)$/.test(name);
    const isHelp = /^(--help|-h|help)$/.test(name);
    if (isVersion || isHelp || (help && rest.some((one) => /^(--help|-h)$/.test(one)))) {
      stdout.write(`${isVersion ? version : (help ?? HELP)}\n`);
      return EXIT.done;
    }
    if (load === undefined)
      throw usageError(name === '' ? HELP : `there is no command ${name}; use bake or inspect`);
    const command = await load();
    const { json, text } = await command(rest, progress);
    progress.end();
    stdout.write(escaped(asJSON ? `${JSON.stringify(json, null, 2)}\n` : `${text}\n`));
    return EXIT.done;
  } catch (error) {
    progress.end();
    const { message, exitCode, stack } = asCommandError(error);
    if (asJSON) stdout.write(escaped(`${JSON.stringify({ error: message, exitCode }, null, 2)}\n`));
    stderr.write(escaped(`${stack ?? message}\n`));
    return exitCode;
  }
}

/** Text with the control characters written out that names in a stranger's file may have, and a terminal would obey. */
function escaped(text: string): string {
  return text.replace(
    /[^\n\P{Cc}]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
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

/** Lets whoever reads what is written stop reading, as `head` does, without an error of ours. */
export function allowClosing(stream: EventEmitter): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
