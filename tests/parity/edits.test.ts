import { Matrix4, Quaternion, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { letRead } from '../support/capture.js';
import { TWINS, useCapture } from '../support/captures.js';
import { BUILT_IN, describeCharacters, loadCharacter } from '../support/characters.js';
import { comparePair } from '../support/comparePair.js';
import { disposeLater } from '../support/disposeLater.js';
import { useDrawing } from '../support/drawings.js';
import { EditedMixers, editableJoints } from '../support/EditedMixers.js';
import { type BoneEdit, editBones } from '../support/editReference.js';
import { editsOf } from '../support/features.js';
import { bakeCharacter, getVertexPosition, SkinnedInstancedMesh } from '../support/library.js';
import { createPair } from '../support/pair.js';
import { random } from '../support/random.js';
import { characterHeight } from '../support/reference.js';

/** Share of the character's height: what float32 makes of chains of ten joints. */
const EXACT = 1e-5;
const KINDS = ['rotation', 'position', 'scale', 'lookAt', 'proportion'] as const;

describe.each(TWINS)('%s: pictures', (twin) => {
  const drawing = useDrawing(twin);

  test('an edited character, and one in a live pose, look as three.js draws them, with their shadows', async () => {
    const model = await loadCharacter(BUILT_IN);
    const place = new Matrix4().makeRotationY(0.7).setPosition(0.2, 0, 0.1);
    const pair = createPair(model, 2, 0.317, place, 'tracks');
    const { crowd, reference, bounds } = pair;
    const look = async (what: string) => {
      reference.root.matrix.copy(place);
      reference.root.updateMatrixWorld(true);
      bounds.makeEmpty();
      reference.forEachVertex((_, position) => bounds.expandByPoint(position));
      for (const light of ['directional', 'point'] as const) {
        await comparePair(drawing, `${what}, ${twin}`, pair, light, 'all', 'shadow alone');
      }
    };

    const [, spine, ...others] = editableJoints(crowd, model.root);
    const head = others[others.length >> 1];
    const turn = new Quaternion().setFromAxisAngle(new Vector3(1, 0.4, 0).normalize(), 0.5);
    editsOf(crowd).setRotationAt(0, spine, turn, { mode: 'add', weight: 0.7 });
    editsOf(crowd).setScaleAt(0, head, new Vector3(1.8, 1.5, 1.8));
    const target = new Vector3(3, 1, 4);
    const axis = new Vector3(0, 1, 0);
    editsOf(crowd).lookAt(0, others[0], target, { axis, limit: 0.8 });
    reference.root.matrix.identity();
    editBones(
      reference.root,
      new Map<string, Map<BoneEdit['kind'], BoneEdit>>([
        [
          spine,
          new Map([['rotation', { kind: 'rotation', value: turn, add: true, model: false, weight: 0.7 }]]),
        ],
        [
          head,
          new Map([['scale', { kind: 'scale', value: new Vector3(1.8, 1.5, 1.8), add: false, weight: 1 }]]),
        ],
        [others[0], new Map([['lookAt', { kind: 'lookAt', target, axis, limit: 0.8, weight: 1 }]])],
      ]),
      place,
    );
    await look('edited');

    editsOf(crowd).clearAt(0);
    reference.pose(model.clips[1], 0.4);
    reference.root.getObjectByName(head)?.rotateZ(0.6);
    editsOf(crowd).setPoseAt(0, reference.root);
    await look('live pose');
    disposeLater(crowd);
  });
});

describe.each(TWINS)('%s', (twin) => {
  const how = useCapture(twin);

  describeCharacters((name) => {
    test('seed 31: edited joints, look-at and live poses are those of bones that are changed after mixer.update', async () => {
      const { root, clips } = await loadCharacter(name);
      const height = characterHeight(root);
      const moving = clips.filter(({ duration }) => duration > 0);
      const count = 5;
      const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), count);
      const vertices = letRead(crowd, how);
      const pair = new EditedMixers(crowd, root, moving);
      const doll = new EditedMixers(new SkinnedInstancedMesh(bakeCharacter(root, clips), 1), root, moving);
      const joints = editableJoints(crowd, root);
      const next = random(31);
      const pick = <T>(from: readonly T[]) => from[Math.floor(next() * from.length)];
      const one = () => Math.floor(next() * count);
      for (let i = 0; i < count; i++) {
        const turn = new Quaternion(next(), next(), next(), next()).normalize();
        const scale = new Vector3().setScalar(0.5 + next());
        pair.place(i, new Matrix4().compose(new Vector3(0, 0.1 * height, 0), turn, scale));
        pair.play(i, Math.floor(next() * moving.length), 1, 0, next());
      }
      doll.play(0, Math.floor(next() * moving.length), 1, 0, next());
      let most = 0;
      const look = async (when: string) => {
        const drawn = await how.read(crowd, vertices, count);
        const worst = pair.worst((index, vertex, target) =>
          target.fromArray(drawn, (index * vertices + vertex) * 3),
        );
        const cpu = pair.worst(
          (index, vertex, target) => getVertexPosition(crowd, index, vertex, target),
          17,
        );
        most = Math.max(most, worst / height);
        expect(worst / height, when).toBeLessThanOrEqual(EXACT);
        expect(cpu / height, `${when}, CPU twin`).toBeLessThanOrEqual(EXACT);
      };
      pair.update(0.01);
      await look('unedited');

      const edit = (edits: number) => {
        for (let i = 0; i < edits; i++) pair.editSome(one(), pick(joints), next, height);
      };
      const live = (index: number, fade: number) => {
        doll.update(0.05);
        pair.live(index, doll.clones[0], fade);
      };
      const steps: [string, number, () => void][] = [
        ['edited', 0.1, () => edit(12)],
        // The clock stands still: the change alone makes the pass run.
        ['edited at the same time', 0, () => edit(6)],
        ['live', 0.1, () => live(0, 0)],
        ['blending in', 0.2, () => live(1, 0.5)],
        ['blended in, edited', 0.4, () => edit(6)],
        ['blending back', 0.1, () => pair.live(1, null, 0.3)],
        ['ended', 0.1, () => joints.forEach((joint) => KINDS.forEach((kind) => pair.end(2, joint, kind)))],
        ['swapped', 0.05, () => pair.swap(0, 1)],
        ['moved', 0, () => pair.place(2, new Matrix4().makeRotationY(next()))],
        // Another epoch begins: times that the shaders know move along.
        ['after 17 seconds', 17, () => pair.live(3, doll.clones[0], 17.3)],
        ['cleared', 0.2, () => [0, 1, 2].forEach((i) => pair.clear(i))],
      ];
      for (const [what, delta, step] of steps) {
        step();
        pair.update(delta);
        await look(what);
      }
      // More edits and live poses than there was room for.
      edit(150);
      for (const i of [1, 2, 4]) live(i, 0.4);
      pair.update(0.1);
      await look('many');
      console.log(`${name}, ${twin}: off by ${most.toExponential(1)} of the height at most`);
      disposeLater(crowd);
    });
  }, twin);
});
