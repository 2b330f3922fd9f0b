import { Occlusion } from 'skinned-instanced-mesh/occlusion';
import {
  Box3,
  BoxGeometry,
  type Camera,
  Group,
  Matrix4,
  Mesh,
  MeshNormalMaterial,
  MeshStandardMaterial,
  Object3D,
  OrthographicCamera,
  PerspectiveCamera,
  Scene,
  Vector3,
} from 'three';
import { describe, expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { type Drawing, drawingOf, useDrawing } from '../support/drawings.js';
import { addAttachmentLevel, addLevel } from '../support/levels.js';
import {
  bakeCharacter,
  createLevel,
  JointAttachment,
  readViewInfo,
  SkinnedInstancedMesh,
} from '../support/library.js';
import { aim, changedPixels, createStage } from '../support/pictures.js';
import { random } from '../support/random.js';
import { THOROUGH } from '../support/thorough.js';

const STAGE = new Box3(new Vector3(-4, 0, -4), new Vector3(4, 2, 4));
const FIGURE = createCharacter({ detail: 0.3 });
const COARSE = createCharacter({ detail: 0.15 });
const WALL = new BoxGeometry();

/** Characters around the stage, with hats and a coarser level. */
function createCrowd(count: number, seed: number): SkinnedInstancedMesh {
  const next = random(seed);
  const { root, clips } = FIGURE;
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), count);
  crowd.castShadow = crowd.receiveShadow = true;
  new JointAttachment(
    crowd,
    'Head',
    new BoxGeometry(0.4, 0.2, 0.4),
    new MeshStandardMaterial({ color: 0x2266aa }),
  );
  addLevel(crowd, createLevel(crowd, COARSE.root), 8);
  for (let i = 0; i < count; i++) {
    crowd.setMatrixAt(i, new Matrix4().makeRotationY(i).setPosition(next() * 20 - 10, 0, next() * 20 - 10));
    crowd.play(i, i % clips.length, { time: next() });
  }
  crowd.update(0.4);
  return crowd;
}

/** Walls that stand, turned anyhow, around the stage. */
function createWalls(count: number, seed: number): Group {
  const next = random(seed);
  const walls = new Group();
  for (let i = 0; i < count; i++) {
    const wall = new Mesh(WALL, new MeshStandardMaterial({ color: 0xaa8866 }));
    // Below the ground too: a sphere reaches into it.
    wall.position.set(next() * 16 - 8, 1, next() * 16 - 8);
    wall.scale.set(5 + next() * 7, 8 + next() * 3, 0.3);
    wall.rotation.y = next() * 3;
    wall.castShadow = wall.receiveShadow = true;
    walls.add(wall);
  }
  return walls;
}

/** A camera somewhere around the stage, at the height of eyes or above. */
function createCamera(kind: 'perspective' | 'orthographic', next: () => number): Camera {
  const camera =
    kind === 'perspective'
      ? new PerspectiveCamera(50, 1, 0.1, 60)
      : new OrthographicCamera(-6, 6, 6, -6, 0.1, 60);
  const turn = next() * 6.28;
  aim(
    camera,
    [Math.sin(turn) * 12, 0.8 + next() * next() * 4, Math.cos(turn) * 12],
    [next() * 6 - 3, 1, next() * 6 - 3],
  );
  return camera;
}

/** How many of a row stand in front of the wall, and how many there are. */
const SEEN = 5;
const ALL = 12;

/** Five in front of a wall and seven behind it; `at` is where that is. */
function createRow(at = new Vector3(), front = 4): SkinnedInstancedMesh {
  const crowd = new SkinnedInstancedMesh(bakeCharacter(COARSE.root, COARSE.clips), ALL);
  for (let i = 0; i < ALL; i++) {
    const place = new Vector3(((i % SEEN) - 2) * 1.2, 0, i < SEEN ? front : -4).add(at);
    crowd.setMatrixAt(i, new Matrix4().setPosition(place));
  }
  crowd.playAll(0);
  return crowd;
}

function createWall(at = new Vector3()): Mesh {
  const wall = new Mesh(WALL, new MeshStandardMaterial({ color: 0xaa8866 }));
  wall.position.copy(at).y += 1.5;
  wall.scale.set(18, 9, 0.3);
  return wall;
}

function createFront(at = new Vector3(), near = 0.1): PerspectiveCamera {
  const camera = new PerspectiveCamera(60, 1, near, 100);
  camera.position.set(0, 1.5, 12).add(at);
  camera.lookAt(new Vector3(0, 1, 0).add(at));
  camera.updateMatrixWorld();
  return camera;
}

