import type { Object3D, SkinnedMesh, Vector3 } from 'three';
import { Matrix4 } from 'three';
import type { PartFlip } from '../animation/Rig.js';
import { type Rig, TRS_SIZE } from '../animation/Rig.js';
import type { BakeOptions } from '../baking/BakeOptions.js';
import { AFFINE_SIZE } from '../constants.js';
import { affineFromMatrix4, affineToMatrix4, composeAffine, multiplyAffine } from '../utils/affine.js';
import { sharingCopy } from '../utils/geometries.js';
import { describe } from '../utils/messages.js';
import { runAll, type Steps } from '../utils/steps.js';
import { collectMorphs } from './collectMorphs.js';
import { collectParts, dropUnusedJoints, type JointSlot, type ScenePart } from './collectParts.js';

/** What `collectRig` finds. */
export interface CollectedRig {
  /** For posing. */
  rig: Rig;
  /** The rig's parts again, with the meshes that they are in the scene. */
  parts: ScenePart[];
  /** Which parts are one mesh, where meshes share morph targets, see `CollectedMorphs.shared`. */
  sharedMorphs: readonly number[] | null;
  /**
   * Nodes below others of the same name, without a transform of their own: FBXLoader makes one for each mesh that follows a bone. As
   * long as no clip moves them, they move as those do.
   */
  namesakes: ReadonlySet<number>;
}

/** What to collect besides the meshes and their bones. */
export interface RigOptions {
  /** Names of further nodes that become joints, after all others. */
  sockets?: readonly string[];
  /** Whether morph targets are collected. @default true */
  morphing?: boolean;
  /** Whether meshes share morph targets, see `collectMorphs`. */
  shareMorphs?: boolean;
  /** Parts that clips mirror or flatten, see `findPartFlips`. */
  flips?: readonly PartFlip[];
  /** Which bones become joints. @default 'all' */
  joints?: BakeOptions['joints'];
  /** Whether bones have joints of their own that lie still below others of their names, see `CollectedRig.namesakes`. */
  keepNamesakes?: boolean;
}

const _matrix = /*@__PURE__*/ new Matrix4();

/**
 * For each joint its bind matrix, 12 numbers: it takes an object in the joint's own space to where the joint's skinning
 * matrix moves it from. Null for joints of skins in detached bind mode, whose skinning matrices do not end at the joint.
 */
export function jointBinds({ jointNames, jointInverses, jointMeshes }: Rig): (number[] | null)[] {
  return jointNames.map((_, joint) => {
    if (jointMeshes[joint]?.bindInverse) return null;
    const bind = new Float64Array(AFFINE_SIZE);
    affineFromMatrix4(affineToMatrix4(jointInverses, joint * AFFINE_SIZE, _matrix).invert(), bind, 0);
    return [...bind];
  });
}

/** See `BoneTextureData.jointParents`. */
export function jointParents({ jointNodes, parents }: Rig): number[] {
  return Array.from(jointNodes, (own, joint) => {
    const first = jointNodes.indexOf(own);
    if (first < joint) return joint;
    let node = parents[own];
    while (node >= 0 && !jointNodes.includes(node)) node = parents[node];
    return jointNodes.indexOf(node);
  });
}

/**
 * Reads the joints and drawn meshes under `root`. Nothing of the scene is changed, not even its world matrices.
 *
 * @throws If nothing is drawn under `root`, or a bone lies outside of it, or a socket is not there, or a geometry lacks
 * what drawing needs.
 */
export function collectRig(root: Object3D, options: RigOptions): CollectedRig {
  return runAll(collectRigSteps(root, options));
}

/** {@link collectRig}, step by step. */
export function* collectRigSteps(
  root: Object3D,
  { sockets = [], morphing = true, shareMorphs, flips = [], joints = 'all', keepNamesakes }: RigOptions,
): Steps<CollectedRig> {
  if (!root?.isObject3D) {
    throw new Error(
      `root is ${describe(root)}; pass the Object3D that holds the character, e.g. gltf.scene.`,
    );
  }

  const { indexOf, ...skeleton } = readNodes(root);
  yield 0;
  const { names, parents, restLocal } = skeleton;
  const slots: JointSlot[] = [];
  const modelOf = (node: number) => modelMatrix(node, parents, restLocal);
  const namesakes = new Set<number>();
  parents.forEach((parent, node) => {
    if (parent <= 0 || !isNamesake(names[node], names[parent])) return;
    // Of one skin, they are two bones.
    for (const bones of skeleton.bones.values()) if (bones.includes(node) && bones.includes(parent)) return;
    if (isIdentity(restLocal, node * AFFINE_SIZE)) namesakes.add(node);
  });
  const jointNodeOf = (node: number) => {
    let moved = node;
    if (!keepNamesakes) while (namesakes.has(moved)) moved = parents[moved];
    return moved;
  };
  const parts = yield* collectParts({ root, indexOf, modelOf, flips, jointNodeOf }, slots);
  if (joints === 'used') dropUnusedJoints(slots, parts);

  for (const name of sockets) {
    const node = names.indexOf(name);
    if (node < 0) {
      throw new Error(
        `sockets names "${name}", but there is no such node under "${root.name || root.type}"; GLTFLoader takes spaces and dots out of names.`,
      );
    }
    slots.push({ name, node, inverse: new Matrix4(), mesh: null });
  }

  if (!morphing) {
    for (const part of parts) {
      if (Object.keys(part.geometry.morphAttributes).length === 0) continue;
      part.geometry = sharingCopy(part.geometry);
      part.geometry.morphAttributes = {};
    }
  }

  const jointInverses = new Float64Array(slots.length * AFFINE_SIZE);
  slots.forEach(({ inverse }, i) => {
    affineFromMatrix4(inverse, jointInverses, i * AFFINE_SIZE);
  });

  const { shared: sharedMorphs, ...morphs } = collectMorphs(parts, shareMorphs);
  const rig = {
    ...skeleton,
    label: root.name || root.type,
    jointNames: slots.map(({ name }) => name),
    jointNodes: Int32Array.from(slots, ({ node }) => node),
    jointInverses,
    jointMeshes: slots.map(({ mesh }) => mesh),
    parts: parts.map(({ mesh, geometry, material, followed, ...part }) => part),
    morphing,
    ...morphs,
  };
  return { rig, parts, sharedMorphs, namesakes };
}

