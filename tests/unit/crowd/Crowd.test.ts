import { BoxGeometry, Matrix4, MeshBasicMaterial } from 'three';
import { beforeEach, expect, test } from 'vitest';
import type { InstanceData } from '../../../lib/instances/InstanceData.js';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { createStick } from '../../support/stick.js';

/** Something of each instance that the library knows nothing of: what a game calls its owner. */
class Owners implements InstanceData {
  names: string[];

  constructor(capacity: number) {
    this.names = Array.from({ length: capacity }, () => 'nobody');
  }

  resize(capacity: number): void {
    this.names = Array.from({ length: capacity }, (_, i) => this.names[i] ?? 'nobody');
  }

  swap(i: number, j: number): void {
    [this.names[i], this.names[j]] = [this.names[j], this.names[i]];
  }

  reset(index: number): void {
    this.names[index] = 'nobody';
  }

  copy({ names }: Owners): void {
    this.names = [...names];
  }

  dispose(): void {
    this.names = [];
  }
}

let crowd: SkinnedInstancedMesh;
let owners: Owners;

/** The one line that adds it. */
function addOwners(to: SkinnedInstancedMesh): Owners {
  const added = new Owners(to.capacity);
  to.crowd.data.push(added);
  return added;
}

beforeEach(() => {
  const { root, clips } = createStick();
  crowd = SkinnedInstancedMesh.from(root, clips, 3);
  owners = addOwners(crowd);
  owners.names = ['anna', 'bert', 'carl'];
});

test('what is added to instances is given room, exchanged and freed with them', () => {
  crowd.setCapacity(5);
  expect(owners.names).toEqual(['anna', 'bert', 'carl', 'nobody', 'nobody']);
  crowd.swapInstances(0, 2);
  expect(owners.names).toEqual(['carl', 'bert', 'anna', 'nobody', 'nobody']);
  crowd.count = 2;
  crowd.setCapacity(2);
  expect(owners.names).toEqual(['carl', 'bert']);
  crowd.dispose();
  expect(owners.names).toEqual([]);
});

test('it goes along when a crowd becomes a copy of another', () => {
  const { root, clips } = createStick();
  const other = SkinnedInstancedMesh.from(root, clips, 1);
  const copied = addOwners(other);
  other.copy(crowd);
  expect(copied.names).toEqual(['anna', 'bert', 'carl']);
});

test('an exchange asked of an attachment exchanges whole characters', () => {
  const hat = crowd.attachToJoint('Tip', new BoxGeometry(), new MeshBasicMaterial());
  crowd.setMatrixAt(0, new Matrix4().makeTranslation(7, 0, 0));
  hat.setPartVisibleAt(0, 0, false);
  hat.swapInstances(0, 1);
  expect(owners.names).toEqual(['bert', 'anna', 'carl']);
  const moved = new Matrix4();
  crowd.getMatrixAt(1, moved);
  expect(moved.elements[12]).toBe(7);
  expect(hat.getPartVisibleAt(1, 0)).toBe(false);
});
