import type { SkinnedMesh } from 'three';
import { Vector3 } from 'three';
import { expect, test } from 'vitest';
import { openCharacter } from '../../demos/lib/openFile.js';
import { type Compression, pyramid } from '../support/compressedFiles.js';
import { SkinnedInstancedMesh } from '../support/library.js';

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

    const crowd = SkinnedInstancedMesh.from(root, clips, 1);
    const corner = (vertex: number) => crowd.getVertexPositionAt(0, vertex, new Vector3());
    expect(corner(0).toArray()).toEqual([-1, 0, -1]);
    expect(corner(4).toArray()).toEqual([0, 1, 0]);
    expect(crowd.geometry.index?.count).toBe(18);
  },
);
