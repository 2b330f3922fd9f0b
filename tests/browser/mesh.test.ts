import {
  AnimationMixer,
  Box3,
  BoxGeometry,
  Color,
  Float32BufferAttribute,
  InstancedMesh,
  LoopOnce,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshNormalMaterial,
  ObjectLoader,
  PerspectiveCamera,
  Raycaster,
  Scene,
  Sphere,
  Vector3,
  WebGLRenderer,
} from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { expect, test, vi } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { capture, captureGeometry, captureMaterial } from '../support/capture.js';
import { BoneTexture, SkinnedInstancedMesh } from '../support/library.js';
import { random } from '../support/random.js';
import { Reference } from '../support/reference.js';
import { createStick } from '../support/stick.js';

test('is an InstancedMesh, and says what it is', () => {
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 2);
  expect(crowd).toBeInstanceOf(InstancedMesh);
  expect(crowd).toMatchObject({
    isInstancedMesh: true,
    isSkinnedMesh: true,
    isSkinnedInstancedMesh: true,
    type: 'SkinnedInstancedMesh',
    count: 2,
    capacity: 2,
  });
  const color = new Color(0.25, 0.5, 0.75);
  const tint = new Color();
  crowd.setColorAt(1, color).getColorAt(1, tint);
  expect(tint).toEqual(color);
  const matrix = new Matrix4().makeTranslation(1, 2, 3);
  expect(crowd.setMatrixAt(1, matrix)).toBe(crowd);
  const read = new Matrix4();
  crowd.getMatrixAt(1, read);
  expect(read).toEqual(matrix);
});

test('from leaves the scene as it found it', () => {
  const { root, clips } = createCharacter();
  const describeScene = () => JSON.stringify({ ...root.toJSON(), metadata: null });
  const worlds: number[][] = [];
  root.traverse((node) => worlds.push(node.matrixWorld.toArray()));
  const before = describeScene();
  SkinnedInstancedMesh.from(root, clips, 3);
  expect(describeScene()).toBe(before);
  const after: number[][] = [];
  root.traverse((node) => after.push(node.matrixWorld.toArray()));
  expect(after).toEqual(worlds);
});

test('clips can be chosen, renamed and given an fps of their own', () => {
  const { root, clips } = createStick({ Idle: 2, Run_A: 1, Spare: 1 });
  const boneTexture = BoneTexture.bake(root, clips, {
    fps: 10,
    clips: ['Idle', { clip: 'Run_A', name: 'Run', fps: 60 }, { clip: clips[2], name: 'Extra' }],
  });
  expect(
    boneTexture.clips.map(({ name, start, count, fps, duration }) => ({ name, start, count, fps, duration })),
  ).toEqual([
    { name: 'Idle', start: 1, count: 21, fps: 10, duration: 2 },
    { name: 'Run', start: 22, count: 61, fps: 60, duration: 1 },
    { name: 'Extra', start: 83, count: 11, fps: 10, duration: 1 },
  ]);
  expect(boneTexture.frameCount).toBe(94);
  expect(boneTexture.jointNames).toEqual(['Base', 'Tip']);
});

test('bakeAsync gives the same, in slices, with progress', async () => {
  const { root, clips } = createCharacter();
  const progress: number[] = [];
  const sliced = await BoneTexture.bakeAsync(root, clips, { onProgress: (share) => progress.push(share) });
  const whole = BoneTexture.bake(root, clips);
  expect(sliced.image.data).toEqual(whole.image.data);
  expect(sliced.clips).toEqual(whole.clips);
  expect(progress.at(-1)).toBe(1);
  expect([...progress].sort((a, b) => a - b)).toEqual(progress);
});

test('bakeAsync stops when its signal aborts', async () => {
  const { root, clips } = createCharacter();
  const controller = new AbortController();
  const baking = BoneTexture.bakeAsync(root, clips, {
    fps: 400,
    signal: controller.signal,
    onProgress: () => controller.abort(new Error('enough')),
  });
  await expect(baking).rejects.toThrow('enough');
});

