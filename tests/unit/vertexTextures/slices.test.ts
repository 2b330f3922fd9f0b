import { createHash } from 'node:crypto';
import { type VertexBakeOptions, VertexTexture } from 'skinned-instanced-mesh/vertex-textures';
import {
  BufferAttribute,
  Group,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  PlaneGeometry,
  type SkinnedMesh,
  Uint8BufferAttribute,
} from 'three';
import { expect, test } from 'vitest';
import { runAll } from '../../../lib/baking/runBake.js';
import { bakeVertices } from '../../../lib/vertexTextures/bakeVertices.js';
import type { VertexTextureData } from '../../../lib/vertexTextures/VertexTextureData.js';
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

/** Data with a sum of their texels in place of these, which would take minutes to print where they differ. */
const summed = ({ texels, ...data }: VertexTextureData) => ({
  ...data,
  texels: createHash('sha1').update(texels).digest('hex'),
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
    const wanted = summed(VertexTexture.bake(root, clips, { ...options, fps: 4 }).vertexData);
    const rest = poseOf(root);
    const steps = bakeVertices(root, clips, { ...options, fps: 4 });
    const elbow = root.getObjectByName('Elbow') as Object3D;
    for (;;) {
      const step = steps.next();
      if (step.done) {
        expect(summed(step.value)).toEqual(wanted);
        break;
      }
      expect(poseOf(root)).toEqual(rest);
      // Another mixer, which puts things back before it is drawn anew.
      elbow.rotation.z = 1;
      root.updateMatrixWorld(true);
      elbow.rotation.z = 0;
      root.updateMatrixWorld(true);
    }
  },
);

/** Local transforms and world matrices, by the numbers that a program sets. */
const numbersOf = (root: Object3D) => {
  const found: number[][] = [];
  root.traverse(({ position: p, rotation: r, quaternion: q, scale: s, matrixWorld }) => {
    found.push([p.x, p.y, p.z, r.x, r.y, r.z, q.x, q.y, q.z, q.w, s.x, s.y, s.z, ...matrixWorld.elements]);
  });
  return found;
};

test.each(OPTIONS)('under clips it does not matter how others move and pose the object, %o', (options) => {
  const { root, clips } = createFineArm();
  // These move the shoulder, and never the elbow.
  const chosen = { ...options, fps: 4, clips: ['Hop', 'Pose'] };
  root.rotation.y = 2;
  root.position.x = 1;
  const wanted = summed(VertexTexture.bake(root, clips, chosen).vertexData);
  // Not what its quaternion alone would give.
  expect(root.rotation.y).toBe(2);
  const steps = bakeVertices(root, clips, chosen);
  const [shoulder, elbow] = ['Shoulder', 'Elbow'].map((name) => root.getObjectByName(name) as Object3D);
  for (let turn = 1; ; turn++) {
    const before = numbersOf(root);
    const step = steps.next();
    if (step.done) {
      expect(summed(step.value)).toEqual(wanted);
      break;
    }
    if (turn > 1) expect(numbersOf(root)).toEqual(before);
    root.position.x += 5;
    root.rotation.y += 0.1;
    root.scale.y = turn;
    shoulder.position.y += 1;
    elbow.rotation.z = turn;
    root.updateMatrixWorld(true);
  }
});

test('under clips what is above the object may move', () => {
  const { root, clips } = createArm();
  const options = { fps: 4, precision: 'float' as const };
  const wanted = VertexTexture.bake(root, clips, options);
  const ship = new Group().add(root);
  const sail = () => ship.translateX(5).rotateY(1);
  const steps = bakeVertices(root, clips, options);
  let step = steps.next();
  for (; !step.done; step = steps.next()) sail();
  const { restBounds, clips: baked } = step.value;
  restBounds.forEach((value, i) => {
    expect(value).toBeCloseTo(wanted.vertexData.restBounds[i], 4);
  });
  baked[0].bounds.forEach((value, i) => {
    expect(value).toBeCloseTo(wanted.clips[0].bounds[i], 4);
  });
});

test('an object that code poses is not baked a second time meanwhile', () => {
  const { root, clips } = createArm();
  const sway = (time: number) => {
    root.position.x = time;
  };
  const byCode = () => bakeVertices(root, sway, { duration: 1, fps: 4 });
  const byClips = () => bakeVertices(root, clips, { fps: 4 });
  const refused =
    'VertexTexture.bake: mesh "Sleeve" is being baked already, and motions of code pose it; await';
  const [swaying, hopping] = [runAll(byCode()), runAll(byClips())];

  const first = byCode();
  // Up to a frame that is not the first.
  while (root.position.x < 0.5) first.next();
  expect(() => byCode().next()).toThrow(refused);
  expect(() => byClips().next()).toThrow(refused);
  expect(runAll(first)).toEqual(swaying);

  // Nor while clips pose it; but several of them may. Nothing is left of a bake that was stopped.
  const stopped = byClips();
  stopped.next();
  expect(() => byCode().next()).toThrow(refused);
  expect(runAll(byClips())).toEqual(hopping);
  stopped.return(undefined as never);
  expect(runAll(byCode())).toEqual(swaying);
});

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
