import {
  BufferAttribute,
  type BufferGeometry,
  DataTexture,
  FloatType,
  Matrix4,
  RGBAFormat,
  Uint16BufferAttribute,
  Vector3,
} from 'three';
import { BoneTexture } from '../../animation/BoneTexture.js';
import { createJointBoxes } from '../../animation/jointBoxes.js';
import { leavesAlone, type PoseTracks } from '../../animation/PoseTracks.js';
import { TRS_SIZE } from '../../animation/Rig.js';
import { OWN_KEYS, TRACK_ROW } from '../../animation/trackTexels.js';
import { moveVertices } from '../../character/bindToJoint.js';
import { restMatrices } from '../../character/crowdGeometry.js';
import { AFFINE_SIZE, SHADING_JOINT } from '../../constants.js';
import { affineToMatrix4, composeAffine } from '../../utils/affine.js';
import { sharingCopy } from '../../utils/geometries.js';

let versions = 0;

const _at = /*@__PURE__*/ new Vector3();
const _rest = /*@__PURE__*/ new Vector3();
const _affine = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);

/**
 * The bone texture that poses a body of other proportions by the keys of another: rotations are those, translations so much longer as
 * they are at rest, and it is bound in its own way. How joints are turned is not looked at.
 *
 * @param own That of the body.
 * @param other That with the keys.
 * @param options `scale` is how much longer what clips add to translations is, if it is the same for all nodes.
 * @returns Null where joints of the same names rest in the same places, and no scale is given.
 */
export function fitBody(
  own: BoneTexture,
  other: BoneTexture,
  { scale, hips: hipsOf }: { scale?: number; hips?: (boneTexture: BoneTexture) => Float32Array },
): BoneTexture | null {
  const { data } = other;
  const { tracks } = data;
  if (tracks === null) return null;
  const { parents, names, rest, fixed, before } = tracks;
  const rests = restsOf(own);
  const fits = new Float64Array(parents.length * 4);
  const models: Matrix4[] = [];
  let size = 0;
  let off = 0;
  parents.forEach((parent, node) => {
    const isFixed = !Number.isNaN(fixed[node * AFFINE_SIZE]);
    composeAffine(rest, node * TRS_SIZE, _affine, 0);
    const local = affineToMatrix4(isFixed ? fixed : _affine, isFixed ? node * AFFINE_SIZE : 0, new Matrix4());
    const above = models[parent] ?? affineToMatrix4(before, 0, new Matrix4());
    const joint = isFixed ? -1 : own.jointNames.indexOf(names[node]);
    let longer = scale ?? 1;
    _rest.setFromMatrixPosition(local);
    _at.copy(_rest);
    if (joint >= 0) {
      _at.setFromMatrixPosition(rests[joint]).applyMatrix4(above.clone().invert());
      if (scale === undefined && _rest.length() > 0) longer = _at.length() / _rest.length();
      size = Math.max(size, _at.length());
      off = Math.max(off, _at.distanceTo(_rest));
    }
    local.setPosition(_at);
    models[node] = above.clone().multiply(local);
    fits.set([..._at.addScaledVector(_rest, -longer).toArray(), longer], node * 4);
  });
  if (scale === undefined && off <= TOLERANCE * size) return null;
  const inverses = tracks.inverses.slice();
  const jointBinds = data.jointBinds.slice();
  other.jointNames.forEach((name, joint) => {
    const place = other.jointNames.slice(0, joint).filter((one) => one === name).length;
    // Joints of one name are those of several skins, in their order.
    const binds = own.data.jointBinds.filter((_, one) => own.jointNames[one] === name);
    const bind = binds[place] ?? binds.at(-1);
    if (!bind) return;
    jointBinds[joint] = bind;
    const inverse = affineToMatrix4(bind, 0, new Matrix4()).invert().transpose();
    inverses.set(inverse.elements.slice(0, AFFINE_SIZE), joint * AFFINE_SIZE);
  });
  const hips = hipsOf?.(other);
  if (hips) fits[hips[1] * 4 + 3] *= -1;
  return new BoneTexture(
    {
      ...data,
      jointBinds,
      restBounds: own.data.restBounds,
      jointBoxes: createJointBoxes(other.jointNames.length),
      tracks: {
        ...tracks,
        fits,
        inverses,
        hips,
        fit(node, out) {
          const at = node * TRS_SIZE;
          for (let i = 0; i < 3; i++)
            out[at + i] = fits[node * 4 + i] + Math.abs(fits[node * 4 + 3]) * out[at + i];
        },
        readOwn(node, clip, frame, out) {
          if (!hips || !(fits[node * 4 + 3] < 0) || hips[clip * 4] === 0) return false;
          const place = frame * OWN_KEYS;
          const whole = Math.floor(place);
          const first = (clip + hips[clip * 4] + whole) * 4;
          for (let i = first; i < first + 3; i++)
            out[i - first] = hips[i] + (place - whole) * (hips[i + 4] - hips[i]);
          return true;
        },
      },
    },
    other,
  );
}