test('bounds hold every pose of every instance', () => {
  const { root, clips } = createCharacter();
  const next = random(5);
  for (const encoding of ['matrix', 'quaternion'] as const) {
    const crowd = SkinnedInstancedMesh.from(root, clips, 40, { encoding, fps: 8 });
    const vertices = crowd.geometry.getAttribute('position').count;
    for (let i = 0; i < 40; i++) {
      crowd.setMatrixAt(
        i,
        new Matrix4().makeRotationY(next() * 6).setPosition(next() * 9, next(), next() * 9),
      );
      const clip = Math.floor(next() * clips.length);
      crowd.play(i, clip, { time: next() * clips[clip].duration });
    }
    crowd.computeBoundingBox();
    crowd.computeBoundingSphere();
    const box = crowd.boundingBox as Box3;
    const sphere = crowd.boundingSphere as Sphere;
    const vertex = new Vector3();
    const tight = new Box3();
    for (let i = 0; i < 40; i++) {
      for (let v = 0; v < vertices; v += 11) {
        crowd.getVertexPositionAt(i, v, vertex);
        tight.expandByPoint(vertex);
        expect(box.distanceToPoint(vertex)).toBeLessThan(1e-5);
        expect(sphere.distanceToPoint(vertex)).toBeLessThan(1e-5);
      }
    }
    // loose enough to hold every clip, not so loose as to be useless
    expect(box.getSize(new Vector3()).length()).toBeLessThan(tight.getSize(new Vector3()).length() * 1.6);
  }
});

test('bounds follow instances that were moved, and leave alone what the user set', () => {
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
  crowd.computeBoundingSphere();
  crowd.setMatrixAt(0, new Matrix4().makeTranslation(500, 0, 0));
  crowd.instanceMatrix.needsUpdate = true;
  crowd.updateMatrixWorld();
  expect(crowd.boundingSphere).toBe(null);
  crowd.computeBoundingSphere();
  expect((crowd.boundingSphere as unknown as Sphere).center.x).toBeGreaterThan(480);

  const own = new Sphere(new Vector3(), Infinity);
  crowd.boundingSphere = own;
  crowd.instanceMatrix.needsUpdate = true;
  crowd.updateMatrixWorld();
  expect(crowd.boundingSphere).toBe(own);
});

test('bounds of other geometry than was baked are found from the texture', () => {
  const { root, mesh, clips } = createStick();
  const boneTexture = BoneTexture.bake(root, clips);
  const tall = mesh.geometry.clone().scale(1, 40, 1);
  const crowd = new SkinnedInstancedMesh(tall, mesh.material, boneTexture, 1);
  crowd.computeBoundingBox();
  expect((crowd.boundingBox as Box3).max.y).toBeCloseTo(40, 4);
});

test('count may change up to the capacity', () => {
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 5);
  crowd.count = 2;
  crowd.play(4, 'Slide', { time: 0.5 });
  crowd.count = 5;
  expect(crowd.getSkinningMatrixAt(4, 'Tip', new Matrix4()).elements[12]).toBeCloseTo(5.5, 5);
});

