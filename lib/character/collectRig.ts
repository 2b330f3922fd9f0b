import { type Bone, Matrix4, type Mesh, type Object3D, type SkinnedMesh } from 'three';
import type { BoneTextureData } from '../animation/BoneTextureData.js';
import type { PartFlip, Rig, ScenePart } from '../animation/Rig.js';
import { AFFINE_SIZE, SHADING_JOINT } from '../constants.js';
import { affineOf, affineToMatrix4 } from '../utils/affine.js';
import { sharingCopy } from '../utils/geometries.js';
import { checkFinite, describe } from '../utils/messages.js';
import { runAll, type Steps } from '../utils/slices.js';
import { collectParts, dropUnusedJoints, type JointSlot } from './collectParts.js';
import { copyNodes, nodesOf } from './rigNodes.js';

/** What `collectRig` finds. */
export interface CollectedRig {
  /** For posing. */
  rig: Rig;
  /** The rig's parts again, with the meshes that they are in the scene. */
  parts: ScenePart[];
  /** Whether meshes have morph targets in common, which clips must move alike then. */
  sharesMorphs: boolean;
  /**
   * Nodes below others of the same name, without a transform of their own: FBXLoader makes one for each mesh that follows a bone. As
   * long as no clip moves them, they move as those do.
   */
  namesakes: ReadonlySet<number>;
}

/** What to collect besides the meshes and their bones. */
export interface RigOptions extends NonNullable<BoneTextureData['collected']> {
  /** Names of further nodes that become joints, after all others. */
  sockets?: readonly string[];
  /** Whether morph targets are collected. @default true */
  morphing?: boolean;
  /** Parts that clips mirror or flatten, see `findPartFlips`. */
  flips?: readonly PartFlip[];
  /** Skins whose meshes have a joint that says how normals are turned, see `findUneven`. */
  uneven?: readonly number[];
}

/**
 * For each joint its bind matrix, 12 numbers: it takes an object in the joint's own space to where the joint's skinning
 * matrix moves it from. Null for joints of skins in detached bind mode, whose skinning matrices do not end at the joint.
 */
