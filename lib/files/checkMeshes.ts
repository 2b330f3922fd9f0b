import {
  type BufferGeometry,
  DetachedBindMode,
  Matrix4,
  type Mesh,
  type Object3D,
  type SkinnedMesh,
  type Vector3,
} from 'three';
import type { BoneTexture } from '../animation/BoneTexture.js';
import { createJointBoxes, growJointBoxes } from '../animation/jointBoxes.js';
import { createPoseMix } from '../animation/PoseMix.js';
import type { ScenePart } from '../animation/Rig.js';
import type { CollectedCharacter } from '../character/assembleCharacter.js';
import { usedJoints } from '../character/collectParts.js';
import { affineToMatrix4 } from '../utils/affine.js';
import { cornersOf, farthest, positionSums } from '../utils/geometries.js';
import { warnOnce } from '../utils/messages.js';
import { fileError } from './fileErrors.js';

/** How far vertices may be off, as a share of the diagonal of their mesh: what files of other tools round away. */
const TOLERANCE = 2e-3;
/** The same as a share of how far they are from the origin, where numbers of 32 bits are rounded more. */
const ROUNDING = 2e-6;
/** How much nearer to its baked place a mesh must be by its own node than by what was baked, to have been changed by a tool. */
const NEARER = 0.25;
/** How many times farther than that vertices may be off a character must be, to have been moved. */
const FAR = 5;

/**
 * Finds meshes that a tool has changed since they were baked. Tools that quantise positions write them in other units, and make up for
 * it in the inverse bind matrices, or in the node of a mesh that has no bones: a bone texture knows neither. Tools that reorder vertices
 * leave a vertex texture with the places of others. Characters that were moved as a whole are drawn where they were baked, with a
 * warning: whoever baked them may have meant to move them.
 *
 * @param scene What holds the meshes, as it was loaded: later it may be in any pose, and code may have moved vertices.
 * @param baked What was baked of them.
 * @param field The character's place in the file, for messages.
 * @returns Looks at the meshes that are drawn, and throws if there are any.
 */
export function meshCheck(
  scene: Object3D,
  baked: BoneTexture,
  field: string,
): (drawn: CollectedCharacter) => void {
  const { binding } = baked;
  const sums = new WeakMap<BufferGeometry, number[]>();
  const loaded = new WeakMap<Object3D, Matrix4>();
  scene.updateWorldMatrix(true, true);
  const toScene = scene.matrixWorld.clone().invert();
  scene.traverse((node) => {
    const { isMesh, geometry } = node as Mesh;
    if (binding === null) loaded.set(node, toScene.clone().multiply(node.matrixWorld));
    else if (isMesh === true && geometry.hasAttribute('position')) sums.set(geometry, positionSums(geometry));
  });
  // Where the root itself stands is no part of what is baked, but a tool may have written the units of its positions there.
  const ofRoot = scene.matrix.clone();
  const sumsOf = (geometry: BufferGeometry) => sums.get(geometry) ?? positionSums(geometry);

  return ({ rig: { jointInverses }, parts }) => {
    let changed: string | null = null;
    let shift: Vector3 | null = null;
    if (binding !== null) changed = binding.findMoved(scene, sumsOf);
    else {
      for (const part of parts) {
        changed ??= part.rigid
          ? rescaled(part, baked, part.mesh === scene ? ofRoot : loaded.get(part.mesh))
          : rebound(part, baked, jointInverses as Float64Array);
      }
      if (changed === null) shift = shiftOf(parts, baked, jointInverses as Float64Array, loaded);
    }
    if (shift !== null) {
      warnOnce(
        `${field} of the file was moved as a whole since it was baked, by ${shift.toArray().map(rounded).join(', ')}, as glTF-Transform's ` +
          'center does it, and is drawn where it was baked; bake the file anew, as the last of all steps, or move the crowd.',
      );
    }
    if (changed === null) return;
    throw fileError(
      `${field} was baked of other meshes than it has: ${changed}. A tool has changed them since (by quantising, ` +
        'reordering or compressing them); bake the file anew, as the last of all steps.',
    );
  };
}

