import {
  Box3,
  BoxGeometry,
  type Camera,
  CanvasTexture,
  Color,
  ConeGeometry,
  Float32BufferAttribute,
  Group,
  type KeyframeTrack,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  NearestFilter,
  NumberKeyframeTrack,
  type Object3D,
  PCFShadowMap,
  RepeatWrapping,
  type Scene,
  SphereGeometry,
  SRGBColorSpace,
  Vector2,
  Vector3,
  WebGLRenderer,
} from 'three';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { TWINS } from '../support/captures.js';
import { BoneTexture, LoopOnceOptions, SkinnedInstancedMesh } from '../support/library.js';
import { loadModel, type Model, modelNames } from '../support/models.js';
import { changedPixels, createStage, picture, sameShare } from '../support/pictures.js';
import { characterHeight, Reference } from '../support/reference.js';

const BOUND = 0.995;
const models = await modelNames();

/** The character with things in hand, of materials that differ in every constant that may. */
function createDressed(): Model {
  const { root, clips } = createCharacter();
  const add = (parent: string, name: string, material: MeshStandardMaterial) => {
    const mesh = new Mesh(new BoxGeometry(0.12, 0.5, 0.12), material);
    mesh.name = name;
    (root.getObjectByName(parent) as Object3D).add(mesh);
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
  (root.getObjectByName('Chest') as Object3D).add(tray);
  return { name: 'built-in', root, clips };
}

const load = async (name: string): Promise<Model> =>
  name === 'built-in' ? createDressed() : loadModel(name);

/** The character at a time of a clip as three.js has it, to be compared with a crowd of one. */
function createReference({ root, clips }: Model, clip: number, time: number, dress = (_: Object3D) => {}) {
  root.traverse((node) => {
    node.castShadow = true;
    node.receiveShadow = true;
  });
  const reference = new Reference(root, new Matrix4());
  dress(reference.root);
  reference.pose(clips[clip], time);
  return reference;
}

type Picture = (scene: Scene, camera: Camera, object: Object3D) => Promise<Uint8Array> | Uint8Array;

describe.each(TWINS)('%s', (twin) => {
  let draw: Picture;
  let dispose: () => void;
  beforeAll(async () => {
    if (twin === 'GLSL') {
      const renderer = new WebGLRenderer();
      renderer.shadowMap.enabled = true;
      renderer.shadowMap.type = PCFShadowMap;
      draw = (scene, camera, object) => picture(renderer, scene, camera as never, object);
      dispose = () => renderer.dispose();
      return;
    }
    const { WebGPURenderer } = await import('three/webgpu');
    const { pictureNodes } = await import('../support/picturesNodes.js');
    const renderer = new WebGPURenderer({ forceWebGL: twin === 'TSL on WebGL 2' });
    await renderer.init();
    renderer.shadowMap.enabled = true;
    renderer.shadowMap.type = PCFShadowMap;
    draw = (scene, camera, object) => pictureNodes(renderer, scene, camera as never, object);
    dispose = () => renderer.dispose();
  });
  afterAll(() => dispose());

  async function expectSame(reference: Reference, crowd: Object3D, label: string): Promise<void> {
    const box = new Box3();
    reference.forEachVertex((_, position) => box.expandByPoint(position));
    const { scene, camera } = createStage(box, 'directional');
    const expected = await draw(scene, camera, reference.root);
    const drawn = await draw(scene, camera, crowd);
    const empty = await draw(scene, camera, new Group());
    expect(changedPixels(expected, empty), 'the reference shows something').toBeGreaterThan(300);
    const share = sameShare(expected, drawn);
    console.log(`${label}, ${twin}: ${(share * 100).toFixed(2)} %`);
    expect(share, label).toBeGreaterThanOrEqual(BOUND);
  }

  test.each(['built-in', ...models])(
    '%s with merged materials is one draw call and looks the same',
    async (name) => {
      const model = await load(name);
      const clip = Math.floor(model.clips.length / 2);
      const time = 0.3 * model.clips[clip].duration;
      const reference = createReference(model, clip, time);
      const crowd = SkinnedInstancedMesh.from(model.root, model.clips, 1, {
        mergeMaterials: true,
        clips: [model.clips[clip].name],
        fps: 60,
      });
      expect(Array.isArray(crowd.material)).toBe(false);
      crowd.play(0, 0, { ...LoopOnceOptions, time: nearestFrame(crowd, time) });
      reference.pose(model.clips[clip], nearestFrame(crowd, time));
      await expectSame(reference, crowd, `${name} merged`);
      crowd.dispose();
    },
  );

  test('rigid pieces that are mirrored or scaled unevenly are lit as three.js lights them', async () => {
    const model: Model = { name: 'built-in', ...createCharacter() };
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
    const crowd = SkinnedInstancedMesh.from(model.root, model.clips, 1, { fps: 48 });
    crowd.play(0, 2, { ...LoopOnceOptions, time: nearestFrame(crowd, 0.25, 2) });
    reference.pose(model.clips[2], nearestFrame(crowd, 0.25, 2));
    await expectSame(reference, crowd, 'mirrored');
    crowd.dispose();
  });

  test('morph targets that clips move are lit and shadowed as three.js does it', async () => {
    const model: Model = { name: 'built-in', ...createCharacter() };
    const ball = new Mesh(new SphereGeometry(0.3, 20, 14), new MeshStandardMaterial({ color: 0xddaa66 }));
    ball.name = 'Ball';
    ball.position.set(0, 0.2, 0.3);
    // from a sphere to a cone that points up, normals too
    const cone = new ConeGeometry(0.3, 1.2, 20, 14);
    const target = (name: 'position' | 'normal') => {
      const way = new Float32BufferAttribute(new Float32Array(ball.geometry.attributes[name].count * 3), 3);
      for (let i = 0; i < way.count; i++) {
        const from = cone.attributes[name];
        const at = i % from.count;
        const base = ball.geometry.attributes[name];
        way.setXYZ(
          i,
          from.getX(at) - base.getX(i),
          from.getY(at) - base.getY(i),
          from.getZ(at) - base.getZ(i),
        );
      }
      return [way];
    };
    ball.geometry.morphAttributes = { position: target('position'), normal: target('normal') };
    ball.geometry.morphTargetsRelative = true;
    ball.updateMorphTargets();
    model.root.getObjectByName('Chest')?.add(ball);
    const [clip] = model.clips;
    clip.tracks.push(
      new NumberKeyframeTrack('Ball.morphTargetInfluences', [0, clip.duration], [0, 1]) as KeyframeTrack,
    );
    const reference = createReference(model, 0, 0.4 * clip.duration);
    for (const mergeMaterials of [false, true]) {
      const crowd = SkinnedInstancedMesh.from(model.root, model.clips, 1, { fps: 20, mergeMaterials });
      const time = nearestFrame(crowd, 0.4 * clip.duration);
      crowd.play(0, 0, { ...LoopOnceOptions, time });
      reference.pose(clip, time);
      await expectSame(reference, crowd, 'morphed');
      crowd.dispose();
    }
  });

  test('what instances are given after a frame was drawn is there in the next', async () => {
    const { root, clips } = createCharacter();
    const body = root.getObjectByName('Body') as Mesh;
    const { count } = body.geometry.getAttribute('position');
    const aside = new Float32BufferAttribute(new Float32Array(count * 3), 3);
    for (let i = 0; i < count; i++) aside.setX(i, 0.5);
    body.geometry.morphAttributes.position = [aside];
    body.geometry.morphTargetsRelative = true;
    body.updateMorphTargets();
    const crowd = SkinnedInstancedMesh.from(root, clips, 2);
    crowd.count = 1;
    // one scene throughout: with new lights a renderer looks at everything anew
    const { scene, camera } = createStage(crowdBox(crowd), 'directional');
    const setMorph = (influence: number) => {
      crowd.setMorphAt(0, Object.assign(new Mesh(), { morphTargetInfluences: [influence] }));
      if (crowd.morphTexture) crowd.morphTexture.needsUpdate = true;
    };
    const changes = [
      () => setMorph(1),
      () => setMorph(0.5),
      () => {
        crowd.setColorAt(0, new Color(1, 0, 0));
        if (crowd.instanceColor) crowd.instanceColor.needsUpdate = true;
      },
      () => crowd.setPartColorAt(0, 0, new Color(0.2, 1, 1)),
      () => crowd.setPartVisibleAt(0, 0, false),
    ];
    let before = await draw(scene, camera, crowd);
    for (const [i, change] of changes.entries()) {
      change();
      const after = await draw(scene, camera, crowd);
      expect(changedPixels(before, after), `change ${i}`).toBeGreaterThan(300);
      before = after;
    }
    crowd.dispose();
  });

  test('parts that are hidden or tinted look as meshes that are', async () => {
    const model = createDressed();
    const tint = new Color(0.4, 1, 0.6);
    const reference = createReference(model, 2, 0.25, (root) => {
      (root.getObjectByName('Lamp') as Object3D).visible = false;
      const sword = root.getObjectByName('Sword') as Mesh<BoxGeometry, MeshStandardMaterial>;
      sword.material = sword.material.clone();
      sword.material.color.multiply(tint);
    });
    for (const mergeMaterials of [false, true]) {
      const crowd = SkinnedInstancedMesh.from(model.root, model.clips, 1, { mergeMaterials, fps: 48 });
      crowd.play(0, 2, { ...LoopOnceOptions, time: nearestFrame(crowd, 0.25, 2) });
      reference.pose(model.clips[2], nearestFrame(crowd, 0.25, 2));
      crowd.setPartVisibleAt(0, 'Lamp', false);
      // drawn before there are colours: materials must notice them
      const { scene, camera } = createStage(crowdBox(crowd), 'directional');
      await draw(scene, camera, crowd);
      crowd.setPartColorAt(0, 'Sword', tint);
      await expectSame(reference, crowd, `parts, merged ${mergeMaterials}`);
      crowd.dispose();
    }
  });

  test('a part whose map is moved looks as a mesh whose texture is', async () => {
    const map = atlas();
    map.repeat.set(0.5, 0.5);
    const model: Model = { name: 'built-in', ...createCharacter() };
    for (const [name, y] of [
      ['Sign', 0.3],
      ['Plate', -0.3],
    ] as const) {
      const box = new Mesh(new BoxGeometry(0.8, 0.4, 0.1), new MeshStandardMaterial({ map }));
      box.name = name;
      box.position.set(0, y, 0.3);
      model.root.getObjectByName('Chest')?.add(box);
    }
    const crowd = SkinnedInstancedMesh.from(model.root, model.clips, 2, { fps: 48 });
    const time = nearestFrame(crowd, 0.25, 2);
    crowd.setMatrixAt(1, new Matrix4().makeTranslation(500, 0, 0));
    crowd.playAll(2, { ...LoopOnceOptions, time });
    const offset = new Vector2(1, 0.5);
    crowd.setPartMapOffsetAt(0, 'Sign', offset).setPartMapOffsetAt(1, 'Plate', new Vector2(0.25, 0.25));
    expect(crowd.getPartMapOffsetAt(0, 'Sign', new Vector2())).toEqual(new Vector2(0, 0.5));
    crowd.setPartMapOffsetAt(0, 'Sign', offset.set(1.5, -0.25));
    const moved = crowd.getPartMapOffsetAt(0, 'Sign', new Vector2());
    expect(moved).toEqual(new Vector2(0.5, 0.75));
    crowd.setPartVisibleAt(0, 'Sign', false).setPartVisibleAt(0, 'Sign', true);
    expect(crowd.getPartMapOffsetAt(0, 'Sign', new Vector2())).toEqual(moved);

    const reference = createReference(model, 2, time, (root) => {
      const sign = root.getObjectByName('Sign') as Mesh<BoxGeometry, MeshStandardMaterial>;
      sign.material = sign.material.clone();
      sign.material.map = atlas();
      sign.material.map.repeat.set(0.5, 0.5);
      // within the map's own transform
      sign.material.map.offset.copy(moved).multiplyScalar(0.5);
    });
    await expectSame(reference, crowd, 'map moved');
    expect(() => crowd.setPartMapOffsetAt(0, 'Sign', new Vector2(Number.NaN, 0))).toThrow(
      'SkinnedInstancedMesh.setPartMapOffsetAt: offset is NaN, 0',
    );
    crowd.dispose();
  });

  test('what is attached looks as what is added to a bone', async () => {
    const model: Model = { name: 'built-in', ...createCharacter() };
    const offset = new Matrix4().makeRotationX(0.6).setPosition(0.05, -0.2, 0.1);
    const box = new BoxGeometry(0.15, 0.7, 0.1);
    const material = new MeshStandardMaterial({ color: 0x3377ff });
    const reference = createReference(model, 2, 0.25, (root) => {
      const mesh = new Mesh(box, material);
      mesh.applyMatrix4(offset);
      mesh.castShadow = mesh.receiveShadow = true;
      root.getObjectByName('RightHand')?.add(mesh);
    });
    const crowd = SkinnedInstancedMesh.from(model.root, model.clips, 2, { fps: 48 });
    crowd.castShadow = crowd.receiveShadow = true;
    const sword = crowd.attach('RightHand', box, material, offset);
    crowd.setMatrixAt(1, new Matrix4().makeTranslation(500, 0, 0));
    crowd.play(0, 2, { ...LoopOnceOptions, time: nearestFrame(crowd, 0.25, 2) });
    reference.pose(model.clips[2], nearestFrame(crowd, 0.25, 2));
    await expectSame(reference, crowd, 'attached');

    sword.setPartVisibleAt(0, 0, false);
    const bare = createReference(model, 2, nearestFrame(crowd, 0.25, 2));
    await expectSame(bare, crowd, 'attached and hidden');
    crowd.swapInstances(0, 1);
    crowd.setMatrixAt(0, new Matrix4());
    crowd.setMatrixAt(1, new Matrix4().makeTranslation(500, 0, 0));
    crowd.instanceMatrix.needsUpdate = true;
    crowd.play(0, 2, { ...LoopOnceOptions, time: nearestFrame(crowd, 0.25, 2) });
    await expectSame(reference, crowd, 'attached, swapped');
    crowd.setCapacity(40);
    await expectSame(reference, crowd, 'attached, grown');
    sword.dispose();
    await expectSame(bare, crowd, 'detached');
    crowd.dispose();
  });
});

/** Sixteen colours in a square. */
function atlas(): CanvasTexture {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 64;
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  for (let i = 0; i < 16; i++) {
    context.fillStyle = `hsl(${i * 67}, 80%, ${30 + i * 3}%)`;
    context.fillRect((i % 4) * 16, Math.floor(i / 4) * 16, 16, 16);
  }
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  texture.wrapS = texture.wrapT = RepeatWrapping;
  texture.magFilter = texture.minFilter = NearestFilter;
  return texture;
}

/** The time of the baked frame nearest to a time of a clip. */
function nearestFrame(crowd: SkinnedInstancedMesh, time: number, clip = 0): number {
  const { duration, count } = crowd.boneTexture.clips[clip];
  return count < 2 ? 0 : (Math.round((time / duration) * (count - 1)) / (count - 1)) * duration;
}

function crowdBox(crowd: SkinnedInstancedMesh) {
  crowd.computeBoundingBox();
  return crowd.boundingBox as NonNullable<typeof crowd.boundingBox>;
}

test.each(['built-in', ...models])('sockets of %s are where the bones are', async (name) => {
  const { root, clips } = await load(name);
  const height = characterHeight(root);
  const place = new Matrix4().makeRotationY(0.7).setPosition(0.2 * height, 0, -height);
  const boneTexture = BoneTexture.bake(root, clips, { clips: clips.slice(0, 3).map((clip) => clip.name) });
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { boneTexture });
  crowd.setMatrixAt(0, place);
  const reference = new Reference(root, place);
  const matrix = new Matrix4();
  const seen = new Set<string>();
  let worst = 0;
  for (const [i, clip] of clips.slice(0, 3).entries()) {
    const time = nearestFrame(crowd, 0.4 * clip.duration, i);
    crowd.play(0, i, { ...LoopOnceOptions, time });
    reference.pose(clip, time);
    for (const joint of new Set(boneTexture.jointNames)) {
      const bone = reference.root.getObjectByName(joint);
      if (bone === undefined) continue;
      seen.add(joint);
      crowd.getSocketMatrixAt(0, joint, matrix);
      const off = new Vector3()
        .setFromMatrixPosition(matrix)
        .distanceTo(new Vector3().setFromMatrixPosition(bone.matrixWorld));
      worst = Math.max(worst, off / height);
      const axes = bone.matrixWorld.elements
        .slice(0, 11)
        .map((value, k) => Math.abs(value - matrix.elements[k]));
      expect(Math.max(...axes) / bone.matrixWorld.getMaxScaleOnAxis()).toBeLessThan(1e-4);
    }
  }
  console.log(`${name}: ${seen.size} sockets, off by ${worst.toExponential(1)} of the height at most`);
  expect(seen.size).toBeGreaterThan(15);
  expect(worst).toBeLessThan(2e-5);
});

