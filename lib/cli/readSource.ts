import { existsSync, readFileSync, statSync } from 'node:fs';
import type { Document, GLTF, JSONDocument } from '@gltf-transform/core';
import { ALL_EXTENSIONS } from '@gltf-transform/extensions';
import { EXTENSION as BAKED } from '../format/bakedJSON.js';
import { inputError } from './CommandError.js';
import { danglingReference } from './checkReferences.js';
import { createIO, DRACO } from './gltfIO.js';
import { reasonOf } from './reasonOf.js';

/** A glTF file that has been read, but not taken apart yet. */
export interface SourceFile {
  command: string;
  file: string;
  /** Its JSON, and its buffers and images. */
  content: JSONDocument;
  /** As it is in the content. */
  json: GLTF.IGLTF;
  /** Bytes of the file, and of those beside it that it consists of. */
  bytes: number;
  /** The file itself, if it is a .glb that needs no other file; else null. */
  glb: Uint8Array | null;
}

/**
 * Reads a .glb, or a .gltf with the files beside it.
 *
 * @throws If it is not there, or no glTF file.
 */
export async function readSource(command: string, file: string): Promise<SourceFile> {
  if (!existsSync(file)) throw inputError(`${command}: there is no file ${file}`);
  if (!statSync(file).isFile()) throw inputError(`${command}: ${file} is no file`);
  const io = await createIO([], false);
  try {
    const content = await io.readAsJSON(file);
    const { json } = content;
    const version = json?.asset?.version;
    if (typeof version !== 'string') throw new Error('it says no version of glTF');
    if (!version.startsWith('2.')) throw new Error(`it is of glTF ${version}, and 2.0 is needed`);
    const dangling = danglingReference(json);
    if (dangling !== null) throw new Error(`${dangling}; export it again`);
    const glb = isBinary(file) && !needsOthers(json) ? new Uint8Array(readFileSync(file)) : null;
    return { command, file, content, json, bytes: io.lastReadBytes, glb };
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && path !== undefined) {
      throw inputError(`${command}: ${file} needs the file ${path}, which is not there`, error);
    }
    const why =
      error instanceof SyntaxError ? 'its JSON is broken, or it is a file of another kind' : reasonOf(error);
    throw inputError(`${command}: ${file} is no glTF file that can be read: ${why}`, error);
  }
}

/**
 * Takes a file apart with glTF-Transform.
 *
 * @param warnings Gets what is lost by that.
 * @throws If that cannot be done; the message says why.
 */
export async function openDocument(source: SourceFile, warnings: string[]): Promise<Document> {
  const { command, file, content, json } = source;
  const { extensionsUsed = [], extensionsRequired = [] } = json;
  const known = new Set([...ALL_EXTENSIONS.map(({ EXTENSION_NAME }) => EXTENSION_NAME), BAKED]);
  const needed = extensionsRequired.filter((name) => !known.has(name));
  if (needed.length > 0) {
    throw inputError(
      `${command}: ${file} cannot be read without ${needed.join(', ')}, which this command does not know; export it without`,
    );
  }
  for (const name of extensionsUsed) {
    if (known.has(name)) continue;
    warnings.push(`The extension ${name} is not known to this command, and is left out.`);
  }
  try {
    const io = await createIO(warnings, extensionsUsed.includes(DRACO));
    return await io.readJSON(content);
  } catch (error) {
    throw inputError(`${command}: ${file} is no glTF file that can be read: ${reasonOf(error)}`, error);
  }
}

function isBinary(file: string): boolean {
  return readFileSync(file).subarray(0, 4).toString('latin1') === 'glTF';
}

/** Whether a file consists of others too. */
function needsOthers({ buffers = [], images = [] }: GLTF.IGLTF): boolean {
  return [...buffers, ...images].some(({ uri }) => uri !== undefined && !uri.startsWith('data:'));
}
