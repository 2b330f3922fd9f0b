import { AnimationMixer, LoopRepeat, Matrix4, type Mesh, type Object3D, Vector3 } from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { captureGeometry } from '../support/capture.js';
import { captureOf, TWINS } from '../support/captures.js';
import { describeCharacters, loadCharacter } from '../support/characters.js';
import { disposeLater } from '../support/disposeLater.js';
import { BoneTexture, SkinnedInstancedMesh } from '../support/library.js';
import { type Capture, measureTextures, worstOf } from '../support/parity.js';
import { random } from '../support/random.js';
import { characterHeight, drawnMeshes } from '../support/reference.js';

/** Share of the character's height: what float32 makes of chains of ten joints. */
const EXACT = 1e-5;
/** The same with keys of 16 bits. Measured: 1.1e-4 at most. */
const SHORT = 3e-4;

describe.each(TWINS)('%s', (twin) => {
  let how: Capture & { dispose(): void };
  beforeAll(async () => {
    how = await captureOf(twin);
  });
  afterAll(() => how.dispose());

  describeCharacters((name) => {
    test('tracks put vertices where three.js does, at any time', async () => {
      const { root, clips } = await loadCharacter(name);
      // All clips are the same code: for some of the 76 of the knight that is enough.
      const some = clips.filter((_, i) => i % (clips.length > 20 ? 8 : 1) === 0);
      const precisions = ['float', 'half'] as const;
      const boneTextures = precisions.map((precision) =>
        BoneTexture.bake(root, clips, { encoding: 'tracks', precision }),
      );
      const measured = await measureTextures(how, root, some, boneTextures);
      measured.forEach((errors, i) => {
        const bound = { float: EXACT, half: SHORT }[precisions[i]];
        const worst = worstOf(errors);
        const megabytes = (boneTextures[i].byteLength / 1e6).toFixed(2);
        const off = Math.max(worst.onFrames, worst.between).toExponential(1);
        console.log(`${name} ${precisions[i]}: ${megabytes} MB, off by ${off} of the height`);
        for (const [clip, { onFrames, between, twin: cpu }] of errors) {
          expect(onFrames, `${clip} ${precisions[i]}, on frames`).toBeLessThanOrEqual(bound);
          expect(between, `${clip} ${precisions[i]}, between`).toBeLessThanOrEqual(bound);
          expect(cpu, `${clip} ${precisions[i]}, CPU twin`).toBeLessThanOrEqual(EXACT);
        }
      });
    });

    test('seed 5: fades are those of AnimationMixer', async () => {
      const { root, clips } = await loadCharacter(name);
      const height = characterHeight(root);
      const count = 12;
      const crowd = SkinnedInstancedMesh.from(root, clips, count, { encoding: 'tracks' });
      const vertices = crowd.geometry.getAttribute('position').count;
      crowd.geometry = captureGeometry(crowd.geometry);
      crowd.material = how.material(vertices);
      for (let i = 0; i < count; i++) crowd.setMatrixAt(i, new Matrix4());

      const next = random(5);
      const clones = Array.from({ length: count }, () => SkeletonUtils.clone(root) as Object3D);
      const mixers = clones.map((clone) => new AnimationMixer(clone));
      const moving = clips.filter(({ duration }) => duration > 0);
      const pick = () => moving[Math.floor(next() * moving.length)];
      const started = mixers.map((mixer, i) => {
        const from = pick();
        const time = next() * from.duration;
        crowd.play(i, from, { time });
        const action = mixer.clipAction(from).setLoop(LoopRepeat, Infinity).play();
        action.time = time;
        return { from, action };
      });
      const step = (delta: number) => {
        crowd.update(delta);
        for (const mixer of mixers) mixer.update(delta);
      };
      step(0.013);
      mixers.forEach((mixer, i) => {
        const to = pick();
        if (to === started[i].from) return;
        const fade = 0.2 + next();
        crowd.play(i, to, { fade });
        mixer.clipAction(to).play().crossFadeFrom(started[i].action, fade, false);
      });
      step(0.171);

      const drawn = await how.read(crowd, vertices, count);
      let worst = 0;
      const position = new Vector3();
      clones.forEach((clone, i) => {
        clone.matrix.identity();
        clone.matrixAutoUpdate = false;
        clone.updateMatrixWorld(true);
        let at = i * vertices * 3;
        for (const mesh of drawnMeshes(clone) as Mesh[]) {
          for (let vertex = 0; vertex < mesh.geometry.getAttribute('position').count; vertex++, at += 3) {
            mesh.getVertexPosition(vertex, position).applyMatrix4(mesh.matrixWorld);
            const { x, y, z } = position;
            worst = Math.max(worst, Math.hypot(drawn[at] - x, drawn[at + 1] - y, drawn[at + 2] - z) / height);
          }
        }
      });
      disposeLater(crowd);
      expect(worst).toBeLessThanOrEqual(EXACT);
    });
  }, twin);
});