/** A name without the number behind it that GLTFLoader adds where another node of the file has it too. */
export const bareName = (name: string): string => name.replace(/_\d+$/, '');

/** Whether a node is called as the one above it. */
export const isNamesake = (name: string, above: string): boolean =>
  name !== '' && bareName(name) === bareName(above);

/** By how much a matrix may differ that is the identity, as those of nodes are that loaders place by their matrices in the world. */
const ROUNDING = 1e-6;

/** Whether 12 numbers are the identity. */
export function isIdentity(m: Float64Array, at: number, rounding = ROUNDING): boolean {
  for (let i = 0; i < AFFINE_SIZE; i++)
    if (Math.abs(m[at + i] - (i % 5 === 0 ? 1 : 0)) > rounding) return false;
  return true;
}

/** The local transform of a node that does nothing. */
export const STILL: readonly number[] = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1];

/** Whether what moves a node can be told from how it stands: not if it is hidden by a scale of 0. */
function isInvertible({ position, quaternion, scale }: Object3D): boolean {
  const { x, y, z } = position;
  return Number.isFinite(x + y + z) && Math.abs(scale.x * scale.y * scale.z * quaternion.length()) > 0;
}

/** All nodes under a root and how they stand. */
function readNodes(root: Object3D) {
  const nodes: Object3D[] = [];
  root.traverse((node) => nodes.push(node));

  const indexOf = new Map<Object3D, number>(nodes.map((node, index) => [node, index]));
  const parents = new Int32Array(nodes.length);
  const rest = new Float64Array(nodes.length * TRS_SIZE);
  const restRotations = new Float64Array(nodes.length * 3);
  const fixed = new Uint8Array(nodes.length);
  const pivots: Rig['pivots'] = new Map();
  const bones: Rig['bones'] = new Map();
  const restLocal = new Float64Array(nodes.length * AFFINE_SIZE);

  nodes.forEach((node, i) => {
    parents[i] = i === 0 ? -1 : (indexOf.get(node.parent as Object3D) as number);
    node.position.toArray(rest, i * TRS_SIZE);
    node.quaternion.toArray(rest, i * TRS_SIZE + 3);
    node.scale.toArray(rest, i * TRS_SIZE + 7);
    if (i === 0 && !isInvertible(node)) rest.set(STILL);
    const { x, y, z } = node.rotation;
    restRotations.set([x, y, z], i * 3);
    // Only newer three.js has pivots.
    const { pivot } = node as { pivot?: Vector3 | null };
    if (pivot) pivots.set(i, [pivot.x, pivot.y, pivot.z]);
    const { skeleton } = node as Partial<SkinnedMesh>;
    if (skeleton)
      bones.set(
        i,
        Int32Array.from(skeleton.bones, (bone) => indexOf.get(bone) ?? -1),
      );
    fixed[i] = node.matrixAutoUpdate ? 0 : 1;

    if (i === 0) affineFromMatrix4(_matrix.identity(), restLocal, 0);
    else if (node.matrixAutoUpdate) composeNode(rest, i, pivots, restLocal, i * AFFINE_SIZE);
    else affineFromMatrix4(node.matrix, restLocal, i * AFFINE_SIZE);
  });
  return {
    indexOf,
    names: nodes.map(({ name }) => name),
    uuids: nodes.map(({ uuid }) => uuid),
    parents,
    bones,
    rest,
    restRotations,
    rotationOrders: nodes.map(({ rotation }) => rotation.order),
    pivots,
    restLocal,
    fixed,
  };
}

/**
 * Writes a node's local matrix, as `Object3D.updateMatrix` does.
 *
 * @param trs `TRS_SIZE` numbers a node.
 */
export function composeNode(
  trs: Float64Array,
  node: number,
  pivots: Rig['pivots'],
  out: Float64Array,
  at: number,
): void {
  composeAffine(trs, node * TRS_SIZE, out, at);
  const pivot = pivots.get(node);
  if (pivot === undefined) return;
  const [x, y, z] = pivot;
  pivot.forEach((own, i) => {
    const row = at + 4 * i;
    out[row + 3] += own - out[row] * x - out[row + 1] * y - out[row + 2] * z;
  });
}

/** Matrix of a node at rest, relative to the root: 12 numbers. */
function modelMatrix(node: number, parents: Int32Array, restLocal: Float64Array): Float64Array {
  let model = restLocal.slice(node * AFFINE_SIZE, (node + 1) * AFFINE_SIZE);
  for (let i = parents[node]; i !== -1; i = parents[i]) {
    const next = new Float64Array(AFFINE_SIZE);
    multiplyAffine(restLocal, i * AFFINE_SIZE, model, 0, next, 0);
    model = next;
  }
  return model;
}
