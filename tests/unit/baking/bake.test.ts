import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { bakeBoneTexture, bakeBoneTextureAsync, frames } from '../../support/library.js';
import { createStick } from '../../support/stick.js';

test('clips can be chosen, renamed and given an fps of their own', () => {
  const { root, clips } = createStick({ Idle: 2, Run_A: 1, Spare: 1 });
  const boneTexture = bakeBoneTexture(root, clips, {
    encoding: frames,
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

test('bakeAsync stops when its signal aborts', async () => {
  const { root, clips } = createCharacter();
  const controller = new AbortController();
  const baking = bakeBoneTextureAsync(root, clips, {
    fps: 400,
    encoding: frames,
    signal: controller.signal,
    onProgress: () => controller.abort(new Error('enough')),
  });
  await expect(baking).rejects.toThrow('enough');
});
