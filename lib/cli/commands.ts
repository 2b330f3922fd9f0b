import { bakeCommand } from './bakeCommand.js';
import { bakeText } from './bakeReport.js';
import { inspectCommand } from './inspectCommand.js';
import { inspectText } from './inspectReport.js';
import type { Progress } from './Progress.js';

/** What a command has to say. */
export interface Result {
  /** For programs. */
  json: object;
  /** For people. */
  text: string;
}

/** The command `bake`. */
export async function bake(args: string[], progress: Progress): Promise<Result> {
  const json = await bakeCommand(args, progress);
  return { json, text: bakeText(json) };
}

/** The command `inspect`. */
export async function inspect(args: string[], progress: Progress): Promise<Result> {
  const json = await inspectCommand(args, progress);
  return { json, text: inspectText(json) };
}
