import { type BoneTexture, bakeBoneTexture, bakeBoneTextureAsync } from 'skinned-instanced-mesh';
import { bakeInWorker } from 'skinned-instanced-mesh/worker';
import { expect, test, vi } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { longestGap } from '../../demos/texture/longestGap.js';
import { hasCharacter, loadCharacter } from '../support/characters.js';
import { differences } from '../support/differences.js';

const KNIGHT = 'Knight.glb';

test('bakes the same texels while the page goes on, and so do slices', async () => {
  const warn = vi.spyOn(console, 'warn');
  const { root, clips } = hasCharacter(KNIGHT) ? await loadCharacter(KNIGHT) : createCharacter();
  const options = { precision: 'half' } as const;
  const baked: BoneTexture[] = [];
  const ways = {
    bakeInWorker: async () => (await bakeInWorker(root, clips, options)).boneTexture,
    bakeAsync: () => bakeBoneTextureAsync(root, clips, options),
    bake: () => bakeBoneTexture(root, clips, options),
  };
  for (const [name, bake] of Object.entries(ways)) {
    const gap = await longestGap(async () => baked.push(await bake()));
    console.log(`${clips.length} clips, ${name}: the page waits for ${gap.toFixed(1)} ms`);
  }
  for (const texture of baked) expect(differences(texture.data, baked[0].data)).toEqual([]);
  expect(warn).not.toHaveBeenCalled();
});
