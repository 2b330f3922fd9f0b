import 'skinned-instanced-mesh/webgpu';
import { Camera, Float32BufferAttribute, type Material, Mesh, Scene } from 'three';
import { expect, test } from 'vitest';
import { backendOf } from '../../../lib/backends/Backend.js';
import { morphsOf } from '../../support/features.js';
import { bakeCharacter, frames, SkinnedInstancedMesh } from '../../support/library.js';
import { createStick } from '../../support/stick.js';

/** A WebGPURenderer, as far as a crowd asks it. */
function createRenderer(limits: Record<string, number>) {
  const device = {
    limits: {
      maxTextureDimension2D: 8192,
      maxTextureArrayLayers: 256,
      maxVertexBuffers: 8,
      maxVertexAttributes: 16,
      ...limits,
    },
  };
  return { backend: { device }, info: { frame: 0 }, library: { getMaterialNodeClass: () => Object } };
}

function createCrowd(count: number) {
  const { root, mesh, clips } = createStick();
  mesh.geometry.morphAttributes.position = [new Float32BufferAttribute(new Float32Array(9), 3)];
  mesh.updateMorphTargets();
  return new SkinnedInstancedMesh(bakeCharacter(root, clips, { encoding: frames }), count);
}

const prepare = (renderer: object, crowd: SkinnedInstancedMesh) =>
  backendOf(renderer).prepare(renderer, crowd, new Scene(), new Camera(), crowd.material as Material, null);

test('a bone texture that is too large for a WebGPU device is an error in every frame', () => {
  const crowd = createCrowd(1);
  const renderer = createRenderer({ maxTextureDimension2D: 4 });
  for (let frame = 0; frame < 3; frame++) {
    expect(() => prepare(renderer, crowd)).toThrow('this device takes 4 × 4; bake it with maxTextureSize: 4');
  }
  prepare(createRenderer({}), crowd);
});

test('so are morph weights of too many instances, from the frame on that has them', () => {
  const crowd = createCrowd(300);
  const renderer = createRenderer({ maxTextureDimension2D: 256 });
  prepare(renderer, crowd);
  morphsOf(crowd);
  crowd.setMorphAt(0, Object.assign(new Mesh(), { morphTargetInfluences: [1] }));
  for (let frame = 0; frame < 3; frame++) {
    expect(() => prepare(renderer, crowd)).toThrow(
      'morph weights of the instances need a texture of height 300, this device takes 256',
    );
  }
});

test('and more morph targets than a texture has layers', () => {
  const crowd = createCrowd(1);
  expect(() => prepare(createRenderer({ maxTextureArrayLayers: 0 }), crowd)).toThrow('has 1 morph targets');
});
