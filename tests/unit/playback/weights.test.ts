import { AnimationUtils, Vector3 } from 'three';
import { describe, expect, test, vi } from 'vitest';
import { describeCharacters, loadCharacter } from '../../support/characters.js';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { Mixers } from '../../support/mixers.js';
import { random, SEEDS } from '../../support/random.js';
import { characterHeight } from '../../support/reference.js';
import { createStick, REST_X, tipOf } from '../../support/stick.js';

const DURATIONS = { A: 4, B: 8, C: 2, D: 3, E: 5 };

function createCrowd(count = 1, encoding: 'tracks' | 'matrix' = 'tracks') {
  const { root, clips } = createStick(DURATIONS);
  return SkinnedInstancedMesh.from(root, clips, count, { encoding });
}

const still = { timeScale: 0 };

describeCharacters((name) => {
  test.each(SEEDS)(
    'whatever is done to weights, poses are those of AnimationMixer (seed %i)',
    async (seed) => {
      const { root, clips } = await loadCharacter(name);
      const moving = clips.filter(({ duration }) => duration > 0).slice(0, 12);
      const height = characterHeight(root);
      const count = 2;
      const crowd = SkinnedInstancedMesh.from(root, clips, count, { encoding: 'tracks' });
      const vertices = crowd.geometry.getAttribute('position').count;
      const next = random(seed);
      const pair = new Mixers(crowd, root, moving);
      for (let step = 0; step < 40; step++) {
        const index = Math.floor(next() * count);
        const clip = Math.floor(next() * moving.length);
        const fade = next() < 0.3 ? 0 : 0.7 * next();
        const playing = pair.playing(index);
        const kind = next();
        if (kind < 0.35 && playing.length > 0) {
          pair.setWeight(index, playing[Math.floor(next() * playing.length)], next(), fade);
        } else if (playing.length === 4 || (kind < 0.55 && !playing.includes(clip) && playing.length < 3)) {
          if (!playing.includes(clip) && playing.length < 4) pair.replace(index, clip, fade, next());
        } else if (!playing.includes(clip)) {
          pair.play(index, clip, next(), fade, next());
        }
        pair.update(next() < 0.1 ? 3 * next() : 0.3 * next());
        const stride = Math.ceil(vertices / 150);
        const worst = pair.worst((i, vertex, target) => crowd.getVertexPositionAt(i, vertex, target), stride);
        expect(worst / height, `step ${step}`).toBeLessThan(1e-6);
        for (const one of pair.playing(index)) {
          expect(crowd.getWeightAt(index, moving[one].name)).toBeCloseTo(pair.weightOf(index, one), 9);
        }
      }
    },
  );
});