export function jointBinds({ jointNames, jointInverses, jointMeshes }: Rig): (number[] | null)[] {
  return jointNames.map((_, joint) =>
    jointMeshes[joint]?.bindInverse
      ? null
      : affineOf(affineToMatrix4(jointInverses, joint * AFFINE_SIZE, new Matrix4()).invert()),
  );
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
export function* collectRigSteps(root: Object3D, options: RigOptions): Steps<CollectedRig> {
  const { sockets = [], morphing = true, shareMorphs = true, flips = [], uneven = [] } = options;
  const { joints, keepNamesakes } = options;
  if (!root?.isObject3D) {
    throw new Error(
      `root is ${describe(root)}; pass the Object3D that holds the character, e.g. gltf.scene of a file whose loading was awaited.`,
    );
  }

  const { nodes, parents } = nodesOf(root);
  const copies = copyNodes({ nodes, parents });
  yield 0;
  const namesakes = new Set<number>();
  copies.forEach(({ name, parent, matrix }, node) => {
    if (parents[node] <= 0 || !isNamesake(name, (parent as Object3D).name) || !isIdentity(matrix)) return;
    // Of one skin, they are two bones.
    const both = [nodes[node], nodes[parents[node]]] as Bone[];
    const isOfOne = ({ skeleton }: Partial<SkinnedMesh>) =>
      both.every((bone) => skeleton?.bones.includes(bone));
    if (!nodes.some((one) => isOfOne(one as SkinnedMesh))) namesakes.add(node);
  });
  const jointNodeOf = (node: number) => {
    let moved = node;
    if (!keepNamesakes) while (namesakes.has(moved)) moved = parents[moved];
    return moved;
  };
  const slots: JointSlot[] = [];
  const modelOf = (node: number) => Float64Array.from(affineOf(copies[node].matrixWorld));
  const parts = yield* collectParts({ root, nodes, modelOf, flips, jointNodeOf }, slots);
  if (joints === 'used') dropUnusedJoints(slots, parts);

  for (const name of sockets) {
    const node = nodes.findIndex((one) => one.name === name);
    if (node < 0) {
      throw new Error(
        `sockets names "${name}", but there is no such node under "${root.name || root.type}"; GLTFLoader takes spaces and dots out of names.`,
      );
    }
    slots.push({ name, node, inverse: new Matrix4(), mesh: null });
  }

  for (const part of uneven)
    slots.push({ name: shadingName(part), node: parts[part].node, inverse: new Matrix4(), mesh: null });

  for (const part of parts)
    if (!morphing && Object.keys(part.geometry.morphAttributes).length > 0)
      part.geometry = Object.assign(sharingCopy(part.geometry), { morphAttributes: {} });

  const { shared: sharesMorphs, ...morphs } = collectMorphs(parts, shareMorphs);
  const rig = {
    nodes,
    parents,
    jointNames: slots.map(({ name }) => name),
    jointNodes: Int32Array.from(slots, ({ node }) => node),
    jointInverses: Float64Array.from(slots.flatMap(({ inverse }) => affineOf(inverse))),
    jointMeshes: slots.map(({ mesh }) => mesh),
    parts: parts.map(({ mesh, geometry, material, followed, ...part }) => part),
    morphing,
    ...morphs,
  };
  return { rig, parts, sharesMorphs, namesakes };
}

/**
 * Numbers the morph targets of all parts, and sets each part's `morphOffset`. Parts with the same targets by name have them in common:
 * the head, teeth and eyes of an avatar each have all targets of the face, and a face with three materials is three meshes.
 *
 * @param sharing Whether they do: clips must move them alike then.
 */
function collectMorphs(
  parts: readonly ScenePart[],
  sharing: boolean,
): Pick<Rig, 'morphNames' | 'morphRest'> & { shared: boolean } {
  const morphNames: string[] = [];
  const morphRest: number[] = [];
  const offsets = new Map<string, number>();
  let shared = false;
  for (const part of parts) {
    const { mesh, geometry } = part;
    const { name, morphTargetDictionary = {}, morphTargetInfluences = [] } = mesh;
    const names = Array.from(geometry.morphAttributes.position ?? [], (_, i) => `${i}`);
    if (names.length === 0) continue;
    for (const [target, i] of Object.entries(morphTargetDictionary)) if (i in names) names[i] = target;
    const influences = names.map((_, i) => morphTargetInfluences[i] ?? 0);
    influences.forEach((influence, i) => {
      checkFinite(influence, `influence ${i} of mesh "${name}"`);
    });
    const isNamed = names.every((target, i) => target !== `${i}`);
    const key = JSON.stringify([names, influences, isNamed || ownerOf(mesh)]);
    const known = sharing ? offsets.get(key) : undefined;
    part.morphOffset = known ?? morphNames.length;
    if (known !== undefined) shared = true;
    else {
      offsets.set(key, part.morphOffset);
      morphNames.push(...names);
      morphRest.push(...influences);
    }
  }
  return { morphNames, morphRest: Float64Array.from(morphRest), shared };
}

/**
 * What tells meshes apart whose targets have no names: GLTFLoader puts those made from primitives of one glTF mesh into one group, as
 * `Face`, `Face_1` and so on. Unlike meshes made from nodes, they have no name in `userData`.
 */
function ownerOf({ name, uuid, parent, userData }: Mesh): unknown {
  return userData.name === undefined && parent ? [parent.uuid, name.replace(/_\d+$/, '')] : uuid;
}

const shadingName = (part: number) => `${SHADING_JOINT}${part}`;

/**
 * For each of some parts of a character by which joint its normals are turned: its number and one more, or 0. That of a rigid one is
 * the joint that it follows, skins have one of their own.
 */
export const shadingJoints = (
  parts: readonly ScenePart[],
  numbers: Iterable<number>,
  { jointNames, unevenJoints = [] }: BoneTextureData,
): number[] =>
  Array.from(numbers, (number, i) => {
    const { rigid, joints } = parts[i];
    if (!rigid) return jointNames.indexOf(shadingName(number)) + 1;
    return unevenJoints.includes(joints[0]) ? joints[0] + 1 : 0;
  });

/** A name without the number behind it that GLTFLoader adds where another node of the file has it too. */
export const bareName = (name: string): string => name.replace(/_\d+$/, '');

/** Whether a node is called as the one above it. */
const isNamesake = (name: string, above: string): boolean =>
  name !== '' && bareName(name) === bareName(above);

/** By how much a matrix may differ that is the identity, as those of nodes are that loaders place by their matrices in the world. */
const ROUNDING = 1e-6;

const isIdentity = ({ elements }: Matrix4): boolean =>
  elements.every((value, i) => Math.abs(value - (i % 5 ? 0 : 1)) <= ROUNDING);
