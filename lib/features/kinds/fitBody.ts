import { DataTexture, FloatType, Matrix4, RGBAFormat, Vector3 } from 'three';
import { BoneTexture } from '../../animation/BoneTexture.js';
import type { PoseTracks } from '../../animation/PoseTracks.js';
import { TRS_SIZE } from '../../animation/Rig.js';
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
 * @param scale How much longer what clips add to translations is, if it is the same for all nodes.
 * @returns Null where joints of the same names rest in the same places, and no scale is given.
 */
export function fitBody(own: BoneTexture, other: BoneTexture, scale?: number): BoneTexture | null {
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
  /** Joints of one name are those of several skins, in their order. */
  const sameAs = (name: string, place: number) =>
    own.jointNames.flatMap((one, joint) => (one === name ? joint : [])).at(place);
  other.jointNames.forEach((name, joint) => {
    const place = other.jointNames.slice(0, joint).filter((one) => one === name).length;
    const same = sameAs(name, place) ?? sameAs(name, -1);
    const bind = same === undefined ? null : own.data.jointBinds[same];
    if (bind === null) return;
    jointBinds[joint] = bind;
    const inverse = affineToMatrix4(bind, 0, new Matrix4()).invert().transpose();
    inverses.set(inverse.elements.slice(0, AFFINE_SIZE), joint * AFFINE_SIZE);
  });
  const { restBounds } = own.data;
  return new BoneTexture(
    {
      ...data,
      jointBinds,
      restBounds,
      jointBoxes: other.createJointBoxes(),
      tracks: { ...tracks, fits, inverses },
    },
    other,
  );
}

/** What the pass reads of bodies, a row for each: the fit of each node, then the rows of the inverse bind matrix of each joint. */
export function bodyTexels(bodies: readonly PoseTracks[]): DataTexture {
  const [{ parents, inverses }] = bodies;
  const width = parents.length + inverses.length / 4;
  const texels = new Float32Array(width * bodies.length * 4);
  bodies.forEach(({ fits, inverses }, row) => {
    const at = row * width * 4;
    for (let node = 0; node < parents.length; node++)
      texels.set(fits?.subarray(node * 4, node * 4 + 4) ?? [0, 0, 0, 1], at + node * 4);
    texels.set(inverses, at + parents.length * 4);
  });
  const texture = new DataTexture(texels, width, bodies.length, RGBAFormat, FloatType);
  // Nodes whose texture is exchanged for one of the same version go on reading the first.
  texture.version = ++versions;
  return texture;
}