/** What is said of a skinned mesh, if a joint that it follows has another inverse bind matrix than the one that was baked with. */
function rebound(part: ScenePart, { data }: BoneTexture, inverses: Float64Array): string | null {
  const { jointNames, jointBinds, jointBoxes } = data;
  const used = [...usedJoints(part)];
  const box = Array.from({ length: 6 }, (_, i) => {
    const values = used.map((joint) => jointBoxes[joint * 6 + i]);
    return i < 3 ? Math.min(...values) : Math.max(...values);
  });
  const before = cornersOf(box, new Matrix4());
  for (const joint of used) {
    const bind = jointBinds[joint];
    if (bind === null) continue;
    const product = matrixOf(bind);
    // Joints that shrink everything to a point have no inverse that could be compared.
    if (!(Math.abs(product.determinant()) > 0)) continue;
    const now = cornersOf(box, product.multiply(matrixOf(inverses, joint * 12)));
    if (!(farthest(now, before) > toleranceOf(before))) continue;
    return `joint "${jointNames[joint]}" of mesh "${part.mesh.name}" has another inverse bind matrix`;
  }
  return null;
}

/**
 * What is said of a mesh without bones, if its positions are in other units than those that were baked and its node makes up for them:
 * by its node it stands where it was baked, by the matrix that was baked it does not. A mesh that is another one, or was simplified or
 * moved, is as far off by its node, and is drawn as it is.
 *
 * @param loaded Where the node stood in the file, relative to the root; undefined for meshes that are not of the file.
 */
function rescaled(
  { joints: [joint], geometry, mesh, model }: ScenePart,
  boneTexture: BoneTexture,
  loaded = matrixOf(model),
): string | null {
  const array = new Float64Array(12);
  readRest(boneTexture, joint, array);
  const baked = matrixOf(array);
  const box = createJointBoxes(1);
  growJointBoxes(box, geometry, [0], true);
  const before = cornersOf(boneTexture.jointBoxes.subarray(joint * 6), baked);
  const off = farthest(cornersOf(box, baked), before);
  const isChanged = off > toleranceOf(before) && farthest(cornersOf(box, loaded), before) < NEARER * off;
  return isChanged
    ? `positions of mesh "${mesh.name}" are in other units, which its node makes up for`
    : null;
}

/**
 * By what a character was moved since it was baked: all that its vertices follow, by the same. Null if it was not, or in several ways:
 * then it may have been baked in another pose than that of the file.
 */
function shiftOf(
  parts: readonly ScenePart[],
  boneTexture: BoneTexture,
  inverses: Float64Array,
  loaded: WeakMap<Object3D, Matrix4>,
): Vector3 | null {
  const { jointNames, jointBoxes } = boneTexture;
  const array = new Float64Array(12);
  let shift: Vector3 | null = null;
  for (const { mesh, joints, rigid } of parts) {
    const { skeleton, bindMode } = mesh as SkinnedMesh;
    if (bindMode === DetachedBindMode) return null;
    for (const [i, joint] of joints.entries()) {
      const node = rigid ? mesh : skeleton.bones[i];
      const place = loaded.get(node);
      const box = jointBoxes.subarray(joint * 6, joint * 6 + 6);
      // Joints that no vertex follows have no box, and some of them the number of another.
      if (place === undefined || !(box[0] <= box[3]) || node.name !== jointNames[joint]) continue;
      readRest(boneTexture, joint, array);
      const before = cornersOf(box, matrixOf(array));
      const now = cornersOf(box, place.clone().multiply(matrixOf(inverses, joint * 12)));
      const tolerance = toleranceOf(before);
      const moved: Vector3 = shift ?? now[0].clone().sub(before[0]);
      for (const corner of before) corner.add(moved);
      if (moved.length() <= FAR * tolerance || farthest(now, before) > tolerance) return null;
      shift = moved;
    }
  }
  return shift;
}

/** Writes a joint's matrix in the rest pose. */
function readRest({ reader }: BoneTexture, joint: number, out: Float64Array): void {
  reader.pose(createPoseMix());
  reader.jointMatrix(joint, out, 0);
}

const rounded = (value: number): number => Number(value.toPrecision(3));

const matrixOf = (affine: ArrayLike<number>, at = 0): Matrix4 => affineToMatrix4(affine, at, new Matrix4());

/** How far the corners of a box may be off. */
const toleranceOf = ({ 0: least, 7: most }: readonly Vector3[]): number =>
  TOLERANCE * least.distanceTo(most) + ROUNDING * Math.max(least.length(), most.length());
