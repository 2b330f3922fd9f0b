import { VERSION } from '../format/bakedJSON.js';
import { extensionOf } from './bakedParts.js';
import { inputError } from './CommandError.js';
import type { SourceFile } from './readSource.js';

/**
 * @param wayOut What else can be done than to take a newer command.
 * @throws If what was baked into the file is of a version that this command does not know, and could neither read nor replace.
 */
export function checkVersion({ command, file, json }: SourceFile, wayOut: string): void {
  const version = extensionOf(json)?.version;
  if (typeof version !== 'number' || version === VERSION) return;
  throw inputError(
    `${command}: what was baked into ${file} is of version ${version}, and this command knows version ${VERSION}; ` +
      `use a skinned-instanced-mesh that knows version ${version}, ${wayOut}`,
  );
}