describe('under WebGPU', () => {
  const drawing = useDrawing('TSL on WebGPU', drawingOf);

  const visible = async (crowd: SkinnedInstancedMesh, camera: Camera, of: Drawing = drawing) =>
    (await readViewInfo(crowd, of.renderer, camera)).visible;

  /** Draws a crowd with and without occlusion, from the first frame on. Returns how many instances were drawn of how many seen. */
  async function compare(
    of: Drawing,
    kind: 'perspective' | 'orthographic',
    seed: number,
    frames: number,
  ): Promise<[number, number]> {
    const { scene } = createStage(STAGE);
    const walls = createWalls(10, seed);
    scene.add(walls);
    const occlusion = new Occlusion(walls);
    const [plain, occluded] = [createCrowd(60, seed), createCrowd(60, seed)];
    occlusion.add(occluded);
    const next = random(seed);
    let [drawn, seen] = [0, 0];
    const camera = createCamera(kind, next);
    const empty = await of.draw(scene, camera, new Object3D());
    // Levels of shadows go by the camera that drew a crowd last; there was none.
    await of.draw(scene, camera, plain);
    for (let frame = 0; frame < frames; frame++) {
      const picture = await of.draw(scene, camera, occluded);
      const expected = await of.draw(scene, camera, plain);
      if (frame === 0) expect(changedPixels(expected, empty), 'it shows some').toBeGreaterThan(100);
      expect(changedPixels(expected, picture, 0), `seed ${seed}, frame ${frame}`).toBe(0);
      drawn += await visible(occluded, camera, of);
      seen += await visible(plain, camera, of);
      const other = createCamera(kind, next);
      camera.position.copy(other.position);
      camera.quaternion.copy(other.quaternion);
      camera.updateMatrixWorld();
      walls.position.x += 0.7;
      for (const crowd of [plain, occluded]) crowd.update(0.1);
    }
    for (const crowd of [plain, occluded]) crowd.dispose();
    occlusion.dispose();
    return [drawn, seen];
  }

  test.each(['perspective', 'orthographic'] as const)(
    'pictures of a %s camera are the same to the byte with what is behind walls left out',
    async (kind) => {
      let [drawn, seen] = [0, 0];
      for (let seed = 1; seed <= (THOROUGH ? 3 : 1); seed++) {
        const counts = await compare(drawing, kind, seed, THOROUGH ? 4 : 2);
        drawn += counts[0];
        seen += counts[1];
      }
      expect(drawn).toBeGreaterThan(0.2 * seen);
      expect(drawn).toBeLessThan(0.8 * seen);
    },
  );

  test('so are those of a renderer in which what is near has the greater depth', async ({ skip }) => {
    skip(!THOROUGH);
    const reversed = await drawingOf('TSL on WebGPU', true);
    const [drawn, seen] = await compare(reversed, 'perspective', 3, THOROUGH ? 4 : 2);
    expect(drawn).toBeGreaterThan(0.2 * seen);
    expect(drawn).toBeLessThan(0.8 * seen);
    reversed.dispose();
  });

  test('what cannot be trusted to hide anything hides nothing', async () => {
    const [crowd, wall, camera] = [createRow(), createWall(), createFront()];
    const { scene } = createStage(STAGE);
    scene.add(new Group().add(wall));
    const occlusion = new Occlusion(wall);
    occlusion.add(crowd);
    const counts: Record<string, number> = {};
    const note = async (name: string) => {
      await drawing.draw(scene, camera, crowd);
      counts[name] = await visible(crowd, camera);
    };
    const solid = wall.material;
    await note('a wall');
    for (const [name, material] of [
      ['glass', new MeshStandardMaterial({ transparent: true, opacity: 0.5 })],
      ['leaves', new MeshStandardMaterial({ alphaTest: 0.5 })],
      ['no depth', new MeshStandardMaterial({ depthWrite: false })],
      ['wires', new MeshStandardMaterial({ wireframe: true })],
    ] as const) {
      wall.material = material;
      await note(name);
      material.dispose();
    }
    const { MeshStandardNodeMaterial } = await import('three/webgpu');
    const moved = new MeshStandardNodeMaterial();
    moved.positionNode = (await import('three/tsl')).positionLocal.add(100);
    wall.material = moved as unknown as MeshStandardMaterial;
    await note('moved by nodes');
    moved.dispose();
    wall.material = solid;
    wall.layers.set(3);
    await note('on another layer');
    wall.layers.set(0);
    (wall.parent as Group).visible = false;
    await note('invisible');
    (wall.parent as Group).visible = true;
    occlusion.remove(crowd);
    await note('without occlusion');
    occlusion.add(crowd);
    await note('with it again');
    wall.position.x = 100;
    await note('a wall elsewhere');
    expect(counts).toEqual({
      'a wall': 5,
      glass: 12,
      leaves: 12,
      'no depth': 12,
      wires: 12,
      'moved by nodes': 12,
      'on another layer': 12,
      invisible: 12,
      'without occlusion': 12,
      'with it again': 5,
      'a wall elsewhere': 12,
    });
    crowd.dispose();
    occlusion.dispose();
  });

  test('the whole scene hides what is behind it, with a background, hooks and an override', async () => {
    const { vec4 } = await import('three/tsl');
    const { scene } = createStage(STAGE);
    const camera = createFront();
    scene.add(createWall());
    scene.backgroundNode = vec4(0.2, 0.4, 0.6, 1);
    scene.overrideMaterial = new MeshNormalMaterial();
    const drawn: unknown[] = [];
    scene.onBeforeRender = (_renderer, _scene, of) => drawn.push(of);
    const [plain, occluded] = [createRow(), createRow()];
    const occlusion = new Occlusion(scene);
    occlusion.add(occluded);
    // Levels of shadows go by the camera that drew a crowd last.
    await drawing.draw(scene, camera, plain);
    for (let frame = 0; frame < 2; frame++) {
      const picture = await drawing.draw(scene, camera, occluded);
      const expected = await drawing.draw(scene, camera, plain);
      expect(changedPixels(expected, picture, 0), `frame ${frame}`).toBe(0);
      expect(await visible(occluded, camera), `frame ${frame}`).toBe(SEEN);
    }
    const empty = await drawing.draw(scene, camera, new Group());
    expect(changedPixels(empty, await drawing.draw(scene, camera, occluded))).toBeGreaterThan(100);
    // Once in each picture, and not for the camera of the pass.
    expect(drawn.map((of) => of === camera)).toEqual(Array.from({ length: 7 }, () => true));
    for (const owner of [plain, occluded, occlusion]) owner.dispose();
  });

  test('attachments that are drawn at many ranges of levels are drawn as without occlusion', async () => {
    const { scene } = createStage(STAGE);
    const [crowd, camera] = [createRow(), createFront()];
    for (let i = 0; i < ALL; i++) crowd.setMatrixAt(i, new Matrix4().setPosition((i % SEEN) - 2, 0, 4 - i));
    for (let level = 1; level < 8; level++) addLevel(crowd, crowd.geometry, 8 + 1.5 * level);
    const material = new MeshStandardMaterial({ color: 0xffee00 });
    for (let i = 0; i < 16; i++) {
      const place = new Matrix4().setPosition(0.12 * (i % 4) - 0.2, 0.12 * Math.floor(i / 4) + 0.2, 0.2);
      const cube = new JointAttachment(crowd, 'Head', new BoxGeometry(0.1, 0.1, 0.1), material, {
        offset: place,
      });
      const from = [1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6][i];
      addAttachmentLevel(cube, new BoxGeometry(0.1, 0.05, 0.1), from);
      addAttachmentLevel(cube, null, [3, 4, 5, 6, 7, 4, 5, 6, 7, 5, 6, 7, 6, 7, 7, 7][i]);
    }
    const plain = await drawing.draw(scene, camera, crowd);
    const occlusion = new Occlusion(new Group());
    occlusion.add(crowd);
    expect(changedPixels(await drawing.draw(scene, camera, crowd), plain, 0)).toBe(0);
    for (const owner of [crowd, occlusion]) owner.dispose();
  });

  test('far from the origin, with a near plane close to the eye, none is left out that is seen', async () => {
    const scene = new Scene();
    // Feet and hands reach almost to the wall.
    const [wall, crowd] = [createWall(), createRow(new Vector3(), 0.9)];
    const occlusion = new Occlusion(wall);
    occlusion.add(crowd);
    scene.add(wall);
    for (const away of [0, 1_000, 10_000]) {
      const at = new Vector3(away, 0, -0.7 * away);
      const camera = createFront(at, 0.01);
      wall.position.copy(at).y += 1.5;
      crowd.instanceMatrix.copy(createRow(at, 0.9).instanceMatrix);
      crowd.instanceMatrix.needsUpdate = true;
      await drawing.draw(scene, camera, crowd);
      expect(await visible(crowd, camera), `${away} away`).toBe(SEEN);
    }
    for (const owner of [crowd, occlusion]) owner.dispose();
  });
});
