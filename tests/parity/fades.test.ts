import { AnimationMixer, LoopOnce, LoopPingPong, LoopRepeat, Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { captureGeometry } from '../support/capture.js';
import { captureOf, TWINS, type Twin } from '../support/captures.js';
import { BoneTexture, SkinnedInstancedMesh } from '../support/library.js';
import { loadModel, modelNames } from '../support/models.js';
import { random, SEEDS } from '../support/random.js';
import { characterHeight, Reference } from '../support/reference.js';
import { createStick } from '../support/stick.js';

const models = await modelNames();
const names = ['built-in', ...models];

const load = async (name: string) => (name === 'built-in' ? createCharacter() : loadModel(name));

/** Lets every instance of a crowd do this and that, fades above all. */
function disturb(crowd: SkinnedInstancedMesh, next: () => number): void {
  const { clips } = crowd.boneTexture;
  for (let i = 0; i < crowd.count; i++) {
    const what = next();
    if (what < 0.45) {
      crowd.play(i, Math.floor(next() * clips.length), {
        fade: next() < 0.2 ? 0 : 0.1 + next(),
        warp: next() < 0.3,
        sync: next() < 0.3,
        time: next(),
        timeScale: next() < 0.1 ? 0 : (next() - 0.3) * 2,
        loop: [LoopOnce, LoopRepeat, LoopPingPong][Math.floor(next() * 3)] as typeof LoopRepeat,
        clampWhenFinished: next() < 0.5,
      });
    } else if (what < 0.5) crowd.stop(i, { fade: next() });
    else if (what < 0.55) crowd.pause(i);
    else if (what < 0.65) crowd.resume(i);
    else if (what < 0.7) crowd.setTimeScaleAt(i, (next() - 0.4) * 2);
    else if (what < 0.75) crowd.setTimeAt(i, next());
    else if (what < 0.8) crowd.swapInstances(i, Math.floor(next() * crowd.count));
  }
}

describe.each(TWINS)('%s', (twin: Twin) => {
  test.each([
    { encoding: 'quaternion', interpolate: true },
    { encoding: 'matrix', interpolate: true },
    { encoding: 'quaternion', interpolate: false },
  ] as const)(
    'draws the CPU twin in the midst of fades, $encoding, interpolate $interpolate',
    async (options) => {
      const how = await captureOf(twin);
      const { root, clips } = createCharacter();
      const height = characterHeight(root);
      const count = 24;
      const crowd = SkinnedInstancedMesh.from(root, clips, count, options);
      const vertices = crowd.geometry.getAttribute('position').count;
      crowd.geometry = captureGeometry(crowd.geometry);
      crowd.material = how.material(vertices);
      const next = random(SEEDS[0]);
      const matrix = new Matrix4();
      for (let i = 0; i < count; i++) {
        crowd.setMatrixAt(i, matrix.makeRotationY(next() * 6).setPosition(i, 0, 0));
        crowd.play(i, i % clips.length, { time: next() });
      }
      const expected = new Vector3();
      let fading = 0;
      for (let step = 0; step < 16; step++) {
        disturb(crowd, next);
        crowd.update(step === 9 ? 14.9 : next() * 0.3);
        const drawn = await how.read(crowd, vertices, count);
        for (let i = 0; i < count; i++) {
          for (let vertex = i % 7; vertex < vertices; vertex += 29) {
            crowd.getVertexPositionAt(i, vertex, expected);
            const at = (i * vertices + vertex) * 3;
            const off = Math.hypot(
              drawn[at] - expected.x,
              drawn[at + 1] - expected.y,
              drawn[at + 2] - expected.z,
            );
            expect(off / height, `step ${step}, instance ${i}, vertex ${vertex}`).toBeLessThan(2e-5);
          }
          if (crowd.playback.pose(i, true, POSE).count > 1) fading++;
        }
      }
      expect(fading).toBeGreaterThan(100);
      how.dispose();
    },
  );

  test('a crowd that grows and shrinks in the midst of fades is drawn as it was', async () => {
    const how = await captureOf(twin);
    const { root, clips } = createStick({ Walk: 1, Run: 0.6, Dance: 2 });
    const crowd = SkinnedInstancedMesh.from(root, clips, 5);
    const vertices = crowd.geometry.getAttribute('position').count;
    crowd.geometry = captureGeometry(crowd.geometry);
    crowd.material = how.material(vertices);
    for (let i = 0; i < 5; i++) crowd.setMatrixAt(i, new Matrix4().makeTranslation(i, 0, 0));
    crowd.playAll('Walk').update(0.2).playAll('Run', { fade: 1, sync: true }).update(0.3);
    const check = async (instances: readonly number[]) => {
      const drawn = await how.read(crowd, vertices, crowd.count);
      const expected = new Vector3();
      for (const instance of instances) {
        crowd.getVertexPositionAt(instance, 0, expected);
        const at = instance * vertices * 3;
        expect(new Vector3().fromArray(drawn, at).distanceTo(expected), `instance ${instance}`).toBeLessThan(
          1e-4,
        );
      }
    };
    await check([0, 4]);

    crowd.setCapacity(600);
    crowd.count = 400;
    crowd.setMatrixAt(399, new Matrix4().makeTranslation(0, 9, 0));
    crowd.play(399, 'Walk').play(399, 'Dance', { fade: 1 }).update(0.2);
    await check([0, 1, 4, 399]);
    crowd.swapInstances(4, 399);
    crowd.count = 5;
    crowd.setCapacity(5).update(0.1);
    await check([0, 1, 4]);
    expect(crowd.getClipAt(4)).toBe('Dance');
    how.dispose();
  });
});

const POSE = {
  layers: [
    { frame0: 0, frame1: 0, alpha: 0, weight: 0 },
    { frame0: 0, frame1: 0, alpha: 0, weight: 0 },
    { frame0: 0, frame1: 0, alpha: 0, weight: 0 },
  ],
  count: 1,
} as const as Parameters<SkinnedInstancedMesh['playback']['pose']>[2];

describe.each(names)('%s', (name) => {
  test('a fade is near the mix of an AnimationMixer, and exact at both ends', async () => {
    const { root, clips } = await load(name);
    const height = characterHeight(root);
    const pairs = clips.slice(0, 6).flatMap((a, i) => clips.slice(i + 1, 6).map((b) => [a, b]));
    const target = new Vector3();
    const worst = { ends: 0, middle: 0, mean: 0 };
    let pairsSeen = 0;
    for (const encoding of ['auto', 'matrix'] as const) {
      const boneTexture = BoneTexture.bake(root, clips, { encoding });
      const crowd = SkinnedInstancedMesh.from(root, clips, 1, { boneTexture });
      Object.assign(worst, { ends: 0, middle: 0, mean: 0 });
      pairsSeen = 0;
      for (const [a, b] of pairs) {
        const reference = new Reference(root, new Matrix4());
        const mixer = new AnimationMixer(reference.root);
        // both stand on baked frames, so that only the mix differs
        const frame = (clip: typeof a) => {
          const { count, duration } = boneTexture.clips[boneTexture.clipIndex(clip.name)];
          return (Math.floor((count - 1) / 3) / Math.max(count - 1, 1)) * duration;
        };
        const actions = [a, b].map((clip) => {
          const action = mixer.clipAction(clip);
          action.timeScale = 0;
          action.play().time = frame(clip);
          return action;
        });
        crowd.play(0, a.name, { timeScale: 0, time: frame(a) });
        crowd.play(0, b.name, { timeScale: 0, time: frame(b), fade: 1 });
        pairsSeen++;
        for (const weight of [0, 0.25, 0.5, 0.75, 1]) {
          actions[0].setEffectiveWeight(1 - weight);
          actions[1].setEffectiveWeight(weight);
          mixer.update(0);
          reference.root.updateMatrixWorld(true);
          if (weight > 0) crowd.update(0.25);
          let sum = 0;
          let seen = 0;
          reference.forEachVertex((vertex, position) => {
            if (vertex % 11 !== 0) return;
            const off = crowd.getVertexPositionAt(0, vertex, target).distanceTo(position) / height;
            sum += off;
            seen++;
            const kind = weight === 0 || weight === 1 ? 'ends' : 'middle';
            worst[kind] = Math.max(worst[kind], off);
          });
          if (weight === 0.5) worst.mean += sum / seen;
        }
      }
      worst.mean /= Math.max(pairsSeen, 1);
      console.log(
        `${name} ${boneTexture.encoding}, ${pairsSeen} pairs of clips: from three.js's mix by ${worst.mean.toExponential(1)} ` +
          `on average half-way, ${worst.middle.toExponential(1)} at most; at the ends ${worst.ends.toExponential(1)} of the height`,
      );
      expect(worst.ends).toBeLessThan(1e-5);
    }
    if (pairsSeen > 0) expect(worst.mean).toBeLessThan(0.1);
  });

  test.each(['auto', 'matrix'] as const)('interrupted fades show no jump, %s', async (encoding) => {
    const { root, clips } = await load(name);
    const height = characterHeight(root);
    const crowd = SkinnedInstancedMesh.from(root, clips, 1, { encoding });
    const { count } = crowd.geometry.getAttribute('position');
    const before = new Vector3();
    const next = random(SEEDS[1]);
    const positions = Array.from({ length: Math.ceil(count / 31) }, () => new Vector3());
    const largest = { across: 0, along: 0, unfaded: 0 };
    const read = () =>
      positions.map((position, i) => {
        before.copy(position);
        crowd.getVertexPositionAt(0, i * 31, position);
        return before.distanceTo(position) / height;
      });
    // a ping-pong, since a clip whose ends differ jumps by itself where it wraps
    for (let clip = 0; clip < clips.length; clip++) {
      crowd.play(0, clip, { loop: LoopPingPong });
      read();
      for (let time = 0; time < clips[clip].duration; time += 1 / 60) {
        crowd.update(1 / 60);
        largest.unfaded = Math.max(largest.unfaded, ...read());
      }
    }
    crowd.play(0, 0, { loop: LoopPingPong });
    read();
    for (let i = 0; i < 60; i++) {
      // an interruption half-way or so: at most one that came before is still under way
      const steps = 8 + Math.floor(next() * 12);
      crowd.play(0, Math.floor(next() * clips.length), { fade: 0.25, time: next(), loop: LoopPingPong });
      largest.across = Math.max(largest.across, ...read());
      for (let step = 0; step < steps; step++) {
        crowd.update(1 / 60);
        if (i > 0) largest.along = Math.max(largest.along, ...read());
        else read();
      }
    }
    console.log(
      `${name} ${crowd.boneTexture.encoding}: an interruption moves no vertex by more than ${largest.across.toExponential(1)} of the height at once; ` +
        `largest step in 1/60 s while fading ${largest.along.toExponential(1)}, ` +
        `in the clips themselves ${largest.unfaded.toExponential(1)}`,
    );
    expect(largest.across).toBeLessThan(1e-5);
    // fades last a quarter of a second; what they add is of the kind that the clips do by themselves
    expect(largest.along).toBeLessThan(2 * largest.unfaded);
  });
});
