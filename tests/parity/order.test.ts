import { Box3, Group, Matrix4, Mesh, MeshBasicMaterial, MeshStandardMaterial, type Scene } from 'three';
import { describe, expect, test, vi } from 'vitest';
import { TWINS } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { expectSameDrawn } from '../support/comparePair.js';
import { useDrawing } from '../support/drawings.js';
import { bakeCharacter, DrawOrder, LoopOnceOptions, SkinnedInstancedMesh } from '../support/library.js';
import { createStage } from '../support/pictures.js';
import { Reference } from '../support/reference.js';

/** From the nearest to the farthest, as the camera of the stage sees them: one covers part of the next. */
const PLACES = [2, 1, 0, -1, -2].map((at) => new Matrix4().makeTranslation(at * 0.35, -0.12, at * 0.75));

/** The same characters as clones and as a crowd, their feet in the ground. */
function createRow(material = new MeshStandardMaterial({ color: 0xcc8844 })) {
  const { root, clips } = createCoarseCharacter();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), PLACES.length);
  const clones = new Group();
  const bounds = new Box3();
  crowd.material = material;
  PLACES.forEach((matrix, i) => {
    const clip = i % clips.length;
    const time = 0.3 * clips[clip].duration;
    crowd.setMatrixAt(i, matrix);
    crowd.play(i, clip, { ...LoopOnceOptions, time });
    const reference = new Reference(root, matrix).pose(clips[clip], time);
    for (const mesh of reference.meshes) mesh.material = material;
    reference.forEachVertex((_, position) => bounds.expandByPoint(position));
    clones.add(reference.root);
  });
  crowd.update(0);
  bounds.min.y = 0;
  return { crowd, clones, bounds };
}

/** The ground of the stage in a material of its own, at the height of 0. */
function groundOf(scene: Scene, material: MeshBasicMaterial): Mesh {
  const ground = scene.children.find((child) => child instanceof Mesh) as Mesh;
  ground.position.y = 0;
  ground.material = material;
  return ground;
}

describe.each(TWINS)('%s', (twin) => {
  const { draw } = useDrawing(twin);

  test.each([
    ['that is opaque, drawn first by its renderOrder', { color: 0x99aa88 }, -1],
    ['that is transparent', { color: 0x99aa88, transparent: true, opacity: 0.6 }, 0],
  ])('characters stand as clones do in a ground without depth %s', async (label, parameters, renderOrder) => {
    const { crowd, clones, bounds } = createRow();
    const stage = createStage(bounds);
    const ground = groundOf(stage.scene, new MeshBasicMaterial({ ...parameters, depthWrite: false }));
    ground.renderOrder = renderOrder;
    await expectSameDrawn(label, draw, stage, clones, crowd);
    crowd.dispose();
  });

  test('transparent characters cover each other as clones do with a DrawOrder, without which a warning names it', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const material = new MeshStandardMaterial({ color: 0xcc8844, transparent: true, opacity: 0.5 });
    const { crowd, clones, bounds } = createRow(material);
    const stage = createStage(bounds);
    for (let i = 0; i < 2; i++) await draw(stage.scene, stage.camera, crowd);
    expect(warn.mock.calls.flat().filter((text) => /DrawOrder/.test(text))).toEqual([
      expect.stringMatching(/transparent instances.*new DrawOrder\(crowd, \{ sortObjects: true \}\)/),
    ]);
    new DrawOrder(crowd, { sortObjects: true });
    await expectSameDrawn('transparent', draw, stage, clones, crowd);
    crowd.dispose();
  });
});
