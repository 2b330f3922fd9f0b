import type { BufferGeometry, Mesh, MeshStandardMaterial, Object3D, SkinnedMesh } from 'three';
import { DetachedBindMode, Matrix4, ObjectSpaceNormalMap } from 'three';
import type { PartFlip, Rig, ScenePart } from '../animation/Rig.js';
import { AFFINE_SIZE } from '../constants.js';
import { affineFromMatrix4 } from '../utils/affine.js';
import {
  type Attribute,
  floatsOf,
  followJoint,
  inFloats,
  plainArray,
  sharingCopy,
} from '../utils/geometries.js';
import { warnOnce } from '../utils/messages.js';
import { inRuns, type Steps } from '../utils/slices.js';
import { skinChecker } from './crowdGeometry.js';

/** By how much a matrix may be off that files have in decimals. */
const ROUNDING = 1e-5;

/** By how much inverse bind matrices may differ that a file has in floats, as a share of their largest number. */
const SAME = 5e-7;

/** A joint, before the rig's arrays are made of all of them. */
export interface JointSlot {
  name: string;
  node: number;
  inverse: Matrix4;
  mesh: Rig['jointMeshes'][number];
}

const UNSUPPORTED = ['isInstancedMesh', 'isBatchedMesh', 'isPoints', 'isLine', 'isSprite'];

/** What an object is that cannot be part of a character, as three.js calls it; undefined if it can. */
export function unsupportedKind(node: Object3D): string | undefined {
  return UNSUPPORTED.find((flag) => (node as unknown as Record<string, unknown>)[flag] === true)?.slice(2);
}

/** The root and every object under it that is not hidden, nor under one that is. */
export function drawnObjects(root: Object3D): Object3D[] {
  return [root, ...root.children.flatMap((child) => (child.visible ? drawnObjects(child) : []))];
}

const isSkinned = (mesh: Mesh): mesh is SkinnedMesh => (mesh as SkinnedMesh).isSkinnedMesh === true;

/**
 * The visible meshes under the root, skinned ones first, and the joints that their vertices follow. A rigid mesh gets a joint
 * of its own.
 *
 * @param slots The joints are added to it.
 */
export function* collectParts(
  source: {
    root: Object3D;
    /** All under the root. */
    nodes: readonly Object3D[];
    /** Matrix of a node at rest, relative to the root: 12 numbers. */
    modelOf(node: number): Float64Array;
    flips: readonly PartFlip[];
    /** The node that a joint hangs on in place of a bone's own, where it moves alike. */
    jointNodeOf(node: number): number;
  },
  slots: JointSlot[],
): Steps<ScenePart[]> {
  const { root } = source;
  const meshes = drawnObjects(root).filter(
    (node): node is Mesh => (node as Mesh).isMesh && unsupportedKind(node) === undefined,
  );
  if (meshes.length === 0) {
    throw new Error(
      `No visible mesh under "${root.name || root.type}"; ` +
        'pass the object that holds the whole character, e.g. gltf.scene.',
    );
  }
  // Sorting keeps the order of those that are alike.
  meshes.sort((a, b) => +isSkinned(b) - +isSkinned(a));
  const shared = new Map<string, number>();
  const common = new Map<number, Matrix4>();
  const parts: ScenePart[] = [];
  for (const mesh of meshes) {
    parts.push(yield* collectPart(mesh, parts.length, source, slots, shared, common));
    yield 0;
  }
  return parts;
}

/**
 * @param shared Joints that meshes have in common, by all that they depend on.
 * @param common See `shareInverses`.
 */
