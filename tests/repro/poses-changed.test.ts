import { Group, type WebGLRenderer } from 'three';
import type { WebGPURenderer } from 'three/webgpu';
import { afterEach, expect, test, vi } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { posePassOf } from '../../lib/backends/webgpu/nodePoses.js';
import { PoseSteps } from '../../lib/backends/webgpu/PoseSteps.js';
import { WebGLPosePass } from '../../lib/sources/WebGLPosePass.js';
import { posesOf } from '../../lib/sources/WebGLPoses.js';
import { SkinnedInstancedMesh } from '../support/library.js';

afterEach(() => {
  vi.restoreAllMocks();
});

function twoInstances(): SkinnedInstancedMesh {
  const { root, clips } = createCharacter();
  return SkinnedInstancedMesh.from(root, clips, 2, { encoding: 'tracks' });
}

/** A renderer that computes nothing. */
const webGPURenderer = () => ({ compute: () => {}, info: { frame: 0 } }) as unknown as WebGPURenderer;

test('WebGPURenderer no longer looks for edits that a copy of another crowd has put an end to', () => {
  const prepare = vi.spyOn(PoseSteps.prototype, 'prepare');
  const crowd = twoInstances();
  const plain = crowd.clone();
  const poses = posePassOf(crowd).posesOn(true);
  const renderer = webGPURenderer();
  crowd.setJointScaleAt(0, 1, crowd.scale.clone().setScalar(2));
  poses.run(renderer, 2);
  expect((prepare.mock.contexts.at(-1) as PoseSteps).edited).toBe(true);

  crowd.copy(plain);
  poses.run(renderer, 2);
  expect(prepare).toHaveBeenCalledTimes(2);
  expect((prepare.mock.contexts.at(-1) as PoseSteps).edited).toBe(false);
});

function begin(crowd: SkinnedInstancedMesh): void {
  crowd.setPoseRateAt(crowd.all, 0.01).playAll(0).update(1);
}

/** Plays something new while nobody looks, until the clock has come around to a little after where it was. */
function missARound(crowd: SkinnedInstancedMesh): void {
  crowd.playAll(1);
  for (let i = 0; i < 32; i++) crowd.update(0.5);
  crowd.update(0.2);
  expect(crowd.clock).toBeGreaterThan(1.1);
  expect(crowd.clock).toBeLessThan(2);
}

test('WebGLRenderer poses all instances that it has not drawn since the clock went back to zero', () => {
  const posed: number[] = [];
  vi.spyOn(WebGLPosePass.prototype, 'isPosed').mockReturnValue(true);
  const crowd = twoInstances();
  const renderer = {} as WebGLRenderer;
  vi.spyOn(WebGLPosePass.prototype, 'run').mockImplementation(() => {});
  const draw = () => {
    posesOf(crowd).update(renderer, crowd);
    posed.push(posesOf(crowd).posedCount(renderer));
  };
  begin(crowd);
  draw();
  crowd.update(0.1);
  draw();
  missARound(crowd);
  draw();
  expect(posed).toEqual([2, 0, 2]);
});

test('WebGPURenderer poses all instances that it has not drawn since the clock went back to zero', () => {
  const prepare = vi.spyOn(PoseSteps.prototype, 'prepare');
  const crowd = twoInstances();
  const poses = posePassOf(crowd).posesOn(true);
  const renderer = webGPURenderer();
  begin(crowd);
  poses.run(renderer, 2);
  missARound(crowd);
  poses.run(renderer, 2);
  expect(prepare).toHaveBeenCalledTimes(2);
  expect(prepare.mock.lastCall?.[2]).toBeNull();
});

test('a live pose of something else is refused where roots have no names', () => {
  const { root, clips } = createCharacter();
  root.name = '';
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { encoding: 'tracks' });
  const other = new Group().add(new Group());
  expect(() => crowd.setPoseAt(0, other)).toThrow('nothing in the pose has the name of a joint');
});

test('a live pose ends in time, also if it is ended again in each frame', () => {
  const { root, clips } = createCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { encoding: 'tracks' });
  crowd.setPoseAt(0, root);
  for (let i = 0; i < 11; i++) {
    crowd.setPoseAt(0, null, { fade: 0.5 });
    crowd.update(0.05);
    crowd.edits.update();
  }
  crowd.setPoseAt(0, null, { fade: 0.5 });
  const header = crowd.edits.headers?.data;
  expect(header?.[2], 'number of the live pose').toBe(0);
});

test('data with keys of 16 bits may lie anywhere in a file', () => {
  const { root, clips } = createCharacter();
  const { boneTexture } = SkinnedInstancedMesh.from(root, clips, 1, {
    encoding: 'tracks',
    precision: 'half',
  });
  const { data } = boneTexture;
  const tracks = data.tracks as NonNullable<typeof data.tracks>;
  const shorts = tracks.shorts as Uint16Array;
  const file = new Uint16Array(shorts.length + 1);
  file.set(shorts, 1);
  const Class = boneTexture.constructor as new (from: typeof data) => typeof boneTexture;
  const other = new Class({ ...data, tracks: { ...tracks, shorts: file.subarray(1) } });
  expect(other.shortKeys?.image.data).toEqual(boneTexture.shortKeys?.image.data);
});

test('a pose rate beyond what shaders can hold is one in every frame', () => {
  const crowd = twoInstances();
  crowd.setPoseRateAt(0, 1e300);
  expect(crowd.getPoseRateAt(0)).toBe(0);
});

test.each(['Spine', null])('a mask that is %s is refused for what it is', (mask) => {
  const { root, clips } = createCharacter();
  const layers = [{ name: 'upper', mask }] as unknown as [{ name: string }];
  expect(() => SkinnedInstancedMesh.from(root, clips, 1, { layers })).toThrow(
    `layer "upper": the mask is ${JSON.stringify(mask)}; use ["Spine"]`,
  );
});

test('an instance whose edits have ended is not due in every frame once the clock has gone back to zero', () => {
  const crowd = twoInstances();
  for (let i = 0; i < 30; i++) crowd.update(0.5);
  crowd.setJointScaleAt(0, 1, crowd.scale).clearJointEditsAt(0);
  const changed = () => crowd.edits.headers?.data[3];
  expect(changed()).toBe(15);
  for (let i = 0; i < 3; i++) crowd.update(0.5);
  crowd.edits.update();
  expect(changed()).toBeLessThanOrEqual(crowd.clock);
});
