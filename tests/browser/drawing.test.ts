import {
  BoxGeometry,
  Float32BufferAttribute,
  LoopOnce,
  MeshNormalMaterial,
  PerspectiveCamera,
  Scene,
  Vector3,
  WebGLRenderer,
} from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { capture, captureGeometry, captureMaterial } from '../support/capture.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { Reference } from '../support/reference.js';
import { createStick } from '../support/stick.js';

test('a geometry or material assigned later is drawn', () => {
  const { root, mesh, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
  crowd.play(0, 'Slide', { time: 0.5 });
  const renderer = new WebGLRenderer();
  crowd.geometry = captureGeometry(mesh.geometry);
  crowd.material = captureMaterial(3);
  expect(capture(renderer, crowd, 3, 1)[0]).toBeCloseTo(5.5, 5);
  crowd.geometry = captureGeometry(mesh.geometry.clone().translate(1, 0, 0));
  expect(capture(renderer, crowd, 3, 1)[0]).toBeCloseTo(6.5, 5);
  expect(() => {
    crowd.geometry = new BoxGeometry();
  }).toThrow('SkinnedInstancedMesh.geometry: the geometry "" has no attribute "skinIndex"');
  renderer.dispose();
});

test('per-instance morph weights come before skinning, as three.js does it', () => {
  const { root, mesh, clips } = createStick();
  mesh.geometry.morphAttributes.position = [
    new Float32BufferAttribute([0, 2, 0, 0, 2, 0, 0, 2, 0], 3),
    new Float32BufferAttribute([0, 0, 3, 0, 0, 3, 0, 0, 3], 3),
  ];
  mesh.geometry.morphTargetsRelative = true;
  mesh.updateMorphTargets();
  const crowd = SkinnedInstancedMesh.from(root, clips, 2);
  const influences = mesh.morphTargetInfluences as number[];
  influences[0] = 0.5;
  influences[1] = 0.25;
  crowd.setMorphAt(1, mesh);
  crowd.play(1, 'Slide', { time: 0.5, loop: LoopOnce });
  const reference = new Reference(root).pose(clips[0], 0.5);
  const renderer = new WebGLRenderer();
  crowd.geometry = captureGeometry(crowd.geometry);
  crowd.material = captureMaterial(3);
  const drawn = capture(renderer, crowd, 3, 2);
  const twin = new Vector3();
  reference.forEachVertex((vertex, position) => {
    expect(new Vector3().fromArray(drawn, (3 + vertex) * 3).distanceTo(position)).toBeLessThan(1e-5);
    crowd.getVertexPositionAt(1, vertex, twin);
    expect(twin.distanceTo(position)).toBeLessThan(1e-5);
  });
  expect(drawn[1]).toBeCloseTo(0, 5);
  renderer.dispose();
});

test('scene.overrideMaterial poses the crowd too', () => {
  const { root, clips } = createCharacter();
  const renderer = new WebGLRenderer({ preserveDrawingBuffer: true });
  renderer.setSize(64, 64);
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
  const scene = new Scene();
  scene.add(crowd);
  scene.overrideMaterial = new MeshNormalMaterial();
  const camera = new PerspectiveCamera(40, 1);
  camera.position.set(0, 1, 3);
  const read = () => {
    renderer.render(scene, camera);
    const gl = renderer.getContext();
    const pixels = new Uint8Array(64 * 64 * 4);
    gl.readPixels(0, 0, 64, 64, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    return pixels.join();
  };
  crowd.play(0, 'Wave', { time: 0.5 });
  const first = read();
  crowd.play(0, 'Run', { time: 0.3 });
  expect(read()).not.toBe(first);
  renderer.dispose();
});
