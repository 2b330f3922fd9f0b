import {
  Box3,
  DoubleSide,
  Group,
  InstancedMesh,
  type Material,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  Scene,
  ShaderChunk,
  type SkinnedMesh,
  SphereGeometry,
  WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import { afterAll, describe, expect, test } from 'vitest';
import { TWINS } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { BOUND, expectSameDrawn } from '../support/comparePair.js';
import { type Drawing, sharedDrawing } from '../support/drawings.js';
import { expectSamePicture } from '../support/expectSamePicture.js';
import {
  type BoneTexture,
  bakeBoneTexture,
  bakeCharacter,
  frames,
  LoopOnceOptions,
  SkinnedInstancedMesh,
} from '../support/library.js';
import { changedPixels, createStage, picture, shaded } from '../support/pictures.js';
import { Reference } from '../support/reference.js';
import { createStick } from '../support/stick.js';

const renderer = new WebGLRenderer();
renderer.shadowMap.enabled = true;
afterAll(() => renderer.dispose());

/** A row of meshes in which each has a neighbour of another kind, all with one material. */
function createRow(material: Material) {
  const { root, clips } = createCoarseCharacter();
  const { geometry } = root.getObjectByProperty('isSkinnedMesh', true) as SkinnedMesh;
  for (const mesh of root.getObjectsByProperty('isMesh', true) as Mesh[]) mesh.material = material;
  const at = (x: number) => new Matrix4().makeTranslation(x, 0, 0);
  const sphere = new SphereGeometry(0.4);
  const expected = new Group();
  const drawn = new Group();

  const pose = (name: string, time: number, x: number) => {
    const clip = clips.find((one) => one.name === name);
    if (!clip) throw new Error(`no clip ${name}`);
    expected.add(new Reference(root, at(x)).pose(clip, time).root);
  };
  pose('Run', 0.2, -1.6);
  pose('Wave', 0.5, 0);
  pose('Walk', 0.25, 1.6);
  pose('Run', 0.31, 3.2);

  const crowd = (boneTexture: BoneTexture, clip: string, time: number, x: number, options = {}) => {
    const mesh = new SkinnedInstancedMesh(geometry, material, boneTexture, 1, options);
    mesh.setMatrixAt(0, at(x));
    mesh.play(0, clip, { ...LoopOnceOptions, time });
    drawn.add(mesh);
    return mesh;
  };
  // Other clips, encodings and influences: other textures and other shader variants on the one material.
  crowd(
    bakeBoneTexture(root, clips, { clips: ['Run'], fps: 120, encoding: frames, precision: 'half' }),
    'Run',
    0.2,
    -1.6,
  );
  crowd(bakeBoneTexture(root, clips, { fps: 120, encoding: frames }), 'Wave', 0.5, 0);
  crowd(bakeBoneTexture(root, clips), 'Run', 0.31, 3.2);

  // Between them, users of the material that must not notice.
  for (const group of [expected, drawn]) {
    const plain = new Mesh(sphere, material);
    plain.position.set(-0.8, 1.5, 0);
    const instanced = new InstancedMesh(sphere, material, 1);
    instanced.setMatrixAt(0, at(0.8).scale(plain.scale.clone().setScalar(0.7)));
    group.add(plain, instanced);
  }
  const walk = clips.find(({ name }) => name === 'Walk');
  if (walk) drawn.add(new Reference(root, at(1.6)).pose(walk, 0.25).root);

  for (const group of [expected, drawn]) shaded(group);
  return { expected, drawn, bounds: boundsOf(expected) };
}

function boundsOf(group: Group): Box3 {
  group.updateMatrixWorld(true);
  return new Box3().setFromObject(group, true);
}

async function compareRow(draw: Drawing['draw'], material: Material, label: string): Promise<void> {
  const { expected, drawn, bounds } = createRow(material);
  const stage = createStage(bounds);
  // three.js's own meshes first and last: a program left behind by one kind must not serve the other
  const reference = await draw(stage.scene, stage.camera, expected);
  await expectSameDrawn(label, draw, stage, expected, drawn);
  expect(changedPixels(reference, await draw(stage.scene, stage.camera, expected), 0)).toBe(0);
}

const plain = () => new MeshStandardMaterial({ vertexColors: false, color: 0xcc9966 });

test.each(TWINS)(
  'one material on three crowds, a SkinnedMesh, an InstancedMesh and a Mesh, %s',
  async (twin) => {
    await compareRow((await sharedDrawing(twin)).draw, plain(), `one material, ${twin}`);
  },
);

describe("the user's own onBeforeCompile still runs", () => {
  const paint = (shader: { fragmentShader: string }) => {
    shader.fragmentShader = shader.fragmentShader.replace(
      '#include <dithering_fragment>',
      '#include <dithering_fragment>\ngl_FragColor.rgb = gl_FragColor.bgr;',
    );
  };

  test('set afterwards, in the place of the one that was there, and compiled before the first frame', () => {
    const material = plain();
    const { expected, drawn, bounds } = createRow(material);
    material.onBeforeCompile = paint;
    material.needsUpdate = true;
    const { scene, camera } = createStage(bounds);
    // As the pictures are drawn: into a target.
    const target = new WebGLRenderTarget(1, 1);
    renderer.setRenderTarget(target);
    renderer.compile(drawn, camera, scene);
    target.dispose();
    const posed = picture(renderer, scene, camera, drawn);
    const reference = picture(renderer, scene, camera, expected);
    const empty = picture(renderer, scene, camera, new Group());
    expectSamePicture('own hook, compiled ahead', reference, posed, empty, BOUND);
  });
});

test('a variant that is switched at run time is drawn at once', () => {
  // Its clip moves it evenly, so that frames mixed by hand are what the mixer shows between them.
  const { root, mesh, clips } = createStick();
  mesh.material = new MeshStandardMaterial({ side: DoubleSide });
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips, { encoding: frames, fps: 4 }), 1);
  const reference = new Reference(root).pose(clips[0], 0.35);
  crowd.play(0, 'Slide', { time: 0.35 });
  const { scene, camera } = createStage(boundsOf(new Group().add(reference.root)));
  const empty = picture(renderer, scene, camera, new Group());
  for (const [interpolate, shown] of [
    [true, 0.35],
    [false, 0.25],
    [true, 0.35],
  ] as const) {
    crowd.interpolate = interpolate;
    reference.pose(clips[0], shown);
    const expected = picture(renderer, scene, camera, reference.root);
    const drawn = picture(renderer, scene, camera, crowd);
    expectSamePicture(`interpolate ${interpolate}`, expected, drawn, empty, BOUND);
  }
});

