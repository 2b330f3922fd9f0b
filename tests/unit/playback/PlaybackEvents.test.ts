import { LoopOnce } from 'three';
import { expect, test } from 'vitest';
import { createStickCrowd } from '../../support/stick.js';

const createCrowd = (count: number) => createStickCrowd(count, { A: 1, B: 2.5 });

test('a listener may play clips; what it starts is told of from the next update on', () => {
  const crowd = createCrowd(2);
  crowd.boneTexture.addMarker('A', 0, 'start');
  let calls = 0;
  crowd.addEventListener('marker', ({ instanceId }) => {
    calls++;
    crowd.play(instanceId, 'A', { restart: true });
  });
  crowd.addEventListener('finished', ({ instanceId }) => crowd.play(instanceId, 'A', { fade: 0.1 }));
  crowd.play(0, 'A').play(1, 'B', { loop: LoopOnce });
  crowd.update(0.1);
  expect(calls).toBe(1);
  crowd.update(0.1);
  expect(calls).toBe(2);
  crowd.update(3);
  expect(crowd.getClipAt(1)).toBe('A');
  expect(calls).toBe(3);
  crowd.update(0);
  expect(calls).toBe(5);
});

test('a listener that throws loses no one else their events', () => {
  const crowd = createCrowd(3);
  crowd.playAll('A', { loop: LoopOnce });
  const seen: number[] = [];
  crowd.addEventListener('finished', ({ instanceId }) => {
    seen.push(instanceId);
    if (instanceId === 1) throw new Error('mine');
  });
  expect(() => crowd.update(2)).toThrow('mine');
  crowd.update(0);
  expect(seen).toEqual([0, 1, 2]);
});

test('events are not looked for while nobody listens, and found as soon as someone does', () => {
  const crowd = createCrowd(2);
  crowd.playAll('A').update(0.5);
  const log: string[] = [];
  crowd.addEventListener('loop', (event) =>
    log.push(`${event.instanceId} ${event.clip} loop ${event.loopDelta}`),
  );
  crowd.update(0.6);
  expect(log.splice(0)).toEqual(['0 A loop 1', '1 A loop 1']);
  crowd.boneTexture.addMarker('A', 0.5, 'half');
  const marks: string[] = [];
  crowd.addEventListener('marker', (event) =>
    marks.push(`${event.instanceId} ${event.clip} ${event.name} ${event.direction}`),
  );
  crowd.update(0.5);
  expect(marks).toEqual(['0 A half 1', '1 A half 1']);
  crowd.boneTexture.removeMarkers('A', 'half').addMarker('A', 0.9, 'new');
  crowd.update(0.9);
  expect(marks.splice(0)).toEqual(['0 A half 1', '1 A half 1', '0 A new 1', '1 A new 1']);
});

test('events of markers survive a crowd that gets more room while they are dispatched', () => {
  const crowd = createStickCrowd(2, { Walk: 1 });
  crowd.boneTexture.addMarker('Walk', 0.5, 'step');
  crowd.playAll('Walk');
  const heard: string[] = [];
  crowd.addEventListener('marker', ({ instanceId, name }) => heard.push(`${instanceId} ${name}`));
  crowd.addEventListener('marker', () => {
    if (crowd.capacity < 5) crowd.setCapacity(5);
  });
  crowd.update(0.6);
  expect(heard).toEqual(['0 step', '1 step']);
  crowd.update(1);
  expect(heard.filter((what) => what === '0 step').length).toBe(2);
});

test('of thousands each is told of once, in the order of time, also when some were swapped and there is more room', () => {
  const count = 3000;
  const crowd = createCrowd(count);
  const ends = Array.from({ length: count }, (_, i) => 1 - (((i * 7919) % 997) + 0.5) / 1000);
  crowd.playAll('A', { loop: LoopOnce, time: (i) => 1 - ends[i] });
  const heard: number[] = [];
  crowd.addEventListener('finished', ({ instanceId }) => heard.push(instanceId));
  crowd.update(0);
  for (let i = 0; i < 1000; i += 100) {
    crowd.swapInstances(i, count - 1 - i);
    [ends[i], ends[count - 1 - i]] = [ends[count - 1 - i], ends[i]];
  }
  crowd.setCapacity(4 * count);
  for (let update = 0; update < 20; update++) crowd.update(0.05);
  const inOrder = ends
    .map((_, i) => i)
    .sort((a, b) => (Math.abs(ends[a] - ends[b]) < 1e-4 ? a - b : ends[a] - ends[b]));
  expect(heard).toEqual(inOrder);
});
