import { bakedCharactersOf, SkinnedInstancedMeshExtension } from 'skinned-instanced-mesh/files';
import {
  AdditiveBlending,
  Box3,
  BoxGeometry,
  type BufferAttribute,
  type BufferGeometry,
  type Camera,
  Color,
  DataTexture,
  DoubleSide,
  type Light,
  LinearMipmapLinearFilter,
  Matrix4,
  MeshBasicMaterial,
  MeshStandardMaterial,
  Object3D,
  PerspectiveCamera,
  Scene,
  Vector3,
} from 'three';
import { MeshoptDecoder } from 'three/addons/libs/meshopt_decoder.module.js';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { describe, expect, test } from 'vitest';
import { TWINS } from '../support/captures.js';
import { describeCharacters, loadCharacter } from '../support/characters.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { drawingOf, useDrawing } from '../support/drawings.js';
import { orderOf, partsOf } from '../support/features.js';
import { createKnight } from '../support/knight.js';
import { addAttachmentLevel, addLevel, levelsOf } from '../support/levels.js';
import {
  bakeCharacter,
  createLevel,
  encodingOf,
  JointAttachment,
  type LevelMesh,
  mergeMaterials,
  readViewInfo,
  SkinnedInstancedMesh,
} from '../support/library.js';
import { aim, changedPixels, createStage, type LightKind, SIZE, shaded } from '../support/pictures.js';
import { THOROUGH } from '../support/thorough.js';

const COUNT = 9;

/** Lights and encodings; each with one language of shaders, and with all where everything is tested or there is one language only. */
const LIT = [
  ['directional', 'tracks', 'TSL on WebGPU'],
  ['spot', 'frames', 'TSL on WebGL 2'],
  ['point', 'tracks', 'GLSL'],
] as const;

/** Instances one behind the other, in the middle of fades, in different clothes. */
function createCrowd(encoding: 'tracks' | 'frames') {
  const { root, clips } = createKnight();
  shaded(root);
  const crowd = new SkinnedInstancedMesh(
    bakeCharacter(root, clips, { encoding: encodingOf(encoding), mergeMaterials: mergeMaterials() }),
    COUNT,
  );
  crowd.castShadow = crowd.receiveShadow = true;
  for (let i = 0; i < COUNT; i++) {
    crowd.setMatrixAt(i, new Matrix4().makeRotationY(i).setPosition((i % 3) - 1, 0, -i));
    crowd.setColorAt(i, new Color().setHSL(i / COUNT, 1, 0.7));
    crowd.play(i, i % clips.length, { time: i * 0.1 });
  }
  crowd.update(0.2);
  for (let i = 0; i < COUNT; i++) crowd.play(i, (i + 1) % clips.length, { fade: 0.5 });
  crowd.update(0.17);
  partsOf(crowd).setVisibleAt(4, 'Shield', false);
  partsOf(crowd).setColorAt(5, 'Body', new Color(0, 0, 1));
  return { crowd, root };
}

/** A light and a camera for all of it. */
function createStageFor(crowd: SkinnedInstancedMesh, kind?: LightKind) {
  crowd.computeBoundingBox();
  const stage = createStage(crowd.boundingBox!, kind);
  crowd.boundingBox = null;
  return stage;
}

/** Distances at which the first third of the instances is at level 0, and so on. */
function thirds(crowd: SkinnedInstancedMesh, camera: Camera): number[] {
  const place = new Vector3();
  const matrix = new Matrix4();
  const distances = Array.from({ length: COUNT }, (_, i) => {
    crowd.getMatrixAt(i, matrix);
    return place.setFromMatrixPosition(matrix).distanceTo(camera.position);
  }).sort((a, b) => a - b);
  return [distances[COUNT / 3], distances[(COUNT / 3) * 2]];
}

