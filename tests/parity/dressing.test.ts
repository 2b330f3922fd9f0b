import {
  Box3,
  BoxGeometry,
  type BufferAttribute,
  type BufferGeometry,
  CanvasTexture,
  Color,
  ConeGeometry,
  Float32BufferAttribute,
  Group,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  NearestFilter,
  NumberKeyframeTrack,
  type Object3D,
  PlaneGeometry,
  QuaternionKeyframeTrack,
  Raycaster,
  RepeatWrapping,
  SphereGeometry,
  SRGBColorSpace,
  Vector2,
  Vector3,
  VectorKeyframeTrack,
} from 'three';
import { describe, expect, test, vi } from 'vitest';
import { TWINS } from '../support/captures.js';
import { BUILT_IN, describeCharacters, loadCharacter } from '../support/characters.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { BOUND, expectSameDrawn } from '../support/comparePair.js';
import { crowdArguments } from '../support/crowdArguments.js';
import { disposeLater } from '../support/disposeLater.js';
import { sharedDrawing, useDrawing } from '../support/drawings.js';
import { expectSamePicture } from '../support/expectSamePicture.js';
import { morphsOf, partsOf } from '../support/features.js';
import {
  Billboard,
  bakeCharacter,
  type CrowdMesh,
  createLevel,
  ENCODINGS,
  encodingOf,
  frames,
  getSocketMatrix,
  JointAttachment,
  LoopOnceOptions,
  mergeMaterials,
  SkinnedInstancedMesh,
} from '../support/library.js';
import type { Model } from '../support/models.js';
import { nearestFrame } from '../support/pair.js';
import { aim, changedPixels, createStage, shaded } from '../support/pictures.js';
import { boundsOf, Reference } from '../support/reference.js';

/** The character with things in hand, of materials that differ in every constant that may. */
function createDressed(): Model {
  const { root, clips } = createCoarseCharacter();
  const add = (parent: string, name: string, material: MeshStandardMaterial) => {
    const mesh = new Mesh(new BoxGeometry(0.12, 0.5, 0.12), material);
    mesh.name = name;
    root.getObjectByName(parent)!.add(mesh);
  };
  add('RightHand', 'Sword', new MeshStandardMaterial({ color: 0xc0c8d0, roughness: 0.2, metalness: 0.9 }));
  add('LeftHand', 'Lamp', new MeshStandardMaterial({ color: 0x222222, emissive: 0xffaa33 }));
  add('Head', 'Hat', new MeshStandardMaterial({ color: 0x993311, roughness: 0.9 }));
  const groups = new BoxGeometry(0.5, 0.1, 0.5);
  const sides = [0x3355aa, 0xaa5533].map((color) => new MeshStandardMaterial({ color }));
  const tray = new Mesh(
    groups,
    groups.groups.map((_, i) => sides[i % 2]),
  );
  tray.name = 'Tray';
  root.getObjectByName('Chest')!.add(tray);
  return { name: 'built-in', root, clips };
}

const shadingOf = ({ attributes }: BufferGeometry) => attributes.shadingJoint.array;

const load = async (name: string): Promise<Model> =>
  name === BUILT_IN ? createDressed() : loadCharacter(name);

/** The character at a time of a clip as three.js has it, to be compared with a crowd of one. */
function createReference({ root, clips }: Model, clip: number, time: number, dress = (_: Object3D) => {}) {
  shaded(root);
  const reference = new Reference(root, new Matrix4());
  dress(reference.root);
  reference.pose(clips[clip], time);
  return reference;
}

/** Poses a crowd of one and three.js's character at the frame of a clip that is nearest to a time. */
function poseBoth(
  crowd: SkinnedInstancedMesh,
  reference: Reference,
  { clips }: Model,
  clip: number,
  time: number,
) {
  const { name } = clips[clip];
  const nearest = nearestFrame(crowd.boneTexture, name, time);
  crowd.play(0, name, { ...LoopOnceOptions, time: nearest });
  reference.pose(clips[clip], nearest);
}