test('a node that is no joint is a socket when baked as one', () => {
  const { root, clips } = createCharacter();
  const grip = new Group();
  grip.name = 'Grip';
  grip.position.set(0, -0.1, 0.05);
  root.getObjectByName('RightHand')?.add(grip);
  expect(() => SkinnedInstancedMesh.from(root, clips, 1).getSocketMatrixAt(0, 'Grip', new Matrix4())).toThrow(
    /getSocketMatrixAt: no joint "Grip" to attach to; there are "Hips".*sockets: \['Grip'\]/,
  );
  expect(() => BoneTexture.bake(root, clips, { sockets: ['Grab'] })).toThrow('sockets names "Grab"');

  const boneTexture = BoneTexture.bake(root, clips, { sockets: ['Grip'], fps: 48 });
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { boneTexture });
  crowd.play(0, 1, { ...LoopOnceOptions, time: 0.5 });
  const reference = new Reference(root, new Matrix4()).pose(clips[1], 0.5);
  const expected = new Vector3();
  reference.root.getObjectByName('Grip')?.getWorldPosition(expected);
  const drawn = new Vector3().setFromMatrixPosition(crowd.getSocketMatrixAt(0, 'Grip', new Matrix4()));
  expect(drawn.distanceTo(expected)).toBeLessThan(1e-5);
});

test('a clone has attachments of its own, and disposing one leaves the other alone', () => {
  const { root, clips } = createCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, 3);
  crowd.attach('Head', new BoxGeometry(), new MeshStandardMaterial());
  const copy = crowd.clone();
  const [hat] = copy.children as SkinnedInstancedMesh[];
  expect(hat.playback).toBe(copy.playback);
  expect(hat.instanceMatrix).toBe(copy.instanceMatrix);
  copy.dispose();
  expect(copy.children).toEqual([]);
  const [first] = crowd.children as SkinnedInstancedMesh[];
  crowd.count = 2;
  expect(first.count).toBe(2);
  expect(() => (crowd as unknown as { attach(joint: string): void }).attach('Head')).toThrow(
    'SkinnedInstancedMesh.attach: pass the geometry and material that shall follow "Head"',
  );
  const child = new Group();
  expect(crowd.attach(child)).toBe(crowd);
  expect(child.parent).toBe(crowd);
});
