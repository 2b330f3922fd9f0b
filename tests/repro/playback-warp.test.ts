import { AnimationMixer } from 'three';
import { expect, test } from 'vitest';
import { SkinnedInstancedMesh } from '../support/library.js';
import { createStick, tipOf } from '../support/stick.js';

const STEP = 1 / 2000;

test('a warp goes on when the time scale is set to what it is', () => {
  const stick = createStick({ Walk: 1.2, Run: 0.8 });
  const crowd = SkinnedInstancedMesh.from(stick.root, stick.clips, 2);
  const mixer = new AnimationMixer(stick.root);
  const [walk, run] = stick.clips.map((clip) => mixer.clipAction(clip));
  walk.play();
  mixer.update(0.3);
  crowd.playAll('Walk').update(0.3);
  run.reset().play();
  walk.crossFadeTo(run, 0.5, true);
  crowd.crossFadeTo(crowd.all, 'Run', 0.5, true);
  for (let i = 0; i < 1400; i++) {
    if (i === 400) {
      run.timeScale = 1;
      crowd.setTimeScaleAt(1, 1);
    }
    mixer.update(STEP);
    crowd.update(STEP);
    for (const index of [0, 1]) {
      expect(tipOf(crowd, index), `${i * STEP} s`).toBeCloseTo(stick.bones[1].position.x, 3);
      expect(crowd.getTimeAt(index), `${i * STEP} s`).toBeCloseTo(run.time, 3);
    }
  }
  expect(crowd.getTimeAt(1)).toBeCloseTo(crowd.getTimeAt(0), 9);
});

test('a warp goes on in proportion when the time scale changes, as that of an AnimationAction', () => {
  const stick = createStick({ Walk: 1.2, Run: 0.8 });
  const crowd = SkinnedInstancedMesh.from(stick.root, stick.clips, 1);
  const mixer = new AnimationMixer(stick.root);
  const [walk, run] = stick.clips.map((clip) => mixer.clipAction(clip));
  walk.play();
  crowd.play(0, 'Walk');
  run.reset().play();
  walk.crossFadeTo(run, 0.5, true);
  crowd.crossFadeTo(0, 'Run', 0.5, true);
  for (let i = 0; i < 950; i++) {
    if (i === 400) {
      run.timeScale = 0.5;
      crowd.setTimeScaleAt(0, 0.5);
    } else if (i === 600) {
      run.timeScale = 0;
      crowd.setTimeScaleAt(0, 0);
    } else if (i === 700) {
      run.timeScale = -1.5;
      crowd.setTimeScaleAt(0, -1.5);
    }
    mixer.update(STEP);
    crowd.update(STEP);
    expect(crowd.getTimeAt(0), `${i * STEP} s`).toBeCloseTo(run.time, 3);
  }
  // From 0.187 on three.js then puts back the time scale from before the warp; here the one that was set stays.
  crowd.update(0.1);
  const before = crowd.getTimeAt(0);
  crowd.update(0.1);
  expect(crowd.getTimeAt(0) - before).toBeCloseTo(-0.15, 6);
  expect(crowd.getTimeScaleAt(0)).toBe(-1.5);
});

test('events come when a warp that goes on at another speed comes to them', () => {
  const { root, clips } = createStick({ A: 1, B: 3 });
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
  crowd.boneTexture.addMarker('B', 0.4, 'early').addMarker('B', 0.9, 'late');
  crowd.play(0, 'A').update(0.2);
  const times: number[] = [];
  crowd.addEventListener('mark', () => times.push(crowd.getTimeAt(0)));
  crowd.play(0, 'B', { fade: 0.5, warp: true }).update(0.1);
  crowd.setTimeScaleAt(0, 0.6);
  for (let i = 0; i < 2000; i++) crowd.update(0.001);
  expect(times).toEqual([expect.closeTo(0.4, 2), expect.closeTo(0.9, 2)]);
});

test('clips that were warped go on as fast beneath the next fade', () => {
  const { root, clips } = createStick({ A: 4, B: 1, C: 2 });
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
  crowd.play(0, 'A').update(0.5);
  crowd.play(0, 'B', { fade: 1, warp: true }).update(0.35);
  const speed = () => {
    const before = tipOf(crowd, 0);
    crowd.update(1e-3);
    return (tipOf(crowd, 0) - before) / 1e-3;
  };
  const before = speed();
  // so slow a fade that what it adds is not seen
  crowd.play(0, 'C', { fade: 1e5 });
  // the warp itself goes on by a hundredth within these two milliseconds
  expect(Math.abs(speed() - before)).toBeLessThan(0.02);
});
