import { type Material, Matrix4 } from 'three';
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
import { comparePair } from '../support/comparePair.js';
import { useDrawing } from '../support/drawings.js';
import { createPair, useMaterial } from '../support/pair.js';

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

  test.each(Object.entries(materials))('material: %s', async (name, create) => {
    const model = await loadCharacter(COARSE);
    const pair = createPair(model, 2, 0.3, new Matrix4().makeRotationY(0.8).setPosition(0.2, 0, 0));
    useMaterial(pair, create);
    await comparePair(drawing, `${name}, ${twin}`, pair, 'directional');
  });
});
