import { AnimationUtils, type Bone, Matrix4, type Object3D } from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { captureGeometry } from '../support/capture.js';
import { captureOf, TWINS } from '../support/captures.js';
import { describeCharacters, loadCharacter } from '../support/characters.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { MaskedMixer, namesBelow } from '../support/maskedMixer.js';
import { farthestVertex } from '../support/mixers.js';
import type { Capture } from '../support/parity.js';
import { random } from '../support/random.js';
import { characterHeight } from '../support/reference.js';

/** Share of the character's height: what float32 makes of chains of ten joints. */
const EXACT = 1e-5;

/** Joints with others below them, but not all. */
function middleJoints(root: Object3D): string[] {
  const names: string[] = [];
  root.traverse((node) => {
    if ((node as Bone).isBone && (node.parent as Bone).isBone && node.children.length > 0)
      names.push(node.name);
  });
  return names;
}

describe.each(TWINS)('%s', (twin) => {
  let how: Capture & { dispose(): void };
  beforeAll(async () => {
    how = await captureOf(twin);
  });
  afterAll(() => how.dispose());

  describeCharacters((name) => {
    test('seed 17: a masked layer that fades in, and an additive one, are those of AnimationMixer', async () => {
      const { root, clips } = await loadCharacter(name);
      const moving = clips.filter(({ duration }) => duration > 0);
      const next = random(17);
      const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)];
      const joints = middleJoints(root);
      const upper = pick(joints);
      const leaning = pick(joints);
      const lean = AnimationUtils.makeClipAdditive(pick(moving).clone());
      lean.name = 'Lean';

      const count = 6;
      const crowd = SkinnedInstancedMesh.from(root, [...moving, lean], count, {
        layers: [
          { name: 'upper', mask: [upper], weight: 0.2 },
          { name: 'lean', mask: { [leaning]: 0.5 }, additive: true },
        ],
      });
      const vertices = crowd.geometry.getAttribute('position').count;
      crowd.geometry = captureGeometry(crowd.geometry);
      crowd.material = how.material(vertices);
      for (let i = 0; i < count; i++) crowd.setMatrixAt(i, new Matrix4());

      const targets = Array.from({ length: count }, () => next());
      const clones = targets.map(() => SkeletonUtils.clone(root) as Object3D);
      const mixers = clones.map((clone, i) => {
        const [base, over] = [pick(moving), pick(moving)];
        crowd.play(i, base).play(i, over, { layer: 'upper' });
        crowd.setLayerWeightAt(i, 'upper', targets[i], { fade: 0.5 });
        const mixer = new MaskedMixer(clone, base, over, namesBelow(clone, upper));
        if (i % 2 === 0) {
          const [weight, time] = [next(), next() * lean.duration];
          crowd.play(i, lean, { layer: 'lean', weight, time });
          mixer.add(lean, namesBelow(clone, leaning), 0.5 * weight, time);
        }
        return mixer;
      });

      let now = 0;
      for (const delta of [0.0123, 0.171, 0.4567]) {
        now += delta;
        crowd.update(delta);
        mixers.forEach((mixer, i) => {
          mixer.update(delta, 0.2 + (targets[i] - 0.2) * Math.min(now / 0.5, 1));
        });
        const drawn = await how.read(crowd, vertices, count);
        clones.forEach((clone, i) => {
          const distance = farthestVertex(clone, 1, (vertex, target) =>
            target.fromArray(drawn, (i * vertices + vertex) * 3),
          );
          expect(distance / characterHeight(root), `instance ${i}, ${upper}, ${leaning}`).toBeLessThanOrEqual(
            EXACT,
          );
        });
      }
      crowd.dispose();
    });
  });
});