describe('weights', () => {
  test('play clips beside each other; what is left of 1 is the rest pose', () => {
    const crowd = createCrowd();
    crowd.play(0, 'A', { ...still, time: 1, weight: 0.5 });
    expect(tipOf(crowd, 0)).toBeCloseTo(0.5 * 1 + 0.5 * REST_X, 5);
    crowd.play(0, 'B', { ...still, time: 3, weight: 0.25 });
    expect(tipOf(crowd, 0)).toBeCloseTo(0.5 * 1 + 0.25 * 3 + 0.25 * REST_X, 5);
    expect(crowd.getWeightAt(0, 'A')).toBe(0.5);
    expect(crowd.getWeightAt(0, 'B')).toBe(0.25);
    expect(crowd.getWeightAt(0, 'C')).toBe(0);
    expect(crowd.getClipAt(0)).toBe('B');
  });

  test('fade from what they are, and play on in the clip', () => {
    const crowd = createCrowd();
    crowd
      .play(0, 'A', { ...still, time: 1, weight: 1 })
      .play(0, 'B', { ...still, time: 3, weight: 1, fade: 1 });
    crowd.update(0.5);
    expect(crowd.getWeightAt(0, 'B')).toBeCloseTo(0.5, 9);
    crowd.setWeightAt(0, 'A', 0, { fade: 0.5 });
    crowd.update(0.25);
    expect(crowd.getWeightAt(0, 'A')).toBeCloseTo(0.5, 9);
    expect(crowd.getWeightAt(0, 'B')).toBeCloseTo(0.75, 9);
    expect(tipOf(crowd, 0)).toBeCloseTo((0.5 * 1 + 0.75 * 3) / 1.25, 5);
    crowd.update(5);
    expect(tipOf(crowd, 0)).toBeCloseTo(3, 5);
    crowd.setWeightAt(0, 'A', 1);
    expect(tipOf(crowd, 0), 'a weight of 0 does not end a clip').toBeCloseTo(2, 5);
  });

  test('without one, a clip takes the place of all, which fade out together', () => {
    const crowd = createCrowd();
    crowd.play(0, 'A', { ...still, time: 1, weight: 0.5 }).play(0, 'B', { ...still, time: 3, weight: 0.25 });
    crowd.play(0, 'C', { ...still, time: 2, fade: 1 }).update(0.5);
    expect(crowd.getWeightAt(0, 'A')).toBeCloseTo(0.25, 9);
    expect(tipOf(crowd, 0)).toBeCloseTo(0.25 * 1 + 0.125 * 3 + 0.5 * 2 + 0.125 * REST_X, 5);
    crowd.update(0.5);
    expect(crowd.getWeightAt(0, 'A')).toBe(0);
    expect(tipOf(crowd, 0)).toBeCloseTo(2, 5);
    crowd.play(0, 'B', { ...still, time: 1 });
    expect(crowd.getWeightAt(0, 'C')).toBe(0);
  });

  test('a clip that plays already is started anew in its place', () => {
    const crowd = createCrowd();
    crowd.play(0, 'A', { weight: 1 }).play(0, 'B', { weight: 0.5 }).update(1);
    crowd.play(0, 'A', { weight: 0.5, fade: 1, time: 2 });
    expect(crowd.getClipAt(0)).toBe('A');
    expect(crowd.getTimeAt(0)).toBe(2);
    expect(crowd.getWeightAt(0, 'A')).toBe(1);
    crowd.update(1);
    expect(crowd.getWeightAt(0, 'A')).toBe(0.5);
    expect(crowd.getTimeAt(0)).toBeCloseTo(3, 9);
  });

  test('a fifth clip drops the one that shows least, and a warning names it', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const crowd = createCrowd();
    const weights = { A: 0.5, B: 0.1, C: 0.2, D: 0.15 };
    for (const [clip, weight] of Object.entries(weights)) crowd.play(0, clip, { weight });
    crowd.play(0, 'E', { weight: 0.3 });
    expect(crowd.getWeightAt(0, 'B')).toBe(0);
    expect(crowd.getWeightAt(0, 'D')).toBe(0.15);
    expect(warn.mock.calls.flat().join()).toMatch(/4 clips .* "B"/);
    warn.mockRestore();
  });

  test('every clip that does not fade out has events', () => {
    const crowd = createCrowd();
    const heard: string[] = [];
    crowd.addEventListener('loop', ({ clip }) => heard.push(clip));
    crowd.play(0, 'C', { weight: 0.5 }).play(0, 'D', { weight: 0.5, fade: 1 });
    for (let i = 0; i < 70; i++) crowd.update(0.1);
    expect(heard).toEqual(['C', 'D', 'C', 'C', 'D']);
    crowd.play(0, 'A', { fade: 1.5 });
    for (let i = 0; i < 45; i++) crowd.update(0.1);
    expect(heard.splice(5)).toEqual(['A']);
  });

  test('pause, JSON, copies, more room and the clock going back leave them', () => {
    let crowd = createCrowd(2);
    const plain = createCrowd(2);
    for (const one of [crowd, plain]) {
      one.update(15);
      one
        .play(0, 'A', { weight: 0.7, timeScale: 0.1 })
        .play(0, 'B', { weight: 0.6, fade: 3, timeScale: 0.1 });
      one.play(1, 'D', { weight: 0.3 });
    }
    const same = () => {
      for (const i of [0, 1]) expect(tipOf(crowd, i)).toBeCloseTo(tipOf(plain, i), 5);
      expect(crowd.getWeightAt(0, 'B')).toBeCloseTo(plain.getWeightAt(0, 'B'), 9);
      expect(crowd.getClipAt(0)).toBe('B');
    };
    crowd.update(0.5);
    plain.update(0.5);
    const tip = tipOf(crowd, 0);
    crowd.pause(0).update(20);
    expect(tipOf(crowd, 0)).toBeCloseTo(tip, 5);
    expect(crowd.getWeightAt(0, 'B')).toBeCloseTo(0.1, 9);
    crowd.resume(0).update(0.1);
    plain.update(0.1);
    expect(tipOf(crowd, 0)).toBeCloseTo(tipOf(plain, 0), 5);
    const other = createCrowd(2).update(3);
    other.playbackFromJSON(JSON.parse(JSON.stringify(plain.playbackToJSON())));
    crowd = other;
    same();
    for (const step of [0.4, 0.9]) {
      crowd.update(step);
      plain.update(step);
      same();
    }
    crowd = crowd.clone();
    crowd.setCapacity(9);
    same();
    crowd.update(1);
    plain.update(1);
    same();
  });

  test('need encoding tracks', () => {
    const crowd = createCrowd(1, 'matrix');
    expect(() => crowd.play(0, 'A', { weight: 0.5 })).toThrow(/play: weight needs .*encoding "tracks"/);
    crowd.play(0, 'A');
    expect(() => crowd.setWeightAt(0, 'A', 0.5)).toThrow(/setWeightAt: weight needs .*encoding "tracks"/);
    expect(crowd.getWeightAt(0, 'A')).toBe(1);
  });

  test('name what is wrong', () => {
    const crowd = createCrowd();
    crowd.play(0, 'A');
    for (const weight of [Number.NaN, -0.1, 1.5]) {
      expect(() => crowd.play(0, 'A', { weight })).toThrow(/play: weight is .*0 to 1/);
      expect(() => crowd.setWeightAt(0, 'A', weight)).toThrow(/setWeightAt: weight is .*0 to 1/);
    }
    expect(() => crowd.setWeightAt(0, 'A', 1, { fade: -1 })).toThrow(/setWeightAt: fade is -1/);
    expect(() => crowd.setWeightAt(0, 'B', 1)).toThrow(/instance 0 does not play "B"/);
    expect(() => crowd.setWeightAt(0, 'X', 1)).toThrow(/no clip named "X"/);
    expect(() => crowd.getWeightAt(1, 'A')).toThrow(/no instance 1/);
  });
});