describe.each(TWINS)('%s', (twin) => {
  const { draw } = useDrawing(twin);

  async function expectSame(reference: Reference, crowd: Object3D, label: string): Promise<void> {
    const stage = createStage(boundsOf(reference));
    await expectSameDrawn(`${label}, ${twin}`, draw, stage, reference.root, crowd);
  }

  describeCharacters((name) => {
    test('with merged materials is one draw call and looks the same', async () => {
      const model = await load(name);
      const clip = Math.floor(model.clips.length / 2);
      const time = 0.3 * model.clips[clip].duration;
      const reference = createReference(model, clip, time);
      const options = { mergeMaterials: mergeMaterials(), clips: [model.clips[clip].name], fps: 60 };
      const crowd = new SkinnedInstancedMesh(bakeCharacter(model.root, model.clips, options), 1);
      expect(Array.isArray(crowd.material)).toBe(false);
      poseBoth(crowd, reference, model, clip, time);
      await expectSame(reference, crowd, `${name} merged`);
      disposeLater(crowd);
    });
  }, twin);

  test.each([undefined, mergeMaterials()])('a replaced colour is as a material’s, %#', async (merger) => {
    const model = createDressed();
    const meshOf = (root: Object3D, name: string) =>
      root.getObjectByName(name) as Mesh<BoxGeometry, MeshStandardMaterial>;
    const dressed = ['Sword', 'Hat'].map((name) => meshOf(model.root, name));
    for (const { name, material } of dressed) material.name = `Skin ${name}`;
    // One is black; the other's vertices have colours too.
    dressed[0].material.color.set(0);
    const painted = Float32Array.from(dressed[1].geometry.attributes.position.array, (_, i) => (i % 7) / 6);
    dressed[1].geometry.setAttribute('color', new Float32BufferAttribute(painted, 3));
    dressed[1].material.vertexColors = true;
    const color = new Color(0.9, 0.5, 0.1);
    const reference = createReference(model, 0, 0, (root) => {
      for (const mesh of dressed.map(({ name }) => meshOf(root, name))) {
        mesh.material = mesh.material.clone();
        mesh.material.color.copy(color);
      }
    });
    const character = bakeCharacter(model.root, model.clips, { mergeMaterials: merger });
    const crowd = new SkinnedInstancedMesh(character, 1);
    partsOf(crowd).setColorAt(0, { material: /^Skin/ }, color, { replace: true });
    poseBoth(crowd, reference, model, 0, 0.2);
    await expectSame(reference, crowd, 'replaced');
    expect(() => partsOf(crowd).setColorAt(0, 'Tray', color, { replace: true })).toThrow('several materials');
    expect(() => partsOf(crowd).setVisibleAt(0, { material: 'Skn' }, true)).toThrow(
      /no part of material "Skn"; there are .*"Skin Hat"/,
    );
    disposeLater(crowd);
  });

  test('rigid pieces that are mirrored or scaled unevenly are lit as three.js lights them', async () => {
    const model: Model = { name: 'built-in', ...createCoarseCharacter() };
    const add = (x: number, y: number, z: number) => {
      const ball = new Mesh(new SphereGeometry(0.4, 20, 14), new MeshStandardMaterial({ color: 0xddaa66 }));
      ball.name = `Ball ${x}`;
      ball.scale.set(x, y, z);
      ball.rotation.z = 0.5;
      ball.position.set(x, 0.2, 0.3);
      model.root.getObjectByName('Chest')?.add(ball);
    };
    add(-1, 1, 1);
    add(0.4, 1.6, 1);
    const reference = createReference(model, 2, 0.25);
    const character = bakeCharacter(model.root, model.clips, { encoding: frames, fps: 48 });
    const crowd = new SkinnedInstancedMesh(character, 1);
    poseBoth(crowd, reference, model, 2, 0.25);
    await expectSame(reference, crowd, 'mirrored');
    disposeLater(crowd);
  });

  test.each(ENCODINGS)('what clips scale unevenly is lit as three.js lights it, %s', async (encoding) => {
    const model: Model = { name: 'built-in', ...createCoarseCharacter() };
    const { root, clips } = model;
    const ball = new Mesh(new SphereGeometry(0.4, 20, 14), new MeshStandardMaterial({ color: 0xddaa66 }));
    ball.name = 'Ball';
    ball.position.set(0.4, 0.2, 0.3);
    const turning = ball.clone();
    turning.name = 'Turning';
    const squashed = new Group().add(turning);
    squashed.position.set(-1.2, 1.2, 0.3);
    squashed.scale.set(1, 0.5, 1.4);
    root.getObjectByName('Chest')?.add(ball);
    const armature = new Group().add(...root.children);
    armature.name = 'Armature';
    armature.scale.set(1, 1.2, 0.7);
    root.add(armature, squashed);
    const [, , { duration, tracks }] = clips;
    const scale = (name: string, values: number[]) =>
      tracks.push(new VectorKeyframeTrack(`${name}.scale`, [0, duration], values));
    scale('Ball', [1, 1, 1, 1.5, 0.4, 1.2]);
    const turn = [0, 0, 0, 1, 0, 0, 0.6, 0.8];
    tracks.push(new QuaternionKeyframeTrack('Turning.quaternion', [0, duration], turn));
    scale('Armature', [1, 1.2, 0.7, 0.8, 1.1, 1.2]);
    const held = ball.clone();
    held.name = 'Held';
    const reference = createReference(model, 2, 0.25, (copy) => copy.getObjectByName('Head')?.add(held));
    const character = bakeCharacter(root, clips, { encoding: encodingOf(encoding), fps: 48 });
    const crowd = new SkinnedInstancedMesh(character, 1);
    held.updateMatrix();
    const attached = new JointAttachment(crowd, 'Head', held.geometry, held.material, {
      offset: held.matrix,
    });
    for (const one of [held, attached]) one.castShadow = one.receiveShadow = true;
    poseBoth(crowd, reference, model, 2, 0.25);
    await expectSame(reference, crowd, `squashed, ${encoding}`);
    const level = createLevel(crowd, root);
    expect(shadingOf(level.geometry)).toEqual(shadingOf(crowd.geometry));
    disposeLater(crowd);
  });

  test('morph targets that clips move are lit and shadowed as three.js does it', async () => {
    const model: Model = { name: 'built-in', ...createCoarseCharacter() };
    const ball = new Mesh(new SphereGeometry(0.3, 20, 14), new MeshStandardMaterial({ color: 0xddaa66 }));
    ball.name = 'Ball';
    ball.position.set(0, 0.2, 0.3);
    // from a sphere to a cone that points up, normals too
    const cone = new ConeGeometry(0.3, 1.2, 20, 14);
    const target = (name: 'position' | 'normal') => {
      const way = new Float32BufferAttribute(new Float32Array(ball.geometry.attributes[name].count * 3), 3);
      for (let i = 0; i < way.count; i++) {
        const [from, base] = [cone, ball.geometry].map(({ attributes }) => attributes[name]);
        const at = i % from.count;
        for (let k = 0; k < 3; k++)
          way.setComponent(i, k, from.getComponent(at, k) - base.getComponent(i, k));
      }
      return [way];
    };
    ball.geometry.morphAttributes = { position: target('position'), normal: target('normal') };
    ball.geometry.morphTargetsRelative = true;
    ball.updateMorphTargets();
    model.root.getObjectByName('Chest')?.add(ball);
    const [clip] = model.clips;
    clip.tracks.push(new NumberKeyframeTrack('Ball.morphTargetInfluences', [0, clip.duration], [0, 1]));
    const reference = createReference(model, 0, 0.4 * clip.duration);
    for (const mergeMaterials of [false, true]) {
      const options = { fps: 20, mergeMaterials };
      const crowd = new SkinnedInstancedMesh(...crowdArguments(model.root, model.clips, 1, options));
      poseBoth(crowd, reference, model, 0, 0.4 * clip.duration);
      await expectSame(reference, crowd, 'morphed');
      disposeLater(crowd);
    }
  });

  test('colours and influences show at once, however often they are set, and however else they are', async () => {
    const model: Model = { name: 'built-in', ...createCoarseCharacter() };
    const body = model.root.getObjectByName('Body') as Mesh;
    const { position } = body.geometry.attributes;
    body.geometry.morphAttributes.position = [position.clone()];
    body.geometry.morphTargetsRelative = true;
    body.updateMorphTargets();
    const crowd = new SkinnedInstancedMesh(bakeCharacter(model.root, model.clips), 3);
    const hat = new JointAttachment(
      crowd,
      'Head',
      new BoxGeometry(0.5, 0.5, 0.5),
      new MeshStandardMaterial(),
    );
    const figure = new Mesh();
    morphsOf(crowd);
    for (let i = 1; i < 3; i++) crowd.setMatrixAt(i, new Matrix4().makeTranslation(i, 0, 0));
    const look = (mesh: CrowdMesh, index: number, seed: number) =>
      mesh.setColorAt(index, new Color().setHSL(seed * 0.21, 0.9, 0.5));
    const grow = (index: number, influence: number) =>
      crowd.setMorphAt(index, Object.assign(figure, { morphTargetInfluences: [influence] }));
    const { scene, camera } = createStage(new Box3(new Vector3(-1, 0, -1), new Vector3(3, 2, 1)));
    const empty = await draw(scene, camera, new Group());
    const steps: (() => unknown)[] = [
      () => look(crowd, 0, 1),
      () => look(crowd, 1, 2) && look(hat, 0, 3),
      () => look(crowd, 0, 4) && grow(1, 0.3),
      () => look(hat, 2, 5) && look(crowd, 2, 6) && grow(2, 0.2),
      () => {
        // as users of InstancedMesh do it, in the same frame as what says itself what has changed
        look(crowd, 1, 7);
        crowd.instanceColor?.setXYZ(0, 1, 1, 0).setXYZ(2, 0, 1, 1);
        (crowd.instanceColor as BufferAttribute).needsUpdate = true;
      },
      () => look(crowd, 2, 8) && grow(1, 0),
      () => crowd.swapInstances(0, 2),
      () => crowd.setCapacity(5),
      () => look(crowd, 0, 9),
      () => crowd.deleteInstance(1) && crowd.addInstance() && grow(0, 0.1),
    ];
    for (const [i, step] of steps.entries()) {
      step();
      const drawn = await draw(scene, camera, crowd);
      // A copy has been drawn by nobody, and is sent whole.
      const copy = crowd.clone();
      expectSamePicture(`step ${i}`, await draw(scene, camera, copy), drawn, empty, 0);
      copy.dispose();
    }
    disposeLater(crowd);
  });

  test('a part whose map is moved looks as a mesh whose texture is', async () => {
    const map = atlas();
    map.repeat.set(0.5, 0.5);
    const model: Model = { name: 'built-in', ...createCoarseCharacter() };
    for (const [name, y] of [
      ['Sign', 0.3],
      ['Plate', -0.3],
    ] as const) {
      const box = new Mesh(new BoxGeometry(0.8, 0.4, 0.1), new MeshStandardMaterial({ map, alphaTest: 0.5 }));
      box.name = name;
      box.castShadow = box.receiveShadow = true;
      box.position.set(0, y, 0.3);
      model.root.getObjectByName('Chest')?.add(box);
    }
    const crowd = new SkinnedInstancedMesh(bakeCharacter(model.root, model.clips, { fps: 48 }), 2);
    const time = nearestFrame(crowd.boneTexture, 2, 0.25);
    crowd.setMatrixAt(1, new Matrix4().makeTranslation(500, 0, 0));
    crowd.playAll(2, { ...LoopOnceOptions, time });
    const offset = new Vector2(1, 0.5);
    partsOf(crowd).setMapOffsetAt(0, 'Sign', offset).setMapOffsetAt(1, 'Plate', new Vector2(0.25, 0.25));
    expect(partsOf(crowd).getMapOffsetAt(0, 'Sign', new Vector2())).toEqual(new Vector2(0, 0.5));
    partsOf(crowd).setMapOffsetAt(0, 'Sign', offset.set(1.5, -0.25));
    const moved = partsOf(crowd).getMapOffsetAt(0, 'Sign', new Vector2());
    expect(moved).toEqual(new Vector2(0.5, 0.75));
    partsOf(crowd).setVisibleAt(0, 'Sign', false).setVisibleAt(0, 'Sign', true);
    expect(partsOf(crowd).getMapOffsetAt(0, 'Sign', new Vector2())).toEqual(moved);

    const reference = createReference(model, 2, time, (root) => {
      const sign = root.getObjectByName('Sign') as Mesh<BoxGeometry, MeshStandardMaterial>;
      sign.material = sign.material.clone();
      sign.material.map = atlas();
      sign.material.map.repeat.set(0.5, 0.5);
      // within the map's own transform
      sign.material.map.offset.copy(moved).multiplyScalar(0.5);
    });
    await expectSame(reference, crowd, 'map moved');
    expect(() => partsOf(crowd).setMapOffsetAt(0, 'Sign', new Vector2(Number.NaN, 0))).toThrow(
      'The offset is NaN, 0',
    );
    disposeLater(crowd);
  });

  test('what is attached looks as what is added to a bone', async () => {
    const model: Model = { name: 'built-in', ...createCoarseCharacter() };
    const offset = new Matrix4().makeRotationX(0.6).setPosition(0.05, -0.2, 0.1);
    const box = new BoxGeometry(0.15, 0.7, 0.1);
    const material = new MeshStandardMaterial({ color: 0x3377ff });
    const reference = createReference(model, 2, 0.25, (root) => {
      const mesh = new Mesh(box, material);
      mesh.applyMatrix4(offset);
      mesh.castShadow = mesh.receiveShadow = true;
      root.getObjectByName('RightHand')?.add(mesh);
    });
    const crowd = new SkinnedInstancedMesh(bakeCharacter(model.root, model.clips, { fps: 48 }), 2);
    crowd.castShadow = crowd.receiveShadow = true;
    const sword = new JointAttachment(crowd, 'RightHand', box, material, { offset });
    crowd.setMatrixAt(1, new Matrix4().makeTranslation(500, 0, 0));
    poseBoth(crowd, reference, model, 2, 0.25);
    await expectSame(reference, crowd, 'attached');

    partsOf(sword).setVisibleAt(0, 0, false);
    const bare = createReference(model, 2, nearestFrame(crowd.boneTexture, 2, 0.25));
    await expectSame(bare, crowd, 'attached and hidden');
    crowd.swapInstances(0, 1);
    crowd.setMatrixAt(0, new Matrix4());
    crowd.setMatrixAt(1, new Matrix4().makeTranslation(500, 0, 0));
    crowd.instanceMatrix.needsUpdate = true;
    crowd.play(0, 2, { ...LoopOnceOptions, time: nearestFrame(crowd.boneTexture, 2, 0.25) });
    await expectSame(reference, crowd, 'attached, swapped');
    crowd.setCapacity(40);
    await expectSame(reference, crowd, 'attached, grown');
    sword.dispose();
    await expectSame(bare, crowd, 'detached');
    disposeLater(crowd);
  });
});

