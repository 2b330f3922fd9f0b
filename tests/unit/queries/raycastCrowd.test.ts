import {
  DoubleSide,
  type Face,
  type Intersection,
  Matrix4,
  type MeshBasicMaterial,
  Raycaster,
  Triangle,
  type Vector2,
  Vector3,
} from 'three';
import { expect, test, vi } from 'vitest';
import { BUILT_IN, describeCharacters, hasCharacter, loadCharacter } from '../../support/characters.js';
import { partsOf } from '../../support/features.js';
import { createKnight } from '../../support/knight.js';
import {
  assembleCharacter,
  bakeBoneTexture,
  bakeCharacter,
  getVertexPosition,
  LoopOnceOptions,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { random, SEEDS } from '../../support/random.js';
import { characterHeight, Reference } from '../../support/reference.js';
import { createMorphingStick } from '../../support/stick.js';

/**
 * Share of the character's height by which a hit may be off. Measured: 9e-7 at most, of the robot, whose vertices are
 * hundreds of times as large as the robot.
 */
const BOUND = 2e-6;

describeCharacters((name) => {
  test('every ray hits what three.js’s meshes are hit by, and nothing else', async () => {
    const { root, clips } = await loadCharacter(name);
    const height = characterHeight(root);
    const clip = Math.floor(clips.length / 3);
    const boneTexture = bakeBoneTexture(root, clips, { clips: [clips[clip].name], fps: 60 });
    const { duration, count } = boneTexture.clips[0];
    const time = (Math.round(0.4 * (count - 1)) / (count - 1)) * duration;
    const place = new Matrix4().makeRotationY(0.4).setPosition(height, 0, 0);
    const crowd = new SkinnedInstancedMesh(assembleCharacter(root, boneTexture), 2);
    crowd.setMatrixAt(0, new Matrix4().makeTranslation(50 * height, 0, 0));
    crowd.setMatrixAt(1, place);
    crowd.play(1, 0, { ...LoopOnceOptions, time });
    crowd.updateMatrixWorld();
    const reference = new Reference(root, place).pose(clips[clip], time);
    const surface: Vector3[] = [];
    reference.forEachVertex((_, position) => surface.push(position.clone()));

    const next = random(SEEDS[0]);
    const some = () => surface[Math.floor(next() * surface.length)];
    const worst = { distance: 0, uv: 0, normal: 0 };
    let hits = 0;
    let misses = 0;
    let edges = 0;
    for (let i = 0; i < 100; i++) {
      const angle = next() * 6.3;
      const from = new Vector3(Math.cos(angle), 0.4 + next(), Math.sin(angle)).multiplyScalar(3 * height);
      from.x += height;
      // Into the character's midst, and past it.
      const to = some()
        .clone()
        .lerp(some(), next())
        .multiplyScalar(i % 4 === 0 ? 1.3 : 1);
      const ray = new Raycaster(from, to.sub(from).normalize());
      const expected = ray.intersectObject(reference.root);
      const drawn = ray.intersectObject(crowd);
      expect(drawn, `ray ${i}`).toHaveLength(expected.length);
      if (expected.length === 0) misses++;
      expected.forEach((other, k) => {
        const off = Math.abs(drawn[k].distance - other.distance);
        worst.distance = Math.max(worst.distance, off / height);
      });
      if (expected.length === 0) continue;

      hits++;
      const [hit] = drawn;
      // Where parts lie one on another, as the knight's shields do, any of them may come first.
      const other = expected.find(
        ({ object, distance }) =>
          object.name === (hit as { part?: string }).part && distance - expected[0].distance < BOUND * height,
      ) as Intersection;
      expect(other?.object.name, `ray ${i}`).toBe((hit as { part?: string }).part);
      expect(hit.instanceId).toBe(1);
      worst.distance = Math.max(worst.distance, hit.point.distanceTo(other.point) / height);
      expect(hit.uv === undefined).toBe(other.uv === undefined);
      if (other.uv) worst.uv = Math.max(worst.uv, (hit.uv as Vector2).distanceTo(other.uv));
      const normals = [hit, other].map(({ face, object }, k) => {
        const world = object.matrixWorld.clone();
        if (k === 0) world.multiply(place);
        return (face as Face).normal.clone().transformDirection(world);
      });
      // The triangle that is named holds the point.
      const { a, b, c } = hit.face as Face;
      const corners = [a, b, c].map((vertex) => getVertexPosition(crowd, 1, vertex, new Vector3()));
      const triangle = new Triangle(...(corners as [Vector3, Vector3, Vector3]));
      const nearest = triangle.closestPointToPoint(hit.point, new Vector3());
      // Of two triangles that share an edge, a ray into the edge may hit either.
      const { x, y, z } = triangle.getBarycoord(hit.point, new Vector3()) as Vector3;
      if (Math.min(x, y, z) < 1e-4) edges++;
      else worst.normal = Math.max(worst.normal, normals[0].distanceTo(normals[1]));
      expect(nearest.distanceTo(hit.point) / height).toBeLessThan(BOUND);
      const { index } = crowd.geometry;
      const first = (hit.faceIndex as number) * 3;
      expect([a, b, c]).toEqual([0, 1, 2].map((corner) => index?.getX(first + corner) ?? first + corner));
    }
    console.log(`${name}: ${hits} hits, ${misses} misses, worst ${JSON.stringify(worst)}`);
    expect(worst.distance).toBeLessThan(BOUND);
    expect(worst.uv).toBeLessThan(1e-5);
    expect(worst.normal).toBeLessThan(1e-3);
    expect(hits).toBeGreaterThan(30);
    expect(edges).toBeLessThan(3);
    expect(misses).toBeGreaterThan(5);
  });
});

test('firstHitOnly finds the nearest hit, and looks at no instance behind it', async () => {
  const { root, clips } = await loadCharacter(hasCharacter('Knight.glb') ? 'Knight.glb' : BUILT_IN);
  const size = characterHeight(root);
  const count = 3000;
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips.slice(0, 6)), count);
  const matrix = new Matrix4();
  for (let i = 0; i < count; i++) {
    crowd.setMatrixAt(i, matrix.makeTranslation((i % 100) * size, 0, -Math.floor(i / 100) * size));
  }
  crowd.playAll((i) => i % 6, { time: (i) => i * 0.1 }).update(0.2);
  crowd.scale.setScalar(0.7);
  crowd.rotation.y = 0.3;
  crowd.updateMatrixWorld();
  const pose = vi.spyOn(crowd.playback, 'pose');
  const next = random(SEEDS[0]);
  let misses = 0;
  let posed = 0;
  for (let i = 0; i < 20; i++) {
    // Along the rows, at the height of shoulders or above all heads.
    const height = (i % 5 === 0 ? 1.6 : 0.75) * size;
    const from = new Vector3(-2 * size, height, -i * size + 0.3 * size * next());
    const towards = new Vector3(100 * size, height, -i * size + 0.3 * size * next());
    const ray = new Raycaster(
      from.applyMatrix4(crowd.matrixWorld),
      towards.applyMatrix4(crowd.matrixWorld).sub(from).normalize(),
    );
    const all = ray.intersectObject(crowd);
    (ray as { firstHitOnly?: boolean }).firstHitOnly = true;
    const before = pose.mock.calls.length;
    const nearest = ray.intersectObject(crowd);
    posed += pose.mock.calls.length - before;
    expect(nearest).toEqual(all.slice(0, 1));
    if (all.length === 0) misses++;
  }
  expect(misses).toBe(4);
  expect(posed / 20).toBeLessThan(8);
});

