import {
  Float32BufferAttribute,
  Matrix4,
  type Object3D,
  PerspectiveCamera,
  Scene,
  WebGLRenderer,
} from 'three';
import { expect, test } from 'vitest';
import { BoneTexture, SkinnedInstancedMesh } from '../support/library.js';
import { Reference } from '../support/reference.js';
import { createStick } from '../support/stick.js';

test('a crowd that a device cannot hold says so in every frame, until it can', () => {
  const renderer = new WebGLRenderer();
  const max = renderer.capabilities.maxTextureSize;
  const { root, mesh, clips } = createStick({ Slide: 1, Long: 1000 });
  mesh.geometry.morphAttributes.position = [new Float32BufferAttribute(new Array(9).fill(1), 3)];
  mesh.geometry.morphTargetsRelative = true;
  mesh.updateMorphTargets();
  const crowd = SkinnedInstancedMesh.from(root, clips.slice(0, 1), 2);
  crowd.frustumCulled = false;
  const scene = new Scene().add(crowd) as Scene;
  const draw = () => renderer.render(scene, new PerspectiveCamera());
  draw();

  const fitting = crowd.boneTexture;
  crowd.boneTexture = BoneTexture.bake(root, clips, { maxTextureSize: 1 << 20 });
  for (let frame = 0; frame < 3; frame++) expect(draw).toThrow(`bake it with maxTextureSize: ${max}`);
  crowd.boneTexture = fitting;
  draw();

  crowd.setMorphAt(0, mesh);
  draw();
  crowd.setCapacity(max + 1);
  for (let frame = 0; frame < 3; frame++) {
    expect(draw).toThrow(
      `SkinnedInstancedMesh: morph weights of the instances need a texture of height ${max + 1}, this device takes ${max}; split the crowd.`,
    );
  }
  crowd.setCapacity(2);
  draw();
  renderer.dispose();
});

test('mirrored instances look right in a crowd that is mirrored itself', () => {
  const renderer = new WebGLRenderer({ preserveDrawingBuffer: true });
  renderer.setSize(32, 32);
  const { root, clips } = createStick();
  const scene = new Scene();
  const camera = new PerspectiveCamera(40, 1);
  camera.position.z = 4;
  const read = (object: Object3D) => {
    scene.add(object);
    renderer.render(scene, camera);
    scene.remove(object);
    const gl = renderer.getContext();
    const pixels = new Uint8Array(32 * 32 * 4);
    gl.readPixels(0, 0, 32, 32, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    return pixels;
  };
  const reference = new Reference(root, new Matrix4().makeScale(-1, 1, 1)).root;
  const mirrored = SkinnedInstancedMesh.from(root, clips, 1);
  mirrored.scale.x = -1;
  mirrored.setMatrixAt(0, new Matrix4());
  const expected = read(reference);
  expect(expected.filter((value) => value === 255).length).toBeGreaterThan(32 * 32 + 100);
  expect(read(mirrored)).toEqual(expected);
  renderer.dispose();
});
