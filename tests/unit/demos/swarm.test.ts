import { expect, test } from 'vitest';
import { LYING, nearestOn, OBSTACLES, WALLS } from '../../../demos/swarm/rules.js';
import { Swarm } from '../../../demos/swarm/Swarm.js';

const COUNT = 40;
const STEP = 1 / 30;
const createSwarm = () => new Swarm(COUNT, new Float32Array(COUNT * 16));

test('a swarm comes round a wall to a light behind it, and through nothing', () => {
  const swarm = createSwarm();
  const { agents } = swarm;
  const [wall] = WALLS;
  // Before the middle of the wall stand all, behind it is the light.
  const [middleX, middleZ] = [wall.x + wall.alongX / 2, wall.z + wall.alongZ / 2];
  const light = [middleX + wall.alongZ * 2, middleZ - wall.alongX];
  for (let i = 0; i < COUNT; i++) {
    agents[i * 4] = middleX - wall.alongZ * 0.8 + (i % 8) * 0.7;
    agents[i * 4 + 1] = middleZ + wall.alongX * 0.5 + Math.floor(i / 8) * 0.7;
  }
  let inside = 0;
  for (let step = 0; step < 20 / STEP; step++) {
    swarm.step(STEP, light[0], light[1]);
    for (const obstacle of OBSTACLES)
      for (let i = 0; i < COUNT; i++) {
        const [x, z] = [agents[i * 4], agents[i * 4 + 1]];
        const share = nearestOn(obstacle, x, z);
        const off = Math.hypot(
          x - obstacle.x - obstacle.alongX * share,
          z - obstacle.z - obstacle.alongZ * share,
        );
        inside = Math.max(inside, obstacle.radius - off);
      }
  }
  expect(inside).toBeLessThan(0.01);
  for (let i = 0; i < COUNT; i++)
    expect(Math.hypot(agents[i * 4] - light[0], agents[i * 4 + 1] - light[1])).toBeLessThan(8);
});

test('those near a blast are thrown, lie, and are up again', () => {
  const swarm = createSwarm();
  const { agents, traits, gaits, blast } = swarm;
  swarm.step(STEP, 0, 0);
  blast.splice(0, 3, agents[0] + 0.5, agents[1], 1);
  swarm.step(STEP, 0, 0);
  blast[2] = 0;
  expect([gaits[0], agents[2] < 0]).toEqual([3, true]);
  const lies = () => [...traits.keys()].filter((at) => at % 4 === 3 && traits[at] > 0).length;
  expect(lies()).toBeGreaterThan(3);
  expect(lies()).toBeLessThan(COUNT);
  for (let time = 0; time < LYING - 0.2; time += STEP) swarm.step(STEP, 0, 0);
  expect(gaits[0]).toBe(3);
  for (let time = 0; time < 0.4; time += STEP) swarm.step(STEP, 0, 0);
  expect(gaits[0]).toBeLessThan(3);
});
