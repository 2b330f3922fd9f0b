import { AdditiveAnimationBlendMode, type AnimationClip, Box3, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { AFFINE_SIZE } from '../../../lib/constants.js';
import { expandByPose } from '../../../lib/poses/jointBoxes.js';
import { composeModel, mixPose } from '../../../lib/tracks/mixPose.js';
import type { PoseTracks } from '../../../lib/tracks/PoseTracks.js';
import { reachBounds } from '../../../lib/tracks/reachBounds.js';
import { multiplyAffine } from '../../../lib/utils/affine.js';
import { describeCharacters, loadCharacter } from '../../support/characters.js';
import { BoneTexture } from '../../support/library.js';
import { random } from '../../support/random.js';

/** Grows a box by the joints' boxes in a mixture of clips. */
function expandByMix(
  box: Box3,
  texture: BoneTexture,
  played: readonly { clip: number; weight: number }[],
  at: number,
) {
  const tracks = texture.data.tracks as PoseTracks;
  const actions = played.map(({ clip, weight }) => ({
    clip,
    weight,
    frame: at * (tracks.clips[clip].frames - 1),
  }));
  const trs = new Float64Array(tracks.rest.length);
  const model = new Float64Array(tracks.parents.length * AFFINE_SIZE);
  mixPose(tracks, [{ actions, weight: 1, mask: null }], trs);
  composeModel(tracks, trs, model);
  const pose = new Float64Array(tracks.jointNodes.length * AFFINE_SIZE);
  tracks.jointNodes.forEach((node, i) => {
    multiplyAffine(model, node * AFFINE_SIZE, tracks.inverses, i * AFFINE_SIZE, pose, i * AFFINE_SIZE);
  });
  expandByPose(box, texture.data.jointBoxes, pose);
}

/** Share of its size by which a box sticks out of another. */
function sticksOut(inner: Box3, outer: Box3): number {
  const size = inner.getSize(new Vector3()).length();
  const low = outer.min.clone().sub(inner.min);
  const high = inner.max.clone().sub(outer.max);
  return Math.max(low.x, low.y, low.z, high.x, high.y, high.z) / size;
}

describeCharacters((name) => {
  test('bounds hold single clips, any mixture of them, and additive ones on top', async () => {
    const { root, clips } = await loadCharacter(name);
    const additive = clips[0].clone() as AnimationClip;
    additive.name = 'Added';
    additive.blendMode = AdditiveAnimationBlendMode;
    // Differences from the rest pose may be anything.
    const texture = BoneTexture.bake(root, [...clips.slice(0, 6), additive], { encoding: 'tracks' });
    const boundsOf = reachBounds(texture.data.tracks as PoseTracks, texture.data.jointBoxes);
    const next = random(17);
    const count = texture.clips.length;
    for (let clip = 0; clip < count; clip++) {
      const posed = new Box3();
      for (let i = 0; i < 8; i++) expandByMix(posed, texture, [{ clip, weight: 1 }], next());
      expect(sticksOut(posed, boundsOf(clip)), `clip ${clip} alone`).toBeLessThan(1e-6);
    }
    const all = boundsOf();
    for (let i = 0; i < 40; i++) {
      const posed = new Box3();
      const played = Array.from({ length: 3 }, () => ({ clip: Math.floor(next() * count), weight: next() }));
      expandByMix(posed, texture, played, next());
      expect(sticksOut(posed, all), JSON.stringify(played)).toBeLessThan(1e-6);
    }
  });

  test('bounds of a clip are no larger than those of all', async () => {
    const { root, clips } = await loadCharacter(name);
    const { data } = BoneTexture.bake(root, clips, { encoding: 'tracks' });
    const boundsOf = reachBounds(data.tracks as PoseTracks, data.jointBoxes);
    const all = boundsOf();
    clips.forEach((clip, i) => {
      expect(sticksOut(boundsOf(i), all), clip.name).toBeLessThan(1e-6);
    });
  });
});