test('clone and copy play on by themselves', () => {
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 3, { influences: 2, interpolate: false });
  crowd.setMatrixAt(1, new Matrix4().makeTranslation(1, 2, 3));
  crowd.setColorAt(2, new Color('red'));
  crowd.play(1, 'Slide', { timeScale: 0.5 });
  crowd.update(0.8);
  const clone = crowd.clone();
  expect(clone).toBeInstanceOf(SkinnedInstancedMesh);
  expect(clone).toMatchObject({
    count: 3,
    influences: 2,
    interpolate: false,
    boneTexture: crowd.boneTexture,
  });
  expect(clone.geometry).not.toBe(crowd.geometry);
  const tip = (mesh: SkinnedInstancedMesh) =>
    mesh.getSkinningMatrixAt(1, 'Tip', new Matrix4()).elements[12] - 5;
  expect(tip(clone)).toBeCloseTo(0.4, 5);
  crowd.update(0.4);
  clone.play(1, 'Slide', { time: 0.1 });
  expect(tip(crowd)).toBeCloseTo(0.6, 5);
  expect(tip(clone)).toBeCloseTo(0.1, 5);
  const matrix = new Matrix4();
  clone.getMatrixAt(1, matrix);
  expect(matrix.elements[12]).toBe(1);

  const larger = SkinnedInstancedMesh.from(root, clips, 8).copy(crowd);
  expect(larger.capacity).toBe(3);
  expect(tip(larger)).toBeCloseTo(0.6, 5);
});

test('SkeletonUtils.clone and AnimationMixer take a scene with a crowd in it', () => {
  const { root, clips } = createStick();
  const scene = new Scene();
  scene.add(SkinnedInstancedMesh.from(root, clips, 2));
  const clone = SkeletonUtils.clone(scene);
  expect(clone.children[0]).toBeInstanceOf(SkinnedInstancedMesh);
  new AnimationMixer(scene).clipAction(clips[0]);
});

test('toJSON writes an InstancedMesh that ObjectLoader reads, and says so once', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 2);
  crowd.setMatrixAt(1, new Matrix4().makeTranslation(4, 0, 0));
  const json = crowd.toJSON();
  crowd.toJSON();
  expect(warn).toHaveBeenCalledTimes(1);
  const loaded = new ObjectLoader().parse(JSON.parse(JSON.stringify(json))) as unknown as InstancedMesh;
  expect(loaded).toBeInstanceOf(InstancedMesh);
  expect(loaded.count).toBe(2);
  const matrix = new Matrix4();
  loaded.getMatrixAt(1, matrix);
  expect(matrix.elements[12]).toBe(4);
  warn.mockRestore();
});

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

test.each([1, 2] as const)('with %i influences the strongest are kept and add up to one', (influences) => {
  const { root, mesh, clips } = createStick();
  const { skinIndex, skinWeight } = mesh.geometry.attributes;
  skinIndex.setXYZW(0, 0, 1, 0, 1);
  skinWeight.setXYZW(0, 0.2, 0.5, 0.05, 0.25);
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { influences });
  const weights = crowd.geometry.getAttribute('skinWeight');
  const expected = influences === 1 ? [1, 0] : [0.5 / 0.75, 0.25 / 0.75];
  expect([weights.getX(0), weights.getY(0)]).toEqual(expected.map((w) => expect.closeTo(w, 6)));
  expect(weights.getZ(0)).toBe(0);
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

test('raycast hits the posed mesh of the instance that is there', () => {
  const { root, clips } = createCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, 5);
  for (let i = 0; i < 5; i++) {
    crowd.setMatrixAt(i, new Matrix4().makeTranslation(i * 2, 0, 0));
    crowd.play(i, 'Walk', { time: i * 0.2 });
  }
  crowd.update(0.1);
  crowd.updateMatrixWorld();
  const reference = new Reference(root, new Matrix4().makeTranslation(6, 0, 0)).pose(
    clips.find(({ name }) => name === 'Walk') as (typeof clips)[0],
    0.7,
  );
  const ray = new Raycaster(new Vector3(6.02, 0.9, 5), new Vector3(0, 0, -1));
  const [hit] = ray.intersectObject(crowd);
  const [expected] = ray.intersectObject(reference.root);
  expect(hit.instanceId).toBe(3);
  expect(hit.object).toBe(crowd);
  expect(hit.distance).toBeCloseTo(expected.distance, 2);
  expect(ray.intersectObject(new Mesh(new BoxGeometry(), new MeshBasicMaterial()))).toEqual([]);
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
