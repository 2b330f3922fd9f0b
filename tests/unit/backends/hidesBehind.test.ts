import {
  AdditiveBlending,
  CustomBlending,
  GreaterDepth,
  LineBasicMaterial,
  type Material,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  NoBlending,
  Points,
  PointsMaterial,
  ShaderMaterial,
  SpriteMaterial,
  Texture,
} from 'three';
import { positionLocal, vec4 } from 'three/tsl';
import {
  Line2NodeMaterial,
  LineDashedNodeMaterial,
  MeshBasicNodeMaterial,
  MeshPhysicalNodeMaterial,
  MeshStandardNodeMaterial,
  NodeMaterial,
  PointsNodeMaterial,
  SpriteNodeMaterial,
  VolumeNodeMaterial,
} from 'three/webgpu';
import { expect, test } from 'vitest';
import { hidesBehind } from '../../../lib/backends/webgpu/occlusion/hidesBehind.js';
import type { DrawnMaterial } from '../../../shaders/tsl.js';

class Coloured extends MeshStandardNodeMaterial {}
class Waving extends MeshStandardNodeMaterial {
  override setupPosition() {
    return positionLocal;
  }
}
class Facing extends MeshBasicNodeMaterial {
  override setupPositionView() {
    return positionLocal;
  }
}
class Flat extends MeshBasicNodeMaterial {
  override setupVertex() {
    return vec4(0);
  }
}

const standard = (values: object) => Object.assign(new MeshStandardMaterial(), values);
const nodes = (values: object) => Object.assign(new MeshStandardNodeMaterial(), values);

const SOLID: Record<string, Material> = {
  'a plain material': new MeshStandardMaterial(),
  'a coloured one': new MeshBasicMaterial({ color: 0xff0000, map: new Texture() }),
  'one that does not blend': standard({ blending: NoBlending }),
  'a node material': new MeshPhysicalNodeMaterial(),
  'the plainest node material': new NodeMaterial(),
  'colours by nodes': nodes({ colorNode: vec4(1) }),
  'a subclass': new Coloured(),
  // As a crowd that shares it has it, see `patchNodeMaterial`.
  'a method of its own for crowds': nodes({ setupPosition: () => positionLocal }),
};

const OPEN: Record<string, Material> = {
  'lines that are wide': new Line2NodeMaterial(),
  'dashed lines': new LineDashedNodeMaterial(),
  lines: new LineBasicMaterial(),
  points: new PointsMaterial(),
  'points by nodes': new PointsNodeMaterial(),
  sprites: new SpriteMaterial(),
  'sprites by nodes': new SpriteNodeMaterial(),
  fog: new VolumeNodeMaterial(),
  'shaders of WebGL': new ShaderMaterial(),
  'a subclass that moves vertices': new Waving(),
  'a subclass that turns to the camera': new Facing(),
  'a subclass with a projection': new Flat(),
  'vertices that nodes move': nodes({ positionNode: positionLocal }),
  'another projection': nodes({ vertexNode: vec4(0) }),
  'another depth': nodes({ depthNode: vec4(0).x }),
  'a mask': nodes({ maskNode: vec4(0).x }),
  'fragments of its own': nodes({ fragmentNode: vec4(0) }),
  'an output of its own': nodes({ outputNode: vec4(0) }),
  'added light': standard({ blending: AdditiveBlending }),
  'blending of its own': standard({ blending: CustomBlending }),
  'coverage by alpha': standard({ alphaToCoverage: true }),
  'no colour': standard({ colorWrite: false }),
  'no depth': standard({ depthWrite: false }),
  'no test of depth': standard({ depthTest: false }),
  'another test of depth': standard({ depthFunc: GreaterDepth }),
  leaves: standard({ alphaTest: 0.5 }),
  'hashed alpha': standard({ alphaHash: true }),
  'a map of alpha': standard({ alphaMap: new Texture() }),
  displacement: standard({ displacementMap: new Texture() }),
  stencil: standard({ stencilWrite: true }),
  'shifted depth': standard({ polygonOffset: true }),
  wires: standard({ wireframe: true }),
};

const hiding = (materials: Record<string, Material>, object = new Mesh()) =>
  Object.keys(materials).filter((name) => hidesBehind(object, materials[name] as DrawnMaterial));

test('what hides is a mesh in a material that draws all of its geometry, where it is', () => {
  expect(hiding(SOLID)).toEqual(Object.keys(SOLID));
  expect(hiding(OPEN)).toEqual([]);
  expect(hiding(SOLID, new Points() as never)).toEqual([]);
});
