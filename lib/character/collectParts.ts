import type { BufferGeometry, Material, Mesh, Object3D, SkinnedMesh } from 'three';
import { DetachedBindMode, Matrix4 } from 'three';
import { AFFINE_SIZE } from '../constants.js';
import type { PartFlip } from '../poses/PartFlip.js';
import type { MeshJoint, RigPart } from '../poses/Rig.js';
import { affineFromMatrix4 } from '../utils/affine.js';
import { inFloats } from '../utils/inFloats.js';
import { sharingCopy } from '../utils/sharingCopy.js';
import type { Steps } from '../utils/steps.js';

/** By how much a matrix may be off that files have in decimals. */
const ROUNDING = 1e-5;

/** Vertices between two steps. */
const VERTICES = 512;

/** A joint, before the rig's arrays are made of all of them. */
export interface JointSlot {
  name: string;
  node: number;
  inverse: Matrix4;
  mesh: MeshJoint | null;
}

/** A part together with what it is in the scene, which merging needs and posing does not. */
export interface ScenePart extends RigPart {
  mesh: Mesh;
  /** The mesh's, or one that shares attributes with it. */
  geometry: BufferGeometry;
  material: Material | Material[];
}

/** What the parts are collected from. */
export interface PartSource {
  root: Object3D;
  /** Index of each node under the root. */
  indexOf: ReadonlyMap<Object3D, number>;
  /** Matrix of a node at rest, relative to the root: 12 numbers. */
  modelOf(node: number): Float64Array;
  flips: readonly PartFlip[];
}

const UNSUPPORTED = ['isInstancedMesh', 'isBatchedMesh', 'isPoints', 'isLine', 'isSprite'];

export function isUnsupported(node: Object3D): boolean {
  return UNSUPPORTED.some((flag) => (node as unknown as Record<string, unknown>)[flag] === true);
}

/** Calls back with the root and every object under it that is not hidden, nor under one that is. */
export function traverseDrawn(root: Object3D, callback: (node: Object3D) => void): void {
  callback(root);
  for (const child of root.children) if (child.visible) traverseDrawn(child, callback);
}

/** Visible objects that cannot be drawn as part of a character: points, lines, sprites, instanced meshes. */
export function findUnsupported(root: Object3D): Object3D[] {
  const found: Object3D[] = [];
  traverseDrawn(root, (node) => {
    if (isUnsupported(node)) found.push(node);
  });
  return found;
}

/**
 * The visible meshes under the root, skinned ones first, and the joints that their vertices follow. A rigid mesh gets a joint
 * of its own.
 *
 * @param slots The joints are added to it.
 */
export function* collectParts(source: PartSource, slots: JointSlot[]): Steps<ScenePart[]> {
  const { root } = source;
  const skinned: SkinnedMesh[] = [];
  const rigid: Mesh[] = [];
  traverseDrawn(root, (node) => {
    if (isUnsupported(node)) return;
    if ((node as SkinnedMesh).isSkinnedMesh) skinned.push(node as SkinnedMesh);
    else if ((node as Mesh).isMesh) rigid.push(node as Mesh);
  });
  if (skinned.length + rigid.length === 0) {
    throw new Error(
      `No visible mesh under "${root.name || root.type}"; ` +
        'pass the object that holds the whole character, e.g. gltf.scene.',
    );
  }

  const parts: ScenePart[] = [];
  const shared = new Map<string, number[]>();
  for (const mesh of skinned) {
    const followed = yield* checkSkin(mesh);
    parts.push(skinnedPart(mesh, parts.length, source, slots, shared, followed));
    yield 0;
  }
  for (const mesh of rigid) {
    checkGeometry(mesh, ['position']);
    parts.push(rigidPart(mesh, parts.length, source, slots));
    yield 0;
  }
  return parts;
}

