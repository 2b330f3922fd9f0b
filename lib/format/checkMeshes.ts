import { Matrix4, type Object3D, type SkinnedMesh } from 'three';
import { traverseDrawn } from '../baking/collectParts.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import { affineToMatrix4 } from '../utils/affine.js';
import { fileError } from './fileErrors.js';

/** How far a matrix that is to be the identity may be off: what files of other tools round away. */
const TOLERANCE = 2e-3;

const _product = /*@__PURE__*/ new Matrix4();
const _bind = /*@__PURE__*/ new Matrix4();

/**
 * Checks that a file's meshes are still those that its character was baked of, as far as the bone texture knows them. Tools that
 * quantise positions write them in other units and change the inverse bind matrices to make up for it; those that reorder vertices leave
 * a vertex texture with the places of others.
 *
 * @param scene As it was loaded, at rest.
 * @throws If a vertex would be drawn elsewhere.
 */
export function checkMeshes(scene: Object3D, boneTexture: BoneTexture, field: string): void {
  const { binding } = boneTexture;
  const changed = binding === null ? changedBind(scene, boneTexture) : binding.findMoved(scene);
  if (changed === null) return;
  throw fileError(
    `${field} was baked of other meshes than the file has: ${changed}. A tool has changed them since (by quantising, reordering or ` +
      'compressing them); bake the file anew, as the last of all steps.',
  );
}

/** What is said of the first joint whose inverse bind matrix is not the one that was baked with; null if there is none. */
function changedBind(
  scene: Object3D,
  { data: { jointNames, jointBinds, restBounds } }: BoneTexture,
): string | null {
  const size = Math.max(...[0, 1, 2].map((axis) => restBounds[axis + 3] - restBounds[axis])) || 1;
  const bindsOf = new Map<string, number[][]>();
  jointNames.forEach((name, joint) => {
    const bind = jointBinds[joint];
    if (bind !== null) bindsOf.set(name, [...(bindsOf.get(name) ?? []), bind]);
  });
  let changed: string | null = null;
  traverseDrawn(scene, (node) => {
    const { isSkinnedMesh, skeleton, bindMatrix, name } = node as SkinnedMesh;
    if (isSkinnedMesh !== true || changed !== null) return;
    skeleton.bones.forEach((bone, i) => {
      const binds = bone && bindsOf.get(bone.name);
      // Names that are others may be those of the same joints, numbered by the loader; crowds tell of what is another skeleton.
      if (!binds || binds.some((bind) => undoes(bind, skeleton.boneInverses[i], bindMatrix, size))) return;
      changed ??= `joint "${bone.name}" of mesh "${name}" has another inverse bind matrix`;
    });
  });
  return changed;
}

/** Whether a bind matrix is the inverse of a bone's; matrices that have no inverse are left alone. */
function undoes(bind: readonly number[], inverse: Matrix4, bindMatrix: Matrix4, size: number): boolean {
  affineToMatrix4(bind, 0, _bind);
  if (!(Math.abs(_bind.determinant()) > 0)) return true;
  const { elements } = _product.multiplyMatrices(_bind, inverse).multiply(bindMatrix);
  return elements.every((value, i) => {
    const unit = i >= 12 && i < 15 ? size : 1;
    return Math.abs(value - (i % 5 === 0 ? 1 : 0)) <= TOLERANCE * unit;
  });
}