function* collectPart(
  mesh: Mesh,
  part: number,
  { root, nodes: all, modelOf, flips, jointNodeOf }: Parameters<typeof collectParts>[0],
  slots: JointSlot[],
  shared: Map<string, number>,
  common: Map<number, Matrix4>,
): Steps<ScenePart> {
  const skin = isSkinned(mesh) ? mesh : null;
  const rigid = skin === null;
  const followed = rigid ? new Set([0]) : yield* followedBones(skin);
  if (rigid) checkGeometry(mesh, ['position']);
  const source = inFloats(mesh.geometry);
  const geometry = rigid ? followJoint(sharingCopy(source), 0) : source;
  const bones: Object3D[] = rigid ? [mesh] : skin.skeleton.bones;
  // The first may stand for the root.
  const indexOf = (object: Object3D) => (object === root ? 0 : all.indexOf(object));
  const nodes = bones.map((bone, i) => {
    const found = indexOf(bone);
    if (found >= 0) return rigid ? found : jointNodeOf(found);
    throw new Error(
      `Bone "${bone?.name ?? i}" of SkinnedMesh "${mesh.name}" is not under root "${root.name || root.type}"; ` +
        'pass an object that holds both the mesh and its bones.',
    );
  });
  const inverses = bones.map((_, bone) =>
    rigid ? new Matrix4() : inverseOf(skin, bone, followed.has(bone)),
  );

  const node = indexOf(mesh);
  const detached = skin?.bindMode === DetachedBindMode;
  const bindInverse = detached ? new Float64Array(AFFINE_SIZE) : null;
  if (bindInverse !== null)
    affineFromMatrix4((skin as SkinnedMesh).bindMatrix.clone().invert(), bindInverse, 0);
  const flip = flips.find((one) => one.part === part);
  const own = detached || flip !== undefined;
  const moved = rigid || own ? null : shareInverses(nodes, inverses, followed, common);

  const jointsOf = (side: -1 | 0 | 1) => {
    const meshJoint = own ? { node, bindInverse, vanishes: !rigid && !detached, side } : null;
    // Meshes with the same bone and inverse share a joint, unless the joint depends on where the mesh is.
    const kind = rigid || detached ? `mesh ${node}` : flip?.group;
    return Int32Array.from(nodes, (bone, i) => {
      const key = [bone, kind, side, ...inverses[i].elements].join();
      let slot = shared.get(key);
      // The first mesh shares none with itself, so that the joints of a character with one mesh are its skeleton's bones.
      if (slot === undefined || part === 0) {
        // Joints of a mirrored copy have another name than the bone, so that they are not found by it.
        const name = side < 0 ? `${bones[i].name} (mirrored)` : bones[i].name;
        slot = slots.push({ name, node: bone, inverse: inverses[i], mesh: meshJoint }) - 1;
        shared.set(key, slot);
      }
      return slot;
    });
  };

  const { material, morphTargetInfluences = [], morphTargetDictionary } = mesh;
  return {
    node,
    mesh,
    geometry: moved === null ? geometry : moveVertices(geometry, moved),
    material,
    joints: jointsOf(flip?.mirrored ? 1 : 0),
    mirrorJoints: flip?.mirrored ? jointsOf(-1) : null,
    followed,
    rigid,
    model: modelOf(node),
    // Found by `collectMorphs`.
    morphOffset: -1,
    morphCount: morphTargetInfluences.length,
    morphIndices: { ...morphTargetDictionary },
  };
}

/**
 * Gives a skin the inverse bind matrices of those before it, where its own are these after one scale and offset of its vertices, as
 * tools make them that quantise each mesh by itself.
 *
 * @param nodes For each of its bones the node.
 * @param inverses Of its bones; they are replaced.
 * @param common Of each node the one of those before it.
 * @returns What moves its vertices, or null if they stay.
 */
function shareInverses(
  nodes: readonly number[],
  inverses: Matrix4[],
  followed: ReadonlySet<number>,
  common: Map<number, Matrix4>,
): Matrix4 | null {
  const found = nodes.map((node) => common.get(node));
  const known = [...followed].filter((i) => found[i] !== undefined);
  const [first] = known;
  const place = new Matrix4();
  const moves = first !== undefined && !found[first]?.equals(inverses[first]);
  if (moves) {
    const { elements } = (found[first] as Matrix4).clone().invert().multiply(inverses[first]);
    const [scale] = elements;
    place.makeScale(scale, scale, scale).setPosition(elements[12], elements[13], elements[14]);
  }
  const fits = known.every((i) => {
    const { elements: wanted } = inverses[i];
    const most = SAME * Math.max(...wanted.slice(0, 15).map(Math.abs));
    const { elements } = (found[i] as Matrix4).clone().multiply(place);
    return elements.every((value, k) => Math.abs(value - wanted[k]) <= most);
  });
  if (!(fits && place.elements[0] > 0)) return null;
  const back = place.clone().invert();
  found.forEach((shared, i) => {
    inverses[i] = shared ?? inverses[i].multiply(back);
    common.set(nodes[i], inverses[i]);
  });
  return moves ? place : null;
}

/** A geometry with its vertices scaled and offset; normals stay. */
function moveVertices(source: BufferGeometry, matrix: Matrix4): BufferGeometry {
  const geometry = sharingCopy(source);
  const { position: targets } = source.morphAttributes;
  const moved = (one: Attribute, by: Matrix4) => floatsOf(one).clone().applyMatrix4(by);
  geometry.setAttribute('position', moved(source.attributes.position, matrix));
  const offset = source.morphTargetsRelative ? matrix.clone().setPosition(0, 0, 0) : matrix;
  if (targets) geometry.morphAttributes.position = targets.map((one) => moved(one, offset));
  return geometry;
}