describe.each(TWINS)('%s', (twin) => {
  const drawing = useDrawing(twin, drawingOf);

  test('levels of the same geometry give the same picture to the byte, with their shadows', async () => {
    const { draw } = drawing;
    for (const [kind, encoding] of LIT.filter(([, , one]) => THOROUGH || one === twin)) {
      const { crowd, root } = createCrowd(encoding);
      const yellow = new MeshStandardMaterial({ color: 0xffee00 });
      new JointAttachment(crowd, 'Head', new BoxGeometry(0.3, 0.1, 0.3), yellow);
      const { scene, camera } = createStageFor(crowd, kind);
      const expected = await draw(scene, camera, crowd);
      crowd.visible = false;
      const empty = await draw(scene, camera, crowd);
      crowd.visible = true;
      expect(changedPixels(expected, empty)).toBeGreaterThan(1500);

      for (const start of thirds(crowd, camera)) {
        const level = addLevel(
          crowd,
          createLevel(crowd, root, { mergeMaterials: mergeMaterials() }),
          start,
          0.1,
        );
        if (Array.isArray(level.material)) throw new Error('the materials were not merged');
      }
      const levelled = await draw(scene, camera, crowd);
      expect(changedPixels(levelled, expected, 0), `${kind}, ${encoding}`).toBe(0);
      levelsOf(crowd).shadowLevel = 1;
      expect(changedPixels(await draw(scene, camera, crowd), expected, 0), `${kind}, coarser shadows`).toBe(
        0,
      );

      // The camera turns around, and the same instances are at other levels.
      camera.position.z -= 2 * COUNT;
      camera.lookAt(0, 1, -COUNT / 2);
      camera.updateMatrixWorld();
      const behind = await draw(scene, camera, crowd);
      for (const level of levelsOf(crowd).levels.slice(1)) levelsOf(crowd).remove(level);
      expect(changedPixels(await draw(scene, camera, crowd), behind), `${kind}, from behind`).toBe(0);
      crowd.dispose();
    }
  });

  test('each instance is drawn in the material of its level, and nothing where there is none', async () => {
    const { draw } = drawing;
    const { crowd } = createCrowd('tracks');
    crowd.material = new MeshBasicMaterial({ color: 0xffffff });
    crowd.instanceColor?.array.fill(1);
    crowd.instanceMatrix.array.fill(0);
    for (let i = 0; i < COUNT; i++) {
      crowd.setMatrixAt(i, new Matrix4().setPosition((i % 3) * 3 - 3, Math.floor(i / 3) * 3 - 3, -i * 2));
    }
    const { scene, camera } = createStageFor(crowd, 'directional');
    for (const object of [...scene.children]) if (!(object as Light).isLight) scene.remove(object);
    camera.position.set(0, 0, 20);
    camera.lookAt(0, 0, -8);
    camera.updateMatrixWorld();
    scene.background = new Color(0);
    const box = () => followingBox(crowd.geometry);
    crowd.geometry = box();
    const materials = [0xff0000, 0x00ff00].map((color) => new MeshBasicMaterial({ color }));
    addLevel(crowd, crowd.geometry, 24, 0, { material: materials[0] });
    addLevel(crowd, crowd.geometry, 29, 0, { material: materials[1] });
    addLevel(crowd, null, 35);
    partsOf(crowd).setColorAt(crowd.all, 0, new Color(1, 1, 1));

    const pixels = await draw(scene, camera, crowd);
    const seen = Array.from({ length: COUNT }, (_, i) => {
      const matrix = new Matrix4();
      crowd.getMatrixAt(i, matrix);
      const centre = new Vector3().setFromMatrixPosition(matrix);
      const distance = centre.distanceTo(camera.position);
      const { x, y } = centre.project(camera);
      // WebGPU has the first row of pixels at the top.
      const row = Math.round(((twin === 'TSL on WebGPU' ? 1 - y : 1 + y) / 2) * SIZE);
      const pixel = row * SIZE + Math.round(((x + 1) / 2) * SIZE);
      return { distance, color: [...pixels.subarray(pixel * 4, pixel * 4 + 3)].map((value) => value > 128) };
    });
    const levels = new Set<number>();
    for (const { distance, color } of seen) {
      const level = [24, 29, 35].filter((start) => distance >= start).length;
      levels.add(level);
      const expected = [
        [true, true, true],
        [true, false, false],
        [false, true, false],
        [false, false, false],
      ][level];
      expect(color, `at ${distance}`).toEqual(expected);
    }
    expect(levels.size).toBe(4);
    crowd.dispose();
  });
});

