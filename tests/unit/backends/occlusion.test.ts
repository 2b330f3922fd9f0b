import { bakeCharacter, SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import { Occlusion } from 'skinned-instanced-mesh/occlusion';
import { ArrayCamera, Group, Mesh, type Object3D, PerspectiveCamera } from 'three';
import { ClippingGroup } from 'three/webgpu';
import { expect, test, vi } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import type { CameraOcclusion } from '../../../lib/backends/webgpu/gpuLists/cullInstances.js';

const createCrowd = () => {
  const { root, clips } = createCharacter({ detail: 0.2 });
  return new SkinnedInstancedMesh(bakeCharacter(root, clips), 2);
};

test('what is no object is refused', () => {
  for (const wrong of [null, undefined, 3, {}])
    expect(() => new Occlusion(wrong as never)).toThrow(/^Occlusion: .* is no Object3D; pass what/);
});

test('copies of a crowd share its occlusion', () => {
  const crowd = createCrowd();
  const occlusion = new Occlusion(new Group());
  occlusion.add(crowd).add(crowd);
  const copy = crowd.clone();
  expect(copy.views.occlusion).toBe(occlusion);
  occlusion.remove(copy);
  expect([copy.views.occlusion, crowd.views.occlusion]).toEqual([null, occlusion]);
  const other = new Occlusion(new Group());
  expect(() => other.add(crowd)).toThrow('remove the crowd from that one first');
  other.remove(crowd).add(copy);
  expect(copy.copy(crowd).views.occlusion).toBe(occlusion);
  expect(copy.copy(createCrowd()).views.occlusion).toBe(null);
});

test('where depth cannot be compared, nothing is rendered and nothing hidden', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const wall = new Mesh();
  const hiddenIn = (renderer: object, camera = new PerspectiveCamera()) =>
    (new Occlusion(wall).of({ info: { frame: 1 }, ...renderer }) as CameraOcclusion).prepare(camera);
  expect(hiddenIn({}, new ArrayCamera())).toBe(0);
  expect(hiddenIn({ _compilationPromises: [] })).toBe(0);
  expect(warn).not.toHaveBeenCalled();
  for (let i = 0; i < 2; i++) expect(hiddenIn({ logarithmicDepthBuffer: true })).toBe(0);
  expect(warn).toHaveBeenCalledTimes(1);
  expect(warn.mock.calls[0][0]).toContain('logarithmicDepthBuffer');
  const above = new ClippingGroup() as unknown as Object3D;
  above.add(wall);
  expect(hiddenIn({})).toBe(0);
  new Group().add(wall).visible = false;
  expect(hiddenIn({})).toBe(0);
});