test.each(TWINS)('a billboard looks as a plane that was turned to the camera, %s', async (twin) => {
  const { draw, dispose } = await sharedDrawing(twin);
  const { root, clips } = createCoarseCharacter();
  const character = bakeCharacter(root, clips);
  const crowd = new SkinnedInstancedMesh(character, 2);
  const matrix = new Matrix4().makeRotationX(-0.7).premultiply(new Matrix4().makeRotationY(2)).scale(SCALE);
  crowd.setMatrixAt(0, matrix).setMatrixAt(1, matrix.clone().setPosition(400, 0, 0));
  crowd.playAll(1, { time: 0.2 });
  crowd.castShadow = true;
  const plane = new PlaneGeometry(1.6, 0.4, 4, 1).translate(0, 0.9, 0);
  const material = new MeshStandardMaterial({ map: atlas(), roughness: 0.3 });
  const offset = new Matrix4().makeTranslation(0, 0.2, 0);
  const bars = new Billboard(crowd, 'Head', plane, material, { offset });
  const { scene, camera } = createStage(new Box3(new Vector3(-1, 0, -1), new Vector3(1, 3, 1)));
  // away from the middle, and tilted
  camera.position.x += 2;
  camera.rotation.z += 0.4;
  camera.updateMatrixWorld();
  const twinOf = (one: SkinnedInstancedMesh) => {
    const still = new SkinnedInstancedMesh(character, 1);
    still.setMatrixAt(0, matrix).play(0, 1, { time: 0.2 });
    still.castShadow = true;
    const mesh = new Mesh(plane, material);
    mesh.position.setFromMatrixPosition(getSocketMatrix(one, 0, 'Head', new Matrix4()).multiply(offset));
    mesh.quaternion.copy(camera.quaternion);
    mesh.scale.copy(SCALE);
    return new Group().add(still, mesh);
  };
  const empty = await draw(scene, camera, new Group());
  const expected = await draw(scene, camera, twinOf(crowd));
  expectSamePicture('billboard', expected, await draw(scene, camera, crowd), empty, BOUND);
  const copy = crowd.clone();
  expectSamePicture('its copy', expected, await draw(scene, camera, copy), empty, BOUND);
  // only the billboard is in sight
  const [body] = [crowd.geometry.drawRange];
  body.count = 0;
  crowd.computeBoundingSphere();
  const { x, y, z } = new Vector3(0, 0.9, 0).applyQuaternion(camera.quaternion).multiply(SCALE);
  const at = new Vector3().setFromMatrixPosition(
    getSocketMatrix(crowd, 0, 'Head', new Matrix4()).multiply(offset),
  );
  aim(camera, [at.x + x, at.y + y, at.z + z + 1], [at.x + x, at.y + y, at.z + z]);
  expect(
    changedPixels(await draw(scene, camera, crowd), await draw(scene, camera, new Group())),
  ).toBeGreaterThan(1500);
  expect(new Raycaster(camera.position, new Vector3(0, 0, -1)).intersectObject(bars)).toEqual([]);
  bars.dispose();
  disposeLater(crowd);
  copy.dispose();
  dispose();
});

const SCALE = new Vector3(1.3, 1.3, 1.3);

/** Sixteen colours in a square. */
function atlas(): CanvasTexture {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 64;
  const context = canvas.getContext('2d')!;
  for (let i = 0; i < 16; i++) {
    // Holes, which shadows have too.
    if (i % 5 === 2) continue;
    context.fillStyle = `hsl(${i * 67}, 80%, ${30 + i * 3}%)`;
    context.fillRect((i % 4) * 16, Math.floor(i / 4) * 16, 16, 16);
  }
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  texture.wrapS = texture.wrapT = RepeatWrapping;
  texture.magFilter = texture.minFilter = NearestFilter;
  return texture;
}

test('a crowd says so where it shows parts that its character hides, until it has InstanceParts', async () => {
  const { root, clips } = createDressed();
  const drawing = await sharedDrawing('GLSL');
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips, { hiddenParts: ['Hat'] }), 1);
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { scene, camera } = createStage(new Box3().setFromObject(root));
  await drawing.draw(scene, camera, crowd);
  expect(warn).toHaveBeenCalledWith(expect.stringContaining('new InstanceParts(crowd)'));
  crowd.dispose();
  drawing.dispose();
});
