import { DataTexture, FloatType, Matrix4, RGBAFormat, Vector3 } from 'three';
import { BoneTexture } from '../../animation/BoneTexture.js';
import { createJointBoxes } from '../../animation/jointBoxes.js';
import type { PoseTracks } from '../../animation/PoseTracks.js';
import { TRS_SIZE } from '../../animation/Rig.js';
import { OWN_KEYS, TRACK_ROW } from '../../animation/trackTexels.js';
import { AFFINE_SIZE } from '../../constants.js';
import { affineToMatrix4, composeAffine } from '../../utils/affine.js';
import { restsOf, TOLERANCE } from './rebindGeometry.js';

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
