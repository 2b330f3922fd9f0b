import { SkinnedInstance } from 'skinned-instanced-mesh';
import { AnimationAction, AnimationMixer, AnimationObjectGroup, LoopOnce } from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { expect, test } from 'vitest';
import { bakeCharacter, SkinnedInstancedMesh } from '../../support/library.js';
import { createStick } from '../../support/stick.js';

/** The animations of a program that knows nothing of crowds, for its player and for its enemies. */
function graph(mixer: AnimationMixer, [walk, attack]: ReturnType<typeof createStick>['clips']) {
  const actions: Record<string, AnimationAction> = {
    walk: mixer.clipAction(walk),
    attack: mixer.clipAction(attack),
  };
  actions.attack.setLoop(LoopOnce, 1).clampWhenFinished = true;
  const log: string[] = [];
  mixer.addEventListener('finished', ({ action, target }) => {
    log.push(`${action.getClip().name} ${target === mixer}`);
    action.crossFadeTo(actions.walk.reset(), 0.2, false).play();
  });
  actions.walk.play();
  return { actions, log };
}

function createPair() {
  const { root, clips } = createStick({ Walk: 1, Attack: 0.5 });
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 0);
  const copy = SkeletonUtils.clone(root);
  const knight = new SkinnedInstance(crowd);
  return { clips, crowd, copy, knight, mixer: new AnimationMixer(copy) };
}

test('a program that is typed for AnimationMixer takes that of an instance', () => {
  const { clips, crowd, knight, mixer } = createPair();
  const [player, enemy] = [mixer, knight.mixer].map((one) => graph(one, clips));
  expect(knight.mixer).toBeInstanceOf(AnimationMixer);
  expect(enemy.actions.walk).toBeInstanceOf(AnimationAction);
  for (const { actions } of [player, enemy])
    actions.walk.crossFadeTo(actions.attack.reset().play(), 0.1, false);
  for (let frame = 0; frame < 60; frame++) {
    mixer.update(1 / 60);
    crowd.update(1 / 60);
    for (const name of ['walk', 'attack']) {
      const [ours, theirs] = [enemy, player].map(({ actions }) => actions[name]);
      expect(ours.time).toBe(theirs.time);
      expect(ours.getEffectiveWeight()).toBeCloseTo(theirs.getEffectiveWeight(), 6);
    }
  }
  expect(enemy.log).toEqual(['Attack true']);
  expect(enemy.log).toEqual(player.log);
  expect(knight.mixer.stats.actions).toMatchObject({ total: 2, inUse: 2 });
});

test.each(['crowd', 'mixer'])('what is changed shows in the next update of the %s', (clock) => {
  const { clips, crowd, copy, knight, mixer } = createPair();
  const update = (delta: number) => {
    mixer.update(delta);
    if (clock === 'mixer') knight.mixer.update(delta);
    else crowd.update(delta);
  };
  const both = [mixer, knight.mixer].map((one) => one.clipAction(clips[0]));
  const expectSame = () => {
    const [expected, seen] = [copy, knight].map((one) => one.getObjectByName('Tip')?.position.x);
    expect(seen).toBeCloseTo(expected as number, 5);
  };
  const changes: ((action: AnimationAction) => unknown)[] = [
    (action) => action.play(),
    (action) => Object.assign(action, { enabled: false }),
    // Hit boxes of a game that reads bones here, and for ever after, were wrong.
    (action) => Object.assign(action, { enabled: true }),
    (action) => Object.assign(action, { time: 0.5 }),
    (action) => action.setEffectiveWeight(0.5),
    (action) => action.fadeOut(0.2),
    (action) => action.reset().warp(1, 0.5, 0.3),
    (action) => action.halt(0.1),
    (action) => action.stop(),
  ];
  for (const change of changes) {
    both.forEach(change);
    expectSame();
    for (const delta of [0, 0.05, 0.1]) {
      update(delta);
      // three.js adds up the speed at the end of each frame of a warp.
      if (!String(change).includes('warp') && !String(change).includes('halt')) expectSame();
    }
    both[1].time = both[0].time;
    update(0);
    expectSame();
  }
});

test('what no action can have is refused where it is set', () => {
  const { crowd, knight } = createPair();
  const action = knight.clipAction('Walk').play();
  crowd.update(0.1);
  expect(() => Object.assign(action, { time: Number.NaN })).toThrow('time');
  expect(() => Object.assign(action, { timeScale: Infinity })).toThrow('timeScale');
  expect(() => Object.assign(action, { weight: Number.NaN })).toThrow('weight');
  expect(() => Object.assign(action, { blendMode: 2501 })).toThrow('makeClipAdditive');
  expect(() => Object.assign(knight.mixer, { time: Number.NaN })).toThrow('time');
  expect(() => action.fadeIn(-1)).toThrow();
  expect(() => action.setDuration(0)).toThrow('timeScale');
  expect(() => knight.mixer.clipAction('Walk', new SkinnedInstance(crowd))).toThrow('AnimationLayers');
  expect(() => knight.mixer.clipAction('Walk', new AnimationObjectGroup())).toThrow('AnimationLayers');
  expect([action.time, action.timeScale, action.weight]).toEqual([0.1, 1, 1]);
});
