import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';

/** What three.js's own copy of Draco calls itself. */
type DracoModule = (options: { wasmBinary: Uint8Array }) => Promise<unknown>;

/**
 * The Draco decoder that three.js brings along for browsers. Our own would make the package a third of a megabyte larger for
 * something that every user has already.
 */
export async function createDracoDecoder(): Promise<unknown> {
  const require = createRequire(import.meta.url);
  const read = (file: string) => readFileSync(require.resolve(`three/addons/libs/draco/${file}`));
  // A plain script, which a package of ES modules cannot have imported; in Node it asks for modules by `require`.
  const script = `${read('draco_wasm_wrapper.js').toString('utf8')};return DracoDecoderModule`;
  const create = compileFunction(script, ['require', '__dirname'])(require, '') as DracoModule;
  return create({ wasmBinary: read('draco_decoder.wasm') });
}
