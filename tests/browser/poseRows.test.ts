import {
  Box3,
  BoxGeometry,
  Color,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  type SkinnedMesh,
  Vector3,
  type WebGLRenderer,
} from 'three';
import { describe, expect, test } from 'vitest';
import { posesOf } from '../../lib/backends/webgl/WebGLPoses.js';
import { TWINS } from '../support/captures.js';
import { createCoarsestCharacter } from '../support/coarseCharacter.js';
import { expectSameDrawn } from '../support/comparePair.js';
import { drawingOf, useDrawing } from '../support/drawings.js';
import { addLevel } from '../support/levels.js';
import {
  bakeCharacter,
  CrowdKinds,
  JointAttachment,
  LoopOnceOptions,
  readViewInfo,
  SkinnedInstancedMesh,
} from '../support/library.js';
import { loseContext, passOverLost, restoreContext } from '../support/loseContext.js';
import { aim, changedPixels, createStage, lookAround } from '../support/pictures.js';
import { boundsOf, Reference } from '../support/reference.js';
import { THOROUGH } from '../support/thorough.js';
import { withUnusedBones } from '../support/unusedBones.js';

const COUNT = 700;
const SIDE = 27;
/** More than are posed at once. */
const MANY = 9000;
const MIDDLE = new Box3(new Vector3(-3, 0, -3), new Vector3(3, 2, 3));
/** Few triangles: many instances are drawn, and only where they are posed matters. */
const { root, clips } = createCoarsestCharacter();
const character = bakeCharacter(root, clips);

function createCrowd(perObjectFrustumCulled: boolean, count = COUNT): SkinnedInstancedMesh {
  const crowd = new SkinnedInstancedMesh(character, count);
  crowd.perObjectFrustumCulled = perObjectFrustumCulled;
  crowd.castShadow = true;
  const matrix = new Matrix4();
  const color = new Color();
  for (let i = 0; i < count; i++) {
    const place = (i * 37) % count;
    const [x, z] = [place % SIDE, Math.floor(place / SIDE)];
    matrix.makeRotationY(i).setPosition((x - SIDE / 2) * 2, 0, (z - SIDE / 2) * 2);
    crowd.setMatrixAt(i, matrix);
    crowd.setColorAt(i, color.setHSL(i / count, 0.8, 0.6));
    crowd.play(i, i % clips.length, { time: i * 0.1 });
  }
  return crowd;
}

