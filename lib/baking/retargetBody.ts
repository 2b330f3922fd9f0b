import { Bone, Matrix4, type Mesh, Object3D, Quaternion, Skeleton, type SkinnedMesh, Vector3 } from 'three';
import type { BoneTexture } from '../animation/BoneTexture.js';
import { mixNode } from '../animation/mixPose.js';
import type { PoseTracks } from '../animation/PoseTracks.js';
import { TRS_SIZE } from '../animation/Rig.js';
import { OWN_KEYS } from '../animation/trackTexels.js';
import { Humanoid, isBelow } from './Humanoid.js';
import { looseEnds, matchBodies, type RetargetOptions } from './retargetClips.js';

/** How far a joint may be from where the nodes of the other body can carry it, as a share of the length of its legs. */
const TOLERANCE = 1e-3;

/** A body that moves by the nodes of another. */
export interface RetargetedBody {
  /** With the geometry and the materials of the body, which stays as it is. */
  body: Object3D;
  /** Length of its legs over that of the other's. */
  scale: number;
  /** Gives `CrowdKinds` where its hips are in clips, so that soles are as far above the ground as those of the other body. */
  hips: (boneTexture: BoneTexture) => Float32Array;
}

/**
 * Makes a body with a head, two arms and two legs move by the nodes of another, of whatever maker: where {@link retargetClips} makes
 * clips fit a body, this makes a body fit clips. It is bound to a copy of the other's nodes, which are as far apart as its own joints
 * are; baked, it is a kind for `CrowdKinds` of a crowd of the other. Chains of other lengths follow the nearest joint.
 *
 * ```ts
 * const retargeted = retargetBody(far.scene, gltf.scene);
 * const robot = kinds.add(bakeCharacter(retargeted.body, []), retargeted);
 * ```
 *
 * @param body As its maker has it, or the scene that a baked file shows to viewers.
 * @param like Root of the body that the crowd was baked from, at the origin.
 * @throws If head or a limb of one is not found: say their names. If a joint hangs on another branch, so that only
 * `retargetClips` can do it.
 *
 * @category Bake
 */
export function retargetBody(
  body: Object3D,
  like: Object3D,
  { names = {} }: Pick<RetargetOptions, 'names'> = {},
): RetargetedBody {
  const source = new Humanoid(like, names.from);
  const target = new Humanoid(body, names.to);
  const scale = target.leg / source.leg;
  const carriers = carriersOf(source, target);
  const { hips } = source;

  // The other's nodes in its bind pose.
  const copies = new Map<Object3D, Object3D>();
  const copy = (node: Object3D): Object3D => {
    const one = ((node as Bone).isBone ? new Bone() : new Object3D()).copy(node as Bone, false);
    copies.set(node, one);
    for (const child of node.children) one.add(copy(child));
    return one;
  };
  const root = copy(like);
  root.updateMatrixWorld(true);
  const bindHips = new Vector3();
  for (const node of source.nodes) {
    const one = copies.get(node) as Object3D;
    const parent = one.parent as Object3D;
    const place = carriers.places.get(node);
    if (source.isJoint(node)) source.turn(one, source.rotation(node));
    const local = (at: Vector3) => parent.worldToLocal(at.clone().applyQuaternion(source.toWorld));
    if (node === hips) {
      const own = source.position(hips);
      own.y -= source.ground;
      bindHips.copy(local(own));
    }
    if (place === undefined) one.position.multiplyScalar(isBelow(node, hips) ? scale : 1);
    else one.position.copy(local(place));
    one.updateMatrixWorld(true);
  }

  const carrierOf = (node: Object3D) => copies.get(carriers.of(node)) as Bone;
  /** From the space of a joint, in its bind pose, to that of its carrier. */
  const toCarrier = (node: Object3D) =>
    carrierOf(node).matrixWorld.clone().invert().multiply(carriers.moved(node));
  body.traverse((object) => {
    const mesh = object as SkinnedMesh;
    if (!mesh.isMesh) return;
    const one: Mesh = mesh.clone(false);
    if (mesh.isSkinnedMesh) {
      const { bones, boneInverses } = mesh.skeleton;
      const inverses = bones.map((bone, i) => toCarrier(bone).multiply(boneInverses[i]));
      root.add(one);
      (one as SkinnedMesh).bind(new Skeleton(bones.map(carrierOf), inverses), mesh.bindMatrix);
      return;
    }
    const parent = mesh.parent as Object3D;
    toCarrier(parent).multiply(mesh.matrix).decompose(one.position, one.quaternion, one.scale);
    carrierOf(parent).add(one);
  });

  for (const [node, { quaternion }] of copies) quaternion.copy(node.quaternion);
  // Hips rest where clips may have them: as far from there as in the bind pose.
  const rest = (copies.get(hips) as Object3D).position;
  rest.addScaledVector(bindHips, -scale).addScaledVector(hips.position, scale);
  root.updateMatrixWorld(true);
  return { body: root, scale, hips: hipsOf(source, root, copies, scale) };
}

