declare module 'gltf-validator' {
  interface Issue {
    code: string;
    message: string;
    /** 0 for errors, 1 for warnings, 2 for information, 3 for hints. */
    severity: number;
    pointer: string;
  }
  interface Report {
    issues: { numErrors: number; numWarnings: number; messages: Issue[] };
  }
  export function validateBytes(data: Uint8Array, options?: { ignoredIssues?: string[] }): Promise<Report>;
}
