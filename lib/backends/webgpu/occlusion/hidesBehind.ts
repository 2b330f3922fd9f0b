import { LessDepth, LessEqualDepth, type Mesh, NoBlending, NormalBlending, type Object3D } from 'three';
import { NodeMaterial } from 'three/webgpu';
import type { DrawnMaterial } from '../../../../shaders/tsl.js';

/** Materials of three.js that draw what a mesh has as geometry. Others may draw lines, points or sprites of it, or see through. */
const SOLID = /^(Mesh(Basic|Lambert|Phong|Standard|Physical|Toon|Matcap|Normal|SSS)(Node)?|Node)Material$/;

/** What a material may have that moves vertices or leaves out pixels. */
const CHANGES = [
  'alphaMap',
  'alphaTestNode',
  'contextNode',
  'depthNode',
  'displacementMap',
  'fragmentNode',
  'geometryNode',
  'maskNode',
  'outputNode',
  'positionNode',
  'vertexNode',
] as const;

/** What subclasses of node materials may do otherwise, and so have another shape. */
const METHODS = [
  'setupClipping',
  'setupDepth',
  'setupHardwareClipping',
  'setupModelViewProjection',
  'setupPositionView',
  'setupVertex',
] as const;

/**
 * Whether an object surely hides what is behind it, wherever a plain material would draw it: what can be seen through in places, or
 * has a shape that its own shader decides on, does not count.
 */
export function hidesBehind(object: Object3D, material: DrawnMaterial): boolean {
  if ((object as Mesh).isMesh !== true || !SOLID.test(material.type)) return false;
  return isDrawnSolid(material) && hasPlainShape(material);
}

function isDrawnSolid(material: DrawnMaterial): boolean {
  const { depthWrite, depthTest, depthFunc, colorWrite, blending } = material;
  if (!depthWrite || !depthTest || (depthFunc !== LessEqualDepth && depthFunc !== LessDepth)) return false;
  if (!colorWrite || (blending !== NormalBlending && blending !== NoBlending)) return false;
  const { alphaTest, alphaHash, alphaToCoverage, stencilWrite, polygonOffset } = material;
  if (alphaTest > 0 || alphaHash || alphaToCoverage || stencilWrite || polygonOffset) return false;
  return (material as { wireframe?: boolean }).wireframe !== true;
}

function hasPlainShape(material: DrawnMaterial): boolean {
  const fields = material as unknown as Record<string, unknown>;
  for (let i = 0; i < CHANGES.length; i++) {
    const value = fields[CHANGES[i]];
    if (value !== null && value !== undefined) return false;
  }
  if (material.isNodeMaterial !== true) return true;
  const plain = NodeMaterial.prototype as unknown as Record<string, unknown>;
  for (let i = 0; i < METHODS.length; i++) if (fields[METHODS[i]] !== plain[METHODS[i]]) return false;
  // Of its class: a crowd that shares the material gives it one that does more for crowds alone.
  return Object.getPrototypeOf(material).setupPosition === plain.setupPosition;
}
