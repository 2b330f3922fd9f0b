import type { PlayOptions } from 'skinned-instanced-mesh';
import { type AnimationActionLoopStyles, LoopOnce, LoopPingPong, LoopRepeat } from 'three';
import { expect, test } from 'vitest';
import {
  assembleCharacter,
  type BoneTexture,
  bakeBoneTexture,
  encodingOf,
  loadPlayback,
  SkinnedInstancedMesh,
  savePlayback,
  setBoneTexture,
} from '../../support/library.js';
import { random, SEEDS } from '../../support/random.js';
import { createStick, tipOf } from '../../support/stick.js';
import { THOROUGH } from '../../support/thorough.js';

const LOOPS: AnimationActionLoopStyles[] = [LoopOnce, LoopRepeat, LoopPingPong];
const ROUNDS = Number(process.env.ROUNDS ?? (THOROUGH ? 40 : 15));

/** Of the two crowds one is only played; the other is also saved, copied, resized, and its clock is in other epochs. */
function run(
  next: () => number,
  textures: BoneTexture[],
  create: (which: number, count: number) => SkinnedInstancedMesh,
) {
  const integer = (below: number) => Math.floor(next() * below);
  const log: string[] = [];
  const count = 3;
  const plain = create(0, count);
  let other = create(0, count).update(16 * next());
  let which = 0;
  /** Where each instance of the plain crowd is in the other one. */
  const place = [0, 1, 2];
  const heard: string[][] = [[], []];
  const listen = (crowd: SkinnedInstancedMesh, side: number) => {
    const name = (i: number) => (side === 0 ? i : place.indexOf(i));
    crowd.addEventListener('loop', (e) => heard[side].push(`${name(e.instanceId)} loop ${e.loopDelta}`));
    crowd.addEventListener('finished', (e) => heard[side].push(`${name(e.instanceId)} finished`));
    crowd.addEventListener('marker', (e) =>
      heard[side].push(`${name(e.instanceId)} ${e.name} ${e.direction}`),
    );
  };
  listen(plain, 0);
  listen(other, 1);

  const both = (what: string, act: (crowd: SkinnedInstancedMesh, index: number) => void) => {
    const index = integer(count);
    log.push(`${index} ${what}`);
    act(plain, index);
    act(other, place[index]);
  };
  const play = () => {
    const clip = `Clip${integer(3)}`;
    const options: PlayOptions = {
      loop: LOOPS[integer(3)],
      repetitions: next() < 0.5 ? Infinity : 6 * next(),
      clampWhenFinished: next() < 0.7,
      timeScale: next() < 0.1 ? 0 : (next() - 0.4) * 3,
      time: next(),
      fade: next() < 0.8 ? 1.5 * next() : 0,
      warp: next() < 0.3,
      sync: next() < 0.2,
    };
    both(`plays ${clip} ${JSON.stringify(options)}`, (crowd, index) => crowd.play(index, clip, options));
  };

  /** What nobody may see. */
  const neutral = [
    () => {
      log.push('JSON');
      const json = JSON.parse(JSON.stringify(savePlayback(other)));
      which = 1 - which;
      other = create(which, count).update(30 * next());
      listen(other, 1);
      loadPlayback(other, json);
    },
    () => {
      log.push('other texture');
      which = 1 - which;
      setBoneTexture(other, textures[which]);
    },
    () => {
      log.push('clone');
      other = other.clone();
      listen(other, 1);
    },
    () => {
      log.push('setCapacity');
      other.setCapacity(count + integer(4));
    },
    () => {
      const [i, j] = [integer(count), integer(count)];
      log.push(`swap ${i} ${j}`);
      other.swapInstances(place[i], place[j]);
      [place[i], place[j]] = [place[j], place[i]];
    },
  ];

  // not as long as an epoch, so that the plain crowd stays in one
  for (let left = 15.5; left > 0; ) {
    const what = next();
    if (what < 0.25) play();
    else if (what < 0.35) {
      const timeScale = (next() - 0.5) * 3;
      both(`time scale ${timeScale}`, (crowd, index) => crowd.setTimeScaleAt(index, timeScale));
    } else if (what < 0.4) both('pause', (crowd, index) => crowd.pause(index));
    else if (what < 0.5) both('resume', (crowd, index) => crowd.resume(index));
    else if (what < 0.55) {
      const time = next();
      both(`time ${time}`, (crowd, index) => crowd.setTimeAt(index, time));
    } else if (what < 0.58) both('stop', (crowd, index) => crowd.stop(index, { fade: 0.4 }));
    else if (what < 0.85) neutral[integer(neutral.length)]();

    const delta = next() < 0.9 ? 0.2 * next() : 1.5 * next();
    left -= delta;
    if (left <= 0) break;
    log.push(`update ${delta}`);
    plain.update(delta);
    other.update(delta);
    for (let i = 0; i < count; i++) {
      const tips = [tipOf(plain, i), tipOf(other, place[i])];
      const times = [plain.getTimeAt(i), other.getTimeAt(place[i])];
      const clip = plain.getClipAt(i);
      const duration =
        clip === null ? 0 : plain.boneTexture.clips[plain.boneTexture.clipIndex(clip)].duration;
      // where a pass ends, both ends are right
      const ends = Math.min(times[0], duration - times[0]) < 1e-5;
      const same = Math.abs(tips[0] - tips[1]) < 1e-4 && Math.abs(times[0] - times[1]) < 1e-5;
      if (!same && !ends) throw new Error(`instance ${i}: tips ${tips}, times ${times}\n${log.join('\n')}`);
    }
    const [mine, theirs] = heard.map((lines) => lines.splice(0).sort().join('; '));
    if (mine !== theirs) throw new Error(`events ${mine} and ${theirs}\n${log.join('\n')}`);
  }
}

test.each(SEEDS.flatMap((seed) => [[seed, 'frames'] as const, [seed, 'tracks'] as const]))(
  'saving, copying, growing, swapping and the clock are not seen, in fades too (seed %i, encoding %s)',
  (seed, encoding) => {
    const next = random(seed);
    const { root, clips } = createStick({ Clip0: 0.7013, Clip1: 1.3017, Clip2: 2.0071 });
    const textures = [
      bakeBoneTexture(root, clips, { fps: 30, encoding: encodingOf(encoding) }),
      bakeBoneTexture(root, [...clips].reverse(), { fps: 47, encoding: encodingOf(encoding) }),
    ];
    for (const texture of textures)
      texture.addMarker('Clip0', 0.2, 'a').addMarker('Clip1', 0.9, 'b').addMarker('Clip1', 0.4, 'c');
    const create = (which: number, count: number) =>
      new SkinnedInstancedMesh(assembleCharacter(root, textures[which]), count);
    const wrong: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      try {
        run(next, textures, create);
      } catch (error) {
        wrong.push(`sequence ${round}: ${(error as Error).message}`);
      }
    }
    console.log(`${wrong.length} of ${ROUNDS} sequences differ`);
    expect(wrong.sort((a, b) => a.length - b.length).slice(0, 3)).toEqual([]);
  },
);
