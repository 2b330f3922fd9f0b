declare module 'gltf-validator' {
  /** What the Khronos validator finds in a file. Severity 0 is an error, 1 a warning, 2 and 3 are remarks. */
  export function validateBytes(bytes: Uint8Array): Promise<{
    issues: {
      numErrors: number;
      messages: { code: string; message: string; severity: number; pointer: string }[];
    };
  }>;
}