/** See `PoseTracks.hips`: keys raised by as much as soles of the copy are too low. */
function hipsOf(
  source: Humanoid,
  root: Object3D,
  copies: ReadonlyMap<Object3D, Object3D>,
  scale: number,
): RetargetedBody['hips'] {
  const slots = Object.entries(source.slots).map(([slot, { name }]) => [slot, name]);
  const copy = new Humanoid(root, Object.fromEntries(slots));
  const pairs = source.nodes.map((from) => {
    const to = copies.get(from) as Object3D;
    return { from, to, shift: to.position.clone().addScaledVector(from.position, -scale) };
  });
  return ({ data: { tracks } }) => {
    const { names, clips, rest } = tracks as PoseTracks;
    const nodes = names.map((name) => pairs.find(({ from }) => from.name === name));
    const hips = names.indexOf(source.hips.name);
    const trs = new Float64Array(rest.length);
    const at = new Vector3();
    const heads: number[] = [];
    const keys: number[] = [];
    const kept = [source.keep(), copy.keep()];
    clips.forEach(({ frames, additive }, clip) => {
      heads.push(additive || hips < 0 ? 0 : clips.length - clip + keys.length / 4, hips, 0, 0);
      for (let i = 0; !additive && i < frames * OWN_KEYS; i++) {
        const actions = [{ clip, place: Math.min(i / OWN_KEYS, frames - 1), weight: 1 }];
        const layers = [{ actions, weight: 1, mask: null }];
        nodes.forEach((one, node) => {
          if (one === undefined) return;
          const { from, to, shift } = one;
          mixNode(tracks as PoseTracks, layers, node, trs);
          from.position.fromArray(trs, node * TRS_SIZE);
          from.quaternion.fromArray(trs, node * TRS_SIZE + 3);
          to.position.copy(from.position).multiplyScalar(scale).add(shift);
          to.quaternion.copy(from.quaternion);
        });
        source.root.updateMatrixWorld(true);
        root.updateMatrixWorld(true);
        copy.hips.getWorldPosition(at);
        const lift = Math.max(0, scale * source.lowest()) - copy.lowest();
        at.add(new Vector3(0, lift, 0).applyQuaternion(copy.toWorld));
        (copy.hips.parent as Object3D).worldToLocal(at).sub(copy.hips.position).divideScalar(scale);
        keys.push(...at.add(source.hips.position).toArray(), 0);
      }
    });
    for (const restore of kept) restore();
    return Float32Array.from([...heads, ...keys]);
  };
}

/** What carries a joint, how it is turned since its own bind pose, and where it is. */
interface Carried {
  carrier: Object3D;
  turn: Quaternion;
  at: Vector3;
}

/**
 * Which node of the other body carries each joint of a body, where it then is while the other is in its bind pose on the floor, and what
 * takes the body's vertices from its own bind pose to there.
 *
 * @throws If there is no such place.
 */
function carriersOf(source: Humanoid, target: Humanoid) {
  const matches = matchBodies(source, target);
  const loose = looseEnds(target);
  const scale = target.leg / source.leg;
  const [legs, others] = [target, source].map((one) => one.legs(one.position));
  const standing = others.clone().multiplyScalar(scale);
  standing.y = legs.y - target.ground;
  /** By node of the other body where it is to be. */
  const places = new Map<Object3D, Vector3>();
  places.set(source.hips, source.position(source.hips).sub(others).multiplyScalar(scale).add(standing));
  const known = new Map<Object3D, Carried>();
  const find = (node: Object3D): Carried => {
    let found = known.get(node);
    if (found !== undefined) return found;
    const first = { carrier: source.hips, turn: new Quaternion(), at: standing };
    const isTop = node === target.hips || !isBelow(node, target.hips);
    const above = loose.get(node) ?? (isTop ? null : (node.parent as Object3D));
    const parent = above === null ? first : find(above);
    const from = above === null ? legs : target.position(above);
    const at = target.position(node).sub(from).applyQuaternion(parent.turn).add(parent.at);
    const match = matches.get(node);
    const carrier = match === undefined ? parent.carrier : match.share > 0.5 ? match.next : match.from;
    const turn =
      match === undefined ? parent.turn : match.bind.clone().multiply(target.rotation(node).invert());
    found = { carrier: carrier as Object3D, turn, at };
    known.set(node, found);
    if (found.carrier !== parent.carrier) carry(node, found.carrier, parent.carrier, at);
    return found;
  };
  const carry = (node: Object3D, carrier: Object3D, above: Object3D, at: Vector3) => {
    const place = places.get(carrier);
    let one = carrier;
    // Nodes on the way turn about the same point.
    for (; place === undefined && !places.has(one) && one.parent !== null; one = one.parent)
      places.set(one, at);
    const fits = place === undefined ? one === above : place.distanceTo(at) < TOLERANCE * target.leg;
    if (!fits)
      throw new Error(
        `retargetBody: "${node.name}" would hang on "${above.name}" and turn as "${carrier.name}", which is of another branch; bake a crowd of its own from clips of retargetClips.`,
      );
  };
  for (const node of target.nodes) find(node);
  return {
    places,
    of: (node: Object3D) => find(node).carrier,
    /** From the space of a joint, in its bind pose, to the world of the other body. */
    moved: (node: Object3D) => {
      const { turn, at } = find(node);
      const position = at.clone().applyQuaternion(source.toWorld);
      const rotation = source.toWorld.clone().multiply(turn).multiply(target.fromBind);
      const place = new Matrix4().compose(position, rotation, new Vector3().setScalar(target.size));
      return place.multiply(target.bindOf(node).clone().setPosition(0, 0, 0));
    },
  };
}