function checkGeometry({ name, type, geometry, material }: Mesh, needed: readonly string[]): void {
  if (!material) {
    throw new Error(`${type} "${name}" has no material; give it one, or remove or hide it.`);
  }
  for (const one of [material].flat() as MeshStandardMaterial[])
    if (one?.normalMap && one.normalMapType === ObjectSpaceNormalMap)
      warnOnce(
        `The normal map of "${name}" is in object space: it turns with the crowd, not with instances.`,
      );
  const missing = needed.find((attribute) => geometry.getAttribute(attribute) === undefined);
  if (missing === undefined) return;
  throw new Error(
    `The geometry of ${type} "${name}" has no attribute "${missing}"; add it, or remove or hide the mesh.`,
  );
}

/** Brings raw vertices into the space of a bone. */
function inverseOf({ name, skeleton, bindMatrix }: SkinnedMesh, bone: number, followed: boolean): Matrix4 {
  const inverse = skeleton.boneInverses[bone] as Matrix4 | undefined;
  const ends = [3, 7, 11, 15].map((at) => inverse?.elements[at] ?? Infinity);
  // Skinning leaves out the last row of matrices. NaN passes: checks of poses name it.
  const isAffine = !ends.some((value, k) => Math.abs(value - (k === 3 ? 1 : 0)) > ROUNDING);
  if (followed && !isAffine) {
    throw new Error(
      `The inverse bind matrix of bone "${skeleton.bones[bone]?.name ?? bone}" of SkinnedMesh "${name}" ` +
        `${inverse ? `ends in ${ends.join(', ')}, not in 0, 0, 0, 1` : 'is not there'}; mend skeleton.boneInverses, ` +
        'or call skeleton.calculateInverses() in the bind pose.',
    );
  }
  // Where no vertex follows a bone, this may be anything, and then it must not get into poses.
  const isUsable = inverse && isAffine && (followed || inverse.elements.every(Number.isFinite));
  return isUsable ? inverse.clone().multiply(bindMatrix) : new Matrix4();
}

/**
 * The bones that vertices follow with a weight. Those without may be any: three.js's shader multiplies them by zero.
 *
 * @throws If the skeleton does not have one of them, or weights cannot be used.
 */
function* followedBones(mesh: SkinnedMesh): Steps<Set<number>> {
  const { name, geometry, skeleton } = mesh;
  const bones = skeleton?.bones.length ?? 0;
  if (bones === 0) {
    throw new Error(`SkinnedMesh "${name}" has no skeleton; call mesh.bind(skeleton) first.`);
  }
  checkGeometry(mesh, ['position', 'skinIndex', 'skinWeight']);
  const { position, skinIndex, skinWeight } = geometry.attributes;
  const check = skinChecker(geometry, `SkinnedMesh "${name}"`, bones);
  const isFollowed = new Uint8Array(bones);
  yield* inRuns(position.count, (start, end) => {
    const joints = plainArray(skinIndex, 4, start, end);
    const weights = plainArray(skinWeight, 4, start, end);
    for (let vertex = start, at = 0; vertex < end; vertex++) {
      const isUsed = check(joints, weights, at, vertex);
      for (let i = 0; i < 4; i++, at++) if (isUsed && weights[at] > 0) isFollowed[joints[at]] = 1;
    }
  });
  return new Set([...isFollowed.keys()].filter((bone) => isFollowed[bone] === 1));
}

/** Joints that vertices of a part follow, each once, by their numbers among those of the character. */
export function usedJoints({ joints, mirrorJoints, followed }: ScenePart): Set<number> {
  return new Set([joints, mirrorJoints ?? joints].flatMap((all) => Array.from(followed, (i) => all[i])));
}

/** Leaves those of the joints that vertices follow, in their order, and renumbers those of the parts. */
export function dropUnusedJoints(slots: JointSlot[], parts: readonly ScenePart[]): void {
  const used = new Set(parts.flatMap((part) => [...usedJoints(part)]));
  const kept = [...slots.keys()].filter((slot) => used.has(slot));
  // Where no vertex follows a joint, any other will do.
  const numberOf = (slot: number) => Math.max(0, kept.indexOf(slot));
  for (const part of parts) {
    part.joints = part.joints.map(numberOf);
    part.mirrorJoints = part.mirrorJoints?.map(numberOf) ?? null;
  }
  slots.splice(0, slots.length, ...kept.map((slot) => slots[slot]));
}
