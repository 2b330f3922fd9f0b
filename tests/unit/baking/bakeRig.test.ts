import type { AnimationClip, Object3D } from 'three';
import { describe, expect, test } from 'vitest';
import { bakeOptionValues } from '../../../lib/baking/bakeOptionValues.js';
import { bakeRig } from '../../../lib/baking/bakeRig.js';
import { collectRig } from '../../../lib/baking/collectRig.js';
import { planClips } from '../../../lib/baking/planClips.js';
import { runAll } from '../../../lib/baking/runBake.js';
import { createJointBoxes, growJointBoxes } from '../../../lib/poses/jointBoxes.js';
import { cubicSpline } from '../../support/cubicSpline.js';
import { notPlain } from '../../support/plain.js';
import { randomCharacter } from '../../support/randomCharacter.js';
import { createMorphingStick, createStick } from '../../support/stick.js';

function characterOf(root: Object3D) {
  const { rig, parts } = collectRig(root, {});
  const boxes = createJointBoxes(rig.jointNames.length);
  for (const { geometry, joints, rigid } of parts) growJointBoxes(boxes, geometry, joints, rigid);
  return { rig, boxes, flips: [], morphReach: 1, vertices: 0 };
}

const bake = (
  character: ReturnType<typeof characterOf>,
  clips: AnimationClip[],
  encoding: 'auto' | 'tracks',
) => {
  const values = bakeOptionValues({ encoding });
  return runAll(bakeRig(character, runAll(planClips(clips, undefined, values.fps)), values, false));
};

const cubic = await cubicSpline();

describe.each([
  ['a stick', createStick(), 'auto'],
  ['a stick that morphs', createMorphingStick(), 'tracks'],
  ...[1, 2, 3, 4].map((seed) => [`random character ${seed}`, randomCharacter(seed, cubic), 'auto'] as const),
] as const)('what baking knows of %s', (_, { root, clips }, encoding) => {
  const character = characterOf(root);

  test('is plain data', () => {
    expect(notPlain(character)).toEqual([]);
  });

  test('is all that a worker needs', () => {
    expect(bake(structuredClone(character), clips, encoding)).toEqual(bake(character, clips, encoding));
  });
});
