import {
  Box3,
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
} from 'three';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { BoneTexture, LoopOnceOptions, SkinnedInstancedMesh } from '../support/library.js';
import { changedPixels, createStage, picture, sameShare } from '../support/pictures.js';
import { Reference } from '../support/reference.js';

const BOUND = 0.995;

let renderer: WebGLRenderer;
beforeAll(() => {
  renderer = new WebGLRenderer();
  renderer.shadowMap.enabled = true;
});
afterAll(() => renderer.dispose());

/** A row of meshes in which each has a neighbour of another kind, all with one material. */
function createRow(material: Material) {
  const { root, clips } = createCharacter();
  const { geometry } = root.getObjectByProperty('isSkinnedMesh', true) as SkinnedMesh;
  root.traverse((node) => {
    if ((node as Mesh).isMesh) (node as Mesh).material = material;
    node.castShadow = true;
  });
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

  const crowd = (boneTexture: BoneTexture, clip: string, time: number, x: number, options = {}) => {
    const mesh = new SkinnedInstancedMesh(geometry, material, boneTexture, 1, options);
    mesh.setMatrixAt(0, at(x));
    mesh.play(0, clip, { ...LoopOnceOptions, time });
    mesh.castShadow = true;
    drawn.add(mesh);
    return mesh;
  };
  // Other clips, encodings and influences: other textures and other shader variants on the one material.
  crowd(BoneTexture.bake(root, clips, { clips: ['Run'], fps: 120, encoding: 'matrix' }), 'Run', 0.2, -1.6);
  crowd(BoneTexture.bake(root, clips, { fps: 120, encoding: 'quaternion' }), 'Wave', 0.5, 0);

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

  return { expected, drawn, bounds: boundsOf(expected) };
}

function boundsOf(group: Group): Box3 {
  group.updateMatrixWorld(true);
  return new Box3().setFromObject(group, true);
}

function compareRow(material: Material): number {
  const { expected, drawn, bounds } = createRow(material);
  const { scene, camera } = createStage(bounds, 'directional');
  // three.js's own meshes first and last: a program left behind by one kind must not serve the other
  const reference = picture(renderer, scene, camera, expected);
  const ours = picture(renderer, scene, camera, drawn);
  const again = picture(renderer, scene, camera, expected);
  expect(sameShare(reference, again, 0)).toBe(1);
  expect(changedPixels(reference, picture(renderer, scene, camera, new Group()))).toBeGreaterThan(1000);
  return sameShare(reference, ours);
}

test('one material on two crowds, a SkinnedMesh, an InstancedMesh and a Mesh', () => {
  expect(
    compareRow(new MeshStandardMaterial({ vertexColors: false, color: 0xcc9966 })),
  ).toBeGreaterThanOrEqual(BOUND);
});

describe("the user's own onBeforeCompile still runs", () => {
  const tint = (hook: (material: Material) => void) => {
    const material = new MeshStandardMaterial({ color: 0xcc9966 });
    hook(material);
    return material;
  };
  const paint = (shader: { fragmentShader: string }) => {
    shader.fragmentShader = shader.fragmentShader.replace(
      '#include <dithering_fragment>',
      '#include <dithering_fragment>\ngl_FragColor.rgb = gl_FragColor.bgr;',
    );
  };

  test('set before the crowd was made', () => {
    const material = tint((m) => {
      m.onBeforeCompile = paint;
      m.customProgramCacheKey = () => 'painted';
    });
    expect(compareRow(material)).toBeGreaterThanOrEqual(BOUND);
    expect(material.customProgramCacheKey()).toContain('painted');
  });

  test('set afterwards, and wrapped around the one that was there', () => {
    const material = new MeshStandardMaterial({ color: 0xcc9966 });
    const { expected, drawn, bounds } = createRow(material);
    let ran = 0;
    const previous = material.onBeforeCompile;
    material.onBeforeCompile = (shader, gl) => {
      previous.call(material, shader, gl);
      paint(shader);
      ran++;
    };
    const { scene, camera } = createStage(bounds, 'directional');
    const reference = picture(renderer, scene, camera, expected);
    expect(sameShare(reference, picture(renderer, scene, camera, drawn))).toBeGreaterThanOrEqual(BOUND);
    expect(ran).toBeGreaterThan(0);
  });

  test('two hooks of the same text keep apart by their key', () => {
    const hook = (value: number) => {
      const material = new MeshStandardMaterial();
      material.onBeforeCompile = (shader) => {
        shader.fragmentShader = shader.fragmentShader.replace(
          '#include <dithering_fragment>',
          `gl_FragColor = vec4( ${value.toFixed(1)}, 0.0, 0.0, 1.0 );`,
        );
      };
      material.customProgramCacheKey = () => `red ${value}`;
      return material;
    };
    expect(compareRow(hook(0.2))).toBeGreaterThanOrEqual(BOUND);
    expect(compareRow(hook(0.9))).toBeGreaterThanOrEqual(BOUND);
  });
});

