import type { BufferGeometry, Material, Mesh, Object3D, SkinnedMesh } from 'three';
import { DetachedBindMode, Matrix4 } from 'three';
import { AFFINE_SIZE } from '../constants.js';
import { affineFromMatrix4, affineToMatrix4, composeAffine, multiplyAffine } from '../utils/affine.js';
import { sharingCopy } from '../utils/sharingCopy.js';
import { strongestInfluences } from './strongestInfluences.js';

const NAME = 'BoneTexture.bake';

/** Numbers per node in `Rig.rest`: position 3, quaternion 4, scale 3. */
export const TRS_SIZE = 10;

/** One drawn mesh under the root and how its vertices find their joints. */
export interface RigPart {
  mesh: Mesh;
  geometry: BufferGeometry;
  material: Material | Material[];
  /** Joint of the rig for each index that the geometry's `skinIndex` may hold; for a rigid mesh its one joint. */
  joints: Int32Array;
  rigid: boolean;
  /** Where the mesh stands in the rest pose, relative to the root. */
  model: Matrix4;
  /** Where the mesh's morph targets begin among those of the rig; -1 if it has none. */
  morphOffset: number;
}

/**
 * What a root object says about posing, taken out of the object graph into flat arrays: nodes parents first, and the
 * joints whose matrices a bone texture stores.
 *
 * A joint's skinning matrix relative to the root is `prefix · model(node) · inverse`, where `model` is the product of
 * the local matrices from below the root down to the node. `inverse` holds `boneInverse · bindMatrix`, so that raw
 * geometry can be skinned without another matrix. `prefix` is the identity but for detached skins.
 */
export interface Rig {
  root: Object3D;
  nodes: Object3D[];
  /** Index of the parent in `nodes`, -1 for the root. */
  parents: Int32Array;
  /** Local transforms as found, `TRS_SIZE` numbers a node. */
  rest: Float64Array;
  /** Local matrices as found, `AFFINE_SIZE` numbers a node; the root's is the identity. */
  restLocal: Float64Array;
  jointNames: string[];
  /** Node of each joint. */
  jointNodes: Int32Array;
  /** `AFFINE_SIZE` numbers a joint. */
  jointInverses: Float64Array;
  /** `AFFINE_SIZE` numbers a joint, or null where every prefix is the identity. */
  jointPrefixes: Float64Array | null;
  parts: RigPart[];
  /** Whether morph targets were taken along. */
  morphing: boolean;
  /** Names of the morph targets of all parts; those that the primitives of one mesh have in common are there once. */
  morphNames: string[];
  /** Their influences as found. */
  morphRest: Float64Array;
  /** Visible objects that cannot be drawn as part of a character: points, lines, sprites, instanced meshes. */
  unsupported: Object3D[];
}

/**
 * What carries an object in a joint's own space to where the joint's skinning matrix takes it up, 12 numbers; null for
 * joints of detached skins, whose matrices end elsewhere.
 */
export function jointBinds({ jointNames, jointInverses, jointPrefixes }: Rig): (number[] | null)[] {
  const identity = new Matrix4();
  return jointNames.map((_, joint) => {
    const at = joint * AFFINE_SIZE;
    if (jointPrefixes !== null && !affineToMatrix4(jointPrefixes, at, _matrix).equals(identity)) return null;
    const bind = new Float64Array(AFFINE_SIZE);
    affineFromMatrix4(affineToMatrix4(jointInverses, at, _matrix).invert(), bind, 0);
    return [...bind];
  });
}

const _matrix = /*@__PURE__*/ new Matrix4();

interface JointSlot {
  name: string;
  node: number;
  inverse: Matrix4;
  prefix: Matrix4 | null;
}

/**
 * Reads the joints and drawn meshes under `root`. Nothing of the scene is changed, not even its world matrices.
 *
 * @param sockets Names of further nodes that shall be joints, behind all others.
 * @param morphing Whether morph targets are taken along.
 * @throws If nothing skinned is drawn under `root`, or a bone lies outside of it, or a socket is not there.
 */
