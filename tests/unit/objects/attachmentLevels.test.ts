import { BoxGeometry, Matrix4, MeshBasicMaterial, PerspectiveCamera, Raycaster, Vector3 } from 'three';
import { expect, test } from 'vitest';
import type { AttachmentLevel } from '../../../lib/objects/AttachmentLevel.js';
import type { CrowdMesh } from '../../../lib/objects/CrowdMesh.js';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { random as createRandom, SEEDS } from '../../support/random.js';
import { createStick } from '../../support/stick.js';

const COUNT = 100;
const box = new BoxGeometry();
const material = new MeshBasicMaterial();

function createCrowd() {
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, COUNT, { encoding: 'tracks' });
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
      if (i === undrawn) crowd.addLevel(null, start, 0, options);
      else crowd.addLevel(root, start, 0, options);
    });
    const sword = crowd.attachToJoint(0, box, material);
    const gem = sword.attachToJoint(0, box, material);
    const hiddenFrom = random() < 0.5 ? 1 + Math.floor(random() * 4) : Infinity;
    if (hiddenFrom < Infinity) sword.addLevel(null, hiddenFrom);
    const swords: [number, CrowdMesh][] = [[0, sword]];
    for (const from of [1, 2, 3, 4]) if (random() < 0.4) swords.push([from, sword.addLevel(box, from)]);

    for (let step = 0; step < 4; step++) {
      frame++;
      if (step > 0) crowd.setVisibleAt(Math.floor(random() * COUNT), false);
      crowd.shadowLevel = step % 2;
      const light = step > 1 ? camera.clone() : camera;
      const found = new Map(swords.map(([, mesh]) => [mesh, drawnBy(mesh, light)]));
      const gems = drawnBy(gem, light);
      const levels = crowd.levels.map((_, level) => {
        const view = crowd.views
          .of(light, crowd.matrixWorld, frame, camera)
          .of(starts.length === 0 ? null : level);
        return Array.from({ length: view.count }, (_, i) => (view.isWhole === true ? i : view.list.get(i)));
      });
      const expected = new Map<CrowdMesh, number[]>(swords.map(([, mesh]) => [mesh, []]));
      levels.forEach((ids, level) => {
        const isDrawn = crowd.levels[level].object !== null && level < noneFrom && level < hiddenFrom;
        const shown = swords.filter(([from]) => from <= level).at(-1)?.[1];
        if (isDrawn) expected.get(shown as CrowdMesh)?.push(...ids);
      });
      for (const [mesh, ids] of expected) expect(found.get(mesh)).toEqual(ids.sort((a, b) => a - b));
      expect(gems, 'what hangs on it').toEqual([...expected.values()].flat().sort((a, b) => a - b));
    }
    crowd.dispose();
  }
});

test('levels of an attachment go with its crowd, and with copies of it', () => {
  const { crowd, root } = createCrowd();
  const sword = crowd.attachToJoint(0, box, material, new Matrix4().makeTranslation(0, 0.5, 0));
  expect(drawnBy(sword.addLevel(box, 1)), 'a crowd without levels').toEqual([]);
  sword.addLevel(null, 2);
  const clone = crowd.clone();
  clone.updateMatrixWorld();
  for (const one of [crowd, clone]) {
    one.addLevel(root, 30);
    one.addLevel(root, 60);
    const [own] = one.attachments.filter((mesh) => mesh.type === 'JointAttachment');
    const [far] = own.attachments as AttachmentLevel[];
    expect(far.geometry.getAttribute('position').array).toEqual(own.geometry.getAttribute('position').array);
    const ids = drawnBy(own);
    expect(drawnBy(far)).toEqual(Array.from({ length: 30 }, (_, i) => i + ids.length));
    far.dispose();
    expect(drawnBy(own).length).toBe(ids.length + 30);
    expect(own.attachments).toEqual([]);
  }
  clone.dispose();
  crowd.dispose();
});

test('rays hit an attachment whatever is drawn of it', () => {
  const { crowd, root } = createCrowd();
  crowd.addLevel(root, 1e-3, 0, { attachments: false });
  const sword = crowd.attachToJoint(0, box, material, new Matrix4().makeTranslation(5, 0, 0));
  sword.addLevel(box, 1);
  const ray = new Raycaster(new Vector3(5, 0, 10), new Vector3(0, 0, -1));
  crowd.updateMatrixWorld();
  const hits = ray.intersectObject(crowd).filter(({ instanceId }) => instanceId === 0);
  expect(hits.map(({ object }) => object)).toEqual([sword, sword]);
});

test('what is no level is refused', () => {
  const { crowd } = createCrowd();
  const sword = crowd.attachToJoint(0, box, material);
  for (const from of [0, 8, 1.5, Number.NaN]) {
    expect(() => sword.addLevel(box, from)).toThrow(
      `JointAttachment.addLevel: ${from} is no level of the crowd`,
    );
  }
  expect(() => sword.addLevel({} as BoxGeometry, 1)).toThrow('is no geometry');
});

test('levels of an attachment are nothing to be drawn where the crowd has none', () => {
  const { crowd, root } = createCrowd();
  const level = crowd.attachToJoint(0, box, material).addLevel(box, 1);
  expect(level.visible).toBe(false);
  expect((crowd.clone().attachments[0].children[0] as AttachmentLevel).visible).toBe(false);
  const far = crowd.addLevel(root, 20);
  expect(level.visible).toBe(true);
  expect((crowd.clone().attachments[0].children[0] as AttachmentLevel).visible).toBe(true);
  level.visible = false;
  expect(level.visible).toBe(false);
  level.visible = true;
  crowd.removeLevel(crowd.levels[1]);
  expect([level.visible, far.parent]).toEqual([false, null]);
  crowd.dispose();
});

test('lists of several levels that nothing asks for any more make room for others', () => {
  const { crowd, root } = createCrowd();
  for (const start of [10, 20, 30, 40, 50, 60]) crowd.addLevel(root, start);
  const { levels } = crowd.crowd;
  const listsOf = (mesh: CrowdMesh) => {
    for (let i = 0; i < 40; i++) {
      crowd.views.of(camera, crowd.matrixWorld, ++frame).of(mesh.level);
    }
    return mesh.level;
  };
  for (let round = 0; round < 3; round++) {
    for (let from = 2; from <= 6; from++) {
      const sword = crowd.attachToJoint(0, box, material);
      const level = sword.addLevel(box, from);
      const list = listsOf(sword);
      expect(list, `round ${round}, from ${from}`).toBeGreaterThanOrEqual(8);
      expect(levels.mixed[(list as number) - 8]).toBe((1 << from) - 1);
      expect(drawnBy(sword).length).toBe(10 * from);
      if (from < 6) expect(levels.mixed[(listsOf(level) as number) - 8]).toBe(0b1111111 & ~((1 << from) - 1));
      sword.dispose();
    }
  }
  expect(levels.mixed.length).toBeLessThanOrEqual(8);
  crowd.dispose();
});
