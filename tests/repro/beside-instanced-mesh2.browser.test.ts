import '@three.ez/instanced-mesh';
import { Float32BufferAttribute, ShaderChunk, WebGLRenderer } from 'three';
import { expect, test } from 'vitest';
import { capture, captureGeometry, captureMaterial } from '../support/capture.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

test('morph weights of instances are drawn on a page that has loaded InstancedMesh2, which changes chunks of three.js', () => {
  // Not among the types.
  const { morphinstance_vertex } = ShaderChunk as Record<string, string>;
  expect(morphinstance_vertex, 'changed').not.toContain('gl_InstanceID');
  const { root, mesh, clips } = createStick();
  mesh.geometry.morphAttributes.position = [new Float32BufferAttribute([0, 2, 0, 0, 2, 0, 0, 2, 0], 3)];
  mesh.geometry.morphTargetsRelative = true;
  mesh.updateMorphTargets();
  const crowd = SkinnedInstancedMesh.from(root, clips, 2);
  (mesh.morphTargetInfluences as number[])[0] = 0.5;
  crowd.setMorphAt(1, mesh);
  const renderer = new WebGLRenderer();
  crowd.geometry = captureGeometry(crowd.geometry);
  crowd.material = captureMaterial(3);
  const drawn = capture(renderer, crowd, 3, 2);
  for (let vertex = 0; vertex < 3; vertex++) {
    const [still, morphed] = [drawn[vertex * 3 + 1], drawn[(3 + vertex) * 3 + 1]];
    expect(morphed - still).toBeCloseTo(1, 5);
  }
  renderer.dispose();
});
