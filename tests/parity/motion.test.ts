import { wind } from 'skinned-instanced-mesh/motion';
import { Vector3 } from 'three';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { captureGeometry } from '../support/capture.js';
import { captureOf, TWINS } from '../support/captures.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { bladeRoot, random, somewhere } from '../support/meadow.js';

/** How far a vertex on the GPU may be from that of the CPU, in units of the scene. */
const BOUND = 1e-5;

const INSTANCES = 5;

describe.each(TWINS)('%s', (twin) => {
  let how: Awaited<ReturnType<typeof captureOf>>;
  beforeAll(async () => {
    how = await captureOf(twin);
  });
  afterAll(() => how.dispose());

  /** The farthest that a vertex is from where the CPU has it. */
  async function farthest(crowd: SkinnedInstancedMesh): Promise<number> {
    const { count } = crowd.geometry.getAttribute('position');
    crowd.geometry = captureGeometry(crowd.geometry);
    crowd.material = how.material(count);
    const drawn = await how.read(crowd, count, crowd.count);
    const vertex = new Vector3();
    const expected = new Vector3();
    let most = 0;
    for (let i = 0; i < crowd.count; i++) {
      for (let v = 0; v < count; v++) {
        crowd.getVertexPositionAt(i, v, expected).applyMatrix4(crowd.matrixWorld);
        const distance = vertex.fromArray(drawn, (i * count + v) * 3).distanceTo(expected);
        if (!(distance <= most)) most = distance;
      }
    }
    return most;
  }

  function createGrass(): SkinnedInstancedMesh {
    const crowd = SkinnedInstancedMesh.from(bladeRoot(), [], INSTANCES);
    const next = random(3);
    for (let i = 0; i < INSTANCES; i++) crowd.setMatrixAt(i, somewhere(next, 8));
    crowd.position.set(1, 0.2, -2);
    crowd.rotation.y = 0.7;
    crowd.updateMatrixWorld();
    return crowd;
  }

  test('wind moves grass without clips as on the CPU', async () => {
    const crowd = createGrass();
    crowd.motion = wind({ strength: 0.4, direction: new Vector3(1, 0, 0.4) });
    crowd.swapInstances(1, 3);
    crowd.update(1.37);
    expect(await farthest(crowd)).toBeLessThan(BOUND);
  });
});