describe.each(TWINS.filter((twin) => twin !== 'TSL on WebGL 2'))('%s', (twin) => {
  const drawing = useDrawing(twin, drawingOf);

  test('poses take memory for those whom cameras see, and these look as in a crowd that is posed whole', async ({
    skip,
  }) => {
    skip(!THOROUGH && twin === 'GLSL');
    const { draw, renderer } = drawing;
    const { scene, camera, look } = lookAround(MIDDLE);
    const culled = createCrowd(true);
    const plain = createCrowd(false);
    addLevel(culled, culled.geometry, 6);
    addLevel(plain, plain.geometry, 6);
    const compare = async (when: string, hasRoomForAll: boolean) => {
      await draw(scene, camera, plain);
      const expected = await draw(scene, camera, plain);
      expect(changedPixels(expected, await draw(scene, camera, culled), 0), when).toBe(0);
      if (twin === 'GLSL') expect(posesOf(culled).rows.size >= COUNT, when).toBe(hasRoomForAll);
    };
    for (let i = 0; i < 3; i++) {
      look(i * 1.5, 12);
      for (const crowd of [culled, plain]) crowd.update(0.05);
      await compare(`frame ${i}`, false);
    }
    camera.far = 500;
    aim(camera, [0, 70, 70], [0, 0, 0]);
    for (const crowd of [culled, plain]) crowd.update(0.3);
    await compare('all at once', true);

    // Rows that were not used for long are given back.
    look(0, 6);
    scene.add(culled);
    culled.castShadow = false;
    for (let i = 0; i < 130; i++) {
      culled.update(0.01);
      renderer.render(scene, camera);
      if (twin !== 'GLSL') await new Promise(requestAnimationFrame);
    }
    culled.castShadow = true;
    scene.remove(culled);
    plain.update(1.3);
    await compare('few again', false);
    for (const crowd of [culled, plain]) crowd.dispose();
  });

  test('those who are posed in several turns look as if they were posed at once', async () => {
    const { scene, camera, look } = lookAround(MIDDLE);
    look(0, 60);
    const [culled, plain] = [true, false].map((culls) => createCrowd(culls, MANY));
    for (const crowd of [culled, plain]) {
      crowd.castShadow = false;
      crowd.geometry.setDrawRange(0, 300);
    }
    const expected = await drawing.draw(scene, camera, culled);
    expect(changedPixels(await drawing.draw(scene, camera, plain), expected, 0)).toBe(0);
    for (const crowd of [culled, plain]) crowd.dispose();
  });

  test('whoever has lost its row while nobody saw it is posed as it comes back, at any rate', async () => {
    const { draw, renderer } = drawing;
    const { scene, camera, look } = lookAround(MIDDLE);
    const [seldom, always] = [createCrowd(true), createCrowd(false)];
    seldom.setPoseRateAt(seldom.all, 0.01);
    // A light would see those whom the camera does not.
    for (const crowd of [seldom, always]) crowd.castShadow = false;
    for (const turn of [0, 2, 4, 0, 3, 0]) {
      look(turn, 12);
      for (const crowd of [seldom, always]) crowd.update(turn === 2 ? 0 : 0.05);
      const expected = await draw(scene, camera, always);
      expect(changedPixels(await draw(scene, camera, seldom), expected, 0), `${turn}`).toBe(0);
      const { posed, visible } = await readViewInfo(seldom, renderer, camera);
      // At one moment, those seen before are posed too.
      if (twin !== 'GLSL' && turn !== 2) expect(posed, `${turn}`).toBe(visible);
    }
    for (const crowd of [seldom, always]) crowd.dispose();
  });

  test('rows hold joints that something follows, also what comes later', async () => {
    const { root, clips } = withUnusedBones();
    const character = bakeCharacter(root, clips);
    const time = 0.3 * clips[2].duration;
    const joints = character.boneTexture.jointNames.length;
    const box = new Mesh(new BoxGeometry(0.3, 0.3, 0.3), new MeshStandardMaterial());
    // Its hand follows the bone above, which nothing else does.
    const other = withUnusedBones();
    const { geometry } = other.root.getObjectByName('Body') as SkinnedMesh;
    const hand = character.boneTexture.jointIndex('RightHand');
    const { array } = geometry.attributes.skinIndex;
    array.forEach((joint, i) => (array[i] = joint === hand ? 0 : joint));
    const attach = (crowd: SkinnedInstancedMesh) =>
      new JointAttachment(crowd, 'Slot', box.geometry, box.material);
    const ways = [
      ['an attachment', root, joints, attach],
      ['a level', other.root, joints - 1, (crowd: SkinnedInstancedMesh) => addLevel(crowd, geometry, 0.01)],
      [
        'a kind',
        other.root,
        joints - 1,
        (crowd: SkinnedInstancedMesh) => {
          const kinds = new CrowdKinds(crowd);
          kinds.setKindAt(0, kinds.add(bakeCharacter(other.root, clips)));
        },
      ],
    ] as const;
    for (const [what, posed, columns, add] of ways) {
      const crowd = new SkinnedInstancedMesh(character, 1).play(0, 2, { ...LoopOnceOptions, time });
      const [before, after] = [root, posed].map((one) => new Reference(one, new Matrix4()));
      const stage = createStage(boundsOf(before.pose(clips[2], time)));
      after.pose(clips[2], time);
      if (what === 'an attachment') after.root.getObjectByName('Slot')!.add(box);
      const expectSame = async (label: string, { root: expected }: Reference) => {
        for (const object of [expected, crowd])
          object.traverse((one) => {
            one.castShadow = one.receiveShadow = true;
          });
        await expectSameDrawn(`${label}, ${twin}`, drawing.draw, stage, expected, crowd);
      };
      await expectSame(`before ${what}`, before);
      expect(crowd.crowd.columns).toBe(joints - 2);
      add(crowd);
      await expectSame(what, after);
      expect(crowd.crowd.columns).toBe(columns);
      if (twin === 'GLSL') {
        const renderer = drawing.renderer as WebGLRenderer;
        passOverLost(renderer);
        await loseContext(renderer);
        await restoreContext(renderer);
        await expectSame(`${what}, after a lost context`, after);
      }
      crowd.dispose();
    }
  });
});
