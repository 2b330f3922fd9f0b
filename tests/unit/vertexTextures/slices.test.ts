import { bakeVertexTexture, bakeVertexTextureAsync } from 'skinned-instanced-mesh/vertex-textures';
import type { Object3D } from 'three';
import { expect, test, vi } from 'vitest';
import { createArm } from '../../support/bakedFiles.js';

test.each([{ precision: 'half' }, { precision: 'float' }, { clips: ['Hop', 'Pose'] }] as const)(
  'whoever moves and poses the object between slices changes nothing, %o',
  async (options) => {
    const { root, clips } = createArm();
    const chosen = { ...options, fps: 40 };
    root.rotation.y = 2;
    const wanted = bakeVertexTexture(root, clips, chosen).vertexData;
    expect(root.rotation.y).toBe(2);
    const joints = ['Shoulder', 'Elbow'].map((name) => root.getObjectByName(name) as Object3D);
    // Each look at the clock takes so long that every step is a slice.
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 1000));
    let turns = 0;
    const baked = await bakeVertexTextureAsync(root, clips, {
      ...chosen,
      onProgress: () => {
        turns++;
        root.position.x += 5;
        root.scale.y = turns;
        for (const joint of joints) joint.rotation.z = turns;
        root.updateMatrixWorld(true);
      },
    });
    expect(turns).toBeGreaterThan(1);
    expect(baked.vertexData).toEqual(wanted);
  },
);
