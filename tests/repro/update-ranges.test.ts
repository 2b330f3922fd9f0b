import type { BufferAttribute } from 'three';
import { Color, Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

/** What a renderer has of an attribute: ranges of it, where there are some, as `WebGLAttributes` uploads them. */
class Uploaded {
  private readonly array: Float32Array;
  private version: number;

  constructor(private readonly attribute: BufferAttribute) {
    this.array = Float32Array.from(attribute.array);
    this.version = attribute.version;
    attribute.clearUpdateRanges();
  }

  update(): void {
    const { attribute, array } = this;
    if (attribute.version === this.version) return;
    this.version = attribute.version;
    const source = attribute.array as Float32Array;
    if (attribute.updateRanges.length === 0) array.set(source);
    for (const { start, count } of attribute.updateRanges)
      array.set(source.subarray(start, start + count), start);
    attribute.clearUpdateRanges();
  }

  expectAll(): void {
    this.update();
    expect([...this.array]).toEqual([...this.attribute.array]);
  }
}

function createCrowd(): SkinnedInstancedMesh {
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 10);
  for (let i = 0; i < 10; i++) {
    crowd.setMatrixAt(i, new Matrix4().makeTranslation(i, 0, 0));
    crowd.setColorAt(i, new Color(i, 0, 0));
  }
  return crowd;
}

/** Moves an instance as a user does who has no more uploaded than that. */
function move(crowd: SkinnedInstancedMesh, id: number): void {
  crowd.setMatrixAt(id, new Matrix4().makeTranslation(0, 50, 0));
  crowd.instanceMatrix.addUpdateRange(id * 16, 16);
  crowd.instanceMatrix.needsUpdate = true;
  crowd.setColorAt(id, new Color(0, 1, 0));
  crowd.instanceColor?.addUpdateRange(id * 3, 3);
  if (crowd.instanceColor) crowd.instanceColor.needsUpdate = true;
}

const CHANGES: Record<string, (crowd: SkinnedInstancedMesh) => void> = {
  swapInstances: (crowd) => crowd.swapInstances(5, 9),
  addInstance: (crowd) => crowd.deleteInstance(6).addInstance(),
};

test.each(Object.keys(CHANGES))('%s is uploaded beside the update ranges of the user', (name) => {
  for (const first of ['move', 'change']) {
    const crowd = createCrowd();
    const matrices = new Uploaded(crowd.instanceMatrix);
    const colors = new Uploaded(crowd.instanceColor as BufferAttribute);
    if (first === 'move') move(crowd, 3);
    CHANGES[name](crowd);
    if (first === 'change') move(crowd, 3);
    matrices.expectAll();
    colors.expectAll();
  }
});

test('what waits for upload as a whole still does after swapInstances', () => {
  const crowd = createCrowd();
  const matrices = new Uploaded(crowd.instanceMatrix);
  crowd.setMatrixAt(1, new Matrix4().makeTranslation(0, 0, 7));
  crowd.instanceMatrix.needsUpdate = true;
  crowd.swapInstances(5, 9);
  matrices.expectAll();
});

test('root motion is uploaded, and followed by views, beside the update ranges of the user', () => {
  const { root, clips } = createCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, 4, { rootMotion: true });
  const matrices = new Uploaded(crowd.instanceMatrix);
  crowd.playAll('Walk', { rootMotion: true }).update(0.2);
  const { groups } = crowd.views;
  groups.update();
  crowd.applyRootMotion(0.2);
  crowd.setMatrixAt(3, new Matrix4().makeTranslation(9, 0, 0));
  crowd.instanceMatrix.addUpdateRange(48, 16);
  crowd.instanceMatrix.needsUpdate = true;
  groups.update();
  matrices.expectAll();
  expect(crowd.instanceMatrix.array[14]).not.toBe(0);
  const followed = [...groups.spheres];
  groups.invalidate();
  groups.update();
  expect(followed).toEqual([...groups.spheres]);
});

test('bounds follow instances whose ranges were uploaded and forgotten before anybody asked', () => {
  const crowd = createCrowd().setVisibleAt(0, false);
  crowd.computeBoundingSphere();
  const matrices = new Uploaded(crowd.instanceMatrix);
  move(crowd, 3);
  matrices.update();
  crowd.setMatrixAt(4, new Matrix4().makeTranslation(0, 0, 1));
  crowd.instanceMatrix.addUpdateRange(64, 16);
  crowd.instanceMatrix.needsUpdate = true;
  crowd.updateMatrixWorld();
  crowd.computeBoundingSphere();
  expect(crowd.boundingSphere?.containsPoint(new Vector3(0, 50, 0))).toBe(true);
});
