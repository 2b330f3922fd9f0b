import { validateBytes } from 'gltf-validator';

/** What Khronos's validator has against a file, but for what it says of extensions that it does not know. */
export async function validateGlb(bytes: Uint8Array): Promise<string[]> {
  const { issues } = await validateBytes(bytes, {
    ignoredIssues: ['UNSUPPORTED_EXTENSION', 'UNUSED_OBJECT'],
  });
  return issues.messages
    .filter(({ severity }) => severity < 2)
    .map(({ code, message }) => `${code}: ${message}`);
}