test('a ray hits what is shown, and says which part', () => {
  const { root, clips } = createKnight();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 2);
  crowd.setMatrixAt(1, new Matrix4().makeTranslation(3, 0, 0));
  crowd.playAll('Idle').update(0.4);
  crowd.updateMatrixWorld();
  const sword = partsOf(crowd).names.indexOf('Sword');
  const { geometry } = crowd;
  const partIndex = geometry.getAttribute('partIndex');
  const center = new Vector3();
  const vertex = new Vector3();
  let vertices = 0;
  for (let i = 0; i < partIndex.count; i++) {
    if (partIndex.getX(i) !== sword) continue;
    center.add(getVertexPosition(crowd, 1, i, vertex));
    vertices++;
  }
  center.divideScalar(vertices);
  const ray = new Raycaster(center.clone().add(new Vector3(0, 0, 5)), new Vector3(0, 0, -1));
  const hitParts = () => ray.intersectObject(crowd).map((hit) => (hit as { part?: string }).part);
  expect(hitParts()).toContain('Sword');
  const [hit] = ray.intersectObject(crowd);
  expect(hit.instanceId).toBe(1);
  expect(hit.normal?.length()).toBeCloseTo(1, 5);
  expect(hit.normal?.dot(ray.ray.direction)).toBeLessThan(0);
  expect(hit.uv === undefined).toBe(!geometry.hasAttribute('uv'));

  partsOf(crowd).setVisibleAt(1, 'Sword', false);
  expect(hitParts()).not.toContain('Sword');
  partsOf(crowd).setVisibleAt(1, 'Sword', true).setVisibleAt(0, 'Sword', false);
  expect(hitParts()).toContain('Sword');

  const hitFaces = () => ray.intersectObject(crowd).map(({ faceIndex }) => faceIndex as number);
  const [face] = hitFaces();
  geometry.setDrawRange((face + 1) * 3, Infinity);
  expect(hitFaces(), 'what is drawn is hit').not.toContain(face);
  geometry.setDrawRange(0, face * 3);
  expect(hitFaces()).not.toContain(face);
  geometry.setDrawRange(face * 3, 3);
  expect(hitFaces()).toEqual([face]);
});

test.each([-1, 0.5, 2])('rays hit what a morph target of influence %d has moved', (influence) => {
  const { root, mesh } = createMorphingStick();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, []), 1);
  for (const { morphTargetInfluences } of [crowd, mesh]) (morphTargetInfluences as number[])[0] = influence;
  const tip = getVertexPosition(crowd, 0, 2, new Vector3());
  const middle = getVertexPosition(crowd, 0, 0, new Vector3()).lerp(tip, 0.9);
  const ray = new Raycaster(new Vector3(middle.x + 0.02, middle.y, 10), new Vector3(0, 0, -1));
  // What three.js keeps of it is of the pose at rest.
  mesh.computeBoundingSphere();
  (mesh.material as MeshBasicMaterial).side = DoubleSide;
  crowd.material = mesh.material;
  expect(ray.intersectObject(mesh)).toHaveLength(1);
  expect(ray.intersectObject(crowd)).toHaveLength(1);
});
