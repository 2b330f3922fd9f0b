import { describe, expect, test } from 'vitest';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { createStick } from '../../support/stick.js';

function createCrowd() {
  const { root, clips } = createStick({ Walk: 1 });
  const crowd = SkinnedInstancedMesh.from(root, clips, 2);
  crowd.boneTexture.addMarker('Walk', 0.5, 'step');
  crowd.playAll('Walk');
  const heard: string[] = [];
  const hear = (type: 'marker' | 'mark') => {
    const listener = (event: { type: string; instanceId: number; name: string }) =>
      heard.push(`${event.type} ${event.instanceId} ${event.name}`);
    crowd.addEventListener(type, listener);
    return () => crowd.removeEventListener(type, listener);
  };
  return { crowd, heard, hear };
}

describe('events of markers', () => {
  test('go by the name marker, and by the former name to who listens to that', () => {
    const { crowd, heard, hear } = createCrowd();
    hear('marker');
    crowd.update(0.6);
    expect(heard.splice(0)).toEqual(['marker 0 step', 'marker 1 step']);
    const stop = hear('mark');
    crowd.update(1);
    expect(heard.splice(0)).toEqual(['marker 0 step', 'mark 0 step', 'marker 1 step', 'mark 1 step']);
    stop();
    crowd.update(1);
    expect(heard.splice(0)).toEqual(['marker 0 step', 'marker 1 step']);
  });

  test('go by the former name alone', () => {
    const { crowd, heard, hear } = createCrowd();
    hear('mark');
    crowd.update(0.6);
    expect(heard).toEqual(['mark 0 step', 'mark 1 step']);
  });

  test('survive a crowd that gets more room while they are dispatched', () => {
    const { crowd, heard, hear } = createCrowd();
    hear('marker');
    crowd.addEventListener('marker', () => {
      if (crowd.capacity < 5) crowd.setCapacity(5);
    });
    crowd.update(0.6).update(1);
    expect(heard.filter((what) => what === 'marker 0 step').length).toBe(2);
  });
});