test('a crowd of weights that takes an encoding without them shows the clip that was started last', () => {
  const { root, clips } = createStick(DURATIONS);
  const crowd = SkinnedInstancedMesh.from(root, clips, 2, { encoding: 'tracks' });
  crowd.play(0, 'A', { ...still, time: 1, weight: 0.5 }).play(0, 'B', { ...still, time: 3, weight: 0.25 });
  crowd.play(1, 'A', { ...still, time: 1 }).play(1, 'B', { ...still, time: 3, fade: 1 });
  crowd.update(0.5);
  const other = SkinnedInstancedMesh.from(root, clips, 1, { encoding: 'matrix' }).boneTexture;
  crowd.boneTexture = other;
  expect(tipOf(crowd, 0)).toBeCloseTo(3, 5);
  expect(tipOf(crowd, 1), 'but a fade goes on').toBeCloseTo(2, 5);
});

test('bounds hold two additive clips that play in full at once', () => {
  const { root, clips } = createStick({ A: 4, B: 8 });
  for (const clip of clips) AnimationUtils.makeClipAdditive(clip);
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { encoding: 'tracks' });
  crowd.play(0, 'A', { ...still, time: 3.9, weight: 1 }).play(0, 'B', { ...still, time: 7.9, weight: 1 });
  expect(tipOf(crowd, 0)).toBeCloseTo(REST_X + 3.9 + 7.9, 4);
  crowd.computeBoundingBox();
  const tip = crowd.getVertexPositionAt(0, 1, new Vector3());
  expect(crowd.boundingBox?.distanceToPoint(tip)).toBeLessThan(1e-6);
});
