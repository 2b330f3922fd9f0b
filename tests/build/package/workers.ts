import { createServer, preview } from 'vite';
import { describe, expect, test } from 'vitest';
import type { OpenedApp } from '../../support/PackedApp.js';
import { packed } from './packed.js';

/** A page that bakes in a worker and by itself, and says in its title whether both gave the same. */
const WORKER = `
import { AnimationClip, BoxGeometry, Group, Mesh, MeshBasicMaterial, VectorKeyframeTrack } from 'three';
import { bakeCharacter } from 'skinned-instanced-mesh';
import { bakeInWorker } from 'skinned-instanced-mesh/worker';

let started = 0;
window.Worker = class extends Worker {
  constructor(url, options) {
    super(url, options);
    started++;
  }
};
const box = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
box.name = 'Box';
const root = new Group().add(box);
const clip = new AnimationClip('Hop', 1, [new VectorKeyframeTrack('Box.position', [0, 1], [0, 0, 0, 0, 1, 0])]);
const [here, there] = [bakeCharacter(root, [clip]), await bakeInWorker(root, [clip])].map(({ boneTexture }) => boneTexture.data);
const isSame = here.texels.length > 0 && here.texels.every((number, i) => number === there.texels[i]);
document.title = (isSame ? 'the same' : 'different') + ', workers: ' + started;
`;

/** What a page says in its title in the end. */
async function titleOf({ page, close }: OpenedApp): Promise<string> {
  await page.waitForFunction(() => document.title !== '');
  const title = await page.title();
  await close();
  return title;
}

describe('baking in a worker', () => {
  const BAKED = 'the same, workers: 1';
  const options = { logLevel: 'error', configFile: false } as const;

  test('works in what Vite builds, and in what it serves with packages bundled before', async () => {
    packed.writePage(WORKER, 'main.js');
    const built = await packed.openBuilt(packed.folder);
    expect([await titleOf(built), built.problems]).toEqual([BAKED, []]);

    const include = ['three', 'skinned-instanced-mesh', 'skinned-instanced-mesh/worker'];
    const server = await createServer({
      ...options,
      root: packed.folder,
      server: { port: 0 },
      optimizeDeps: { include },
    });
    await server.listen();
    const { port } = server.httpServer!.address() as { port: number };
    const served = await packed.openPage(`http://localhost:${port}/`);
    expect([await titleOf(served), served.problems]).toEqual([BAKED, []]);
    const { depsOptimizer } = server.environments.client;
    expect(Object.keys(depsOptimizer?.metadata.optimized ?? {})).toEqual(expect.arrayContaining(include));
    await server.close();
  });

  test('works in a page with an import map, and in slices where the page allows no workers', async () => {
    const imports = {
      three: './node_modules/three/build/three.module.js',
      'skinned-instanced-mesh': './node_modules/skinned-instanced-mesh/dist/index.js',
      'skinned-instanced-mesh/worker': './node_modules/skinned-instanced-mesh/dist/worker.js',
    };
    const pageWith = (head: string) => `<!doctype html>${head}
      <script type="importmap">${JSON.stringify({ imports })}</script>
      <script type="module">${WORKER}</script>`;
    packed.write('worker.html', pageWith(''));
    packed.write(
      'policy.html',
      pageWith(`<meta http-equiv="Content-Security-Policy" content="worker-src 'self'">`),
    );
    const server = await preview({
      ...options,
      root: packed.folder,
      build: { outDir: '.' },
      preview: { port: 0 },
    });
    const { port } = server.httpServer.address() as { port: number };
    const plain = await packed.openPage(`http://localhost:${port}/worker.html`);
    expect([await titleOf(plain), plain.problems]).toEqual([BAKED, []]);
    const strict = await packed.openPage(`http://localhost:${port}/policy.html`);
    expect(await titleOf(strict)).toMatch('the same');
    expect(
      strict.problems.filter((problem) => problem.startsWith('No worker could be started')),
    ).toHaveLength(1);
    await server.close();
  });
});
