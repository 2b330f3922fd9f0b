import { createServer } from 'vite';
import { expect, test } from 'vitest';

test('the address that npm run demo prints leads to the gallery', async () => {
  const server = await createServer({
    logLevel: 'silent',
    server: { port: 0, hmr: false, watch: null },
    optimizeDeps: { noDiscovery: true },
  });
  try {
    await server.listen();
    const { port } = server.httpServer!.address() as { port: number };
    const { url, status } = await fetch(`http://localhost:${port}/`);
    expect([new URL(url).pathname, status]).toEqual(['/demos/index.html', 200]);
  } finally {
    await server.close();
  }
});
