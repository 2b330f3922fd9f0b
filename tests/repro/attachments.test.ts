import { BoxGeometry, Color, LoopOnce, MeshBasicMaterial } from 'three';
import { describe, expect, test } from 'vitest';
import { SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

function createCrowd(count = 2) {
  const { root, clips } = createStick();
  return SkinnedInstancedMesh.from(root, clips, count);
}

const attachBox = (crowd: SkinnedInstancedMesh) =>
  crowd.attach('Tip', new BoxGeometry(), new MeshBasicMaterial());

describe('events of a crowd with attachments', () => {
  test('listening on an attachment takes nothing from the crowd, and hears the same', () => {
    const crowd = createCrowd();
    const hat = attachBox(crowd);
    const feather = attachBox(hat);
    const heard: string[] = [];
    crowd.addEventListener('finished', ({ instanceId }) => heard.push(`crowd ${instanceId}`));
    hat.addEventListener('finished', ({ instanceId, target }) => {
      expect(target).toBe(hat);
      heard.push(`hat ${instanceId}`);
    });
    feather.addEventListener('loop', ({ instanceId }) => heard.push(`feather ${instanceId}`));
    crowd.play(0, 'Slide', { loop: LoopOnce }).play(1, 'Slide').update(1.1);
    expect(heard.sort()).toEqual(['crowd 0', 'feather 1', 'hat 0']);
  });

  test('an attachment alone is heard, until it is disposed', () => {
    const crowd = createCrowd();
    const hat = attachBox(crowd);
    let loops = 0;
    hat.addEventListener('loop', () => loops++);
    crowd.play(0, 'Slide').update(1.1);
    expect(loops).toBe(1);
    hat.dispose();
    crowd.update(1);
    expect(loops).toBe(1);
  });

  test('a listener may dispose an attachment', () => {
    const crowd = createCrowd();
    const hats = [attachBox(crowd), attachBox(crowd)];
    let loops = 0;
    hats[0].addEventListener('loop', () => hats[0].dispose());
    hats[1].addEventListener('loop', () => loops++);
    crowd.play(0, 'Slide').update(1.1).update(1);
    expect(loops).toBe(2);
    expect(crowd.children).toEqual([hats[1]]);
  });
});

test('swapping on an attachment swaps the whole character', () => {
  const crowd = createCrowd();
  const hat = attachBox(crowd);
  const red = new Color(1, 0, 0);
  crowd.setColorAt(0, red);
  hat.setColorAt(0, red);
  crowd.play(1, 'Slide');
  hat.swapInstances(0, 1);
  for (const mesh of [crowd, hat]) expect(mesh.getClipAt(0)).toBe('Slide');
  for (const mesh of [crowd, hat])
    expect(mesh.instanceColor?.array.slice(3)).toEqual(new Float32Array([1, 0, 0]));
});
