import { Bone, Matrix4, type Mesh, Object3D, Quaternion, Skeleton, type SkinnedMesh, Vector3 } from 'three';
import type { BoneTexture } from '../animation/BoneTexture.js';
import { mixNode } from '../animation/mixPose.js';
import type { PoseTracks } from '../animation/PoseTracks.js';
import { TRS_SIZE } from '../animation/Rig.js';
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
  /** Where its hips are in the clips of the crowd, for `CrowdKinds`; undefined without its bone texture. */
  hips?: Float32Array;
}

/**
 * Makes a body with a head, two arms and two legs move by the nodes of another, of whatever maker: where {@link retargetClips} makes
 * clips fit a body, this makes a body fit clips. It is bound to a copy of the other's nodes, which are as far apart as its own joints
 * are; baked, it is a kind for `CrowdKinds` of a crowd of the other. Chains of other lengths follow the nearest joint.
 *
 * ```ts
 * const retargeted = retargetBody(far.scene, gltf.scene, { boneTexture: crowd.boneTexture });
 * const robot = kinds.add(bakeCharacter(retargeted.body, []), retargeted);
 * ```
 *
 * @param body As its maker has it, or the scene that a baked file shows to viewers.
 * @param like Root of the body that the crowd was baked from, at the origin.
 * @param options With the bone texture of the crowd, hips are raised or lowered frame by frame so that soles are as far above the
 * ground as those of the other body; without, they may sink.
 * @throws If head or a limb of one is not found: say their names. If a joint hangs on another branch, so that only
 * `retargetClips` can do it.
 *
 * @category Bake
 */
export function retargetBody(
  body: Object3D,
  like: Object3D,
  { names = {}, boneTexture }: Pick<RetargetOptions, 'names'> & { boneTexture?: BoneTexture } = {},
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
    if (source.isJoint(node))
      one.quaternion.copy(source.rotationNow(parent).invert().multiply(source.rotation(node))).normalize();
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
    carrierOf(node)
      .matrixWorld.clone()
      .invert()
      .multiply(carriers.moveOf(node))
      .multiply(target.bindOf(node));
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

  for (const node of source.nodes) copies.get(node)?.quaternion.copy(node.quaternion);
  // Hips rest where clips may have them: as far from there as in the bind pose.
  const rest = (copies.get(hips) as Object3D).position;
  rest.addScaledVector(bindHips, -scale).addScaledVector(hips.position, scale);
  root.updateMatrixWorld(true);
  const tracks = boneTexture?.data.tracks;
  return { body: root, scale, ...(tracks && { hips: hipsOf(tracks, source, root, scale) }) };
}

/** See `PoseTracks.hips`: the keys that there are, raised by as much as soles of the copy are too low. */
function hipsOf(tracks: PoseTracks, source: Humanoid, copy: Object3D, scale: number): Float32Array {
  const { names, clips, rest } = tracks;
  const slots = Object.entries(source.slots).map(([slot, { name }]) => [slot, name]);
  const own = new Humanoid(copy, Object.fromEntries(slots));
  const nodes = names.map((name) => {
    const [from, to] = [source, own].map((body) => body.nodes.find((node) => node.name === name));
    return (
      from &&
      to && {
        from,
        to,
        rests: [from, to].map((node) => ({
          position: node.position.clone(),
          quaternion: node.quaternion.clone(),
        })),
      }
    );
  });
  const hips = names.indexOf(source.hips.name);
  const trs = new Float64Array(rest.length);
  const at = new Vector3();
  const heads: number[] = [];
  const keys: number[] = [];
  clips.forEach(({ frames, additive }, clip) => {
    heads.push(additive || hips < 0 ? 0 : clips.length - clip + keys.length / 4, hips, 0, 0);
    for (let i = 0; !additive && i <= frames; i++) {
      const action = { clip, place: Math.min(i, frames - 1), weight: 1 };
      nodes.forEach((one, node) => {
        if (one === undefined) return;
        const { from, to, rests } = one;
        mixNode(tracks, [{ actions: [action], weight: 1, mask: null }], node, trs);
        from.position.fromArray(trs, node * TRS_SIZE);
        from.quaternion.fromArray(trs, node * TRS_SIZE + 3);
        to.position.copy(from.position).sub(rests[0].position).multiplyScalar(scale).add(rests[1].position);
        to.quaternion.copy(from.quaternion);
      });
      source.root.updateMatrixWorld(true);
      copy.updateMatrixWorld(true);
      own.hips.getWorldPosition(at);
      const lift = Math.max(0, scale * source.lowest()) - own.lowest();
      at.add(new Vector3(0, lift, 0).applyQuaternion(own.toWorld));
      (own.hips.parent as Object3D).worldToLocal(at).sub(own.hips.position).divideScalar(scale);
      keys.push(...at.add(source.hips.position).toArray(), 0);
    }
  });
  for (const one of nodes) {
    if (one === undefined) continue;
    [one.from, one.to].forEach((node, i) => {
      node.position.copy(one.rests[i].position);
      node.quaternion.copy(one.rests[i].quaternion);
    });
  }
  source.root.updateMatrixWorld(true);
  copy.updateMatrixWorld(true);
  return Float32Array.from([...heads, ...keys]);
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
  const start = others.clone().multiplyScalar(scale).sub(legs);
  start.y = -target.ground;
  /** By node of the other body where it is to be. */
  const places = new Map<Object3D, Vector3>();
  places.set(
    source.hips,
    source.position(source.hips).sub(others).multiplyScalar(scale).add(legs).add(start),
  );
  const known = new Map<Object3D, Carried>();
  const find = (node: Object3D): Carried => {
    let found = known.get(node);
    if (found !== undefined) return found;
    const first = { carrier: source.hips, turn: new Quaternion(), at: legs.clone().add(start) };
    const isTop = node === target.hips || !isBelow(node, target.hips);
    const above = loose.get(node) ?? (isTop && !loose.has(node) ? null : (node.parent as Object3D));
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
    /** From the bind pose, as the skin has it, to the world of the other body. */
    moveOf: (node: Object3D) => {
      const { turn, at } = find(node);
      const bind = new Vector3().setFromMatrixPosition(target.bindOf(node));
      const move = new Matrix4().compose(
        at.clone().applyQuaternion(source.toWorld),
        source.toWorld.clone().multiply(turn).multiply(target.fromBind),
        new Vector3().setScalar(target.size),
      );
      return move.multiply(new Matrix4().makeTranslation(bind.negate()));
    },
  };
}
