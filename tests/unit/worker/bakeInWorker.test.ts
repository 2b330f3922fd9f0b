import type { BakeOptions } from 'skinned-instanced-mesh';
import { bakeInWorker } from 'skinned-instanced-mesh/worker';
import { type AnimationClip, BufferGeometry, Group, Mesh, NumberKeyframeTrack, type Object3D } from 'three';
import { beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest';
import { warned } from '../../../lib/utils/messages.js';
import { describeCharacters, loadCharacter } from '../../support/characters.js';
import { createCoarseCharacter } from '../../support/coarseCharacter.js';
import { cubicSpline } from '../../support/cubicSpline.js';
import { differences } from '../../support/differences.js';
import { type BoneTexture, bakeBoneTexture, extractRootMotion, frames } from '../../support/library.js';
import { NodeWorker } from '../../support/NodeWorker.js';
import { PATIENCE } from '../../support/patience.js';
import { randomCharacter } from '../../support/randomCharacter.js';
import { createMorphingStick, createStick } from '../../support/stick.js';
import { THOROUGH } from '../../support/thorough.js';

const cubic = await cubicSpline();

let warn: MockInstance<typeof console.warn>;
beforeEach(() => {
  vi.stubGlobal('Worker', NodeWorker);
  warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
});

/** Bakes in a worker and on the page, with the same texels, or with the same error, and the same warnings. */
async function expectSame(root: Object3D, clips: AnimationClip[], options: BakeOptions): Promise<void> {
  const attempt = async (bake: () => BoneTexture | Promise<BoneTexture>) => {
    warn.mockClear();
    warned.clear();
    const result = await Promise.resolve()
      .then(bake)
      .catch((error: Error) => error);
    return { result, warnings: warn.mock.calls.map((call: unknown[]) => String(call[0])) };
  };
  const page = await attempt(() => bakeBoneTexture(root, clips, options));
  const worker = await attempt(async () => (await bakeInWorker(root, clips, options)).boneTexture);
  expect(worker.warnings.filter((text) => text.startsWith('bakeInWorker'))).toEqual([]);
  if (page.result instanceof Error) {
    expect(worker.result).toBeInstanceOf(Error);
    expect((worker.result as Error).message).toBe(page.result.message);
  } else {
    if (worker.result instanceof Error) throw worker.result;
    expect(differences(worker.result.data, page.result.data)).toEqual([]);
  }
  expect(worker.warnings).toEqual(page.warnings);
}

describeCharacters((name) => {
  test.runIf(THOROUGH || name === 'Knight.glb')('a worker bakes the same texels', async () => {
    const { root, clips } = await loadCharacter(name);
    const all: BakeOptions[] = [{}, { precision: 'half' }, { encoding: frames, fps: 10 }];
    for (const options of THOROUGH ? all : all.slice(1, 2)) await expectSame(root, clips, options);
  });
});

describe('a worker bakes the same', () => {
  const { root, clips } = createCoarseCharacter();
  const move = { joint: 'Hips', vertical: true, clips: [clips[0], clips[1].name] };

  test.each<[string, Object3D, AnimationClip[], BakeOptions]>([
    ['frames', root, clips, { encoding: frames, fps: 10 }],
    ['frames, half', root, clips, { encoding: frames, precision: 'half', fps: 10 }],
    ['tracks', root, clips, {}],
    ['root motion', root, clips, { rootMotion: extractRootMotion(move) }],
    ['root motion, as frames', root, clips, { rootMotion: extractRootMotion(), encoding: frames }],
    ['sockets', root, clips, { sockets: ['Body'] }],
    ['chosen clips', root, clips, { clips: ['Walk', { clip: clips[0], name: 'Again', fps: 7 }] }],
    ['the rest pose', root, [], {}],
    ['morph targets', ...morphing(), { encoding: frames }],
    ['morph targets, as tracks', ...morphing(), { precision: 'half' }],
    ['no morph targets', ...morphing(), { morphTargets: false }],
  ])('%s', (_, ...given) => expectSame(...given));

  const seeds = Array.from({ length: THOROUGH ? 12 : 4 }, (_, i) => i + 1);
  test('random characters: splines, angles, additive clips, mirrored parts, detached skins', async () => {
    for (const seed of seeds) {
      const { root: random, clips: moves } = randomCharacter(seed, cubic);
      const precision = seed % 2 ? 'float' : 'half';
      await expectSame(random, moves, { precision });
      if (THOROUGH) await expectSame(random, moves, { precision, encoding: frames });
    }
  });
});

function morphing(): [Object3D, AnimationClip[]] {
  const { root, clips } = createMorphingStick();
  return [root, clips];
}

describe('errors are those of bake', () => {
  const { root, clips } = createStick();
  const broken = clips[0].clone();
  broken.tracks[0].values[0] = Number.NaN;

  test.each<[string, Object3D, AnimationClip[], BakeOptions]>([
    ['no mesh', new Group(), clips, {}],
    ['no positions', new Mesh(new BufferGeometry()), clips, {}],
    ['no number', root, [broken], {}],
    ['unknown clip', root, clips, { clips: ['Fly'] }],
    ['unknown encoding', root, clips, { encoding: 'zip' as never }],
    ['in the worker: texture too small', root, clips, { encoding: frames, maxTextureSize: 1 }],
    [
      'in the worker: root motion of no joint',
      root,
      clips,
      { rootMotion: extractRootMotion({ joint: 'Nobody' }) },
    ],
    ['in the worker: tracks that cannot be bound', root, [nobodysClip(clips[0])], {}],
  ])('%s', (_, ...given) => expectSame(...given));
});

/** A clip with a track for a node that is not there, of which a warning says so. */
function nobodysClip(clip: AnimationClip): AnimationClip {
  const copy = clip.clone();
  copy.tracks.push(new NumberKeyframeTrack('Nobody.position[x]', [0, 1], [0, 1]));
  return copy;
}

test('15 rounds of bakes, errors and aborts, several at once, leave no worker and no URL behind', async () => {
  const { root, clips } = createStick();
  const made = vi.spyOn(URL, 'createObjectURL');
  const revoked = vi.spyOn(URL, 'revokeObjectURL');
  const outcomes = Array.from({ length: 15 }, async (_, round) => {
    const controller = new AbortController();
    const bad = round % 5 === 1 ? { maxTextureSize: 1, encoding: frames } : {};
    const baking = bakeInWorker(root, clips, { ...bad, signal: controller.signal });
    if (round % 5 === 2) setTimeout(() => controller.abort(new Error('enough')), round);
    return baking.then(
      () => 'baked',
      (error: Error) => (error.message === 'enough' ? 'aborted' : 'failed'),
    );
  });
  const counts = new Map<string, number>();
  for (const outcome of await Promise.all(outcomes)) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  expect(counts.get('failed')).toBe(3);
  expect(counts.get('baked')).toBeGreaterThanOrEqual(9);
  await expect.poll(() => NodeWorker.running, { timeout: PATIENCE }).toBe(0);
  expect(NodeWorker.most).toBe(4);
  expect(revoked.mock.calls.map(([url]) => url).sort()).toEqual(
    made.mock.results.map(({ value }) => value).sort(),
  );
});

describe('the page bakes in slices, and says so once,', () => {
  const { root, clips } = createStick();
  const baked = bakeBoneTexture(root, clips);

  /** Refuses to start, by an error or later by an event, as browsers do that a Content-Security-Policy tells to. */
  class Refused {
    onerror: ((event: Event) => void) | null = null;
    constructor() {
      setTimeout(() => this.onerror?.(new Event('error', { cancelable: true })));
    }
    postMessage() {}
    terminate() {}
  }
  function Thrown() {
    throw new Error('blocked');
  }

  test.each([
    ['where there are no workers', undefined],
    ['where they are refused', Refused],
    ['where starting one throws', Thrown],
  ])('%s', async (_, Worker) => {
    vi.stubGlobal('Worker', Worker);
    const progress: number[] = [];
    const { boneTexture } = await bakeInWorker(root, clips, { onProgress: (share) => progress.push(share) });
    expect(differences(boneTexture.data, baked.data)).toEqual([]);
    expect(progress.at(-1)).toBe(1);
    await bakeInWorker(root, clips);
    expect(warn.mock.calls.length).toBeLessThanOrEqual(1);
  });
});
