import { BoxGeometry, Matrix4, MeshBasicMaterial, type Object3D, PerspectiveCamera } from 'three';
import { expect, test } from 'vitest';
import type { CrowdMesh } from '../../../lib/crowd/CrowdMesh.js';
import { addAttachmentLevel, addLevel, levelsOf } from '../../support/levels.js';
import { bakeCharacter, createLevel, JointAttachment, SkinnedInstancedMesh } from '../../support/library.js';
import { random as createRandom, SEEDS } from '../../support/random.js';
import { createStick } from '../../support/stick.js';

const COUNT = 100;
const box = new BoxGeometry();
const material = new MeshBasicMaterial();

function createCrowd() {
  const { root, clips } = createStick();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), COUNT);
  for (let i = 0; i < COUNT; i++) crowd.setMatrixAt(i, new Matrix4().makeTranslation(0, 0, -i));
  crowd.perObjectFrustumCulled = false;
  crowd.updateMatrixWorld();
  return { crowd, root };
}

const camera = new PerspectiveCamera();
camera.updateMatrixWorld();

let frame = 0;

/** Ids of the instances that a mesh draws. */
function drawnBy(mesh: CrowdMesh, from = camera, viewer = camera): number[] {
  const { crowd, level } = mesh;
  const { count, list, isWhole } = crowd.views.of(from, mesh.matrixWorld, frame, viewer).of(level);
  return Array.from({ length: count }, (_, i) => (isWhole === true ? i : list.get(i)));
}

test.each(SEEDS)('attachments draw what their levels say, each instance once, seed %i', (seed) => {
  const random = createRandom(seed);
  for (let round = 0; round < 10; round++) {
    const { crowd, root } = createCrowd();
    const starts = [20, 40, 60, 80].filter(() => random() < 0.8);
    const undrawn = starts.length - 1 - (random() < 0.5 ? 0 : 10);
    const noneFrom = random() < 0.5 ? 1 + Math.floor(random() * 4) : Infinity;
    starts.forEach((start, i) => {
      const options = { attachments: i + 1 !== noneFrom };
      if (i === undrawn) addLevel(crowd, null, start, 0, options);
      else addLevel(crowd, createLevel(crowd, root), start, 0, options);
    });
    const sword = new JointAttachment(crowd, 0, box, material);
    const gem = new JointAttachment(sword, 0, box, material);
    const hiddenFrom = random() < 0.5 ? 1 + Math.floor(random() * 4) : Infinity;
    if (hiddenFrom < Infinity) addAttachmentLevel(sword, null, hiddenFrom);
    const swords: [number, CrowdMesh][] = [[0, sword]];
    for (const from of [1, 2, 3, 4])
      if (random() < 0.4) swords.push([from, addAttachmentLevel(sword, box, from)]);

    for (let step = 0; step < 4; step++) {
      frame++;
      if (step > 0) crowd.setVisibleAt(Math.floor(random() * COUNT), false);
      levelsOf(crowd).shadowLevel = step % 2;
      const light = step > 1 ? camera.clone() : camera;
      const found = new Map(swords.map(([, mesh]) => [mesh, drawnBy(mesh, light)]));
      const gems = drawnBy(gem, light);
      const levels = levelsOf(crowd).levels.map((_, level) => {
        const view = crowd.views
          .of(light, crowd.matrixWorld, frame, camera)
          .of(starts.length === 0 ? null : level);
        return Array.from({ length: view.count }, (_, i) => (view.isWhole === true ? i : view.list.get(i)));
      });
      const expected = new Map<CrowdMesh, number[]>(swords.map(([, mesh]) => [mesh, []]));
      levels.forEach((ids, level) => {
        const isDrawn =
          levelsOf(crowd).levels[level].object !== null && level < noneFrom && level < hiddenFrom;
        const shown = swords.filter(([from]) => from <= level).at(-1)?.[1];
        if (isDrawn) expected.get(shown as CrowdMesh)?.push(...ids);
      });
      for (const [mesh, ids] of expected) expect(found.get(mesh)).toEqual(ids.sort((a, b) => a - b));
      expect(gems, 'what hangs on it').toEqual([...expected.values()].flat().sort((a, b) => a - b));
    }
    crowd.dispose();
  }
});

test('levels of an attachment are nothing to be drawn where the crowd has none', () => {
  const { crowd, root } = createCrowd();
  const level = addAttachmentLevel(new JointAttachment(crowd, 0, box, material), box, 1);
  const isDrawn = (object: Object3D) => object.layers.test(camera.layers);
  const copied = () => isDrawn(crowd.clone().attachments[0].children[0]);
  expect([isDrawn(level), copied()]).toEqual([false, false]);
  const far = addLevel(crowd, root, 20);
  expect([isDrawn(level), copied()]).toEqual([true, true]);
  levelsOf(crowd).remove(far);
  expect([isDrawn(level), far.parent]).toEqual([false, null]);
  crowd.dispose();
});
