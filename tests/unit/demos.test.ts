import { readFileSync } from 'node:fs';
import { type SkinnedMesh, Vector3 } from 'three';
import { createServer } from 'vite';
import { expect, test } from 'vitest';
import { recorded } from '../../demos/benchmark/recorded/index.js';
import { chipOf } from '../../demos/lib/deviceName.js';
import { openCharacter } from '../../demos/lib/openFile.js';
import { type Compression, pyramid } from '../support/compressedFiles.js';
import { bakeCharacter, getVertexPosition, SkinnedInstancedMesh } from '../support/library.js';

// Draco and KTX2 are decoded in workers, which Node has not: tests/build/demos.test.ts opens such files.
test.each(['plain', 'quantised', 'meshopt'] as Compression[])(
  'the demos read a %s file',
  async (compression) => {
    const bytes = await pyramid(compression);
    const file = new File([bytes as BlobPart], `${compression}.glb`);
    const { root, clips } = await openCharacter(file, {
      isWebGPURenderer: true,
      hasFeature: () => false,
    } as never);
    expect(clips.map(({ name }) => name)).toEqual(['Stand']);
    const mesh = root.getObjectByName('Pyramid') as SkinnedMesh;
    expect(mesh.skeleton.bones.map(({ name }) => name)).toEqual(['Foot', 'Tip']);

    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
    const corner = (vertex: number) => getVertexPosition(crowd, 0, vertex, new Vector3());
    expect(corner(0).toArray()).toEqual([0, 0, 0]);
    expect(corner(4).toArray()).toEqual([0, 1, 0]);
    expect(crowd.geometry.index?.count).toBe(18);
  },
);

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

test('the first page says what was recorded', () => {
  const page = readFileSync(new URL('../../demos/index.html', import.meta.url), 'utf8');
  const [, count, before, after, chip] =
    /([\d,]+) characters cost <b>([\d.]+) ms<\/b> of JavaScript a frame as SkinnedMeshes, <b>([\d.]+) ms<\/b>.*? an (.*?)\)<\/a>/s.exec(
      page,
    )!;
  const timeOf = (contender: string) =>
    recorded[0].rows.find(
      (row) => row.contender === contender && row.count === Number(count.replace(',', '')),
    )!.js;
  expect(Number(before)).toBe(Number(timeOf('skinned').toPrecision(2)));
  expect(Number(after)).toBe(Number(timeOf('tracks').toPrecision(2)));
  expect(chip).toBe(chipOf(recorded[0].device));
});
