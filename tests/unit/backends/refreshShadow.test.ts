import {
  type Material,
  MeshDepthMaterial,
  MeshDistanceMaterial,
  ShaderMaterial,
  Texture,
  type WebGLRenderer,
} from 'three';
import { expect, test, vi } from 'vitest';
import { refreshShadow } from '../../../lib/backends/webgl/refreshShadow.js';

/** What three.js gives a material before a draw of a shadow map, and then what that comes to. */
function refreshed(material: Material, given: object) {
  const useProgram = vi.fn();
  const { version } = Object.assign(material, given);
  const renderer = { state: { useProgram } } as unknown as WebGLRenderer;
  refreshShadow(renderer, material);
  const { map } = material as MeshDepthMaterial;
  return { map, sends: useProgram.mock.calls.length > 0, recompiles: material.version > version };
}

const map = new Texture();

test('groups with and without textures are one program in shadow maps, if the textures discard nothing', () => {
  for (const material of [new MeshDepthMaterial(), new MeshDistanceMaterial()]) {
    refreshed(material, { map: null });
    expect(refreshed(material, { map })).toEqual({ map: null, sends: false, recompiles: false });
    expect(refreshed(material, { alphaMap: map })).toMatchObject({ sends: false, recompiles: false });
    expect(refreshed(material, { displacementMap: map })).toMatchObject({ sends: true, recompiles: true });
  }
});

test('textures stay where they may discard fragments, or code of the user may read them', () => {
  const hooked = Object.assign(new MeshDepthMaterial(), { onBeforeCompile() {} });
  const depths = [
    new MeshDepthMaterial({ alphaTest: 0.5 }),
    Object.assign(new MeshDistanceMaterial(), { alphaHash: true }),
    hooked,
    new ShaderMaterial(),
  ];
  for (const material of depths) {
    expect(refreshed(material, { map })).toEqual({ map, sends: true, recompiles: true });
    expect(refreshed(material, { map: new Texture() })).toMatchObject({ sends: true, recompiles: false });
    expect(refreshed(material, { map: null })).toMatchObject({ sends: true, recompiles: true });
  }
});