function skinnedPart(
  mesh: SkinnedMesh,
  part: number,
  { root, indexOf, modelOf, flips }: PartSource,
  slots: JointSlot[],
  shared: Map<string, number[]>,
  followed: ReadonlySet<number>,
): ScenePart {
  const { skeleton, bindMatrix } = mesh;
  const node = indexOf.get(mesh) as number;
  const nodes = skeleton.bones.map((bone, i) => {
    const found = indexOf.get(bone);
    if (found !== undefined) return found;
    throw new Error(
      `Bone "${bone?.name ?? i}" of SkinnedMesh "${mesh.name}" is not under root "${root.name || root.type}"; ` +
        'pass an object that holds both the mesh and its bones.',
    );
  });
  const inverses = skeleton.bones.map((_, i) => {
    const inverse = skeleton.boneInverses[i];
    // Where no vertex follows a bone, this may be anything, and then it must not get into poses.
    const isUsable = followed.has(i) || (isAffine(inverse) && inverse.elements.every(Number.isFinite));
    return isUsable ? inverse.clone().multiply(bindMatrix) : new Matrix4();
  });
  const bindInverse = mesh.bindMode === DetachedBindMode ? inverseOf(bindMatrix) : null;
  const flip = flips.find((one) => one.part === part);

  const jointsOf = (side: MeshJoint['side']) => {
    const own = bindInverse !== null || flip !== undefined;
    const meshJoint = own ? { node, bindInverse, vanishes: bindInverse === null, side } : null;
    // Meshes with the same bone and inverse share a joint, unless the joint depends on where the mesh is.
    const kind = bindInverse !== null ? `detached ${node}/${side}` : flip ? `${flip.group}/${side}` : '';
    return Int32Array.from(nodes, (bone, i) => {
      const alike = shared.get(`${bone}/${kind}`) ?? [];
      let slot = alike.find((candidate) => slots[candidate].inverse.equals(inverses[i]));
      // The first mesh shares none with itself, so that the joints of a character with one mesh are its skeleton's bones.
      if (slot === undefined || part === 0) {
        const name = nameOfJoint(skeleton.bones[i], side);
        slot = slots.push({ name, node: bone, inverse: inverses[i], mesh: meshJoint }) - 1;
        shared.set(`${bone}/${kind}`, [slot, ...alike]);
      }
      return slot;
    });
  };

  return {
    ...partOf(mesh, node),
    joints: jointsOf(flip?.mirrored ? 1 : 0),
    mirrorJoints: flip?.mirrored ? jointsOf(-1) : null,
    rigid: false,
    model: modelOf(node),
  };
}

function rigidPart(
  mesh: Mesh,
  part: number,
  { indexOf, modelOf, flips }: PartSource,
  slots: JointSlot[],
): ScenePart {
  const node = indexOf.get(mesh) as number;
  const mirrored = flips.some((flip) => flip.part === part && flip.mirrored);
  const jointsOf = (side: MeshJoint['side']) => {
    const meshJoint = mirrored ? { node, bindInverse: null, vanishes: false, side } : null;
    const name = nameOfJoint(mesh, side);
    return Int32Array.of(slots.push({ name, node, inverse: new Matrix4(), mesh: meshJoint }) - 1);
  };
  return {
    ...partOf(mesh, node),
    joints: jointsOf(mirrored ? 1 : 0),
    mirrorJoints: mirrored ? jointsOf(-1) : null,
    rigid: true,
    model: modelOf(node),
  };
}

/** What skinned and rigid parts have alike; where their morph targets begin is found later, by `collectMorphs`. */
function partOf(mesh: Mesh, node: number) {
  const { material, morphTargetInfluences = [], morphTargetDictionary } = mesh;
  const geometry = inFloats(firstInfluences(mesh.geometry));
  const morphs = {
    morphOffset: -1,
    morphCount: morphTargetInfluences.length,
    morphIndices: { ...morphTargetDictionary },
  };
  return { node, mesh, geometry, material, ...morphs };
}

/** Joints of a part's mirrored copy have another name than the bone, so that they are not found by it. */
function nameOfJoint({ name }: Object3D, side: MeshJoint['side']): string {
  return side < 0 ? `${name} (mirrored)` : name;
}

function inverseOf(matrix: Matrix4): Float64Array {
  const inverse = new Float64Array(AFFINE_SIZE);
  affineFromMatrix4(matrix.clone().invert(), inverse, 0);
  return inverse;
}

function checkGeometry({ name, type, geometry, material }: Mesh, needed: readonly string[]): void {
  if (!material) {
    throw new Error(`${type} "${name}" has no material; give it one, or remove or hide it.`);
  }
  const missing = needed.find((attribute) => geometry.getAttribute(attribute) === undefined);
  if (missing === undefined) return;
  throw new Error(
    `The geometry of ${type} "${name}" has no attribute "${missing}"; add it, or remove or hide the mesh.`,
  );
}

/** @returns Indices of the bones that vertices follow. */
function* checkSkin(mesh: SkinnedMesh): Steps<ReadonlySet<number>> {
  if (!mesh.skeleton || mesh.skeleton.bones.length === 0) {
    throw new Error(`SkinnedMesh "${mesh.name}" has no skeleton; call mesh.bind(skeleton) first.`);
  }
  checkGeometry(mesh, ['position', 'skinIndex', 'skinWeight']);
  const followed = yield* followedBones(mesh);
  for (const bone of followed) checkInverse(mesh, bone);
  return followed;
}

