import { Box3, Color, Group, Matrix4, Mesh, type Texture, Vector3, WebGLRenderer } from 'three';
import { afterAll, expect, test } from 'vitest';
import { createCoarsestCharacter } from '../support/coarseCharacter.js';
import { countHeld, onCall } from '../support/countHeld.js';
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

test('crowds are posed together, step by step, in targets that they share, as each would be alone', () => {
  const drawing = new WebGLRenderer();
  drawing.setSize(16, 16);
  const context = drawing.getContext();
  const held = countHeld(context, { framebuffers: ['createFramebuffer', 'deleteFramebuffer'] });
  let binds = 0;
  let programs = 0;
  onCall(context, 'bindFramebuffer', () => binds++);
  onCall(context, 'useProgram', () => programs++);
  const { scene, camera, look } = lookAround(MIDDLE);
  for (const ground of scene.children.filter((child) => child instanceof Mesh)) scene.remove(ground);
  look(0.4, 40);
  const count = 12;
  const make = (): Group => {
    const group = new Group();
    for (let i = 0; i < count; i++) {
      const crowd = new SkinnedInstancedMesh(character, 5 + i * 30);
      const matrix = new Matrix4();
      for (let id = 0; id < crowd.count; id++)
        crowd.setMatrixAt(id, matrix.makeTranslation(i - count / 2, 0, (id % 10) * 2 - 9));
      group.add(crowd.playAll((id) => id % clips.length, { time: (id) => id * 0.1 }));
    }
    return group;
  };
  const crowdsIn = (group: Group) => group.children as SkinnedInstancedMesh[];
  const group = make();
  scene.add(group);
  for (let frame = 0; frame < 3; frame++) {
    binds = programs = 0;
    for (const crowd of crowdsIn(group)) crowd.update(0.1);
    drawing.render(scene, camera);
  }
  // A palette for each, and one for local matrices.
  expect(held.framebuffers).toBeLessThanOrEqual(count + 1);
  // Some run at once. Two programs pose, and one draws.
  expect(binds).toBeLessThan(count * 2);
  expect(programs).toBeLessThan(count);

  const together = picture(drawing, scene, camera, group);
  const fresh = new WebGLRenderer();
  fresh.setSize(16, 16);
  const alone = make();
  for (const crowd of crowdsIn(alone)) crowd.update(0.1).update(0.1).update(0.1);
  expect(changedPixels(picture(fresh, scene, camera, alone), together, 0)).toBe(0);
  fresh.dispose();

  // One that is gone is posed no more, and nothing of it is left.
  scene.add(group);
  drawing.render(scene, camera);
  for (const crowd of [...crowdsIn(group)]) {
    for (const each of crowdsIn(group)) each.update(0.1);
    crowd.removeFromParent();
    crowd.dispose();
    drawing.render(scene, camera);
  }
  expect(held.framebuffers).toBe(0);
  drawing.dispose();
});
