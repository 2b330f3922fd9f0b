import { Vector3 } from 'three';
import { expect, test, vi } from 'vitest';
import { GAITS } from '../../demos/swarm/rules.js';
import { Swarm } from '../../demos/swarm/Swarm.js';
import { SwarmInWorker } from '../../demos/swarm/SwarmInWorker.js';
import { createGaited } from '../support/coarseCharacter.js';
import { bakeCharacter, SkinnedInstancedMesh } from '../support/library.js';

test('a worker steers a swarm as its twin does, step by step, and the page takes none', async () => {
  const count = 200;
  const { root, clips } = createGaited();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), count);
  const { array } = crowd.instanceMatrix;
  const light = new Vector3(6, 0, -9);
  const blastAt = (step: number) => new Vector3(2, -3, step === 20 ? 1 : 0);
  const deltaAt = (step: number) => 0.01 + (step % 5) / 100;

  const twin = new Swarm(count, new Float32Array(count * 16));
  const expected = Array.from({ length: 40 }, (_, step) => {
    twin.blast.splice(0, 3, ...blastAt(step).toArray());
    for (let i = 0; i < (step === 0 ? 30 : 1); i++) twin.step(deltaAt(step), light.x, light.z);
    return { matrices: twin.matrices.slice(), gaits: twin.gaits.slice() };
  });

  const stepped = vi.spyOn(Swarm.prototype, 'step');
  const swarm = new SwarmInWorker(crowd);
  const seen = new Set<number>();
  for (let step = 0; step <= expected.length; step++) {
    const answer = new Promise((resolve) =>
      swarm.worker.addEventListener('message', resolve, { once: true }),
    );
    const blast = blastAt(step);
    swarm.step(deltaAt(step), light, blast, step === 0 ? 30 : 1);
    expect(blast.z).toBe(0);
    await answer;
    crowd.update(deltaAt(step));
    if (step === 0) continue;
    const { matrices, gaits } = expected[step - 1];
    expect(array, `step ${step}`).toEqual(matrices);
    for (let i = 0; i < count; i++) {
      const gait = gaits[i * 2];
      seen.add(gait);
      expect(crowd.getClipAt(i)).toBe([...GAITS.map(([name]) => name), 'Fall'][gait]);
      expect(crowd.getTimeScaleAt(i)).toBeCloseTo(gaits[i * 2 + 1], 9);
    }
  }
  expect(seen.size).toBe(4);
  expect(crowd.instanceMatrix.array).toBe(array);
  expect(stepped).not.toHaveBeenCalled();

  // What happens while the worker is busy is in its next step.
  const blast = blastAt(20);
  swarm.step(0.01, light, blast);
  blast.z = 1;
  swarm.step(0.01, light, blast);
  expect(blast.z).toBe(1);
  swarm.worker.terminate();
  crowd.dispose();
});
