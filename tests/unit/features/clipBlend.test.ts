import { Matrix4 } from 'three';
import { expect, test, vi } from 'vitest';
import { bakeCharacter, ClipBlend, getSkinningMatrix, setBoneTexture } from '../../support/library.js';
import { clips, createCrowd, PacedClone, root, STOPS } from '../../support/pace.js';
import { random } from '../../support/random.js';

function createBlend(count = 1) {
  const crowd = createCrowd(count);
  return { crowd, blend: new ClipBlend(crowd, STOPS) };
}

test('instances are posed as by a mixer whose actions have such weights and lengths', () => {
  const { crowd, blend } = createBlend(2);
  blend.play(1, { phase: 0.25 });
  const clone = new PacedClone();
  const next = random(1);
  for (let frame = 0; frame < 200; frame++) {
    const speed = frame % 7 === 0 ? 6 * next() - 0.5 : blend.getValueAt(1);
    blend.setValues([0, speed]);
    clone.setSpeed(speed, (i, lengths, weights) => {
      const length = lengths.reduce((sum, one, k) => sum + one * weights[k], 0);
      return (lengths[i] / length) * Math.max(speed / 4, 1);
    });
    const delta = 0.05 * next();
    for (const one of [crowd, clone]) one.update(delta);
    expect(clone.offFrom(crowd, 1), `frame ${frame}`).toBeLessThan(1e-5);
  }
});

test('what is played otherwise takes its place, and the blend comes back when it is played', () => {
  const { crowd, blend } = createBlend();
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  blend.play(0).setValueAt(0, 4);
  expect(['Idle', 'Walk', 'Run'].map((clip) => crowd.getWeightAt(0, clip))).toEqual([0, 0, 1]);
  crowd.play(0, 'Wave', { fade: 0.2 });
  crowd.update(0.1);
  blend.setValueAt(0, 1.4);
  expect(blend.isPlayingAt(0)).toBe(false);
  expect(crowd.getWeightAt(0, 'Run')).toBeCloseTo(0.5);
  crowd.update(0.1);
  // Called in each frame, it goes on.
  for (let i = 0; i < 4; i++) {
    blend.play(0, { fade: 0.4 });
    crowd.update(0.05);
  }
  expect(crowd.getTimeAt(0, 0, 'Walk')).toBeCloseTo(0.2);
  expect(crowd.getWeightAt(0, 'Walk')).toBeCloseTo(0.5);
  expect(crowd.getWeightAt(0, 'Wave')).toBeCloseTo(0.5);
  crowd.update(0.2);
  expect([crowd.getWeightAt(0, 'Walk'), crowd.getWeightAt(0, 'Wave')]).toEqual(
    [1, 0].map((weight) => expect.closeTo(weight)),
  );
  expect(warn).not.toHaveBeenCalled();
});

test('values come along when instances are swapped, copied and given room', () => {
  const { crowd, blend } = createBlend(3);
  blend.play(crowd.all).setValues([0.5, 1, 2]);
  crowd.swapInstances(0, 2);
  crowd.setCapacity(5);
  expect([0, 1, 2].map((i) => blend.getValueAt(i))).toEqual([2, 1, 0.5]);
  const copy = crowd.clone();
  const [other] = copy.features as [ClipBlend];
  expect(other.getValueAt(0)).toBe(2);
  other.setValueAt(0, 4);
  expect([copy, crowd].map((one) => one.getWeightAt(0, 'Run'))).toEqual([1, expect.closeTo(0.6 / 2.6)]);
  crowd.deleteInstance(1);
  expect(blend.getValueAt(crowd.addInstance())).toBe(0);
  expect(() => new ClipBlend(crowd, STOPS)).toThrow('ClipBlend already');
  expect(() => new ClipBlend(createCrowd(), [['Idle', 1]])).toThrow('two or three that increase');
});

test('values below zero, and bone textures without one of the clips', () => {
  const crowd = createCrowd();
  const blend = new ClipBlend(crowd, [
    ['Walk', -1.4],
    ['Idle', 0],
  ]);
  blend.play(0);
  crowd.update(0.1);
  expect(getSkinningMatrix(crowd, 0, 'Head', new Matrix4()).elements.every(Number.isFinite)).toBe(true);
  const other = bakeCharacter(root, clips.slice(0, 1)).boneTexture;
  const before = crowd.boneTexture;
  expect(() => setBoneTexture(crowd, other)).toThrow('There is no clip');
  expect(crowd.boneTexture).toBe(before);
});
