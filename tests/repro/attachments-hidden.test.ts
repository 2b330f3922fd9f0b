import { BoxGeometry, MeshBasicMaterial, Raycaster, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { type CharacterMesh, SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

function createCrowd() {
  const { root, clips } = createStick();
  return SkinnedInstancedMesh.from(root, clips, 2);
}

const attachBox = (owner: CharacterMesh) =>
  owner.attachToJoint('Base', new BoxGeometry(), new MeshBasicMaterial());

/** Instances of a mesh that a ray along z hits, which only those that are drawn are. */
function hits(mesh: CharacterMesh): (number | undefined)[] {
  mesh.updateMatrixWorld();
  const raycaster = new Raycaster(new Vector3(0.1, 0.2, 5), new Vector3(0, 0, -1));
  return raycaster.intersectObject(mesh, false).map(({ instanceId }) => instanceId);
}

describe('what is attached to a hidden instance stays hidden', () => {
  test('when there is room for more instances, and for fewer', () => {
    const crowd = createCrowd();
    const hat = attachBox(crowd);
    const feather = attachBox(hat);
    crowd.setPartVisibleAt(0, 0, false);
    for (const capacity of [8, 2]) {
      crowd.setCapacity(capacity);
      expect(hits(hat)).toEqual([1]);
      expect(hits(feather)).toEqual([1]);
    }
    crowd.setPartVisibleAt(0, 0, true);
    expect(hits(hat)).toEqual([0, 1]);
    expect(hits(feather)).toEqual([0, 1]);
  });

  test('when it gets another geometry', () => {
    const crowd = createCrowd();
    const hat = attachBox(crowd);
    const { geometry } = attachBox(crowd);
    crowd.setPartVisibleAt(0, 0, false);
    hat.geometry = geometry;
    expect(hits(hat)).toEqual([1]);
  });
});
