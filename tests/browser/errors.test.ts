import { Float32BufferAttribute, PerspectiveCamera, Scene, WebGLRenderer } from 'three';
import { expect, test } from 'vitest';
import { BoneTexture, SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

test('a bone texture larger than the device takes', () => {
  const renderer = new WebGLRenderer();
  const { root, clips } = createStick({ Long: 1000 });
  const boneTexture = BoneTexture.bake(root, clips, { maxTextureSize: 1 << 20 });
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { boneTexture });
  const scene = new Scene().add(crowd) as Scene;
  crowd.frustumCulled = false;
  const max = renderer.capabilities.maxTextureSize;
  expect(() => renderer.render(scene, new PerspectiveCamera())).toThrow(
    `bake it with maxTextureSize: ${max}`,
  );
  renderer.dispose();
});

test('morph targets without weights for the instances are drawn at rest', () => {
  const { root, mesh, clips } = createStick();
  mesh.geometry.morphAttributes.position = [new Float32BufferAttribute([1, 0, 0, 1, 0, 0, 1, 0, 0], 3)];
  mesh.geometry.morphTargetsRelative = true;
  mesh.updateMorphTargets();
  const renderer = new WebGLRenderer();
  const crowd = SkinnedInstancedMesh.from(root, clips, 2);
  const scene = new Scene();
  scene.add(crowd);
  renderer.render(scene, new PerspectiveCamera());
  expect(renderer.info.render.calls).toBe(1);
  renderer.dispose();
});
