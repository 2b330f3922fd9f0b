import {
  Float32BufferAttribute,
  type KeyframeTrack,
  Matrix4,
  type Mesh,
  NumberKeyframeTrack,
  Raycaster,
  Triangle,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { BoneTexture, LoopOnceOptions, SkinnedInstancedMesh } from '../support/library.js';
import { loadModel, type Model, modelNames } from '../support/models.js';
import { random, SEEDS } from '../support/random.js';
import { characterHeight, Reference } from '../support/reference.js';

const names = ['built-in', ...(await modelNames())];
const load = async (name: string): Promise<Model> =>
  name === 'built-in' ? { name, ...createCharacter() } : loadModel(name);

test.each(names)('rays hit %s where they hit three.js’s meshes', async (name) => {
  const { root, clips } = await load(name);
  const height = characterHeight(root);
  const clip = Math.floor(clips.length / 3);
  const boneTexture = BoneTexture.bake(root, clips, { clips: [clips[clip].name], fps: 60 });
  const { duration, count } = boneTexture.clips[0];
  const time = (Math.round(0.4 * (count - 1)) / (count - 1)) * duration;
  const place = new Matrix4().makeRotationY(0.4).setPosition(height, 0, 0);
  const crowd = SkinnedInstancedMesh.from(root, clips, 2, { boneTexture });
  crowd.setMatrixAt(0, new Matrix4().makeTranslation(50 * height, 0, 0));
  crowd.setMatrixAt(1, place);
  crowd.play(1, 0, { ...LoopOnceOptions, time });
  crowd.updateMatrixWorld();
  const reference = new Reference(root, place).pose(clips[clip], time);

  const next = random(SEEDS[0]);
  const target = new Vector3();
  let hits = 0;
  for (let i = 0; i < 60; i++) {
    const angle = next() * 6.3;
    const from = new Vector3(Math.cos(angle), 0.4 + next(), Math.sin(angle)).multiplyScalar(3 * height);
    from.x += height;
    target.set(1 + (next() - 0.5) * 0.5, next() * 0.9, (next() - 0.5) * 0.5).multiplyScalar(height);
    const ray = new Raycaster(from, target.clone().sub(from).normalize());
    const [expected] = ray.intersectObject(reference.root);
    const [hit] = ray.intersectObject(crowd);
    // where a ray grazes an edge, rounding decides
    if ((expected === undefined) !== (hit === undefined)) continue;
    if (hit === undefined || Math.abs(hit.distance - expected.distance) > 1e-3 * height) continue;
    hits++;
    expect(hit.instanceId).toBe(1);
    expect(hit.point.distanceTo(expected.point)).toBeLessThan(1e-3 * height);
    expect((hit as { part?: string }).part).toBe(expected.object.name);
    if (expected.uv) expect(hit.uv?.distanceTo(expected.uv)).toBeLessThan(1e-2);
    expect(hit.faceIndex).toBeGreaterThanOrEqual(0);
    expect(hit.normal?.length()).toBeCloseTo(1, 5);
  }
  expect(hits).toBeGreaterThan(12);
});

test('rays hit what is drawn in the midst of a fade, under morph targets, on a hidden and a shown part', () => {
  const { root, clips } = createCharacter();
  const body = root.getObjectByName('Body') as Mesh;
  const { count } = body.geometry.getAttribute('position');
  const way = new Float32BufferAttribute(new Float32Array(count * 3), 3);
  for (let i = 0; i < count; i++) way.setXYZ(i, 0.4, 0.1 * Math.sin(i), 0);
  body.geometry.morphAttributes.position = [way];
  body.geometry.morphTargetsRelative = true;
  body.updateMorphTargets();
  clips[0].tracks.push(
    new NumberKeyframeTrack('Body.morphTargetInfluences', [0, 3], [0, 1]) as KeyframeTrack,
  );
  const crowd = SkinnedInstancedMesh.from(root, clips, 2);
  crowd.setMatrixAt(1, new Matrix4().makeRotationY(1).setPosition(2, 0, 0));
  crowd.play(1, 0, { time: 1 }).update(0.1).play(1, 2, { fade: 1 }).update(0.4);
  crowd.updateMatrixWorld();

  const index = crowd.geometry.index as NonNullable<typeof crowd.geometry.index>;
  const corners = [0, 1, 2].map(() => new Vector3());
  const triangle = new Triangle(...(corners as [Vector3, Vector3, Vector3]));
  const middle = new Vector3();
  const normal = new Vector3();
  let hits = 0;
  for (let i = 0; i < index.count; i += 3 * 97) {
    corners.forEach((corner, k) => crowd.getVertexPositionAt(1, index.getX(i + k), corner));
    if (triangle.getArea() < 1e-6) continue;
    triangle.getMidpoint(middle);
    triangle.getNormal(normal);
    // from right above the triangle, so that nothing is in between
    const ray = new Raycaster(middle.clone().addScaledVector(normal, 1e-3), normal.clone().negate(), 0, 2e-3);
    const found = ray.intersectObject(crowd).find(({ faceIndex }) => faceIndex === i / 3);
    expect(found?.instanceId, `triangle ${i / 3}`).toBe(1);
    expect(found?.point.distanceTo(middle)).toBeLessThan(1e-4);
    hits++;
  }
  expect(hits).toBeGreaterThan(15);
  crowd.setPartVisibleAt(1, 'Body', false);
  triangle.getMidpoint(middle);
  expect(new Raycaster(middle.clone().setZ(9), new Vector3(0, 0, -1)).intersectObject(crowd)).toEqual([]);
});

test('a ray through a thousand characters', async () => {
  const { root, clips } = await load(names.includes('Knight.glb') ? 'Knight.glb' : 'built-in');
  const size = characterHeight(root);
  const crowd = SkinnedInstancedMesh.from(root, clips.slice(0, 8), 1000);
  const matrix = new Matrix4();
  for (let i = 0; i < 1000; i++) {
    crowd.setMatrixAt(i, matrix.makeTranslation((i % 32) * size, 0, -Math.floor(i / 32) * size));
  }
  crowd.playAll((i) => i % 8, { time: (i) => i * 0.1 }).update(0.2);
  crowd.updateMatrixWorld();
  const times: number[] = [];
  let hits = 0;
  for (let i = 0; i < 40; i++) {
    const from = new Vector3(((i * 7) % 32) * size, size * 0.9, 3 * size);
    const towards = new Vector3(16 * size, 0.3 * size, -31 * size);
    const ray = new Raycaster(from, towards.sub(from).normalize());
    const start = performance.now();
    const found = ray.intersectObject(crowd);
    times.push(performance.now() - start);
    if (found.length > 0) hits++;
  }
  times.sort((a, b) => a - b);
  console.log(
    `a ray through 1,000 of ${crowd.geometry.getAttribute('position').count} vertices: ${times[20].toFixed(2)} ms (${times[0].toFixed(2)} to ${times[39].toFixed(2)}), ${hits} of 40 hit`,
  );
  expect(hits).toBeGreaterThan(20);
});
