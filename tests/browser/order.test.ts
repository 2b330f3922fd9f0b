import { Box3, Color, Matrix4, MeshBasicMaterial, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { TWINS } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { drawingOf } from '../support/drawings.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { changedPixels, createStage } from '../support/pictures.js';
import { random } from '../support/random.js';

const COUNT = 40;
const BOUNDS = new Box3(new Vector3(-2, 0, -2), new Vector3(2, 2, 2));

interface Placed {
  matrix: Matrix4;
  color: Color;
}

function createPlaces(): Placed[] {
  const next = random(3);
  return Array.from({ length: COUNT }, () => ({
    matrix: new Matrix4().makeRotationY(next() * 6).setPosition(next() * 3 - 1.5, 0, next() * 3 - 1.5),
    color: new Color().setHSL(next(), 1, 0.5),
  }));
}

/** Characters through which one sees those behind them: what is drawn first shows less. */
function createCrowd(places: readonly Placed[]): SkinnedInstancedMesh {
  const { root, clips } = createCoarseCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, places.length, { encoding: 'tracks' });
  crowd.material = new MeshBasicMaterial({ transparent: true, opacity: 0.5, depthWrite: false });
  places.forEach(({ matrix, color }, i) => {
    crowd.setMatrixAt(i, matrix);
    crowd.setColorAt(i, color);
  });
  return crowd;
}

describe.each(TWINS)('%s', (twin) => {
  test('sorted crowds look like crowds whose instances were added in that order', async () => {
    const drawing = await drawingOf(twin);
    const { scene, camera } = createStage(BOUNDS, 'directional');
    const places = createPlaces();
    // Distances are those of the middle of all poses.
    const one = createCrowd([{ matrix: new Matrix4(), color: new Color() }]);
    one.computeBoundingBox();
    const middle = one.boundingBox?.getCenter(new Vector3()) as Vector3;
    const depth = ({ matrix }: Placed) =>
      middle.clone().applyMatrix4(matrix).applyMatrix4(camera.matrixWorldInverse).z;
    camera.updateMatrixWorld();
    const farFirst = [...places].sort((a, b) => depth(a) - depth(b));
    const eye = new Vector3().setFromMatrixPosition(camera.matrixWorld);
    const distance = ({ matrix }: Placed) => middle.clone().applyMatrix4(matrix).distanceTo(eye);
    const nearest = [...places].sort((a, b) => distance(a) - distance(b)).slice(0, 15);

    const show = (crowd: SkinnedInstancedMesh) => drawing.draw(scene, camera, crowd);
    const crowd = createCrowd(places);
    const sorted = createCrowd(farFirst);
    sorted.perObjectFrustumCulled = false;
    const few = createCrowd(farFirst.filter((place) => nearest.includes(place)));
    few.perObjectFrustumCulled = false;

    expect(changedPixels(await show(crowd), await show(sorted)), 'as they were added').toBeGreaterThan(500);
    crowd.sortObjects = true;
    expect(changedPixels(await show(crowd), await show(sorted))).toBe(0);
    crowd.maxVisible = 15;
    expect(changedPixels(await show(crowd), await show(few))).toBe(0);
    crowd.maxVisible = Infinity;
    crowd.setCustomSort((list) => list.sort((a, b) => a.index - b.index));
    expect(changedPixels(await show(crowd), await show(createCrowd(places)))).toBe(0);
    crowd.setCustomSort(null);
    expect(changedPixels(await show(crowd.clone()), await show(sorted)), 'a clone').toBe(0);
    for (const done of [one, crowd, sorted, few]) done.dispose();
    drawing.dispose();
  });
});