/** A box about the origin whose vertices all follow the first joint of a crowd geometry, as part 0. */
function followingBox(source: BufferGeometry): BufferGeometry {
  const box = new BoxGeometry(1, 1, 1);
  const { count } = box.attributes.position;
  for (const name of ['skinIndex', 'skinWeight']) {
    const from = source.getAttribute(name);
    const copy = from.clone();
    const { itemSize } = from;
    const values = Float32Array.from({ length: count * itemSize }, (_, i) => {
      return name === 'skinIndex' ? 0 : i % itemSize === 0 ? 1 : 0;
    });
    box.setAttribute(name, Object.assign(copy, { array: values, count, data: undefined }) as never);
  }
  return box;
}

/** Instances three beside each other, and as many rows. */
function createRows() {
  const { root, clips } = createKnight();
  const character = bakeCharacter(root, clips, { mergeMaterials: mergeMaterials() });
  const crowd = new SkinnedInstancedMesh(character, COUNT);
  crowd.castShadow = crowd.receiveShadow = true;
  for (let i = 0; i < COUNT; i++)
    crowd.setMatrixAt(i, new Matrix4().makeTranslation((i % 3) * 1.5 - 1.5, 0, -i));
  crowd.playAll((i) => i % clips.length, { time: (i) => i * 0.1 }).update(0.2);
  return { crowd, root };
}