/**
 * What the pass reads of bodies, whole rows for each: the fit of each node, the rows of the inverse bind matrix of each joint, then
 * `hips`, as far behind as dividing where the table of a clip begins by its entries tells its place.
 */
export function bodyTexels(bodies: readonly PoseTracks[]): DataTexture {
  const [{ parents, inverses, clips, morphRest }] = bodies;
  const first = parents.length * 4 + inverses.length;
  const before = first + 4 * Math.floor(clips.length / (parents.length + morphRest.length / 4));
  const height = Math.ceil(
    Math.max(...bodies.map(({ hips }) => before + (hips?.length ?? 0))) / (TRACK_ROW * 4),
  );
  const size = height * TRACK_ROW * 4;
  const texels = new Float32Array(size * bodies.length);
  bodies.forEach(({ fits = [...parents].flatMap(() => [0, 0, 0, 1]), inverses, hips = [] }, kind) => {
    texels.set(fits, kind * size);
    texels.set(inverses, kind * size + parents.length * 4);
    texels.set(hips, kind * size + before);
  });
  const texture = new DataTexture(texels, TRACK_ROW, height * bodies.length, RGBAFormat, FloatType);
  // Nodes whose texture is exchanged for one of the same version go on reading the first.
  texture.version = ++versions;
  return texture;
}

/** How far a joint may be off, as a share of the largest of the character's distances. */
const TOLERANCE = 1e-5;

/** A joint of another bone texture, and what takes vertices to where that texture has them when it is bound. */
interface Match {
  joint: number;
  correction: Matrix4;
  /** The same where it makes a difference. */
  move: Matrix4 | false;
}

const _vector = /*@__PURE__*/ new Vector3();

/**
 * The geometry of a character for the joints of another one's bone texture: those of the same names, or where there is none, which
 * no clip may move, the nearest one above. Where the other is bound in another place, vertices are moved there.
 *
 * @throws If a joint rests elsewhere, relative to the root, or vertices follow joints that are bound differently.
 */