test('nothing global is changed, and a page where ShaderChunk was replaced draws right', async () => {
  const chunks = JSON.stringify(ShaderChunk);
  const { root, clips } = createCoarseCharacter();
  new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
  expect(JSON.stringify(ShaderChunk)).toBe(chunks);

  const { createInstancedMesh2From } = await import('@three.ez/instanced-mesh');
  // Another test may have loaded it before.
  const { morphinstance_vertex } = ShaderChunk as Record<string, string>;
  expect(morphinstance_vertex, 'the other library replaces chunks').not.toContain('gl_InstanceID');

  await compareRow((await sharedDrawing('GLSL')).draw, plain(), 'beside replaced chunks');

  // Both on one page, each drawn alone and then together: neither changes the other's picture.
  const mesh = root.getObjectByProperty('isSkinnedMesh', true) as SkinnedMesh;
  const theirs = createInstancedMesh2From(mesh, { capacity: 4, renderer });
  theirs.addInstances(1, (instance) => instance.updateMatrix());
  theirs.initSkeleton(mesh.skeleton);
  root.updateMatrixWorld(true);
  theirs.setBonesAt(0);
  const ours = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
  ours.setMatrixAt(0, new Matrix4().makeTranslation(1.5, 0, 0));
  ours.play(0, 'Run', { time: 0.2 });
  ours.computeBoundingBox();
  const { scene, camera } = createStage(ours.boundingBox!);
  const both = new Group();
  both.add(ours, theirs);
  const together = picture(renderer, scene, camera, both);
  const alone = picture(renderer, scene, camera, ours);
  scene.add(new Scene());
  const theirsAlone = picture(renderer, scene, camera, theirs);
  const empty = picture(renderer, scene, camera, new Group());
  expect(changedPixels(theirsAlone, empty), 'InstancedMesh2 draws something').toBeGreaterThan(100);
  expect(changedPixels(alone, empty), 'ours draws something').toBeGreaterThan(1500);
  // Where one of them is, the picture of both shows it; where both are, either.
  let covered = 0;
  let wrong = 0;
  for (let at = 0; at < together.length; at += 4) {
    const like = (a: Uint8Array, b: Uint8Array) =>
      [0, 1, 2].reduce((sum, k) => sum + Math.abs(a[at + k] - b[at + k]), 0) < 12;
    const here = [alone, theirsAlone].filter((one) => !like(one, empty));
    if (here.length === 0 && like(together, empty)) continue;
    covered++;
    if (!here.some((one) => like(together, one))) wrong++;
  }
  console.log(`beside InstancedMesh2: ${wrong} of ${covered} pixels are neither's`);
  expect(wrong / covered).toBeLessThanOrEqual(BOUND);
});
