import { type AnimationClip, AnimationMixer, LoopPingPong, Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { bakeTexels } from '../../support/bakeTexels.js';
import { describeCharacters, loadCharacter } from '../../support/characters.js';
import { BoneTexture, SkinnedInstancedMesh } from '../../support/library.js';
import { nearestFrame } from '../../support/pair.js';
import { random } from '../../support/random.js';
import { characterHeight, Reference } from '../../support/reference.js';
import { FADE_STEPS, FADES, TRACK_STEPS } from './recordedFades.js';

/** Shares of the height by which a fade from one clip to another is off from an AnimationMixer's. */
interface FadeErrors {
  /** Where one of the clips has all the weight. */
  ends: number;
  /** Half-way, on average over vertices. */
  mean: number;
  /** Of any vertex at any weight. */
  most: number;
}

/** Compares a fade with the mix of two actions, both standing on a baked frame, so that only the mix differs. */
function measureFade(
  crowd: SkinnedInstancedMesh,
  reference: Reference,
  height: number,
  a: AnimationClip | null,
  b: AnimationClip,
): FadeErrors {
  const { boneTexture } = crowd;
  const mixer = new AnimationMixer(reference.root);
  const frame = (clip: AnimationClip) => nearestFrame(boneTexture, clip.name, clip.duration / 3);
  const actionOf = (clip: AnimationClip) => {
    const action = mixer.clipAction(clip);
    action.timeScale = 0;
    action.play().time = frame(clip);
    return action;
  };
  const from = a && actionOf(a);
  const to = actionOf(b);
  crowd.stop(0);
  if (a) crowd.play(0, a.name, { timeScale: 0, time: frame(a) });
  crowd.play(0, b.name, { timeScale: 0, time: frame(b), fade: 1 });

  const errors = { ends: 0, mean: 0, most: 0 };
  const target = new Vector3();
  for (const weight of [0, 0.25, 0.5, 0.75, 1]) {
    // What no action has the weight of, the mixer takes from the rest pose.
    from?.setEffectiveWeight(1 - weight);
    to.setEffectiveWeight(weight);
    mixer.update(0);
    reference.root.updateMatrixWorld(true);
    if (weight > 0) crowd.update(0.25);
    let sum = 0;
    let seen = 0;
    let most = 0;
    reference.forEachVertex((vertex, position) => {
      if (vertex % 17 !== 0) return;
      const off = crowd.getVertexPositionAt(0, vertex, target).distanceTo(position) / height;
      sum += off;
      seen++;
      if (!(off <= most)) most = off;
    });
    if (weight === 0 || weight === 1) errors.ends = Math.max(errors.ends, most);
    else errors.most = Math.max(errors.most, most);
    if (weight === 0.5) errors.mean = sum / seen;
  }
  mixer.stopAllAction();
  mixer.uncacheRoot(reference.root);
  return errors;
}

describeCharacters((name) => {
  test('a fade is as near to the mix of an AnimationMixer as it was, and exact at both ends', async () => {
    const { root, clips: all } = await loadCharacter(name);
    const height = characterHeight(root);
    const clips = all.slice(0, 6);
    const pairs: [AnimationClip | null, AnimationClip][] = [
      [null, clips[0]],
      ...clips.flatMap((a, i) => clips.slice(i + 1).map((b): [AnimationClip, AnimationClip] => [a, b])),
    ];
    const { encoding: best } = bakeTexels(root, clips);
    const reference = new Reference(root, new Matrix4());
    for (const encoding of best === 'matrix' ? (['matrix'] as const) : (['matrix', 'quaternion'] as const)) {
      const boneTexture = BoneTexture.bake(root, clips, { encoding });
      const crowd = SkinnedInstancedMesh.from(root, clips, 1, { boneTexture });
      const recorded = FADES[name];
      const overall = { mean: 0, most: 0, ends: 0 };
      for (const [a, b] of pairs) {
        const { ends, mean, most } = measureFade(crowd, reference, height, a, b);
        const pair = `${a?.name ?? 'rest'} > ${b.name}`;
        overall.mean += mean / pairs.length;
        overall.most = Math.max(overall.most, most);
        overall.ends = Math.max(overall.ends, ends);
        expect(ends, `${encoding}, ${pair}, at its ends`).toBeLessThan(2e-6);
        if (!recorded) continue;
        const [meanBound, mostBound] = recorded[pair];
        expect(mean, `${encoding}, ${pair}, half-way on average`).toBeLessThanOrEqual(meanBound);
        expect(most, `${encoding}, ${pair}, at most`).toBeLessThanOrEqual(mostBound);
      }
      console.log(
        `${name} ${encoding}, ${pairs.length} pairs of clips: from three.js's mix by ${overall.mean.toExponential(1)} ` +
          `on average half-way, ${overall.most.toExponential(1)} at most; at the ends ${overall.ends.toExponential(1)} of the height`,
      );
    }
  });

  test.each(['texels', 'tracks'] as const)('interrupted fades of %s show no jump', async (encoding) => {
    const { root, clips: all } = await loadCharacter(name);
    const clips = all.slice(0, 8);
    const height = characterHeight(root);
    const boneTexture =
      encoding === 'tracks' ? BoneTexture.bake(root, clips, { encoding }) : bakeTexels(root, clips);
    const crowd = SkinnedInstancedMesh.from(root, clips, 1, { boneTexture });
    const { count } = crowd.geometry.getAttribute('position');
    const before = new Vector3();
    const next = random(20261120);
    const positions = Array.from({ length: Math.ceil(count / 61) }, () => new Vector3());
    /** The furthest that a vertex has come since it was last looked at. */
    const step = () => {
      let most = 0;
      positions.forEach((position, i) => {
        before.copy(position);
        crowd.getVertexPositionAt(0, i * 61, position);
        most = Math.max(most, before.distanceTo(position) / height);
      });
      return most;
    };
    const largest = { across: 0, along: 0, unfaded: 0 };
    // a ping-pong, since a clip whose ends differ jumps by itself where it wraps
    for (let clip = 0; clip < clips.length; clip++) {
      crowd.play(0, clip, { loop: LoopPingPong });
      step();
      for (let time = 0; time < clips[clip].duration; time += 1 / 60) {
        crowd.update(1 / 60);
        largest.unfaded = Math.max(largest.unfaded, step());
      }
    }
    crowd.play(0, 0, { loop: LoopPingPong });
    step();
    for (let i = 0; i < 60; i++) {
      // an interruption half-way or so: at most one that came before is still under way
      const steps = 8 + Math.floor(next() * 12);
      // Tracks fade all clips out together, so that they are longer under way; there is room for four of them.
      if (encoding === 'tracks' && i % 3 === 0) for (let k = 0; k < 15; k++) crowd.update(1 / 60);
      step();
      crowd.play(0, Math.floor(next() * clips.length), { fade: 0.25, time: next(), loop: LoopPingPong });
      largest.across = Math.max(largest.across, step());
      for (let k = 0; k < steps; k++) {
        crowd.update(1 / 60);
        const moved = step();
        if (i > 0) largest.along = Math.max(largest.along, moved);
      }
    }
    console.log(
      `${name}, ${encoding}: an interruption moves no vertex by more than ${largest.across.toExponential(1)} of the height at once; ` +
        `largest step in 1/60 s while fading ${largest.along.toExponential(3)}, in the clips themselves ${largest.unfaded.toExponential(3)}`,
    );
    expect(largest.across).toBeLessThan(1e-12);
    const known = encoding === 'tracks' ? TRACK_STEPS : FADE_STEPS;
    expect(largest.along).toBeLessThanOrEqual(known[name] ?? 2 * largest.unfaded);
  });
});
