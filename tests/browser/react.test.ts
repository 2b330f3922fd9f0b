import { useFrame } from '@react-three/fiber';
import {
  createElement,
  type FunctionComponent,
  Suspense,
  startTransition,
  use,
  useEffect,
  useRef,
  useState,
} from 'react';
import type { SkinnedInstance } from 'skinned-instanced-mesh';
import { Crowd, CrowdInstance, useCharacter, useCrowdAnimations } from 'skinned-instanced-mesh/react';
import type { AnimationClip } from 'three';
import { expect, test, vi } from 'vitest';
import { reactProgram } from '../ports/lib/reactProgram.js';
import type { SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

const { root, clips } = createStick({ A: 4, B: 8 });

/** What tests tell the component that is shown, and what it tells them. */
const told = { set: (_: Partial<Props>) => {}, log: [] as string[], knight: null as SkinnedInstance | null };

interface Props {
  clips: AnimationClip[];
  wait: Promise<void> | null;
  shown: boolean;
  round: number;
}

function Waits({ wait }: { wait: Promise<void> | null }) {
  if (wait !== null) use(wait);
  return null;
}

function Knight({ round }: { round: number }) {
  const ref = useRef<SkinnedInstance>(null);
  const { actions, mixer } = useCrowdAnimations(ref);
  useEffect(() => {
    told.knight = ref.current;
    told.log.push(`play ${actions.A?.getClip().name} ${round}`);
    actions.A?.reset().play();
    actions.a?.play();
    return () => {
      told.log.push('stop');
      mixer.stopAllAction();
    };
  }, [actions, mixer, round]);
  useFrame(() => {});
  return createElement(CrowdInstance, { ref });
}

const Stage: FunctionComponent = () => {
  const [props, setProps] = useState<Props>({ clips, wait: null, shown: true, round: 0 });
  told.set = (change) => setProps((before) => ({ ...before, ...change }));
  return props.shown ? createElement(Suspense, null, createElement(Company, props)) : null;
};

function Company({ clips: played, wait, round }: Props) {
  const character = useCharacter(root, played);
  return createElement(
    Crowd,
    { character },
    createElement(Knight, { round }),
    createElement(CrowdInstance, { clip: 'B' }),
    createElement(Waits, { wait }),
  );
}

async function open() {
  told.log.length = 0;
  const program = await reactProgram(Stage, 1);
  const crowds = () =>
    program.scene.children.filter((child) => 'isSkinnedInstancedMesh' in child) as SkinnedInstancedMesh[];
  return { ...program, crowds, tell: (change: Partial<Props>) => program.act(() => told.set(change)) };
}

test('what suspends beside characters hides them, and they go on from where they were', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { crowds, update, tell, unmount } = await open();
  expect(warn.mock.calls).toContainEqual(['useCrowdAnimations: no clip "a"; there are "A", "B".']);
  const [crowd] = crowds();
  const { knight } = told;
  await update(0.5);
  const time = () => [
    crowd.getTimeAt(0),
    crowd.getTimeAt(1),
    crowd.getClipAt(0),
    crowd.getClipAt(1),
    crowd.instanceCount,
  ];
  expect(time()).toEqual([0.5, 0.5, 'A', 'B', 2]);
  const log = [...told.log];
  let done = () => {};
  await tell({
    wait: new Promise((resolve) => {
      done = resolve;
    }),
  });
  expect(crowd.visible).toBe(false);
  await update(0.25);
  done();
  await tell({});
  await update(0.25);
  expect([crowds()[0] === crowd, crowd.visible, told.knight === knight]).toEqual([true, true, true]);
  // useFrame does not run meanwhile
  expect(time()).toEqual([0.75, 0.75, 'A', 'B', 2]);
  expect(told.log).toEqual(log);

  // by a transition, they stay in sight
  await tell({});
  startTransition(() => told.set({ wait: new Promise(() => {}) }));
  await update(0.25);
  expect([crowd.visible, crowd.getTimeAt(0)]).toEqual([true, 1]);
  await unmount();
});

test('effects that run again, as after an edit, and characters that are baked anew leave nothing behind', async () => {
  const { crowds, update, tell, unmount } = await open();
  const disposed: string[] = [];
  const [first] = crowds();
  first.addEventListener('dispose', () => disposed.push('first'));
  await update(0.5);
  told.log.length = 0;
  await tell({ round: 1 });
  expect(told.log).toEqual(['stop', 'play A 1']);
  await update(0.25);
  expect([first.getTimeAt(0), first.instanceCount, disposed.length]).toEqual([0.25, 2, 0]);

  // what baking gives anew is another crowd, with the characters of the one before
  await tell({ clips: [...clips] });
  await update(0.25);
  const [second, ...more] = crowds();
  expect([more.length, second !== first, second.instanceCount, disposed]).toEqual([0, true, 2, ['first']]);
  expect([second.getClipAt(0), second.getClipAt(1)]).toEqual(['A', 'B']);
  expect([told.knight?.crowd === second, told.knight?.instanceId]).toEqual([true, 0]);

  let textures = 0;
  second.boneTexture.addEventListener('dispose', () => textures++);
  second.addEventListener('dispose', () => disposed.push('second'));
  await tell({ shown: false });
  expect([crowds().length, disposed, textures]).toEqual([0, ['first', 'second'], 1]);
  await unmount();
});
