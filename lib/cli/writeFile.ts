import { chmodSync, existsSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { inputError, usageError } from './CommandError.js';

/**
 * Checks that a file can be written, before time is spent on what is to be in it.
 *
 * @throws If its folder is not there, it is a folder, or it is the file that is read and `force` is not set.
 */
export function checkOutput(command: string, output: string, input: string, force: boolean): void {
  const folder = dirname(output);
  if (!existsSync(folder))
    throw inputError(`${command}: there is no folder ${folder} to write ${output} to; make it`);
  if (!existsSync(output)) return;
  if (!statSync(output).isFile()) throw inputError(`${command}: ${output} is no file that could be written`);
  if (force || !existsSync(input) || realpathSync(output) !== realpathSync(input)) return;
  throw usageError(`${command}: ${output} is the file that is read; write to another one, or pass --force`);
}

/** Writes a file as a whole or not at all: nobody ever finds half of it. Links and who may read it stay as they were. */
export function writeWhole(command: string, file: string, bytes: Uint8Array): void {
  const before = existsSync(file);
  const target = before ? realpathSync(file) : file;
  // In the same folder, since files cannot be renamed from one disk to another.
  const unfinished = `${target}.${process.pid}.tmp`;
  try {
    writeFileSync(unfinished, bytes);
    if (before) chmodSync(unfinished, statSync(target).mode);
    renameSync(unfinished, target);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw inputError(`${command}: ${file} cannot be written: ${(error as Error).message}`, error);
  }
}
