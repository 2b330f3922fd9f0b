import { expect, test } from 'vitest';
import type { PoseTracks } from '../../../lib/tracks/PoseTracks.js';
import { CHAIN_NODES, JOINT_TEXELS, trackTexels } from '../../../lib/tracks/trackTexels.js';
import { describeCharacters, loadCharacter } from '../../support/characters.js';
import { BoneTexture } from '../../support/library.js';

describeCharacters((name) => {
  test('each joint has the nodes above it as its chain, the root first', async () => {
    const { root, clips } = await loadCharacter(name);
    const tracks = BoneTexture.bake(root, clips.slice(0, 1), { encoding: 'tracks' }).data
      .tracks as PoseTracks;
    const { texels, layout } = trackTexels(tracks);

    let end = layout.chains;
    for (let joint = 0; joint < tracks.jointNodes.length; joint++) {
      const head = (layout.joints + joint * JOINT_TEXELS) * 4;
      const [chain, length, node] = texels.subarray(head, head + 3);
      const nodes = Array.from(texels.subarray(chain * 4, chain * 4 + length));
      expect(node).toBe(tracks.jointNodes[joint]);
      expect(nodes.at(-1)).toBe(node);
      expect(nodes.map((one) => tracks.parents[one])).toEqual([-1, ...nodes.slice(0, -1)]);
      expect(chain).toBe(end);
      end += Math.ceil(length / CHAIN_NODES);
    }
    expect(end).toBe(layout.clips);
  });
});