describe.each(TWINS)('%s', (twin) => {
  const drawing = useDrawing(twin, drawingOf);

  test('attachments are drawn as their levels say, with their shadows, or not at all', async ({ skip }) => {
    skip(!THOROUGH && twin === 'GLSL');
    const { draw } = drawing;
    const hat = new BoxGeometry(0.5, 0.3, 0.5);
    const ball = new BoxGeometry(0.2, 0.9, 0.2);
    const yellow = new MeshStandardMaterial({ color: 0xffee00 });
    const red = new MeshStandardMaterial({ color: 0xff0000 });
    const { crowd: plain, root } = createRows();
    const hats = new JointAttachment(plain, 'Head', hat, yellow);
    const balls = new JointAttachment(plain, 'Head', ball, red);
    const { scene, camera } = createStageFor(plain);

    const { crowd } = createRows();
    // Levels go by the middles of the spheres around instances.
    plain.views.updateGroups();
    const { spheres } = plain.views.groups;
    const distances = Array.from({ length: COUNT }, (_, i) => {
      return new Vector3().fromArray(spheres, i * 4).distanceTo(camera.position);
    });
    const sorted = [...distances].sort((a, b) => a - b);
    const [first, second] = [3, 6].map((place) => (sorted[place - 1] + sorted[place]) / 2);
    const only = (shown: (distance: number) => boolean, mesh: typeof hats) => {
      for (let i = 0; i < COUNT; i++) partsOf(mesh).setVisibleAt(i, 0, shown(distances[i]));
    };

    addLevel(crowd, createLevel(crowd, root, { mergeMaterials: mergeMaterials() }), first);
    const last = addLevel(crowd, createLevel(crowd, root, { mergeMaterials: mergeMaterials() }), second);
    const attached = new JointAttachment(crowd, 'Head', hat, yellow);
    addAttachmentLevel(attached, ball, 1, { material: red });
    only((distance) => distance < first, hats);
    only((distance) => distance >= first, balls);
    const expected = await draw(scene, camera, plain);
    expect(changedPixels(await draw(scene, camera, crowd), expected, 0), 'two geometries').toBe(0);

    addAttachmentLevel(attached, null, 2);
    only((distance) => distance >= first && distance < second, balls);
    const fewer = await draw(scene, camera, plain);
    expect(changedPixels(fewer, expected)).toBeGreaterThan(100);
    expect(changedPixels(await draw(scene, camera, crowd), fewer, 0), 'nothing from the last on').toBe(0);

    levelsOf(crowd).remove(last);
    only((distance) => distance >= first, balls);
    expect(changedPixels(await draw(scene, camera, crowd), expected, 0), 'a level less').toBe(0);
    levelsOf(crowd).levels[1].attachments = false;
    only(() => false, balls);
    const near = await draw(scene, camera, plain);
    expect(changedPixels(await draw(scene, camera, crowd), near, 0), 'without attachments').toBe(0);
    plain.dispose();
    crowd.dispose();
  });

  test('a crowd is drawn with so many triangles at most: in less detail, or the nearest', async () => {
    const { renderer, draw } = drawing;
    const { crowd } = createRows();
    const { scene, camera } = createStageFor(crowd);
    const each = (crowd.geometry.index?.count ?? 0) / 3;
    const infoOf = () => readViewInfo(crowd, renderer, camera);

    const all = await draw(scene, camera, crowd);
    expect((await infoOf()).triangles).toBe(COUNT * each);
    orderOf(crowd).maxVisible = 5;
    const nearest = await draw(scene, camera, crowd);
    expect(changedPixels(nearest, all)).toBeGreaterThan(100);
    orderOf(crowd).maxVisible = Infinity;
    orderOf(crowd).maxTriangles = 5.5 * each;
    expect(changedPixels(await draw(scene, camera, crowd), nearest, 0), 'without levels').toBe(0);
    expect((await infoOf()).triangles).toBe(5 * each);
    // All were for the first picture, and the clock has not moved since.
    expect((await infoOf()).posed).toBe(COUNT);

    const coarse = crowd.geometry.clone();
    const { index } = coarse;
    if (index === null) throw new Error('the geometry has no index');
    coarse.setIndex([...index.array.slice(0, Math.floor(index.count / 6) * 3)]);
    const material = new MeshBasicMaterial({ color: 0xff0000 });
    addLevel(crowd, coarse, 1000, 0, { material });
    orderOf(crowd).maxTriangles = 7 * each;
    const budgeted = await draw(scene, camera, crowd);
    const { levels, triangles, visible } = await infoOf();
    expect(visible).toBe(COUNT);
    expect(triangles).toBeLessThanOrEqual(7 * each);
    expect(levels[0]).toBeGreaterThan(0);
    expect(levels[1]).toBeGreaterThan(0);

    // The same as if the level began between those that are drawn at one and at the other.
    crowd.views.updateGroups();
    const distances = Array.from({ length: COUNT }, (_, i) => {
      return new Vector3().fromArray(crowd.views.groups.spheres, i * 4).distanceTo(camera.position);
    }).sort((a, b) => a - b);
    orderOf(crowd).maxTriangles = Infinity;
    levelsOf(crowd).levels[1].distance = (distances[levels[0] - 1] + distances[levels[0]]) / 2;
    expect(changedPixels(await draw(scene, camera, crowd), budgeted, 0), 'with a level').toBe(0);
    orderOf(crowd).maxTriangles = 0;
    await draw(scene, camera, crowd);
    expect((await infoOf()).triangles).toBe(0);
    crowd.dispose();
  });
});

