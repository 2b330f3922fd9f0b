import { Float32BufferAttribute, Mesh, MeshBasicMaterial, type Object3D, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { captureGeometry } from '../support/capture.js';
import { captureOf, TWINS } from '../support/captures.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

describe.each(TWINS)('%s', (twin) => {
  test('draws the parts that are shown', async () => {
    const how = await captureOf(twin);
    const { root, clips } = createStick();
    const tip = root.getObjectByName('Tip') as Object3D;
    const rest = new MeshBasicMaterial();
    for (const name of ['A', 'B']) {
      const triangle = new Mesh(createStick().mesh.geometry.clone(), rest);
      triangle.geometry.deleteAttribute('skinIndex');
      triangle.geometry.deleteAttribute('skinWeight');
      triangle.geometry.setAttribute('position', new Float32BufferAttribute([9, 0, 0, 9, 1, 0, 9, 0, 1], 3));
      triangle.name = name;
      tip.add(triangle);
    }
    const count = 300;
    const crowd = SkinnedInstancedMesh.from(root, clips, count);
    const vertices = crowd.geometry.getAttribute('position').count;
    const parts = Array.from({ length: vertices }, (_, i) =>
      crowd.geometry.getAttribute('partIndex').getX(i),
    );
    crowd.geometry = captureGeometry(crowd.geometry);
    crowd.material = how.material(vertices);
    crowd.playAll('Slide', { timeScale: 0, time: 0.5 });

    const check = async (shown: (instance: number, name: string) => boolean) => {
      const drawn = await how.read(crowd, vertices, count);
      const expected = new Vector3();
      for (const instance of [0, 1, 7, 255, 256, 299]) {
        for (let vertex = 0; vertex < vertices; vertex++) {
          const at = (instance * vertices + vertex) * 3;
          crowd.getVertexPositionAt(instance, vertex, expected);
          if (!shown(instance, crowd.partNames[parts[vertex]])) expected.set(0, 0, 0);
          const off = new Vector3().fromArray(drawn, at).distanceTo(expected);
          expect(off, `instance ${instance}, vertex ${vertex}`).toBeLessThan(1e-4);
        }
      }
    };
    await check(() => true);
    crowd.setPartVisibleAt({ start: 0, count }, 'B', false);
    crowd.setPartVisibleAt(7, 'A', false);
    await check((i, name) => (name === 'A' ? i !== 7 : name !== 'B'));
    crowd.setPartVisibleAt(256, 'B', true).setPartVisibleAt(299, 0, false);
    await check((i, name) => (name === 'A' ? i !== 7 : name === 'B' ? i === 256 : i !== 299));
    how.dispose();
  });
});