test('a variant that is switched at run time is drawn at once', () => {
  const { root, clips } = createCharacter();
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { fps: 4 });
  const run = clips.find(({ name }) => name === 'Run') as (typeof clips)[0];
  crowd.play(0, 'Run', { time: 0.4 * run.duration });
  crowd.computeBoundingBox();
  const { scene, camera } = createStage(crowd.boundingBox as Box3, 'directional');
  const mixed = picture(renderer, scene, camera, crowd);
  crowd.interpolate = false;
  const snapped = picture(renderer, scene, camera, crowd);
  crowd.interpolate = true;
  expect(sameShare(mixed, snapped, 3)).toBeLessThan(0.999);
  expect(sameShare(mixed, picture(renderer, scene, camera, crowd), 0)).toBe(1);
});

test('nothing global is changed, and a page where ShaderChunk was replaced draws right', async () => {
  const chunks = JSON.stringify(ShaderChunk);
  const { root, clips } = createCharacter();
  SkinnedInstancedMesh.from(root, clips, 1);
  expect(JSON.stringify(ShaderChunk)).toBe(chunks);

  const { createInstancedMesh2From } = await import('@three.ez/instanced-mesh');
  expect(JSON.stringify(ShaderChunk), 'the other library replaces chunks').not.toBe(chunks);

  const material = new MeshStandardMaterial({ color: 0x88aacc });
  expect(compareRow(material)).toBeGreaterThanOrEqual(BOUND);

  // Both on one page, each drawn alone and then together: neither changes the other's picture.
  const mesh = root.getObjectByProperty('isSkinnedMesh', true) as SkinnedMesh;
  const theirs = createInstancedMesh2From(mesh, { capacity: 4, renderer });
  theirs.addInstances(1, (instance) => instance.updateMatrix());
  theirs.initSkeleton(mesh.skeleton);
  root.updateMatrixWorld(true);
  theirs.setBonesAt(0);
  const ours = SkinnedInstancedMesh.from(root, clips, 1);
  ours.setMatrixAt(0, new Matrix4().makeTranslation(1.5, 0, 0));
  ours.play(0, 'Run', { time: 0.2 });
  ours.computeBoundingBox();
  const { scene, camera } = createStage(ours.boundingBox as Box3, 'directional');
  const both = new Group();
  both.add(ours, theirs);
  const together = picture(renderer, scene, camera, both);
  const alone = picture(renderer, scene, camera, ours);
  scene.add(new Scene());
  const theirsAlone = picture(renderer, scene, camera, theirs);
  const empty = picture(renderer, scene, camera, new Group());
  expect(changedPixels(theirsAlone, empty), 'InstancedMesh2 draws something').toBeGreaterThan(100);
  // each pixel of the picture of both is that of one of them
  let explained = 0;
  for (let i = 0; i < together.length; i += 4) {
    const like = (other: Uint8Array) =>
      Math.abs(together[i] - other[i]) +
        Math.abs(together[i + 1] - other[i + 1]) +
        Math.abs(together[i + 2] - other[i + 2]) <
      12;
    if (like(alone) || like(theirsAlone)) explained++;
  }
  expect(explained / (together.length / 4)).toBeGreaterThan(BOUND);
});