export function collectRig(root: Object3D, sockets: readonly string[] = [], morphing = true): Rig {
  if (!root?.isObject3D) {
    throw new Error(
      `${NAME}: root is ${String(root)}; pass the Object3D that holds the character, e.g. gltf.scene.`,
    );
  }

  const nodes: Object3D[] = [];
  root.traverse((node) => nodes.push(node));

  const indexOf = new Map<Object3D, number>(nodes.map((node, index) => [node, index]));
  const parents = new Int32Array(nodes.length);
  const rest = new Float64Array(nodes.length * TRS_SIZE);
  const restLocal = new Float64Array(nodes.length * AFFINE_SIZE);

  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i];
    parents[i] = i === 0 ? -1 : indexOf.get(node.parent as Object3D)!;
    node.position.toArray(rest, i * TRS_SIZE);
    node.quaternion.toArray(rest, i * TRS_SIZE + 3);
    node.scale.toArray(rest, i * TRS_SIZE + 7);

    if (i === 0) {
      affineFromMatrix4(_matrix.identity(), restLocal, 0);
    } else if (node.matrixAutoUpdate) {
      composeAffine(rest, i * TRS_SIZE, restLocal, i * AFFINE_SIZE);
    } else {
      affineFromMatrix4(node.matrix, restLocal, i * AFFINE_SIZE);
    }
  }

  const slots: JointSlot[] = [];
  const unsupported: Object3D[] = [];
  const parts = collectParts(root, indexOf, slots, unsupported, (node) =>
    modelMatrix(node, indexOf, parents, restLocal),
  );

  for (const name of sockets) {
    const node = nodes.findIndex((candidate) => candidate.name === name);
    if (node < 0) {
      throw new Error(
        `${NAME}: sockets names "${name}", but there is no such node under "${root.name || root.type}"; GLTFLoader takes spaces and dots out of names.`,
      );
    }
    slots.push({ name, node, inverse: new Matrix4(), prefix: null });
  }

  if (!morphing) {
    for (const part of parts) {
      if (Object.keys(part.geometry.morphAttributes).length === 0) continue;
      part.geometry = sharingCopy(part.geometry);
      part.geometry.morphAttributes = {};
    }
  }

  const jointInverses = new Float64Array(slots.length * AFFINE_SIZE);
  let jointPrefixes: Float64Array | null = null;
  if (slots.some((slot) => slot.prefix !== null))
    jointPrefixes = new Float64Array(slots.length * AFFINE_SIZE);

  slots.forEach((slot, i) => {
    affineFromMatrix4(slot.inverse, jointInverses, i * AFFINE_SIZE);
    if (jointPrefixes) affineFromMatrix4(slot.prefix ?? _matrix.identity(), jointPrefixes, i * AFFINE_SIZE);
  });

  return {
    root,
    nodes,
    parents,
    rest,
    restLocal,
    jointNames: slots.map((slot) => slot.name),
    jointNodes: Int32Array.from(slots, (slot) => slot.node),
    jointInverses,
    jointPrefixes,
    parts,
    unsupported,
    morphing,
    ...collectMorphs(parts),
  };
}

/** Numbers the morph targets of all parts. GLTFLoader makes siblings of the primitives of a mesh, with equal targets. */
function collectMorphs(parts: RigPart[]): Pick<Rig, 'morphNames' | 'morphRest'> {
  const morphNames: string[] = [];
  const morphRest: number[] = [];
  const known = new Map<string, number>();
  for (const part of parts) {
    const { mesh, geometry } = part;
    const count = geometry.morphAttributes.position?.length ?? 0;
    if (count === 0) continue;
    const names = Array.from({ length: count }, (_, i) => nameOfMorph(mesh, i));
    const key = `${mesh.parent?.uuid} ${names.join()}`;
    let offset = known.get(key);
    if (offset === undefined || parts.length === 1) {
      offset = morphNames.length;
      known.set(key, offset);
      morphNames.push(...names);
      for (let i = 0; i < count; i++) morphRest.push(mesh.morphTargetInfluences?.[i] ?? 0);
    }
    part.morphOffset = offset;
  }
  return { morphNames, morphRest: Float64Array.from(morphRest) };
}

function nameOfMorph({ morphTargetDictionary = {} }: Mesh, index: number): string {
  return (
    Object.keys(morphTargetDictionary).find((name) => morphTargetDictionary[name] === index) ?? `${index}`
  );
}

