import { Box3, Color, Matrix4, type Texture, Vector3, WebGLRenderer } from 'three';
import { afterAll, expect, test } from 'vitest';
import { createCoarsestCharacter } from '../support/coarseCharacter.js';
import { addLevel } from '../support/levels.js';
import { bakeCharacter, SkinnedInstancedMesh } from '../support/library.js';
import { aim, changedPixels, lookAround, picture } from '../support/pictures.js';

const COUNT = 700;
const SIDE = 27;
const MIDDLE = new Box3(new Vector3(-3, 0, -3), new Vector3(3, 2, 3));
/** Few triangles: many instances are drawn, and only where they are posed matters. */
const { root, clips } = createCoarsestCharacter();
const character = bakeCharacter(root, clips);

const renderer = new WebGLRenderer();
// Frames that nobody looks at.
renderer.setSize(16, 16);
renderer.shadowMap.enabled = true;
afterAll(() => renderer.dispose());

function createCrowd(perObjectFrustumCulled: boolean): SkinnedInstancedMesh {
  const crowd = new SkinnedInstancedMesh(character, COUNT);
  crowd.perObjectFrustumCulled = perObjectFrustumCulled;
  crowd.castShadow = true;
  const matrix = new Matrix4();
  const color = new Color();
  for (let i = 0; i < COUNT; i++) {
    const place = (i * 37) % COUNT;
    const [x, z] = [place % SIDE, Math.floor(place / SIDE)];
    matrix.makeRotationY(i).setPosition((x - SIDE / 2) * 2, 0, (z - SIDE / 2) * 2);
    crowd.setMatrixAt(i, matrix);
    crowd.setColorAt(i, color.setHSL(i / COUNT, 0.8, 0.6));
    crowd.play(i, i % clips.length, { time: i * 0.1 });
  }
  return crowd;
}

/** How many instances there is room for in the palette, which is what three.js binds. */
function rowsOf(crowd: SkinnedInstancedMesh): number {
  const { integers } = crowd.skeleton.boneTexture as unknown as { integers: Texture[] };
  const { width, height } = integers[0].image as { width: number; height: number };
  return (width / (crowd.boneTexture.data.tracks?.jointNodes.length ?? 0)) * height;
}

test('poses take memory for those whom cameras see, and these look as in a crowd that is posed whole', () => {
  const { scene, camera, look } = lookAround(MIDDLE);
  const culled = createCrowd(true);
  const plain = createCrowd(false);
  addLevel(culled, culled.geometry, 6);
  addLevel(plain, plain.geometry, 6);
  const compare = (when: string) => {
    picture(renderer, scene, camera, plain);
    const expected = picture(renderer, scene, camera, plain);
    expect(changedPixels(expected, picture(renderer, scene, camera, culled), 0), when).toBe(0);
  };
  for (let i = 0; i < 3; i++) {
    look(i * 1.5, 12);
    for (const crowd of [culled, plain]) crowd.update(0.05);
    compare(`frame ${i}`);
  }
  expect(rowsOf(culled)).toBeLessThan(COUNT / 2);
  expect(rowsOf(plain)).toBeGreaterThanOrEqual(COUNT);

  camera.far = 500;
  aim(camera, [0, 70, 70], [0, 0, 0]);
  for (const crowd of [culled, plain]) crowd.update(0.3);
  compare('all at once');
  expect(rowsOf(culled)).toBeGreaterThanOrEqual(COUNT);

  // Rows that were not used for long are given back.
  look(0, 6);
  scene.add(culled);
  culled.castShadow = false;
  for (let i = 0; i < 130; i++) {
    culled.update(0.01);
    renderer.render(scene, camera);
  }
  culled.castShadow = true;
  scene.remove(culled);
  plain.update(1.3);
  compare('few again');
  expect(rowsOf(culled)).toBeLessThan(COUNT / 2);
  for (const crowd of [culled, plain]) crowd.dispose();
});

test('whoever has lost its row while nobody saw it is posed as it comes back, at any rate', () => {
  const { scene, camera, look } = lookAround(MIDDLE);
  const seldom = createCrowd(true);
  const always = createCrowd(true);
  for (let i = 0; i < COUNT; i++) seldom.setPoseRateAt(i, 0.01);
  // A light would see those whom the camera does not.
  for (const crowd of [seldom, always]) crowd.castShadow = false;
  for (const turn of [0, 2, 4, 0, 3, 0]) {
    look(turn, 16);
    for (const crowd of [seldom, always]) crowd.update(0.05);
    picture(renderer, scene, camera, always);
    const expected = picture(renderer, scene, camera, always);
    expect(changedPixels(expected, picture(renderer, scene, camera, seldom), 0), `${turn}`).toBe(0);
  }
  expect(rowsOf(seldom)).toBeLessThan(COUNT);
  for (const crowd of [seldom, always]) crowd.dispose();
});
