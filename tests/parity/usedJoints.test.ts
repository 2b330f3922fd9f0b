import { Box3, BoxGeometry, Group, Matrix4, Mesh, MeshStandardMaterial } from 'three';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TWINS } from '../support/captures.js';
import { disposeLater } from '../support/disposeLater.js';
import { type Drawing, drawingOf } from '../support/drawings.js';
import { expectSamePicture } from '../support/expectSamePicture.js';
import { LoopOnceOptions, SkinnedInstancedMesh } from '../support/library.js';
import { nearestFrame } from '../support/pair.js';
import { createStage } from '../support/pictures.js';
import { quantise } from '../support/quantise.js';
import { Reference } from '../support/reference.js';
import { withUnusedBones } from '../support/unusedBones.js';

/** Share of the pixels that the character covers, with its shadow, that may differ. */
const BOUND = 0.0015;

const CLIP = 2;

describe.each(TWINS)('%s', (twin) => {
  let drawing: Drawing;
  beforeAll(async () => {
    drawing = await drawingOf(twin);
  });
  afterAll(() => drawing.dispose());

  test('without joints that no vertex follows a character looks as ever, and holds what it held', async () => {
    const { root, clips } = withUnusedBones();
    // Two meshes with normals of bytes, which they keep where they are merged.
    const hat = new Mesh(new BoxGeometry(0.5, 0.3, 0.5), new MeshStandardMaterial({ color: 0x3366aa }));
    hat.position.y = 0.3;
    root.getObjectByName('Head')?.add(hat);
    root.traverse((node) => {
      if (node instanceof Mesh) quantise(node.geometry);
    });
    const [box, material] = [new BoxGeometry(0.4, 0.4, 0.8), new MeshStandardMaterial({ color: 0xcc4422 })];
    const reference = new Reference(root, new Matrix4());
    reference.root.getObjectByName('Slot')?.add(new Mesh(box, material));
    reference.root.traverse((node) => {
      node.castShadow = node.receiveShadow = true;
    });
    for (const encoding of ['tracks', 'quaternion'] as const) {
      const options = { encoding, joints: 'used', sockets: ['Slot'], fps: 48 } as const;
      const crowd = SkinnedInstancedMesh.from(root, clips, 1, options);
      expect(crowd.geometry.attributes.normal.array).toBeInstanceOf(Int8Array);
      const held = crowd.attachToJoint('Slot', box, material);
      for (const mesh of [crowd, held]) mesh.castShadow = mesh.receiveShadow = true;
      const time = nearestFrame(crowd.boneTexture, CLIP, 0.3 * clips[CLIP].duration);
      crowd.play(0, CLIP, { ...LoopOnceOptions, time });
      reference.pose(clips[CLIP], time);
      const bounds = new Box3();
      reference.forEachVertex((_, position) => bounds.expandByPoint(position));
      const { scene, camera } = createStage(bounds, 'directional');
      const expected = await drawing.draw(scene, camera, reference.root);
      const drawn = await drawing.draw(scene, camera, crowd);
      const empty = await drawing.draw(scene, camera, new Group());
      expectSamePicture(`${encoding}, ${twin}`, expected, drawn, empty, BOUND);
      disposeLater(crowd);
    }
  });
});
