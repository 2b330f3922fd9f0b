import { Matrix4, Quaternion, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { describeCharacters, loadCharacter } from '../../support/characters.js';
import { EditedMixers, editableJoints } from '../../support/EditedMixers.js';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { random } from '../../support/random.js';
import { characterHeight } from '../../support/reference.js';

/** Share of the character's height: edits are stored in float32. */
const EXACT = 1e-5;

describeCharacters((name) => {
  test.each([3, 8])(
    'seed %i: edited joints are those of bones that are changed after mixer.update',
    async (seed) => {
      const { root, clips } = await loadCharacter(name);
      const height = characterHeight(root);
      const moving = clips.filter(({ duration }) => duration > 0);
      const count = 4;
      const crowd = SkinnedInstancedMesh.from(root, clips, count, { encoding: 'tracks' });
      const pair = new EditedMixers(crowd, root, moving);
      const joints = editableJoints(crowd, root);
      const next = random(seed);
      const pick = <T>(from: readonly T[]) => from[Math.floor(next() * from.length)];
      const one = () => Math.floor(next() * count);
      for (let i = 0; i < count; i++) {
        const turn = new Quaternion(next(), next(), next(), next()).normalize();
        const scale = new Vector3().setScalar(0.5 + next());
        pair.place(i, new Matrix4().compose(new Vector3(next() * height, 0, next()), turn, scale));
        pair.play(i, Math.floor(next() * moving.length), next(), 0, next());
      }
      const done = new Set<string>();
      const changes = [
        () => {
          done.add(pair.editSome(one(), pick(joints), next, height).kind);
        },
        () =>
          pair.end(
            one(),
            pick(joints),
            pick(['rotation', 'position', 'scale', 'lookAt', 'proportion'] as const),
          ),
        () => pair.clear(one(), pick(joints)),
        () => pair.swap(one(), one()),
        () => pair.place(one(), new Matrix4().makeRotationY(next()).setPosition(next() * height, 0, 0)),
      ];
      const vertices = crowd.geometry.getAttribute('position').count;
      const step = Math.max(1, Math.floor(vertices / 150));
      for (let round = 0; round < 12; round++) {
        for (let i = 0; i < 5; i++) changes[0]();
        pick(changes)();
        pair.update(0.3 * next());
        const worst = pair.worst(
          (index, vertex, target) => crowd.getVertexPositionAt(index, vertex, target),
          step,
        );
        expect(worst / height, `round ${round}`).toBeLessThanOrEqual(EXACT);
      }
      expect([...done].sort()).toEqual(['lookAt', 'position', 'proportion', 'rotation', 'scale']);
    },
  );

  test('seed 21: live poses are those of the objects that they are copied from, and blend in and out', async () => {
    const { root, clips } = await loadCharacter(name);
    const height = characterHeight(root);
    const moving = clips.filter(({ duration }) => duration > 0);
    const count = 3;
    const crowd = SkinnedInstancedMesh.from(root, clips, count, { encoding: 'tracks' });
    const pair = new EditedMixers(crowd, root, moving);
    const poser = new EditedMixers(
      SkinnedInstancedMesh.from(root, clips, 1, { encoding: 'tracks' }),
      root,
      moving,
    );
    const next = random(21);
    for (let i = 0; i < count; i++) pair.play(i, Math.floor(next() * moving.length), 1, 0, next());
    poser.play(0, Math.floor(next() * moving.length), 1, 0, next());
    const [live] = poser.clones;
    const joints = editableJoints(crowd, root);
    const vertices = crowd.geometry.getAttribute('position').count;
    const step = Math.max(1, Math.floor(vertices / 150));
    const look = () =>
      pair.worst((index, vertex, target) => crowd.getVertexPositionAt(index, vertex, target), step) / height;

    const steps: (() => void)[] = [
      () => pair.live(0, live, 0),
      () => pair.live(1, live, 0.5),
      () => pair.live(1, live, 0.5),
      () => pair.live(0, null, 0.3),
      () => pair.editSome(1, joints[joints.length >> 1], next, height),
      () => pair.live(0, live, 0.2),
      () => pair.live(1, null, 0.25),
      () => pair.swap(0, 2),
      () => pair.live(2, null, 0),
      () => pair.live(0, live, 0),
    ];
    for (const [i, step] of steps.entries()) {
      // Posed by a mixer of its own, and by hand.
      poser.update(0.07);
      live.getObjectByName(joints[i % joints.length])?.rotateX(next());
      step();
      pair.update(0.1 * next());
      expect(look(), `step ${i}`).toBeLessThanOrEqual(EXACT);
      pair.update(0.1 * next());
      expect(look(), `after step ${i}`).toBeLessThanOrEqual(EXACT);
    }
  });
});
