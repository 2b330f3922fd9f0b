import { type VertexBakeOptions, VertexTexture } from 'skinned-instanced-mesh/vertex-textures';
import {
  BufferAttribute,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  PlaneGeometry,
  type SkinnedMesh,
  Uint8BufferAttribute,
} from 'three';
import { expect, test } from 'vitest';
import { bakeVertices } from '../../../lib/vertexTextures/bakeVertices.js';
import { createArm } from '../../support/bakedFiles.js';

/** An arm of 10,000 vertices, whose weights are not stored as they are used. */
function createFineArm() {
  const { root, clips } = createArm();
  const mesh = root.getObjectByName('Sleeve') as SkinnedMesh;
  const fine = new PlaneGeometry(1, 3, 99, 99);
  const { count } = fine.getAttribute('position');
  const joints = Uint16Array.from({ length: count * 4 }, (_, i) => (i >> 2) % 3);
  const weights = Uint8Array.from({ length: count * 4 }, (_, i) => (i % 4 === 0 ? 255 : 0));
  fine.setAttribute('skinIndex', new BufferAttribute(joints, 4));
  fine.setAttribute('skinWeight', new Uint8BufferAttribute(weights, 4, true));
  mesh.geometry = fine;
  return { root, clips };
}

const OPTIONS: VertexBakeOptions[] = [
  { precision: 'half', normals: 'source' },
  { precision: 'float', normals: 'computed', measure: true },
];

test.each(OPTIONS)('frames are baked in runs of vertices, %o', (options) => {
  const { root, clips } = createFineArm();
  const steps = bakeVertices(root, clips.slice(0, 1), { ...options, fps: 4 });
  let count = 0;
  while (steps.next().done !== true) count++;
  // Six frames, each read, encoded, hashed, decoded and compared, in three runs of 4,096 vertices at least.
  expect(count).toBeGreaterThan(6 * 5 * 3);
});

/** Everything that says how an object stands. */
const poseOf = (root: Object3D) => {
  const found: number[][] = [];
  root.traverse((node) => found.push(node.matrixWorld.toArray()));
  return found;
};

test.each(OPTIONS)(
  'under clips the object is as it was in each break, and may be posed by others, %o',
  (options) => {
    const { root, clips } = createFineArm();
    const wanted = VertexTexture.bake(root, clips, { ...options, fps: 4 }).vertexData;
    const rest = poseOf(root);
    const steps = bakeVertices(root, clips, { ...options, fps: 4 });
    const elbow = root.getObjectByName('Elbow') as Object3D;
    let breaks = 0;
    for (;;) {
      const step = steps.next();
      if (step.done) {
        expect(step.value).toEqual(wanted);
        break;
      }
      // The first ones are for what the object has at rest.
      if (breaks++ < 20) continue;
      expect(poseOf(root)).toEqual(rest);
      // Another mixer, which puts things back before it is drawn anew.
      elbow.rotation.z = 1;
      root.updateMatrixWorld(true);
      elbow.rotation.z = 0;
      root.updateMatrixWorld(true);
    }
  },
);

test('a geometry that others write in the breaks of a motion in code does not matter', async () => {
  const mesh = new Mesh(new PlaneGeometry(1, 1, 99, 99), new MeshBasicMaterial());
  const position = mesh.geometry.getAttribute('position') as BufferAttribute;
  const rest = position.array.slice();
  const wave = (time: number) => {
    for (let i = 0; i < position.count; i++) position.setZ(i, Math.sin(rest[i * 3] + time));
  };
  const options = { duration: 1, fps: 4 };
  const wanted = VertexTexture.bake(mesh, wave, options).vertexData;
  const onProgress = () => position.setZ(0, Math.random());
  const baked = await VertexTexture.bakeAsync(mesh, wave, { ...options, onProgress });
  expect(baked.clips).toEqual(wanted.clips);
  expect(baked.vertexData.texels.subarray(position.count * 2)).toEqual(
    wanted.texels.subarray(position.count * 2),
  );
});
