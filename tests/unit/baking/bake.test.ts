import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { bakeSteps } from '../../../lib/baking/bake.js';
import { BUILT_IN, hasCharacter, loadCharacter } from '../../support/characters.js';
import { BoneTexture } from '../../support/library.js';
import { createStick } from '../../support/stick.js';

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
    encoding: 'matrix',
    signal: controller.signal,
    onProgress: () => controller.abort(new Error('enough')),
  });
  await expect(baking).rejects.toThrow('enough');
});

test('slices are made of many small steps', async () => {
  const name = hasCharacter('Knight.glb') ? 'Knight.glb' : BUILT_IN;
  const { root, clips } = await loadCharacter(name);
  for (const options of [{ precision: 'half' }, { encoding: 'quaternion' }] as const) {
    // Of several rounds the shortest time of each step: in one the engine compiles, or another program has the processor.
    const best: number[] = [];
    for (let round = 0; round < 5; round++) {
      const steps = bakeSteps(root, clips, options);
      for (let i = 0, done = false; !done; i++) {
        const start = performance.now();
        done = steps.next().done === true;
        best[i] = Math.min(best[i] ?? Infinity, performance.now() - start);
      }
    }
    const most = Math.max(...best);
    console.log(
      `${name}, ${JSON.stringify(options)}: ${best.length} steps, of ${most.toFixed(2)} ms at most`,
    );
    // At least one for each clip, mesh and part of the work; what they take depends on the machine and is printed alone.
    expect(best.length).toBeGreaterThan(3 * clips.length);
  }
});
