import { expect, test } from 'vitest';
import { createStickCrowd } from '../../support/stick.js';

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
