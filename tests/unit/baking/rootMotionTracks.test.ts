import type { RootMotionOptions } from 'skinned-instanced-mesh';
import {
  AnimationClip,
  AnimationMixer,
  Bone,
  BoxGeometry,
  BufferGeometry,
  Euler,
  Float32BufferAttribute,
  Group,
  LoopOnce,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Quaternion,
  QuaternionKeyframeTrack,
  Skeleton,
  SkinnedMesh,
  Uint16BufferAttribute,
  Vector3,
  VectorKeyframeTrack,
} from 'three';
import { expect, test } from 'vitest';
import {
  applyRootMotion,
  bakeBoneTexture,
  bakeCharacter,
  extractRootMotion,
  frames,
  getVertexPosition,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { random } from '../../support/random.js';

const tracks = { rootMotion: extractRootMotion() };
const DURATION = 2;

/**
 * A walker as files have them: an armature that is turned and a hundred times smaller, hips on a bone that stands still, and
 * a foot beside the hips that has keys of its own.
 */
function createWalker(turns: number, armatureScale = new Vector3(0.01, 0.01, 0.01)) {
  const root = new Group();
  const armature = new Group();
  armature.name = 'Armature';
  armature.rotation.x = -Math.PI / 2;
  armature.scale.copy(armatureScale);
  const [base, hips, head, foot] = ['Base', 'Hips', 'Head', 'Foot'].map((name) => {
    const bone = new Bone();
    bone.name = name;
    return bone;
  });
  base.rotation.set(0.1, 0.2, 0.3);
  root.add(armature);
  armature.add(base);
  base.add(hips, foot);
  hips.add(head);
  head.position.set(0, 0, 80);

  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new Float32BufferAttribute([0, 1, 0, 0.2, 2, 0, 0.3, 0.1, 0.2], 3));
  geometry.setAttribute('skinIndex', new Uint16BufferAttribute([1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0], 4));
  geometry.setAttribute('skinWeight', new Float32BufferAttribute([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], 4));
  const mesh = new SkinnedMesh(geometry, new MeshBasicMaterial());
  root.add(mesh);
  root.updateMatrixWorld(true);
  mesh.bind(new Skeleton([base, hips, head, foot]));

  const times = Array.from({ length: 31 }, (_, i) => (i / 30) * DURATION);
  const toBase = base.matrixWorld.clone().invert();
  const turnToBase = base.getWorldQuaternion(new Quaternion()).invert();
  const way = (from: Vector3, bob: number) =>
    times.flatMap((time) => {
      const yaw = turns * time;
      const place = new Vector3(3 * time, bob * Math.sin(5 * time), time * time);
      return place
        .add(from.clone().applyEuler(new Euler(0, yaw, 0)))
        .applyMatrix4(toBase)
        .toArray();
    });
  const turning = times.flatMap((time) => {
    const turn = new Quaternion().setFromEuler(new Euler(0.3 * Math.sin(7 * time), turns * time, 0, 'YXZ'));
    return turnToBase.clone().multiply(turn).toArray();
  });
  const clip = new AnimationClip('Walk', DURATION, [
    new VectorKeyframeTrack('Hips.position', times, way(new Vector3(0.1, 1, 0), 0.1)),
    new QuaternionKeyframeTrack('Hips.quaternion', times, turning),
    new VectorKeyframeTrack('Foot.position', times, way(new Vector3(0.3, 0, 0.1), 0)),
  ]);
  return { root, armature, mesh, clip };
}

/** How far vertices are from three.js's at random times while root motion moves the instance, as a share of the height of 2. */
function measure(
  { root, mesh, clip }: ReturnType<typeof createWalker>,
  rootMotion: RootMotionOptions = {},
): number {
  const character = bakeCharacter(root, [clip], { rootMotion: extractRootMotion(rootMotion) });
  const crowd = new SkinnedInstancedMesh(character, 1);
  const place = new Matrix4().compose(
    new Vector3(1, 2, 3),
    new Quaternion().setFromEuler(new Euler(0.3, 1, 0)),
    new Vector3(2, 2, 2),
  );
  crowd.setMatrixAt(0, place);
  crowd.play(0, 0, { loop: LoopOnce, clampWhenFinished: true, rootMotion: true });
  const mixer = new AnimationMixer(root);
  const action = mixer.clipAction(clip).setLoop(LoopOnce, 1).play();
  action.clampWhenFinished = true;

  const next = random(4);
  const [shown, expected, matrix] = [new Vector3(), new Vector3(), new Matrix4()];
  let worst = 0;
  for (let time = 0; time < DURATION + 0.2; ) {
    const delta = next() * 0.1;
    time += delta;
    mixer.update(delta);
    crowd.update(delta);
    applyRootMotion(crowd, delta);
    root.updateMatrixWorld(true);
    crowd.getMatrixAt(0, matrix);
    for (let vertex = 0; vertex < 3; vertex++) {
      getVertexPosition(crowd, 0, vertex, shown);
      mesh.getVertexPosition(vertex, expected).applyMatrix4(mesh.matrixWorld).applyMatrix4(place);
      worst = Math.max(worst, shown.distanceTo(expected) / 2 / 2);
    }
  }
  return worst;
}

test('a straight way put back on the matrix is the clip itself at any time', () => {
  const off = measure(createWalker(0));
  expect(off, 'share of the height').toBeLessThan(2e-6);
});

test.each([0.5, 4, -9])('so is a way that turns by %f radians a second, to the error stated', (turns) => {
  const walker = createWalker(turns);
  const off = measure(walker);
  const { data } = bakeBoneTexture(walker.root, [walker.clip], tracks);
  const { error } = data.tracks!.clips[0];
  console.log(`turning by ${turns}: off by ${off.toExponential(1)}, stated ${error.toExponential(1)}`);
  expect(error).toBeLessThanOrEqual(1e-4);
  expect(off, 'share of the height').toBeLessThan(1.5e-4);
  expect(data.clips[0].rootMotion).toHaveLength(data.clips[0].count * 4);
});

test('turns below uneven scale cannot be taken out, straight ways can', () => {
  const scale = new Vector3(0.01, 0.02, 0.01);
  const { root, clip } = createWalker(1, scale);
  expect(() => bakeBoneTexture(root, [clip], tracks)).toThrow(
    'Tracks cannot hold turns below uneven scale; pass encoding: frames',
  );
  expect(bakeBoneTexture(root, [clip], { ...tracks, encoding: frames }).encoding).toBe('frames');
  expect(measure(createWalker(0, scale), { yaw: false })).toBeLessThan(2e-6);
});

test('nor can what vertices above the hips would have to move by', () => {
  const { root, armature, clip } = createWalker(0);
  const sledge = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
  root.add(sledge.add(armature));
  expect(() => bakeBoneTexture(root, [clip], tracks)).toThrow(
    'Tracks cannot hold root motion of a joint below one that vertices follow',
  );
  expect(bakeBoneTexture(root, [clip], { ...tracks, encoding: frames }).encoding).toBe('frames');
});
