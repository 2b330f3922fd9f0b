import { Matrix4, Quaternion, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { describeCharacters, loadCharacter } from '../../support/characters.js';
import { EditedMixers, editableJoints } from '../../support/EditedMixers.js';
import { bakeCharacter, getVertexPosition, SkinnedInstancedMesh } from '../../support/library.js';
import { random } from '../../support/random.js';
import { characterHeight } from '../../support/reference.js';

/** Share of the character's height: edits are stored in float32. */
const EXACT = 1e-5;

describeCharacters((name) => {
  test.each([3, 8])('seed %i: edited joints are those of bones changed after mixer.update', async (seed) => {
    const { root, clips } = await loadCharacter(name);
    const height = characterHeight(root);
    const moving = clips.filter(({ duration }) => duration > 0);
    const count = 4;
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), count);
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
      () => done.add(pair.editSome(one(), pick(joints), next, height).kind),
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
        (index, vertex, target) => getVertexPosition(crowd, index, vertex, target),
        step,
      );
      expect(worst / height, `round ${round}`).toBeLessThanOrEqual(EXACT);
    }
    expect([...done].sort()).toEqual(['lookAt', 'position', 'proportion', 'rotation', 'scale']);
  });
});
