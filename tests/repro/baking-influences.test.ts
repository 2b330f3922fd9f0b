import {
  BoxGeometry,
  Float32BufferAttribute,
  Mesh,
  MeshBasicMaterial,
  Uint16BufferAttribute,
  Vector3,
} from 'three';
import { expect, test, vi } from 'vitest';
import { SkinnedInstancedMesh } from '../support/library.js';
import { Reference } from '../support/reference.js';
import { createStick } from '../support/stick.js';

test.each([false, true])(
  'joints beyond the first four count for nothing, as in a SkinnedMesh (merged: %s)',
  (merged) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const { root, bones, mesh, clips } = createStick();
    const { geometry } = mesh;
    // As GLTFLoader leaves eight joints: the first four brought to a sum of 1, the others as the file has them.
    geometry.setAttribute('joints_1', new Uint16BufferAttribute([0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], 4));
    geometry.setAttribute(
      'weights_1',
      new Float32BufferAttribute([0.4, 0, 0, 0, 0.6, 0, 0, 0, 0.2, 0, 0, 0], 4),
    );
    if (merged) bones[1].add(new Mesh(new BoxGeometry(), new MeshBasicMaterial()));

    const crowd = SkinnedInstancedMesh.from(root, clips, 1);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
    expect(Object.keys(crowd.geometry.attributes).filter((name) => /_1$/.test(name))).toEqual([]);
    expect(geometry.hasAttribute('joints_1'), 'the file is left as it was').toBe(true);

    const shown = new Vector3();
    crowd.play(0, 'Slide', { time: 0.5 });
    new Reference(root).pose(clips[0], 0.5).forEachVertex((vertex, position) => {
      expect(crowd.getVertexPositionAt(0, vertex, shown).distanceTo(position)).toBeLessThan(1e-6);
    });
  },
);
