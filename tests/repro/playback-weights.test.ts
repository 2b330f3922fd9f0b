import { AnimationMixer, Matrix4 } from 'three';
import { describe, expect, test, vi } from 'vitest';
import { SkinnedInstancedMesh } from '../support/library.js';
import { createStick, tipOf } from '../support/stick.js';

const NAMES = ['A', 'B', 'C', 'D', 'E'];

function createCrowd() {
  const { root, clips } = createStick({ A: 1, B: 2, C: 3, D: 4, E: 5 });
  return SkinnedInstancedMesh.from(root, clips, 1, { encoding: 'tracks' });
}

const weights = (crowd: SkinnedInstancedMesh) => NAMES.map((name) => crowd.getWeightAt(0, name));
const tip = (crowd: SkinnedInstancedMesh) => crowd.getSkinningMatrixAt(0, 'Tip', new Matrix4()).elements[12];

describe('more clips than there is room for', () => {
  test('no weight comes to more than 1 when one of four full clips makes way, and it can be saved', () => {
    const crowd = createCrowd();
    for (const name of NAMES.slice(0, 4)) crowd.play(0, name, { weight: 1 });
    crowd.update(0.1).play(0, 'E', { fade: 1 });
    expect(Math.max(...weights(crowd))).toBeLessThanOrEqual(1);
    const other = createCrowd().playbackFromJSON(JSON.parse(JSON.stringify(crowd.playbackToJSON())));
    expect(weights(other)).toEqual(weights(crowd));
    expect(tip(other.update(0.3))).toBeCloseTo(tip(crowd.update(0.3)), 5);
  });

  test('the rest pose makes way first, which shows without a slot', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const crowd = createCrowd();
    crowd.play(0, 'E').stop(0, { fade: 0.1 }).update(0.2);
    for (const name of NAMES.slice(0, 4)) crowd.play(0, name, { weight: 0.2 });
    expect(weights(crowd)).toEqual([0.2, 0.2, 0.2, 0.2, 0]);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();

    const fresh = createCrowd().update(0.2);
    for (const name of NAMES.slice(0, 4)) fresh.play(0, name, { weight: 0.2 });
    expect(tip(crowd.update(0.3))).toBeCloseTo(tip(fresh.update(0.3)), 6);
  });

  test.each([
    ['the base', undefined],
    ['a layer', 'all'],
  ])('four clips on %s fade out to the rest pose together, as those of a mixer', (_, layer) => {
    const { root, clips, bones } = createStick({ A: 1, B: 2, C: 3, D: 4, E: 5 });
    const options = {
      encoding: 'tracks',
      ...(layer && { layers: [{ name: layer, mask: ['Base'] }] }),
    } as const;
    const where = layer && { layer };
    const crowd = SkinnedInstancedMesh.from(root, clips, 1, options);
    const loaded = SkinnedInstancedMesh.from(root, clips, 1, options);
    const mixer = new AnimationMixer(root);
    const actions = clips.slice(0, 4).map((clip, i) => {
      const weight = 0.1 + 0.08 * i;
      crowd.play(0, clip.name, { weight, time: 0.2 * i, ...where });
      const action = mixer.clipAction(clip).setEffectiveWeight(weight).play();
      action.time = 0.2 * i;
      return action;
    });
    crowd.update(0.3);
    mixer.update(0.3);
    crowd.stop(0, { fade: 0.5, ...where });
    for (const action of actions) action.fadeOut(0.5);
    loaded.playbackFromJSON(JSON.parse(JSON.stringify(crowd.playbackToJSON())));
    expect(crowd.getClipAt(0, layer)).toBe(null);
    for (let step = 0; step < 3; step++) {
      mixer.update(0.2);
      for (const one of [crowd, loaded])
        expect(tipOf(one.update(0.2), 0)).toBeCloseTo(bones[1].position.x, 5);
    }
  });
});