describe('drawn by WebGLRenderer right after their crowd', () => {
  const drawing = useDrawing('GLSL', drawingOf);

  test.each(['directional', 'point'] as const)('they look as objects of the scene do: %s', async (kind) => {
    const { draw } = drawing;
    const { root, clips } = createKnight();
    const crowd = new SkinnedInstancedMesh(bakeCharacter(shaded(root), clips), COUNT);
    crowd.castShadow = crowd.receiveShadow = true;
    for (let i = 0; i < COUNT; i++) {
      crowd.setMatrixAt(i, new Matrix4().makeTranslation((i % 3) * 1.5 - 1.5, 0, -i));
      crowd.setColorAt(i, new Color().setHSL(i / COUNT, 1, 0.7));
    }
    crowd.playAll((i) => i % clips.length, { time: (i) => i * 0.1 }).update(0.2);
    const { scene, camera } = createStageFor(crowd, kind);
    const sword = new JointAttachment(
      crowd,
      'Head',
      new BoxGeometry(0.5, 0.3, 0.5),
      new MeshStandardMaterial(),
    );
    const starts = thirds(crowd, camera);
    const levels = starts.map((start, i) =>
      addLevel(crowd, createLevel(crowd, root), start, 0, { influences: i === 0 ? 4 : 1 }),
    );
    const hat = addAttachmentLevel(sword, new BoxGeometry(0.2, 0.9, 0.2), 1);
    const all = [...levels, hat];
    await draw(scene, camera, crowd);

    const [near, far] = levels;
    // three.js draws it twice: what is behind first.
    const glass = new MeshStandardMaterial({ transparent: true, opacity: 0.5, side: DoubleSide });
    const steps: [string, LevelMesh[], () => void][] = [
      ['as they are', all, () => {}],
      ['a level casts no shadow', all, () => (near.castShadow = false)],
      ['levels dissolve', all, () => (levelsOf(crowd).dissolve = 0.2)],
      ['shadows are coarser', all, () => (levelsOf(crowd).shadowLevel = 1)],
      [
        'some are coloured and moved',
        all,
        () => crowd.setMatrixAt(7, new Matrix4().makeTranslation(1, 0.5, -6)),
      ],
      ['there is more room', all, () => crowd.setCapacity(COUNT * 2)],
      ['one has another geometry', all, () => (far.geometry = near.geometry)],
      ['glass stands in', [], () => (scene.overrideMaterial = glass)],
      ['one receives no shadow', [near, hat], () => (far.receiveShadow = false)],
      [
        'one has other materials',
        [hat],
        () => (near.material = new MeshStandardMaterial({ color: 0xff00ff })),
      ],
      ['one is not seen', [], () => (hat.visible = false)],
      ['the crowd casts none', [], () => (crowd.castShadow = false)],
    ];
    for (const [name, following, change] of steps) {
      change();
      crowd.instanceMatrix.needsUpdate = true;
      const pixels = await draw(scene, camera, crowd);
      expect(
        all.filter(({ follows, visible }) => follows > 1 && visible),
        name,
      ).toEqual(following);
      // Levels whose hooks others were put in the place of are drawn as objects of the scene.
      for (const level of all) level.onBeforeRender = level.onBeforeRender.bind(level);
      const expected = await draw(scene, camera, crowd);
      expect(all.some(({ follows }) => follows > 0)).toBe(false);
      expect(changedPixels(pixels, expected, 0), name).toBe(0);
      for (const level of all) delete (level as Partial<LevelMesh>).onBeforeRender;
      scene.overrideMaterial = null;
    }
    crowd.castShadow = far.receiveShadow = hat.visible = true;
    await draw(scene, camera, crowd);
    expect(all.some(({ follows }) => follows > 0)).toBe(true);
    const other = await drawingOf(kind === 'point' ? 'GLSL' : 'TSL on WebGL 2');
    const pixels = await other.draw(scene, camera, crowd);
    crowd.update(0);
    expect(changedPixels(await other.draw(scene, camera, crowd), pixels, 0), 'by another renderer').toBe(0);
    other.dispose();
    crowd.dispose();
  });
});

