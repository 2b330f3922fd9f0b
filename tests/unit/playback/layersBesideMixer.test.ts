import {
  AdditiveAnimationBlendMode,
  type AnimationClip,
  AnimationMixer,
  AnimationUtils,
  type Object3D,
  Vector3,
} from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { expect, test } from 'vitest';
import { describeCharacters, loadCharacter } from '../../support/characters.js';
import { LayeredMixers, tracksBelow } from '../../support/layeredMixers.js';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { random, SEEDS } from '../../support/random.js';
import { characterHeight, drawnMeshes } from '../../support/reference.js';

/** Share of the character's height: keys are float32. */
const EXACT = 1e-6;

/** Up to so many moving clips of a character, and behind them as many additive ones made of them. */
async function loadClips(name: string, most: number) {
  const { root, clips: all } = await loadCharacter(name);
  const clips = all.filter(({ duration }) => duration > 0).slice(0, most);
  const additive = clips.map((clip) => {
    const added = AnimationUtils.makeClipAdditive(clip.clone(), 0, clip);
    added.name = `${clip.name} added`;
    return added;
  });
  return { root, clips, additive };
}

/** The name of a joint in the middle of a character, which no other node has; null if there is none. */
function middleJoint(root: Object3D): string | null {
  const names: string[] = [];
  root.traverse((node) => {
    if ((node as { isBone?: boolean }).isBone && node.children.length > 0) names.push(node.name);
  });
  const alone = names.filter((one) => one !== '' && names.filter((other) => other === one).length === 1);
  return alone[Math.floor(alone.length / 3)] ?? null;
}

/** How far the vertices of an instance are from those of an object that a mixer has posed, as a share of its height. */
function distance(crowd: SkinnedInstancedMesh, root: Object3D, height: number): number {
  root.updateMatrixWorld(true);
  const inverse = root.matrixWorld.clone().invert();
  const expected = new Vector3();
  const actual = new Vector3();
  let worst = 0;
  let first = 0;
  for (const mesh of drawnMeshes(root)) {
    const { count } = mesh.geometry.getAttribute('position');
    for (let vertex = 0; vertex < count; vertex += Math.ceil(count / 150)) {
      mesh.getVertexPosition(vertex, expected).applyMatrix4(mesh.matrixWorld).applyMatrix4(inverse);
      crowd.getVertexPositionAt(0, first + vertex, actual);
      worst = Math.max(worst, actual.distanceTo(expected) / height);
    }
    first += count;
  }
  return worst;
}

/** A clone of a character with a mixer that plays clips at times, by weights, in this order. */
function posedByMixer(
  root: Object3D,
  played: readonly [AnimationClip, time: number, weight: number][],
): Object3D {
  const clone = SkeletonUtils.clone(root) as Object3D;
  const mixer = new AnimationMixer(clone);
  for (const [clip, time, weight] of played) {
    mixer.clipAction(clip).setEffectiveWeight(weight).play().time = time;
  }
  // An action that has not moved yet treats the ends of splines otherwise.
  mixer.update(1e-9);
  return clone;
}

const still = { timeScale: 0 };

