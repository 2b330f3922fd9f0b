import { validateBytes } from 'gltf-validator';

/** What Khronos's validator has against a file: errors and warnings, among which extensions that it does not know are none. */
export async function validateGlb(bytes: Uint8Array): Promise<string[]> {
  const { issues } = await validateBytes(bytes);
  return issues.messages
    .filter(({ severity }) => severity < 2)
    .map(({ code, message }) => `${code}: ${message}`);
}