describe('that fade', () => {
  const COUNT = 12;
  const STAGE = new Box3(new Vector3(-2, 0, -5), new Vector3(2, 2, 1));

  /** Black and white squares, in smaller sizes too: a wrong one would be grey. */
  function createSquares(): DataTexture {
    const squares = Array.from({ length: 256 }, (_, i) => (((i & 15) ^ (i >> 4)) & 1 ? 255 : 60));
    const data = Uint8Array.from(squares.flatMap((value) => [value, value, value, 255]));
    const texture = new DataTexture(data, 16, 16);
    texture.minFilter = LinearMipmapLinearFilter;
    texture.generateMipmaps = texture.needsUpdate = true;
    return texture;
  }

  const createHat = () => new BoxGeometry(0.4, 0.3, 0.4);

  /** Characters one behind the other, with hats that have a texture. */
  function createCrowd() {
    const { root, clips } = createCoarseCharacter();
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), COUNT);
    crowd.castShadow = crowd.receiveShadow = true;
    const hatMaterial = new MeshStandardMaterial({ map: createSquares(), side: 2 });
    const hat = new JointAttachment(crowd, 'Head', createHat(), hatMaterial);
    for (let i = 0; i < COUNT; i++) {
      crowd.setMatrixAt(i, new Matrix4().makeRotationY(i).setPosition((i % 3) * 1.4 - 1.4, 0, -i / 2));
      crowd.setColorAt(i, new Color().setHSL(i / COUNT, 1, 0.7));
      crowd.play(i, i % clips.length, { time: i * 0.1 });
    }
    crowd.update(0.2);
    return { crowd, root, hat };
  }

  function move(camera: PerspectiveCamera, x: number): void {
    aim(camera, [x, 2, 6 - Math.abs(x)], [0, 1, -2]);
  }

  describe.each(TWINS)('%s', (twin) => {
    const drawing = useDrawing(twin, drawingOf);

    test('what is attached to instances at two levels is drawn once in all, of so many as it has', async () => {
      const { crowd, root, hat } = createCrowd();
      const { scene, camera } = createStage(STAGE);
      move(camera as PerspectiveCamera, 0);
      // Whatever is drawn twice is brighter.
      const glow = { blending: AdditiveBlending, depthTest: false, transparent: true };
      const grey = new MeshBasicMaterial({ ...glow, color: 0x404040 });
      hat.material = grey;
      for (const start of [5, 7, 9]) addLevel(crowd, createLevel(crowd, root), start);
      const last = addAttachmentLevel(hat, createHat(), 2, { material: grey });
      const pictures: Uint8Array[] = [];
      for (const count of [COUNT, 7]) {
        hat.count = last.count = count;
        for (const dissolve of [0, 0.4]) {
          levelsOf(crowd).dissolve = dissolve;
          pictures.push(await drawing.draw(scene, camera, crowd));
        }
      }
      const [whole, dissolved, cut, cutDissolved] = pictures;
      expect(changedPixels(dissolved, whole, 0)).toBe(0);
      expect(changedPixels(cutDissolved, cut, 0)).toBe(0);
      last.material = new MeshBasicMaterial({ ...glow, color: 0x404000 });
      const other = await drawing.draw(scene, camera, crowd);
      levelsOf(crowd).dissolve = 0;
      expect(changedPixels(await drawing.draw(scene, camera, crowd), other)).toBeGreaterThan(30);
      // The same without levels.
      last.dispose();
      levelsOf(crowd).dispose();
      expect(changedPixels(await drawing.draw(scene, camera, crowd), cut, 0)).toBe(0);
      expect(changedPixels(whole, cut)).toBeGreaterThan(200);
      crowd.dispose();
    });

    test('levels of the same geometry that fade into each other give the same pictures to the byte', async ({
      skip,
    }) => {
      skip(!THOROUGH && twin !== 'GLSL');
      const { crowd, root, hat } = createCrowd();
      const stage = createStage(STAGE);
      const camera = stage.camera as PerspectiveCamera;
      addLevel(crowd, createLevel(crowd, root), 5, 0.2);
      addLevel(crowd, createLevel(crowd, root), 9, 0.2);
      // On a level of its own, and on several together.
      addAttachmentLevel(hat, createHat(), 2);
      const empty = await drawing.draw(stage.scene, camera, new Object3D());
      for (const [step, sorted] of [true, false].entries()) {
        orderOf(crowd).sortObjects = sorted;
        levelsOf(crowd).shadowLevel = step;
        const pictures = [];
        for (const fade of [0, 0.7]) {
          levelsOf(crowd).dissolve = fade;
          move(camera, step);
          pictures.push(await drawing.draw(stage.scene, camera, crowd));
          const { visible, levels } = await readViewInfo(crowd, drawing.renderer, camera);
          const both = levels.reduce((sum, count) => sum + count) - visible;
          if (fade > 0) expect(both, 'instances at two levels').toBeGreaterThan(3);
          else expect(both).toBe(0);
        }
        expect(changedPixels(pictures[0], empty)).toBeGreaterThan(3000);
        expect(changedPixels(pictures[0], pictures[1], 0), `sorted ${sorted}`).toBe(0);
      }
      crowd.dispose();
    });
  });
});