describeCharacters((name) => {
  test('seed 3: a masked layer is a mixer whose clips lack the other tracks, at any time and weight', async ({
    skip,
  }) => {
    const { root, clips } = await loadClips(name, 6);
    const joint = middleJoint(root);
    if (joint === null) return skip('no joints below which a layer could begin');
    const height = characterHeight(root);
    const layers = [{ name: 'upper', mask: [joint] }];
    const crowd = SkinnedInstancedMesh.from(root, clips, 1, { layers });
    const next = random(3);
    for (let i = 0; i < 12; i++) {
      const [under, over] = [0, 0].map(() => clips[Math.floor(next() * clips.length)]);
      const [time, overTime] = [under.duration * next(), over.duration * next()];
      const weight = i < 4 ? 1 : next();
      crowd.stop(0).play(0, under.name, { ...still, time });
      crowd
        .play(0, over.name, { ...still, time: overTime, layer: 'upper' })
        .setLayerWeightAt(0, 'upper', weight);

      const upper = tracksBelow(over, root, joint);
      const shared = new Set(upper.tracks.map((track) => track.name));
      const below = under.clone();
      const beside = under.clone();
      below.tracks = under.tracks.filter((track) => shared.has(track.name));
      beside.tracks = under.tracks.filter((track) => !shared.has(track.name));
      const expected = posedByMixer(root, [
        [beside, time, 1],
        [below, time, 1 - weight],
        [upper, overTime, weight],
      ]);
      // Where the clip below has no track, the rest pose makes up for what the layer leaves, in the crowd as in the mixer.
      expect(distance(crowd, expected, height), `${under.name} under ${over.name} ${weight}`).toBeLessThan(
        EXACT,
      );
    }
  });

  test('seed 4: three weighted clips on a masked layer are three actions', async ({ skip }) => {
    const { root, clips } = await loadClips(name, 6);
    const joint = middleJoint(root);
    if (joint === null || clips.length < 3) return skip('no such joints, or fewer clips');
    const height = characterHeight(root);
    const crowd = SkinnedInstancedMesh.from(root, clips, 1, { layers: [{ name: 'upper', mask: [joint] }] });
    const next = random(4);
    for (let i = 0; i < 8; i++) {
      const first = Math.floor(next() * clips.length);
      const three = [0, 1, 2].map((k) => clips[(first + k) % clips.length]);
      const [a, b] = [next() * 0.5, next() * 0.4];
      crowd.stop(0);
      const played = three.map((clip, k): [AnimationClip, number, number] => {
        const [time, weight] = [clip.duration * next(), [a, b, 1 - a - b][k]];
        crowd.play(0, clip.name, { ...still, time, weight, layer: 1 });
        return [tracksBelow(clip, root, joint), time, weight];
      });
      expect(distance(crowd, posedByMixer(root, played), height)).toBeLessThan(EXACT);
    }
  });

  test("seed 6: an additive layer adds as an additive action does, by its own and its layer's weight", async () => {
    const { root, clips, additive } = await loadClips(name, 4);
    const height = characterHeight(root);
    const layers = [{ name: 'extra', additive: true }];
    const crowd = SkinnedInstancedMesh.from(root, [...clips, ...additive], 1, { layers });
    const next = random(6);
    for (let i = 0; i < 12; i++) {
      const [under, over] = [clips, additive].map((some) => some[Math.floor(next() * some.length)]);
      const [time, overTime] = [under.duration * next(), over.duration * next()];
      const [weight, share] = [next(), i < 4 ? 1 : next()];
      crowd.stop(0).play(0, under.name, { ...still, time });
      crowd
        .play(0, over.name, { ...still, time: overTime, weight, layer: 'extra' })
        .setLayerWeightAt(0, 1, share);
      expect(over.blendMode).toBe(AdditiveAnimationBlendMode);
      const expected = posedByMixer(root, [
        [under, time, 1],
        [over, overTime, weight * share],
      ]);
      expect(distance(crowd, expected, height), `${over.name} on ${under.name}`).toBeLessThan(EXACT);
    }
  });

  test.each(SEEDS)(
    'whatever is done on layers, poses are those of a mixer for each (seed %i)',
    async (seed) => {
      const { root, clips, additive } = await loadClips(name, 6);
      const joint = middleJoint(root);
      const height = characterHeight(root);
      const [moving, all] = [clips.length, [...clips, ...additive]];
      const count = 2;
      const layers = [
        { name: 'upper', ...(joint === null ? {} : { mask: [joint] }) },
        { name: 'whole', weight: 1 },
        { name: 'extra', additive: true },
      ];
      const crowd = SkinnedInstancedMesh.from(root, all, count, { layers });
      const vertices = crowd.geometry.getAttribute('position').count;
      const next = random(seed);
      const over = layers.map(({ name }) => ({ name, from: name === 'upper' ? joint : null }));
      const pair = new LayeredMixers(crowd, root, all, over);
      const pick = (most: number) => Math.floor(next() * most);
      for (let step = 0; step < 60; step++) {
        const [index, layer] = [pick(count), pick(4)];
        const clip = pick(moving) + (layer === 3 ? moving : 0);
        const fade = next() < 0.3 ? 0 : 0.7 * next();
        const playing = pair.playing(index, layer);
        const kind = next();
        if (kind < 0.2 && (layer === 1 || layer === 2)) {
          pair.setLayerWeight(index, layer, next(), fade);
        } else if (kind < 0.35 && playing.length > 0) {
          const one = playing[pick(playing.length)];
          const room = Math.max(1 - pair.mostWeight(index, layer, one), 0);
          pair.setWeight(index, layer, one, room * next(), fade);
        } else if (kind < 0.45) {
          pair.stop(index, layer, fade);
        } else if (!playing.includes(clip) && playing.length < 3) {
          const room = 1 - pair.mostWeight(index, layer);
          if (kind < 0.75 || room <= 0) pair.replace(index, layer, clip, fade, next());
          else pair.play(index, layer, clip, room * next(), fade, next());
        }
        pair.update(next() < 0.1 ? 3 * next() : 0.3 * next());
        const stride = Math.ceil(vertices / 100);
        const worst = pair.worst((i, vertex, target) => crowd.getVertexPositionAt(i, vertex, target), stride);
        expect(worst / height, `step ${step}`).toBeLessThan(EXACT);
        for (const one of pair.playing(index, layer)) {
          expect(crowd.getWeightAt(index, all[one].name, layer)).toBeCloseTo(
            pair.weightOf(index, layer, one),
            9,
          );
        }
        expect(crowd.getLayerWeightAt(index, layer)).toBeCloseTo(pair.layerWeightOf(index, layer), 9);
      }
    },
  );
});
