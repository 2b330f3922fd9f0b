import { type BufferGeometry, Matrix4, Vector3 } from 'three';
import type { Rig } from '../poses/Rig.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import { affineFromMatrix4, affineToMatrix4 } from '../utils/affine.js';
import { transformGeometry } from './bindToJoint.js';
import type { ScenePart } from './collectParts.js';
import { usedJoints } from './collectParts.js';

/** How far joints of a mesh may disagree about where its vertices are in the bind pose, as a share of the mesh's size. */
const TOLERANCE = 1e-3;
/** Less than this is rounding, and vertices stay as they are. */
const ROUNDING = 1e-6;

/** A joint of the bone texture, and how a mesh's vertices must be moved before that joint's skinning matrix moves them. */
interface Match {
  joint: number;
  correction: Matrix4;
}

const _corner = /*@__PURE__*/ new Vector3();
const _other = /*@__PURE__*/ new Vector3();
const _identity = /*@__PURE__*/ new Matrix4();

/**
 * The parts of another model of a character, so that their vertices follow the joints of a bone texture, which are found by
 * name. Where the model is bound in another place or size, its vertices are moved to where the bone texture has them.
 *
 * @param preferred For each part, joints that it should have where the bone texture has several of one name.
 * @throws If there is no joint of a name, or bones of a mesh stand another way in its bind pose.
 */
export function matchJoints(
  rig: Rig,
  parts: readonly ScenePart[],
  boneTexture: BoneTexture,
  preferred: readonly ReadonlySet<number>[],
): ScenePart[] {
  return parts.map((part, i) => {
    const corners = cornersOf(part.geometry);
    const matches = new Map<number, Match>();
    const used = usedJoints(part);
    for (const slot of used) {
      matches.set(slot, matchJoint(rig, part, slot, boneTexture, preferred[i], corners));
    }
    const [first] = used;
    const correction = matches.get(first)?.correction ?? _identity;
    for (const slot of used) {
      const off = distance((matches.get(slot) as Match).correction, correction, corners);
      if (off <= TOLERANCE && (part.rigid || correction.determinant() > 0)) continue;
      throw new Error(
        `Bone "${rig.jointNames[slot]}" of mesh "${part.mesh.name}" stands another way in the bind pose than the crowd's; ` +
          'export both from one skeleton in one pose.',
      );
    }
    const jointOf = (slot: number) => matches.get(slot)?.joint ?? 0;
    const matched = {
      ...part,
      joints: part.joints.map(jointOf),
      mirrorJoints: part.mirrorJoints?.map(jointOf) ?? null,
    };
    if (distance(correction, _identity, corners) <= ROUNDING) return matched;
    const geometry = part.geometry.clone();
    transformGeometry(geometry, correction);
    return { ...matched, geometry, model: modelAfter(part.model, correction) };
  });
}

function matchJoint(
  rig: Rig,
  part: ScenePart,
  slot: number,
  boneTexture: BoneTexture,
  preferred: ReadonlySet<number> | undefined,
  corners: readonly Vector3[],
): Match {
  const { jointNames, data } = boneTexture;
  const inverse = affineToMatrix4(rig.jointInverses, slot * 12, new Matrix4());
  const detached = rig.jointMeshes[slot]?.bindInverse != null;
  let node = rig.jointNodes[slot];
  let name = rig.jointNames[slot];

  while (true) {
    let best: Match | null = null;
    let least = Infinity;
    for (const [joint, other] of jointNames.entries()) {
      const bind = data.jointBinds[joint];
      if (other !== name || (bind === null) !== detached) continue;
      const correction = bind === null ? new Matrix4() : affineToMatrix4(bind, 0, new Matrix4());
      if (bind !== null) correction.multiply(inverse);
      const off = distance(correction, _identity, corners) + (preferred?.has(joint) ? 0 : ROUNDING);
      if (off >= least) continue;
      least = off;
      best = { joint, correction };
    }
    if (best !== null) return best;
    // What has no joint of its own follows the one above that it hangs on, as long as no clip moves what is between.
    const parent = rig.parents[node];
    if (!part.rigid || parent < 0) break;
    inverse.premultiply(affineToMatrix4(rig.restLocal, node * 12, new Matrix4()));
    node = parent;
    name = rig.names[node];
  }
  throw new Error(
    part.rigid
      ? `Mesh "${part.mesh.name}" hangs on none of the crowd's joints; parent it to a bone of the same name as the crowd's.`
      : `The crowd's bone texture has no joint "${rig.jointNames[slot]}", which mesh "${part.mesh.name}" follows; ` +
          `it has ${[...new Set(jointNames)].map((one) => `"${one}"`).join(', ')}.`,
  );
}

