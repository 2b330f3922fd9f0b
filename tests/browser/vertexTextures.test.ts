import { defineMotion } from 'skinned-instanced-mesh';
import { bakeVertexCharacter, bakeVertexTexture } from 'skinned-instanced-mesh/vertex-textures';
// Makes it known to WebGPURenderer.
import 'skinned-instanced-mesh/vertex-textures/webgpu';
import {
  AnimationMixer,
  Box3,
  DoubleSide,
  Group,
  LoopOnce,
  LoopPingPong,
  Matrix4,
  type Mesh,
  MeshBasicMaterial,
  MeshNormalMaterial,
  MeshStandardMaterial,
  Vector3,
} from 'three';
import { describe, expect, test } from 'vitest';
import { wind } from '../../demos/lib/motions/wind.js';
import { letRead } from '../support/capture.js';
import { captureOf, TWINS } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { expectSameDrawn } from '../support/comparePair.js';
import { drawingOf, useDrawing } from '../support/drawings.js';
import { partsOf } from '../support/features.js';
import {
  assembleCharacter,
  bakeCharacter,
  getVertexPosition,
  SkinnedInstancedMesh,
} from '../support/library.js';
import { moveBy } from '../support/moveBy.js';
import { changedPixels, createStage, shaded } from '../support/pictures.js';
import { bumps, stripes } from '../support/textures.js';
import { THOROUGH } from '../support/thorough.js';
import { createFlag, createMorphing } from '../support/vertexSources.js';

/** Moves vertices along their normals, before they are posed: they are to move along the normals of the pose. */
const swell = defineMotion({
  name: 'swell',
  stage: 'beforeSkinning',
  maxOffset: 0.3,
  glsl: 'position += 0.3 * normal;',
  tsl: ({ position, normal }) => ({ position: position.add(normal.mul(0.3)), normal }),
  cpu: ({ position, normal }) => position.addScaledVector(normal, 0.3),
});

/** Around a flag that is waved. */
const BOUNDS = new Box3(new Vector3(-0.5, 0, -1.5), new Vector3(3, 5, 1.5));

/** Share of the pixels that may differ: normals of 8 and 8 bits, and edges. */
const BOUND = 0.01;

const MATERIALS = {
  'standard, with a map and a normal map': () =>
    new MeshStandardMaterial({ map: stripes(), normalMap: bumps(), roughness: 0.7, side: DoubleSide }),
  'flat shading': () => new MeshStandardMaterial({ color: 0xcc3333, flatShading: true, side: DoubleSide }),
  basic: () => new MeshBasicMaterial({ map: stripes(), side: DoubleSide }),
  normal: () => new MeshNormalMaterial({ side: DoubleSide }),
};

describe.each(TWINS)('%s', (twin) => {
  const drawing = useDrawing(twin, drawingOf);

  test.each(['half', 'float'] as const)('vertices are where the CPU has them, in %s', async (precision) => {
    const { root, clips } = createMorphing();
    const texture = bakeVertexTexture(root, clips, { fps: 10, precision, maxTextureSize: 64 });
    const crowd = new SkinnedInstancedMesh(assembleCharacter(root, texture), 6);
    const how = await captureOf(twin);
    const count = letRead(crowd, how);
    for (let i = 0; i < 6; i++) crowd.setMatrixAt(i, new Matrix4().makeTranslation(i, 0, 0));
    crowd.play(1, 'Morph', { time: 0.33 });
    crowd.play(2, 'Morph', { time: 1.7, loop: LoopPingPong });
    crowd.play(3, 'Travel', { time: 0.2, timeScale: -0.5 });
    crowd.play(4, 'Morph', { time: 0.5 });
    crowd.play(4, 'Travel', { fade: 1 });
    crowd.play(5, 'Travel', { time: 0.1 });
    if (precision === 'float') moveBy(crowd, swell(), wind({ strength: 0.5 }));
    crowd.update(0.3);
    crowd.stop(5, { fade: 1 });
    crowd.update(0.3);
    const drawn = await how.read(crowd, count, 6);
    how.dispose();

    const [onGPU, onCPU] = [new Vector3(), new Vector3()];
    let error = 0;
    for (let i = 0; i < 6; i++) {
      for (let v = 0; v < count; v++) {
        getVertexPosition(crowd, i, v, onCPU);
        error = Math.max(error, onGPU.fromArray(drawn, (i * count + v) * 3).distanceTo(onCPU));
      }
    }
    console.log(`${twin} ${precision}: ${error.toExponential(1)} of 5 units`);
    expect(error).toBeLessThan(1e-5);
  });

  // Both backends of WebGPURenderer run the same nodes.
  const few = twin === 'TSL on WebGL 2' && !THOROUGH;
  test.skipIf(few).each(Object.entries(MATERIALS))('a flag is as its source: %s', async (label, create) => {
    const { flag, wave } = createFlag();
    const [cloth] = flag.children as Mesh[];
    cloth.material = create();
    shaded(flag);
    const texture = bakeVertexTexture(flag, wave, { duration: 1, fps: 20 });
    const crowd = new SkinnedInstancedMesh(assembleCharacter(flag, texture), 1);
    crowd.play(0, 'Motion', { time: 0.35 });
    wave(0.35);
    cloth.geometry.computeVertexNormals();
    const stage = createStage(BOUNDS, label === 'basic' ? 'point' : 'directional');
    await expectSameDrawn(`${twin} ${label}`, drawing.draw, stage, flag, crowd, BOUND);
    crowd.dispose();
  });

  test('who is posed by joints stays there beside a vertex texture in the same material', async () => {
    const { root, clips } = createCoarseCharacter();
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
    crowd.setMatrixAt(0, new Matrix4().makeTranslation(0.5, 0.2, 0));
    const { scene, camera } = createStage(new Box3(new Vector3(-0.5, 0, -0.5), new Vector3(1, 2, 0.5)));
    const alone = await drawing.draw(scene, camera, crowd);
    const tiny = new SkinnedInstancedMesh(bakeVertexCharacter(root, []), 1);
    tiny.setMatrixAt(0, new Matrix4().makeScale(0.001, 0.001, 0.001));
    expect(tiny.material).toBe(crowd.material);
    const both = await drawing.draw(scene, camera, new Group().add(crowd, tiny));
    expect(changedPixels(both, alone)).toBeLessThan(10);
    for (const one of [crowd, tiny]) one.dispose();
  });

  test('meshes that are mirrored, turned and morphed look as under a mixer', async () => {
    const { root, clips } = createMorphing(6);
    root.position.set(1, 1, 0);
    const texture = bakeVertexTexture(root, clips, { fps: 20, precision: 'float' });
    const crowd = new SkinnedInstancedMesh(assembleCharacter(root, texture), 2);
    crowd.count = 1;
    root.updateMatrix();
    crowd.setMatrixAt(0, root.matrix);
    crowd.play(0, 'Morph', { time: 0.4 });
    crowd.setCapacity(5);
    const copy = crowd.clone();
    const mixer = new AnimationMixer(root);
    mixer.clipAction(clips[0]).setLoop(LoopOnce, 1).play();
    mixer.setTime(0.4);
    const stage = createStage(BOUNDS);
    await expectSameDrawn(`${twin} a scene`, drawing.draw, stage, root, crowd, BOUND);
    crowd.dispose();
    await expectSameDrawn(`${twin} its clone`, drawing.draw, stage, root, copy, BOUND);
    partsOf(copy).setVisibleAt(0, 'Blob', false);
    root.getObjectByName('Blob')?.removeFromParent();
    await expectSameDrawn(`${twin} a part`, drawing.draw, stage, root, copy, BOUND);
  });
});
