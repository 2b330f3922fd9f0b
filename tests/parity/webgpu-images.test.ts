import {
  Group,
  InstancedMesh,
  type Material,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  type SkinnedMesh,
  SphereGeometry,
} from 'three';
import {
  attribute,
  color,
  modelWorldMatrix,
  normalView,
  positionLocal,
  sin,
  transformNormalToView,
  vec3,
  vec4,
} from 'three/tsl';
import { MeshStandardNodeMaterial } from 'three/webgpu';
import { describe, test } from 'vitest';
import { TWINS } from '../support/captures.js';
import { COARSE, loadCharacter } from '../support/characters.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { comparePair, expectSameDrawn } from '../support/comparePair.js';
import { useDrawing } from '../support/drawings.js';
import { bakeBoneTexture, frames, LoopOnceOptions, SkinnedInstancedMesh } from '../support/library.js';
import { createPair, nearestFrame, useMaterial } from '../support/pair.js';
import { createStage, shaded } from '../support/pictures.js';
import { Reference } from '../support/reference.js';

const materials: Record<string, () => Material> = {
  'node material with colorNode': () => {
    const material = new MeshStandardNodeMaterial();
    material.colorNode = color(0x66aaff).mul(normalView.y.mul(0.5).add(0.5));
    return material;
  },
  positionNode: () => {
    const material = new MeshStandardNodeMaterial({ color: 0xddaa55 });
    const height = attribute<'vec3'>('position', 'vec3').y;
    material.positionNode = positionLocal.add(vec3(sin(height.mul(9)).mul(0.06), 0, 0));
    return material;
  },
  'matrices of the object in fragments': () => {
    const material = new MeshStandardNodeMaterial();
    material.colorNode = modelWorldMatrix.mul(vec4(positionLocal, 1)).xyz.fract();
    material.normalNode = transformNormalToView(vec3(0.6, 0, 0.8));
    return material;
  },
  castShadowPositionNode: () => {
    const material = new MeshStandardNodeMaterial({ color: 0xddaa55 });
    material.castShadowPositionNode = positionLocal.add(vec3(0.2, 0, 0));
    return material;
  },
};

describe.each(TWINS.filter((twin) => twin !== 'GLSL'))('%s', (twin) => {
  const drawing = useDrawing(twin);
  const { draw } = drawing;

  test.each(Object.entries(materials))('material: %s', async (name, create) => {
    const model = await loadCharacter(COARSE);
    const pair = createPair(model, 2, 0.3, new Matrix4().makeRotationY(0.8).setPosition(0.2, 0, 0));
    useMaterial(pair, create);
    await comparePair(drawing, `${name}, ${twin}`, pair, 'directional');
  });

  test('one material on crowds of other textures and variants, and on plain meshes', async () => {
    const { root, clips } = createCoarseCharacter();
    const { geometry } = root.getObjectByProperty('isSkinnedMesh', true) as SkinnedMesh;
    const shared = new MeshStandardMaterial({ color: 0xcc9966 });
    // of two of them only the texture is another
    const crowds = [
      { options: { encoding: frames, fps: 60 }, clip: 'Run', time: 0.2, x: -1 },
      { options: { encoding: frames, fps: 60 }, clip: 'Wave', time: 0.5, x: -0.4 },
      { options: { encoding: frames, clips: ['Dance'] }, clip: 'Dance', time: 0.5, x: 0.3 },
      {
        options: { encoding: frames, precision: 'half', clips: ['Walk'] },
        clip: 'Walk',
        time: 0.25,
        x: 1,
      },
    ] as const;
    const drawn = new Group();
    const expected = new Group();
    for (const { options, clip, time, x } of crowds) {
      const place = new Matrix4().makeTranslation(x, 0, 0);
      const texture = bakeBoneTexture(root, clips, options);
      const crowd = new SkinnedInstancedMesh(geometry, shared, texture, 1);
      crowd.setMatrixAt(0, place);
      const onFrame = nearestFrame(texture, clip, time);
      crowd.play(0, clip, { ...LoopOnceOptions, time: onFrame });
      drawn.add(crowd);
      const reference = new Reference(root, place);
      for (const mesh of reference.meshes) mesh.material = shared.clone();
      expected.add(reference.pose(clips.find(({ name }) => name === clip)!, onFrame).root);
    }
    for (const [group, one] of [
      [drawn, () => shared],
      [expected, () => shared.clone()],
    ] as const) {
      const instanced = new InstancedMesh(new SphereGeometry(0.3), one(), 1);
      instanced.setMatrixAt(0, new Matrix4().makeTranslation(0.5, 0, 0));
      const plain = new Mesh(new SphereGeometry(0.2), one());
      plain.position.set(-0.5, 1.5, 0);
      group.add(instanced, plain);
      shaded(group);
    }
    const stage = createStage(createPair(await loadCharacter(COARSE), 2, 0.4).bounds);
    // three.js's meshes with materials of their own, ours and two plain meshes with one for all
    await expectSameDrawn(`one material, ${twin}`, draw, stage, expected, drawn);
  });
});