/** Skinning leaves out the last row of matrices. */
function checkInverse({ name, skeleton: { bones, boneInverses } }: SkinnedMesh, bone: number): void {
  const inverse = boneInverses[bone];
  if (isAffine(inverse)) return;
  const problem = inverse ? `ends in ${lastRow(inverse).join(', ')}, not in 0, 0, 0, 1` : 'is not there';
  throw new Error(
    `The inverse bind matrix of bone "${bones[bone]?.name ?? bone}" of SkinnedMesh "${name}" ${problem}; mend skeleton.boneInverses, ` +
      'or call skeleton.calculateInverses() in the bind pose.',
  );
}

const lastRow = ({ elements }: Matrix4): number[] => [3, 7, 11, 15].map((at) => elements[at]);

/** Whether a matrix is there and ends in 0, 0, 0, 1. NaN passes: checks of poses name it. */
const isAffine = (matrix: Matrix4 | undefined): boolean =>
  matrix !== undefined &&
  lastRow(matrix).every((value, k) => !(Math.abs((value ?? Infinity) - (k === 3 ? 1 : 0)) > ROUNDING));

/**
 * The bones that vertices follow with a weight. Those without may be any: three.js's shader multiplies them by zero.
 *
 * @throws If the skeleton does not have one of them.
 */
function* followedBones({ name, geometry, skeleton }: SkinnedMesh): Steps<Set<number>> {
  const { position, skinIndex, skinWeight } = geometry.attributes as BufferGeometry['attributes'];
  const bones = skeleton.bones.length;
  const width = Math.min(4, skinIndex.itemSize, skinWeight.itemSize);
  const followed = new Set<number>();
  for (let vertex = 0; vertex < position.count; vertex++) {
    if (vertex % VERTICES === 0) yield 0;
    for (let i = 0; i < width; i++) {
      if (!(skinWeight.getComponent(vertex, i) > 0)) continue;
      const joint = skinIndex.getComponent(vertex, i);
      if (!(Number.isInteger(joint) && joint >= 0 && joint < bones)) {
        throw new Error(
          `Vertex ${vertex} of SkinnedMesh "${name}" follows joint ${joint}, but its skeleton has ${bones} bones; ` +
            'mend skinIndex, or set the weight to 0.',
        );
      }
      followed.add(joint);
    }
  }
  return followed;
}

/** GLTFLoader's names for joints and weights beyond a vertex's first four: `joints_1`, `weights_1`, and so on. */
const FURTHER = /^(joints|weights)_\d+$/;

/**
 * The geometry itself; or if its vertices follow more than four joints, a geometry without the attributes beyond the first
 * four, which shares all others. three.js's `SkinnedMesh` does not read them, so a crowd looks the same without, and they
 * would only take memory and vertex buffers.
 */
function firstInfluences(source: BufferGeometry): BufferGeometry {
  const further = Object.keys(source.attributes).filter((name) => FURTHER.test(name));
  if (further.length === 0) return source;
  const geometry = sharingCopy(source);
  for (const name of further) geometry.deleteAttribute(name);
  return geometry;
}

/** Vertices that are looked at in a step. */
const PER_STEP = 2048;

/** Joints that vertices of a part follow, each once, by their numbers among those of the character. */
export function* usedJoints({ geometry, rigid, joints, mirrorJoints }: ScenePart): Steps<Set<number>> {
  const all = mirrorJoints === null ? [joints] : [joints, mirrorJoints];
  if (rigid) return new Set(all.map(([joint]) => joint));
  const { skinIndex, skinWeight, position } = geometry.attributes;
  const width = Math.min(4, skinIndex.itemSize, skinWeight.itemSize);
  const used = new Set<number>();
  for (let vertex = 0; vertex < position.count; vertex++) {
    if (vertex % PER_STEP === 0) yield 0;
    for (let i = 0; i < width; i++) {
      if (skinWeight.getComponent(vertex, i) <= 0) continue;
      for (const one of all) used.add(one[skinIndex.getComponent(vertex, i)]);
    }
  }
  return used;
}

/** Leaves those of the joints that vertices follow, in their order, and renumbers those of the parts. */
export function* dropUnusedJoints(slots: JointSlot[], parts: readonly ScenePart[]): Steps<void> {
  const used = new Set<number>();
  for (const part of parts) for (const slot of yield* usedJoints(part)) used.add(slot);
  const kept = [...slots.keys()].filter((slot) => used.has(slot));
  const numbers = new Map(kept.map((slot, number) => [slot, number]));
  // Where no vertex follows a joint, any other will do.
  const numberOf = (slot: number) => numbers.get(slot) ?? 0;
  for (const part of parts) {
    part.joints = part.joints.map(numberOf);
    part.mirrorJoints = part.mirrorJoints?.map(numberOf) ?? null;
  }
  slots.splice(0, slots.length, ...kept.map((slot) => slots[slot]));
}
