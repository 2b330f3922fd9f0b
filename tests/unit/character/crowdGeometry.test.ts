import { expect, test } from 'vitest';
import { bakeCharacter, SkinnedInstancedMesh } from '../../support/library.js';
import { createStick } from '../../support/stick.js';

test.each([1, 2] as const)('with %i influences the strongest are kept and add up to one', (influences) => {
  const { root, mesh, clips } = createStick();
  const { skinIndex, skinWeight } = mesh.geometry.attributes;
  skinIndex.setXYZW(0, 0, 1, 0, 1);
  skinWeight.setXYZW(0, 0.2, 0.5, 0.05, 0.25);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1, { influences });
  const weights = crowd.geometry.getAttribute('skinWeight');
  const expected = influences === 1 ? [1, 0] : [0.5 / 0.75, 0.25 / 0.75];
  expect([weights.getX(0), weights.getY(0)]).toEqual(expected.map((w) => expect.closeTo(w, 6)));
  expect(weights.getZ(0)).toBe(0);
});
