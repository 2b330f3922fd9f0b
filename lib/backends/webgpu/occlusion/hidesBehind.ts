import { LessDepth, LessEqualDepth, type Mesh, type Object3D } from 'three';
import type { DrawnMaterial } from '../../../../shaders/tsl.js';

/** What a material may have that moves vertices or leaves out pixels. */
const CHANGES = [
  'alphaMap',
  'alphaTestNode',
  'depthNode',
  'displacementMap',
  'fragmentNode',
  'geometryNode',
  'maskNode',
  'positionNode',
  'vertexNode',
] as const;

/**
 * Whether an object surely hides what is behind it, wherever a plain material would draw it: what can be seen through in places, or
 * has a shape that its own shader decides on, does not count.
 */
export function hidesBehind(object: Object3D, material: DrawnMaterial): boolean {
  if ((object as Mesh).isMesh !== true) return false;
  const { depthWrite, depthTest, depthFunc, alphaTest, alphaHash, stencilWrite, polygonOffset } = material;
  if (!depthWrite || !depthTest || (depthFunc !== LessEqualDepth && depthFunc !== LessDepth)) return false;
  if (alphaTest > 0 || alphaHash || stencilWrite || polygonOffset) return false;
  if ((material as { wireframe?: boolean }).wireframe === true) return false;
  const fields = material as unknown as Record<string, unknown>;
  for (const name of CHANGES) if (fields[name] !== null && fields[name] !== undefined) return false;
  return true;
}
