import { BoxGeometry, Color, Matrix4, Mesh, MeshBasicMaterial, Raycaster, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { partsOf } from '../../support/features.js';
import {
  bakeCharacter,
  getSocketMatrix,
  getVertexPosition,
  JointAttachment,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { createStickCrowd, tipOf } from '../../support/stick.js';

const _matrix = new Matrix4();

/** Marks an instance by where it stands. */
function mark(crowd: SkinnedInstancedMesh, id: number, x: number): void {
  crowd.setMatrixAt(id, _matrix.makeTranslation(x, 0, 0));
}

test('hidden and deleted instances are not hit, and bounds leave them out', () => {
  const { root, clips } = createCharacter();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 3);
  const hat = new JointAttachment(crowd, 'Head', new BoxGeometry(), new MeshBasicMaterial());
  for (let i = 0; i < 3; i++) mark(crowd, i, i * 100);
  const hits = (id: number) => {
    crowd.updateMatrixWorld();
    const ray = new Raycaster(new Vector3(id * 100, 0.9, 50), new Vector3(0, 0, -1));
    const onHat = new Vector3().setFromMatrixPosition(_matrix.fromArray(crowd.instanceMatrix.array, id * 16));
    const above = new Raycaster(onHat.setY(50), new Vector3(0, -1, 0));
    for (const object of [crowd, hat]) {
      for (const firstHitOnly of [false, true]) {
        const found = [ray, above].flatMap((one) =>
          Object.assign(one, { firstHitOnly }).intersectObject(object, false),
        );
        if (found.length === 0) return false;
        expect(found.every(({ instanceId }) => instanceId === id)).toBe(true);
      }
    }
    return true;
  };
  const right = () => {
    crowd.updateMatrixWorld();
    if (crowd.boundingSphere === null) crowd.computeBoundingSphere();
    if (crowd.boundingBox === null) crowd.computeBoundingBox();
    const { center, radius } = crowd.boundingSphere as NonNullable<typeof crowd.boundingSphere>;
    const x = crowd.boundingBox?.max.x as number;
    expect(center.x + radius).toBeGreaterThanOrEqual(x - 1e-3);
    return Math.round(x / 100) * 100;
  };
  expect([0, 1, 2].map(hits)).toEqual([true, true, true]);
  expect(right()).toBe(200);
  crowd.setVisibleAt(2, false);
  expect([0, 1, 2].map(hits)).toEqual([true, true, false]);
  expect(right()).toBe(100);
  crowd.deleteInstance(1);
  expect(hits(0)).toBe(true);
  expect(hits(1)).toBe(false);
  expect(right()).toBe(0);
  crowd.setVisibleAt(2, true);
  expect(right()).toBe(200);
  expect(crowd.clone().setVisibleAt(0, false).instanceCount).toBe(2);

  crowd.setVisibleAt(crowd.all, false);
  crowd.updateMatrixWorld();
  crowd.computeBoundingSphere();
  crowd.computeBoundingBox();
  expect(crowd.boundingBox?.isEmpty()).toBe(true);
  expect(crowd.boundingSphere?.isEmpty()).toBe(true);
  expect([0, 1, 2].map(hits)).toEqual([false, false, false]);
});

test('a hidden instance can be asked where it is, and its time goes on; a deleted one cannot', () => {
  const crowd = createStickCrowd(3);
  crowd.playAll('Slide');
  crowd.setVisibleAt(1, false).update(0.25);
  expect(tipOf(crowd, 1)).toBeCloseTo(0.25, 5);
  expect(getSocketMatrix(crowd, 1, 'Tip', new Matrix4()).elements[12]).toBeCloseTo(0.25, 5);
  crowd.deleteInstance(1);
  const calls: (() => unknown)[] = [
    () => crowd.play(1, 'Slide'),
    () => crowd.stop(1),
    () => crowd.pause(1),
    () => crowd.getTimeAt(1),
    () => crowd.getClipAt(1),
    () => crowd.getPoseRateAt(1),
    () => crowd.setMatrixAt(1, _matrix),
    () => crowd.getMatrixAt(1, _matrix),
    () => crowd.setColorAt(1, new Color()),
    () => crowd.getColorAt(1, new Color()),
    () => crowd.getMorphAt(1, new Mesh()),
    () => partsOf(crowd).setVisibleAt(1, 0, false),
    () => partsOf(crowd).getVisibleAt(1, 0),
    () => getSocketMatrix(crowd, 1, 'Tip', _matrix),
    () => getVertexPosition(crowd, 1, 0, new Vector3()),
    () => crowd.setVisibleAt(1, true),
    () => crowd.getVisibleAt(1),
    () => crowd.deleteInstance(1),
    () => crowd.swapInstances(0, 1),
    () => crowd.swapInstances(1, 0),
  ];
  for (const call of calls) expect(call).toThrow(/Instance 1 was deleted; use an id/);
  expect(() => crowd.deleteInstance(3)).toThrow('no instance 3; the crowd has 3');
  crowd.setCapacity(5);
  expect(() => crowd.deleteInstance(4)).toThrow("There is no instance 4; the crowd's count is 3");

  const asked: number[] = [];
  crowd.playAll((i) => {
    asked.push(i);
    return 'Slide';
  });
  expect(asked).toEqual([0, 2]);
  expect(crowd.instanceCount).toBe(2);

  const many = createStickCrowd(40);
  for (const id of [35, 2]) many.deleteInstance(id);
  expect([many.addInstance(), many.addInstance()], 'low ids are given out first').toEqual([2, 35]);
});

test('hidden and deleted instances have no events, and what happened while hidden is not told of', () => {
  const crowd = createStickCrowd(3);
  const log: string[] = [];
  crowd.addEventListener('loop', ({ instanceId, loopDelta }) => log.push(`${instanceId} loop ${loopDelta}`));
  crowd.addEventListener('finished', ({ instanceId }) => log.push(`${instanceId} finished`));
  const happened = (seconds: number) => {
    crowd.update(seconds);
    return log.splice(0);
  };
  crowd.playAll('Slide');
  crowd.play(2, 'Slide', { repetitions: 2 });
  expect(happened(1.1)).toEqual(['0 loop 1', '1 loop 1', '2 loop 1']);
  crowd.setVisibleAt({ start: 1, count: 2 }, false);
  expect(happened(1)).toEqual(['0 loop 1']);
  crowd.setVisibleAt(crowd.all, true);
  expect(happened(1)).toEqual(['0 loop 1', '1 loop 1']);
  expect(crowd.isPlayingAt(2)).toBe(false);

  // Played, sought and swapped while hidden.
  crowd.setVisibleAt(1, false).play(1, 'Slide').setTimeAt(1, 0.5);
  expect(happened(1)).toEqual(['0 loop 1']);
  crowd.swapInstances(0, 1);
  expect(crowd.getVisibleAt(0)).toBe(false);
  expect(happened(1)).toEqual(['1 loop 1']);
  crowd.setVisibleAt(0, true).deleteInstance(1);
  expect(happened(1)).toEqual(['0 loop 1']);
  expect(crowd.addInstance()).toBe(1);
  expect(happened(1)).toEqual(['0 loop 1']);

  // Ids that are hidden when count falls are visible when it is raised again.
  crowd.play(1, 'Slide').setVisibleAt(1, false);
  crowd.count = 1;
  crowd.count = 3;
  expect(happened(1.1).sort()).toEqual(['0 loop 1', '1 loop 1']);
});