function collectParts(
  root: Object3D,
  indexOf: Map<Object3D, number>,
  slots: JointSlot[],
  unsupported: Object3D[],
  modelOf: (node: Object3D) => Matrix4,
): RigPart[] {
  const skinned: SkinnedMesh[] = [];
  const rigid: Mesh[] = [];

  const visit = (node: Object3D) => {
    if (node !== root && !node.visible) return;
    if (isUnsupported(node)) unsupported.push(node);
    else if ((node as SkinnedMesh).isSkinnedMesh) skinned.push(node as SkinnedMesh);
    else if ((node as Mesh).isMesh) rigid.push(node as Mesh);
    for (const child of node.children) visit(child);
  };
  visit(root);

  if (skinned.length === 0) {
    throw new Error(
      `${NAME}: no visible SkinnedMesh under "${root.name || root.type}"; ` +
        'pass the object that holds the whole character, e.g. gltf.scene, or draw still objects with InstancedMesh.',
    );
  }

  const parts: RigPart[] = [];
  const shared = new Map<string, number>();

  for (const mesh of skinned) {
    const { skeleton } = mesh;
    if (!skeleton || skeleton.bones.length === 0) {
      throw new Error(`${NAME}: SkinnedMesh "${mesh.name}" has no skeleton; call mesh.bind(skeleton) first.`);
    }

    const prefix =
      mesh.bindMode === DetachedBindMode
        ? modelOf(mesh).multiply(_matrix.copy(mesh.bindMatrix).invert())
        : null;

    const joints = Int32Array.from(skeleton.bones, (bone, i) => {
      const node = indexOf.get(bone);
      if (node === undefined) {
        throw new Error(
          `${NAME}: bone "${bone?.name ?? i}" of SkinnedMesh "${mesh.name}" is not under root "${root.name || root.type}"; ` +
            'pass an object that holds both the mesh and its bones.',
        );
      }
      const inverse = skeleton.boneInverses[i].clone().multiply(mesh.bindMatrix);
      // Meshes of one skeleton share their joints; a mesh bound elsewhere gets joints of its own.
      const key = `${node}/${inverse.elements.join()}/${prefix?.elements.join() ?? ''}`;
      let slot = shared.get(key);
      // Never folded within one mesh, so that a lone mesh keeps the indices its skeleton has.
      if (slot === undefined || parts.length === 0) {
        slot = slots.push({ name: bone.name, node, inverse, prefix }) - 1;
        shared.set(key, slot);
      }
      return slot;
    });

    const geometry = strongestInfluences(mesh.geometry, mesh.name);
    parts.push({
      mesh,
      geometry,
      material: mesh.material,
      joints,
      rigid: false,
      model: modelOf(mesh),
      morphOffset: -1,
    });
  }

  for (const mesh of rigid) {
    const slot =
      slots.push({ name: mesh.name, node: indexOf.get(mesh)!, inverse: new Matrix4(), prefix: null }) - 1;
    const joints = Int32Array.of(slot);
    const { geometry, material } = mesh;
    parts.push({ mesh, geometry, material, joints, rigid: true, model: modelOf(mesh), morphOffset: -1 });
  }

  return parts;
}

const UNSUPPORTED = ['isInstancedMesh', 'isBatchedMesh', 'isPoints', 'isLine', 'isSprite'];

function isUnsupported(node: Object3D): boolean {
  return UNSUPPORTED.some((flag) => (node as unknown as Record<string, unknown>)[flag] === true);
}

function modelMatrix(
  node: Object3D,
  indexOf: Map<Object3D, number>,
  parents: Int32Array,
  restLocal: Float64Array,
): Matrix4 {
  const chain: number[] = [];
  for (let i = indexOf.get(node)!; i > 0; i = parents[i]) chain.unshift(i);

  let model = restLocal.slice(0, AFFINE_SIZE);
  for (const i of chain) {
    const next = new Float64Array(AFFINE_SIZE);
    multiplyAffine(model, 0, restLocal, i * AFFINE_SIZE, next, 0);
    model = next;
  }
  const m = model;
  return new Matrix4().set(
    m[0],
    m[1],
    m[2],
    m[3],
    m[4],
    m[5],
    m[6],
    m[7],
    m[8],
    m[9],
    m[10],
    m[11],
    0,
    0,
    0,
    1,
  );
}
