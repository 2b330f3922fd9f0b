import { Vector3 } from 'three';
import { expect, test } from 'vitest';
import { captureGeometry } from '../support/capture.js';
import { captureOf, TWINS } from '../support/captures.js';
import { BoneTexture, SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

test.each(TWINS)(
  '%s: a renderer poses by the tracks of the crowd, also where another drew it by others meanwhile',
  async (twin) => {
    const { root, clips } = createStick({ Short: 0.2, Long: 1 });
    const bake = (names: string[]) => BoneTexture.bake(root, clips, { encoding: 'tracks', clips: names });
    const [one, other] = [bake(['Long']), bake(['Short', 'Long'])];
    const crowd = SkinnedInstancedMesh.from(root, clips, 1, { boneTexture: one });
    const [first, second] = [await captureOf(twin), await captureOf(twin)];
    const vertices = crowd.geometry.getAttribute('position').count;
    crowd.geometry = captureGeometry(crowd.geometry);
    crowd.material = first.material(vertices);
    crowd.play(0, 'Long').update(0.5);

    await first.read(crowd, vertices, 1);
    crowd.boneTexture = other;
    await second.read(crowd, vertices, 1);
    crowd.boneTexture = one;
    crowd.update(0.1);
    const drawn = await first.read(crowd, vertices, 1);

    const expected = new Vector3();
    for (let vertex = 0; vertex < vertices; vertex++) {
      crowd.getVertexPositionAt(0, vertex, expected);
      expect(new Vector3().fromArray(drawn, vertex * 3).distanceTo(expected)).toBeLessThan(1e-5);
    }
    first.dispose();
    second.dispose();
  },
);
