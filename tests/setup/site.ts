import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type PreviewServer, preview } from 'vite';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Says where the site is, which is built when that is first asked for: a `Site` as JSON. */
    site: string;
  }
}

/** The demos as they are published. */
export interface Site {
  folder: string;
  address: string;
}

/** A path that the site knows nothing of. */
const base = '/some/where/';

/** Lets test files that run at the same time, and one after the other, share one built site. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'sim-site-'));
  let served: PreviewServer | undefined;
  const serve = async (): Promise<Site> => {
    const configFile = fileURLToPath(new URL('../../vite.config.ts', import.meta.url));
    await build({ configFile, mode: 'site', logLevel: 'error', build: { outDir: folder } });
    const options = { configFile: false, root: folder, base, logLevel: 'error' } as const;
    served = await preview({ ...options, build: { outDir: '.' }, preview: { port: 0 } });
    return {
      folder,
      address: `http://localhost:${(served.httpServer.address() as AddressInfo).port}${base}`,
    };
  };
  let site: Promise<Site> | undefined;
  const server = createServer(async (_, response) => {
    site ??= serve();
    await site.then(
      (made) => response.end(JSON.stringify(made)),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  provide('site', `http://localhost:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    await served?.close();
    rmSync(folder, { recursive: true, force: true });
  };
}