describe('screenShare', () => {
  const drawing = useDrawing('GLSL');

  /** Which part of the picture's height a figure takes where its level of a tenth begins, at which nothing is drawn. */
  async function shareAtTenth(crowd: SkinnedInstancedMesh, { min, max }: Box3): Promise<number> {
    crowd.material = new MeshBasicMaterial();
    levelsOf(crowd).add(null, { screenShare: 0.1 });
    const size = max.y - min.y;
    const heightAt = async (distance: number): Promise<number> => {
      const camera = new PerspectiveCamera(10, 1, distance / 10, distance * 10);
      camera.position.set(0, min.y + size / 2, distance);
      const pixels = await drawing.draw(new Scene(), camera, crowd);
      let rows = 0;
      for (let at = 0; at < pixels.length; at += SIZE * 4)
        if (pixels.subarray(at, at + SIZE * 4).some((value, i) => value > 0 && i % 4 === 0)) rows++;
      return rows / SIZE;
    };
    let [near, far] = [size, 1000 * size];
    while (far > near * 1.01) {
      const middle = Math.sqrt(near * far);
      if ((await heightAt(middle)) > 0) near = middle;
      else far = middle;
    }
    const share = await heightAt(near);
    crowd.dispose();
    return share;
  }

  const NAME = 'a level at a tenth of the height of the picture begins where that is drawn';

  describeCharacters((name) => {
    test(NAME, async () => {
      const { root, clips } = await loadCharacter(name);
      const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
      const share = await shareAtTenth(crowd, new Box3().setFromObject(root, true));
      expect(share).toBeGreaterThan(0.08);
      expect(share).toBeLessThan(0.12);
    });
  });

  test.each(['knight', 'rogue', 'villager'])(`${NAME}: %s, a baked file of the demos`, async (name) => {
    const loader = new GLTFLoader().setMeshoptDecoder(MeshoptDecoder);
    loader.register((parser) => new SkinnedInstancedMeshExtension(parser));
    const [character] = bakedCharactersOf(await loader.loadAsync(`/demos/art/${name}.glb`));
    const crowd = new SkinnedInstancedMesh(character, 1);
    const { position } = crowd.geometry.attributes;
    const share = await shareAtTenth(crowd, new Box3().setFromBufferAttribute(position as BufferAttribute));
    console.log(`${name}: a level of a tenth begins at ${(share * 100).toFixed(1)} %`);
    expect(share).toBeGreaterThan(0.08);
    expect(share).toBeLessThan(0.12);
  });
});