export function rebindGeometry(
  geometry: BufferGeometry,
  own: BoneTexture,
  other: BoneTexture,
): BufferGeometry {
  const { position, skinIndex, skinWeight, shadingJoint } = geometry.attributes;
  const rests = restsOf(own);
  const others = restsOf(other);
  const lengthOf = (rest: Matrix4) => _vector.setFromMatrixPosition(rest).length();
  const size = Math.max(1e-9, ...[...rests, ...others].map(lengthOf));
  const distance = ({ elements: a }: Matrix4, { elements: b }: Matrix4) =>
    Math.max(...a.map((value, i) => Math.abs(value - b[i]) / (i < 12 ? 1 : size)));
  const differ = (a: Matrix4, b: Matrix4) => distance(a, b) > TOLERANCE;
  const matchJoint = (joint: number): Match => {
    const bind = bindOf(own, joint);
    for (let up = joint; ; ) {
      const name = own.jointNames[up];
      let best: Match | null = null;
      let least = Infinity;
      for (const candidate of others.keys()) {
        if (other.jointNames[candidate] !== name) continue;
        if (differ(rests[up], others[candidate])) refuse(name, 'rests');
        // From where it is bound to where it rests below the joint that is known, and from there to where that one is bound.
        const correction = bindOf(other, candidate)
          .multiply(rests[up].clone().invert())
          .multiply(rests[joint])
          .multiply(bind.clone().invert());
        const off = distance(correction, _identity);
        if (off >= least) continue;
        least = off;
        best = { joint: candidate, correction, move: off > TOLERANCE && correction };
      }
      if (best) {
        if (best.correction.determinant() > 0) return best;
        refuse(name, 'is mirrored');
      }
      const parent = parentOf(own, up);
      if (parent < 0 || isMoved(own, up)) {
        throw new Error(
          `CrowdKinds: the crowd has no joint "${name}"; begin with the character that has most joints, or make a second crowd.`,
        );
      }
      up = parent;
    }
  };
  const matches: Match[] = [];
  const joints = new Uint16Array(position.count * 4);
  /** By vertex that of its first joint. */
  const firsts: Match[] = [];
  for (let vertex = 0; vertex < position.count; vertex++) {
    for (let i = 0; i < 4; i++) {
      if (skinWeight.getComponent(vertex, i) === 0) continue;
      const joint = skinIndex.getComponent(vertex, i);
      matches[joint] ??= matchJoint(joint);
      const match = matches[joint];
      joints[vertex * 4 + i] = match.joint;
      firsts[vertex] ??= match;
      if (firsts[vertex] !== match && differ(firsts[vertex].correction, match.correction))
        refuse(own.jointNames[joint], 'is bound');
    }
  }
  const moves = firsts.some(({ move }) => move);
  const copy = moves ? geometry.clone() : sharingCopy(geometry);
  copy.setAttribute('skinIndex', new Uint16BufferAttribute(joints, 4));
  if (shadingJoint) {
    const nameAbove = (texture: BoneTexture, at: number) => texture.jointNames[parentOf(texture, at)];
    /** That of a skin turns normals alike that rests in the same place, below the same joint. */
    const turnsAs = (joint: number, name: string, at: number) =>
      name.startsWith(SHADING_JOINT) &&
      !differ(rests[joint], others[at]) &&
      nameAbove(other, at) === nameAbove(own, joint);
    const found: number[] = [0];
    const shading = Float32Array.from(shadingJoint.array, (one) => {
      const joint = one - 1;
      found[one] ??=
        1 + (matches[joint]?.joint ?? other.jointNames.findIndex((name, at) => turnsAs(joint, name, at)));
      if (one && !found[one]) refuse(own.jointNames[joint], 'rests');
      return found[one];
    });
    copy.setAttribute('shadingJoint', new BufferAttribute(shading, 1));
  }
  if (moves) moveVertices(copy, (vertex) => firsts[vertex]?.move);
  return copy;
}

const _identity = /*@__PURE__*/ new Matrix4();

/** @throws Always. */
function refuse(joint: string, what: string): never {
  throw new Error(`CrowdKinds: joint "${joint}" ${what} elsewhere than the crowd's; make a second crowd.`);
}

/** The joint above; -1 for none. */
function parentOf({ data: { tracks, jointParents } }: BoneTexture, joint: number): number {
  if (!tracks) return jointParents?.[joint] === joint ? -1 : (jointParents?.[joint] ?? -1);
  const { jointNodes, parents } = tracks;
  let node = parents[jointNodes[joint]];
  while (node >= 0 && !jointNodes.includes(node)) node = parents[node];
  return jointNodes.indexOf(node);
}

/** Whether clips of the character move a joint, so far as they are known. */
function isMoved({ data: { tracks } }: BoneTexture, joint: number): boolean {
  return (
    tracks?.clips.some((_, clip) =>
      [0, 1, 2].some((property) => !leavesAlone(tracks, clip, tracks.jointNodes[joint], property)),
    ) === true
  );
}

function bindOf({ data }: BoneTexture, joint: number): Matrix4 {
  const bind = data.jointBinds[joint];
  if (!bind) refuse(data.jointNames[joint], 'is of a skin in detached bind mode, bound');
  return affineToMatrix4(bind, 0, new Matrix4());
}

/** For each joint where it rests, relative to the root. */
function restsOf(boneTexture: BoneTexture): Matrix4[] {
  const matrices = restMatrices(boneTexture);
  return boneTexture.data.jointBinds.map((bind, joint) => {
    const rest = affineToMatrix4(matrices, joint * AFFINE_SIZE, new Matrix4());
    return bind ? rest.multiply(affineToMatrix4(bind, 0, new Matrix4())) : rest;
  });
}