/** How far two matrices take the corners of a box apart, at most, as a share of the box's diagonal. */
function distance(a: Matrix4, b: Matrix4, corners: readonly Vector3[]): number {
  let most = 0;
  for (const corner of corners) {
    _corner.copy(corner).applyMatrix4(a);
    most = Math.max(most, _corner.distanceTo(_other.copy(corner).applyMatrix4(b)));
  }
  const size = _corner.copy(corners[0]).applyMatrix4(b).distanceTo(_other.copy(corners[7]).applyMatrix4(b));
  return most / (size || 1);
}

function cornersOf(geometry: BufferGeometry): Vector3[] {
  const { position } = geometry.attributes;
  const min = new Vector3(Infinity, Infinity, Infinity);
  const max = new Vector3(-Infinity, -Infinity, -Infinity);
  for (let vertex = 0; vertex < position.count; vertex++) {
    _corner.fromBufferAttribute(position, vertex);
    min.min(_corner);
    max.max(_corner);
  }
  const sides = [min, max];
  return Array.from({ length: 8 }, (_, i) => {
    return new Vector3(sides[i & 1].x, sides[(i >> 1) & 1].y, sides[i >> 2].z);
  });
}

/** Where the mesh stands, seen from vertices that were moved. */
function modelAfter(model: Float64Array, correction: Matrix4): Float64Array {
  const matrix = affineToMatrix4(model, 0, new Matrix4()).multiply(correction.clone().invert());
  const moved = new Float64Array(12);
  affineFromMatrix4(matrix, moved, 0);
  return moved;
}

/** How names of levels of detail end in many files: `Body_LOD1`, `Body.lod2`, `BodyLOD1`; with the number of a primitive after it. */
const LOD_SUFFIX = /[\s_.-]?lod[\s_.-]?\d+(?=(_\d+)?$)/i;

/**
 * Finds the parts of a character that the meshes of a level of detail stand for: those of the same names, or of the names
 * without `_LOD1` and the like. Of several parts with one name the first mesh of that name is the first, and so on.
 *
 * @param names Of the level's meshes.
 * @param paths For each part of the character the names it is known by, its mesh's first.
 * @param renamed Name or number of the part for meshes that are called otherwise.
 * @returns For each mesh the number of its part.
 * @throws If a mesh is none of the parts.
 */
export function matchParts(
  names: readonly string[],
  paths: readonly (readonly string[])[],
  renamed: Readonly<Record<string, string | number>>,
): number[] {
  const found = new Map<string, number>();
  return names.map((name) => {
    const asked = Object.hasOwn(renamed, name) ? renamed[name] : undefined;
    if (typeof asked === 'number' && asked in paths) return asked;
    const wanted = asked ?? name;
    for (const candidate of [String(wanted), name.replace(LOD_SUFFIX, '')]) {
      const parts = [...paths.keys()].filter((part) => paths[part][0] === candidate);
      if (parts.length === 0) continue;
      const nth = found.get(candidate) ?? 0;
      found.set(candidate, nth + 1);
      return parts[Math.min(nth, parts.length - 1)];
    }
    if (paths.length === 1 && asked === undefined) return 0;
    const parts = paths.map(([first]) => `"${first}"`).join(', ');
    throw new Error(
      `Mesh "${name}" is none of the character's parts${asked === undefined ? '' : `, nor is "${asked}"`}, which are ${parts}; ` +
        `say which it stands for, e.g. parts: { '${name}': '${paths[0][0]}' }.`,
    );
  });
}
