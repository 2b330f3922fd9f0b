import {
  type AnimationClip,
  AnimationMixer,
  Box3,
  LoopOnce,
  Matrix4,
  type Mesh,
  Object3D,
  Vector3,
} from 'three';
import { beforeAll, expect, test, vi } from 'vitest';
import { cubicSpline } from '../../support/cubicSpline.js';
import {
  assembleCharacter,
  bakeBoneTexture,
  type EncodingName,
  encodingOf,
  getVertexPosition,
  LoopOnceOptions,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { random } from '../../support/random.js';
import { randomCharacter } from '../../support/randomCharacter.js';
import { drawnMeshes } from '../../support/reference.js';
import { THOROUGH } from '../../support/thorough.js';

/** Characters, in batches of which each has a seed of its own in its name. */
const BATCHES = THOROUGH ? 4 : 1;
const PER_BATCH = 50;
const IN_TRACKS = THOROUGH ? 120 : 30;
/** Frames of each clip that are compared, both ends among them. */
const FRAMES = 5;

let cubic: Awaited<ReturnType<typeof cubicSpline>>;
beforeAll(async () => {
  cubic = await cubicSpline();
});

/** A matrix of float32 numbers, as instances have them. */
function placeOf(seed: number): Matrix4 {
  const next = random(seed + 9_000_000);
  const object = new Object3D();
  object.position.set(next() - 0.5, next() - 0.5, next() - 0.5);
  object.rotation.set(next() * 6, next() * 6, next() * 6);
  object.scale.setScalar(0.5 + next());
  object.updateMatrix();
  return object.matrix.fromArray(object.matrix.elements.map(Math.fround));
}

/** What three.js shows: vertices of all meshes one after another, in the order in which `from` merges them. */
function* expectedVertices(
  mixer: AnimationMixer,
  root: Object3D,
  meshes: Mesh[],
  clip: AnimationClip,
  time: number,
) {
  mixer.stopAllAction();
  const action = mixer.clipAction(clip).reset().setLoop(LoopOnce, 1);
  action.clampWhenFinished = true;
  action.play();
  mixer.setTime(time);
  root.updateMatrixWorld(true);
  const position = new Vector3();
  for (const [part, mesh] of meshes.entries()) {
    for (let i = 0; i < mesh.geometry.getAttribute('position').count; i++) {
      mesh.getVertexPosition(i, position);
      // The inverse of a matrix that flattens is zero in three.js. Its shader makes the mesh's origin of that, its
      // function on the CPU divides by it.
      if (!Number.isFinite(position.x)) position.set(0, 0, 0);
      yield { part, vertex: i, position: position.applyMatrix4(mesh.matrixWorld), mesh };
    }
  }
}

/** For each part the vertices of the crowd that stand for its own, one list for a part and one more for its mirrored copy. */
function verticesOfParts({ geometry }: SkinnedInstancedMesh, meshes: readonly Mesh[]): number[][][] {
  const lists = meshes.map((): number[][] => []);
  const partIndex = geometry.getAttribute('partIndex');
  for (let vertex = 0; vertex < partIndex.count; vertex++) {
    const part = partIndex.getX(vertex);
    const size = meshes[part].geometry.getAttribute('position').count;
    const last = lists[part].at(-1);
    if (last === undefined || last.length === size) lists[part].push([vertex]);
    else last.push(vertex);
  }
  return lists;
}

/**
 * The largest distance from three.js's vertices on baked frames, and how far one of those is outside of the crowd's box, as
 * shares of the height.
 */
function measure(seed: number, encoding: EncodingName): { worst: number; outside: number } {
  const { root, clips, detached } = randomCharacter(seed, cubic);
  const boneTexture = bakeBoneTexture(root, clips, { encoding: encodingOf(encoding), fps: 12 });
  const next = random(seed);
  const crowd = new SkinnedInstancedMesh(assembleCharacter(root, boneTexture), 1);
  const matrix = detached ? new Matrix4() : placeOf(seed);
  crowd.setMatrixAt(0, matrix);

  // The height is the largest side of a box around all poses that are looked at and the point the instance stands on.
  const box = new Box3().expandByPoint(new Vector3().setFromMatrixPosition(matrix));
  crowd.computeBoundingBox();
  const bounds = crowd.boundingBox!;
  const shown = new Vector3();
  let worst = 0;
  let outside = 0;
  boneTexture.clips.forEach(({ count }, c) => {
    // Jumps at times that no frame rate holds come late by up to 1/480 s; baking says so.
    if ((boneTexture.data.tracks?.clips[c].error ?? 0) > MAX_ERROR) return;
    // Made anew for each clip: where a mixer has set a quaternion, `rotation` holds other angles afterwards.
    const other = randomCharacter(seed, cubic);
    other.root.matrixAutoUpdate = false;
    other.root.matrix.copy(matrix);
    const mixer = new AnimationMixer(other.root);
    const meshes = drawnMeshes(other.root);
    const lists = verticesOfParts(crowd, meshes);
    for (let i = 0; i < FRAMES; i++) {
      const frame = Math.round((i / (FRAMES - 1)) * (count - 1));
      const onFrame = (frame / (count - 1)) * clips[c].duration;
      // Tracks are right at any time.
      const time = encoding === 'tracks' ? next() * clips[c].duration : onFrame;
      crowd.play(0, c, { ...LoopOnceOptions, time });
      for (const { part, vertex, position, mesh } of expectedVertices(
        mixer,
        other.root,
        meshes,
        other.clips[c],
        time,
      )) {
        box.expandByPoint(position);
        // Of a part that is there twice, the second is shown while the mesh's matrix mirrors.
        const mirrors = mesh.matrixWorld.determinant() < 0 !== matrix.determinant() < 0;
        const list = lists[part][lists[part].length > 1 && mirrors ? 1 : 0];
        getVertexPosition(crowd, 0, list[vertex], shown);
        const distance = shown.distanceTo(position);
        // Boxes hold each morph target at full influence, not those that add up to more.
        if (crowd.geometry.morphAttributes.position === undefined)
          outside = Math.max(outside, bounds.distanceToPoint(position));
        if (!(distance <= worst)) worst = distance;
      }
    }
  });
  const size = box.getSize(new Vector3());
  const height = Math.max(size.x, size.y, size.z);
  return height === 0 ? { worst, outside } : { worst: worst / height, outside: outside / height };
}

test.each(Array.from({ length: BATCHES }, (_, batch) => 1 + batch * PER_BATCH))(
  'fifty random characters are posed as three.js poses them (seeds from %i)',
  (first) => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    const off: string[] = [];
    for (let seed = first; seed < first + PER_BATCH; seed++) {
      const { worst, outside } = measure(seed, 'frames');
      if (!(worst <= 1e-6)) off.push(`seed ${seed}: off by ${worst.toExponential(1)} of the height`);
      if (!(outside <= 1e-6))
        off.push(`seed ${seed}: ${outside.toExponential(1)} of the height outside of the box`);
    }
    expect(off).toEqual([]);
  },
);

/** Share of the character's size by which sampled curves may be off, which is the default of `maxError`. */
const MAX_ERROR = 1e-4;

test('random characters in tracks are posed as three.js poses them at any time (seeds from 1)', () => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const off: string[] = [];
  let held = 0;
  for (let seed = 1; seed <= IN_TRACKS; seed++) {
    try {
      const { worst, outside } = measure(seed, 'tracks');
      held++;
      if (!(worst <= 2 * MAX_ERROR)) off.push(`seed ${seed}: off by ${worst.toExponential(1)} of the height`);
      if (!(outside <= 1e-6))
        off.push(`seed ${seed}: ${outside.toExponential(1)} of the height outside of the box`);
    } catch (error) {
      expect(String(error)).toContain('Tracks cannot hold');
    }
  }
  console.log(`${held} of ${IN_TRACKS} random characters fit into tracks`);
  expect(off).toEqual([]);
  expect(held).toBeGreaterThan(0.2 * IN_TRACKS);
});
