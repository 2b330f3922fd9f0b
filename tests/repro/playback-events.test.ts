import { LoopOnce } from 'three';
import { describe, expect, test } from 'vitest';
import { SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

function createCrowd(count: number) {
  const { root, clips } = createStick({ A: 1, B: 2 });
  return SkinnedInstancedMesh.from(root, clips, count);
}

describe('listeners', () => {
  test('may remove themselves while more is due in the same update', () => {
    const crowd = createCrowd(3);
    crowd.playAll('A', { loop: LoopOnce });
    const heard: number[] = [];
    const once = ({ instanceId }: { instanceId: number }) => {
      heard.push(instanceId);
      crowd.removeEventListener('finished', once);
    };
    crowd.addEventListener('finished', once);
    crowd.update(2);
    crowd.update(2);
    expect(heard).toEqual([0]);
    // and come back
    crowd.playAll('A', { loop: LoopOnce });
    crowd.addEventListener('finished', once);
    crowd.update(2);
    expect(heard).toEqual([0, 0]);
  });

  test('may be replaced by others while more is due', () => {
    const crowd = createCrowd(3);
    crowd.boneTexture.addMarker('A', 0.5, 'half');
    crowd.playAll('A');
    const heard: string[] = [];
    const first = () => {
      crowd.removeEventListener('mark', first);
      crowd.addEventListener('loop', ({ instanceId }) => heard.push(`${instanceId} loop`));
      heard.push('mark');
    };
    crowd.addEventListener('mark', first);
    crowd.update(0.6);
    crowd.update(0.6);
    expect(heard).toEqual(['mark', '0 loop', '1 loop', '2 loop']);
  });

  test('may take the marks away that are due', () => {
    const crowd = createCrowd(2);
    crowd.boneTexture.addMarker('A', 0.2, 'first').addMarker('A', 0.3, 'second');
    crowd.playAll('A');
    const heard: string[] = [];
    crowd.addEventListener('loop', ({ instanceId }) => heard.push(`${instanceId} loop`));
    crowd.addEventListener('mark', ({ instanceId, name }) => {
      heard.push(`${instanceId} ${name}`);
      crowd.boneTexture.removeMarkers('A');
    });
    crowd.update(0.5);
    crowd.update(0.6);
    expect(heard).toEqual(['0 first', '0 loop', '1 loop']);
  });

  test('may update the crowd', () => {
    const crowd = createCrowd(2);
    crowd.playAll('A');
    let loops = 0;
    crowd.addEventListener('loop', ({ loopDelta }) => {
      loops += loopDelta;
      if (loops < 10) crowd.update(0.5);
    });
    for (let i = 0; i < 10; i++) crowd.update(0.5);
    expect(loops).toBe(2 * Math.floor(crowd.elapsed));
  });
});

describe('an instance that was removed', () => {
  const remove = (crowd: SkinnedInstancedMesh, index: number) => {
    crowd.swapInstances(index, crowd.count - 1);
    crowd.count--;
  };

  test('has no events any more, and the others keep theirs', () => {
    const crowd = createCrowd(3);
    crowd.boneTexture.addMarker('A', 0.5, 'half');
    crowd.playAll('A', { time: (i) => 0.1 * i });
    const heard: string[] = [];
    crowd.addEventListener('loop', ({ instanceId }) => heard.push(`${instanceId} loop`));
    crowd.addEventListener('mark', ({ instanceId }) => heard.push(`${instanceId} half`));
    remove(crowd, 0);
    crowd.update(1);
    // 0 is the one that was the last, 0.2 s ahead
    expect(heard).toEqual(['0 half', '1 half', '0 loop', '1 loop']);
  });

  test('in a listener: the one that takes its place still has the event it was due', () => {
    const crowd = createCrowd(4);
    const names = ['a', 'b', 'c', 'd'];
    crowd.playAll('A', { loop: LoopOnce });
    const heard: string[] = [];
    crowd.addEventListener('finished', ({ instanceId }) => {
      heard.push(names[instanceId]);
      names[instanceId] = names[crowd.count - 1];
      remove(crowd, instanceId);
    });
    crowd.update(2);
    crowd.update(2);
    expect(heard.sort()).toEqual(['a', 'b', 'c', 'd']);
    expect(crowd.count).toBe(0);
  });

  test('in a listener, of another: what was due is told of no more', () => {
    const crowd = createCrowd(3);
    crowd.playAll('A', { loop: LoopOnce });
    const heard: number[] = [];
    crowd.addEventListener('finished', ({ instanceId }) => {
      heard.push(instanceId);
      if (crowd.count === 3) remove(crowd, 1);
    });
    crowd.update(2);
    crowd.update(2);
    expect(heard).toEqual([0, 1]);
  });

  test('has events again once it is added again', () => {
    const crowd = createCrowd(2);
    crowd.playAll('A');
    const heard: string[] = [];
    crowd.addEventListener('loop', ({ instanceId, loopDelta }) => heard.push(`${instanceId} ${loopDelta}`));
    crowd.count = 1;
    crowd.update(3.5);
    expect(heard.splice(0)).toEqual(['0 3']);
    crowd.count = 2;
    crowd.update(1);
    expect(heard.splice(0)).toEqual(['0 1', '1 1']);
    crowd.count = 0;
    crowd.update(1);
    crowd.count = 2;
    crowd.play(1, 'B').update(2.1);
    expect(heard.splice(0).sort()).toEqual(['0 2', '1 1']);
  });
});
