import {
  AnimationClip,
  AnimationMixer,
  type KeyframeTrack,
  LoopOnce,
  Matrix4,
  type Object3D,
  Quaternion,
  QuaternionKeyframeTrack,
  Vector3,
  VectorKeyframeTrack,
} from 'three';
import { between, FINGERS, Humanoid, isBelow, SIDES } from './Humanoid.js';

/** Keys a second at least, beside those that clips have. */
const FPS = 60;

/** Joints by what they are: `head`; `upperArm`, `lowerArm`, `hand`, `upperLeg`, `lowerLeg`, `foot`, `toes`, `index1` with `L` or `R`. */
export type BodyNames = Record<string, string>;

/** How clips come to another body. */
export interface RetargetOptions {
  /** Names of nodes that do not say what they are, of the body the clips were made for and of the other. */
  names?: {
    /** Of the body that the clips were made for. */
    from?: BodyNames;
    /** Of the other. */
    to?: BodyNames;
  };
  /** Whether the hips are raised or lowered so that soles are as far above the ground as those of the other body. @default true */
  ground?: boolean;
}

/** Clips of another body, and what has no counterpart. */
export interface Retargeted {
  /** For the other body. */
  clips: AnimationClip[];
  /** Length of the legs over that of those the clips were made for. */
  scale: number;
  /** Names of joints. */
  unmatched: {
    /** Those whose movement nothing takes over. */
    from: string[];
    /** Those that keep their bind pose. */
    to: string[];
  };
}

/** A joint turns as another one does since the bind pose, or as two by a share. */
interface Match {
  from: Object3D;
  next: Object3D | null;
  share: number;
  /** How the joint is turned while the other body is in its bind pose. */
  bind: Quaternion;
}

/**
 * Makes clips of one body fit another with a head, two arms and two legs, whatever its maker, proportions and axes, before baking:
 * joints are found by their names, the chains between them by share; limbs point where those of the other body do, since turns count
 * from the bind poses, which are aligned; hips go by leg length. Limbs, head and fingers follow, feet may slide where legs have
 * other proportions. What hangs loose, as hair and clothes, stays in the bind pose.
 *
 * ```ts
 * const retargeted = retargetClips(far.animations, far.scene, gltf.scene);
 * const character = bakeCharacter(gltf.scene, retargeted.clips);
 * ```
 *
 * @param from Root of the body that the clips were made for, at the origin: with its skin, else as it rests in its bind pose.
 * @param to Root of the other.
 * @throws If head or a limb of one is not found: say their names.
 *
 * @category Bake
 */
export function retargetClips(
  clips: readonly AnimationClip[],
  from: Object3D,
  to: Object3D,
  { names = {}, ground = true }: RetargetOptions = {},
): Retargeted {
  const source = new Humanoid(from, names.from);
  const target = new Humanoid(to, names.to);
  const matches = matchBodies(source, target);
  const used = new Set([...matches.values()].flatMap(({ from, next }) => [from, next]));
  const namesOf = (body: Humanoid, isMatched: (node: Object3D) => boolean) =>
    body.nodes.filter((node) => body.isJoint(node) && !isMatched(node)).map(({ name }) => name);
  return {
    clips: clips.map((clip) => retarget(clip, source, target, matches, ground)),
    scale: target.leg / source.leg,
    unmatched: {
      from: namesOf(source, (node) => used.has(node)),
      to: namesOf(target, (node) => matches.has(node)),
    },
  };
}

/** What turns each joint of the target. */
export function matchBodies(source: Humanoid, target: Humanoid): Map<Object3D, Match> {
  const matches = new Map<Object3D, Match>();
  const [f, t] = [source.slots, target.slots];
  const put = (
    node: Object3D | undefined,
    from: Object3D | undefined,
    align?: Quaternion | null,
    next?: Object3D,
    share = 0,
  ) => {
    if (node === undefined || from === undefined) return;
    const bind = target.rotation(node);
    if (align) bind.premultiply(align);
    matches.set(node, { from, next: share > 0 && next !== undefined ? next : null, share, bind });
  };
  // Joints of a chain by how far along it they are; the last of `known` may be behind those that are matched.
  const putChain = (joints: Object3D[], known: Object3D[], isEndKnown: boolean) => {
    const steps = joints.length + (isEndKnown ? 1 : 0);
    joints.forEach((joint, i) => {
      const at = ((i + 1) / steps) * (known.length - 1);
      const k = Math.floor(at);
      put(joint, known[k], null, known[k + 1], at - k);
    });
  };
  const direction = (body: Humanoid, a: Object3D, b: Object3D) =>
    body.position(b).sub(body.position(a)).normalize();
  /** From the way of a limb of the target to that of the source, in their bind poses. */
  const alignment = (a: string, b: string) =>
    f[a] && t[a] && f[b] && t[b]
      ? new Quaternion().setFromUnitVectors(direction(target, t[a], t[b]), direction(source, f[a], f[b]))
      : null;

  put(target.hips, source.hips);
  const spineOf = ({ hips, chest }: Humanoid) => (hips === chest ? [] : [...between(hips, chest), chest]);
  putChain(spineOf(target), [source.hips, ...spineOf(source)], false);
  const neckOf = ({ chest, slots }: Humanoid) => between(chest, slots.head);
  putChain(neckOf(target), [source.chest, ...neckOf(source), f.head], true);
  put(t.head, f.head);
  for (const side of SIDES) {
    for (const [above, limb] of [
      ['chest', 'upperArm'],
      ['hips', 'upperLeg'],
    ] as const) {
      const known = [source[above], ...between(source[above], f[limb + side])];
      putChain(between(target[above], t[limb + side]), known, false);
    }
    for (const [upper, lower, end] of [
      ['upperArm', 'lowerArm', 'hand'],
      ['upperLeg', 'lowerLeg', 'foot'],
    ]) {
      const first = alignment(upper + side, lower + side);
      const second = alignment(lower + side, end + side) ?? first;
      put(t[upper + side], f[upper + side], first);
      put(t[lower + side], f[lower + side], second);
      if (end === 'foot') continue;
      const palms = [target, source].map((body) => palmOf(body, side));
      const [own, other] = palms;
      const hand =
        own && other ? other.multiply(own.invert()) : (alignment(`hand${side}`, `middle1${side}`) ?? second);
      put(t[`hand${side}`], f[`hand${side}`] ?? f[lower + side], hand);
      for (const finger of FINGERS)
        for (let i = 0; i <= 4; i++) put(t[`${finger}${i}${side}`], f[`${finger}${i}${side}`], hand);
    }
    put(t[`foot${side}`], f[`foot${side}`] ?? f[`lowerLeg${side}`]);
    put(t[`toes${side}`], f[`toes${side}`]);
  }
  return matches;
}

/** How the palm of a hand lies in the bind pose: along the middle finger and the row of knuckles. */
function palmOf({ slots, position }: Humanoid, side: string): Quaternion | null {
  const [hand, middle, index, last] = ['hand', 'middle1', 'index1', 'little1'].map(
    (slot) => slots[slot + side],
  );
  if (!hand || !middle || !index || !last) return null;
  const z = position(middle).sub(position(hand)).normalize();
  const x = position(index).sub(position(last));
  const y = new Vector3().crossVectors(z, x).normalize();
  return new Quaternion().setFromRotationMatrix(new Matrix4().makeBasis(x.crossVectors(y, z), y, z));
}

function retarget(
  clip: AnimationClip,
  source: Humanoid,
  target: Humanoid,
  matches: ReadonlyMap<Object3D, Match>,
  ground: boolean,
): AnimationClip {
  const times = timesOf(clip);
  const scale = target.leg / source.leg;
  // Parents come before children.
  const joints = target.nodes.filter((node) => matches.has(node));
  const { hips } = target;
  const still = target.nodes.filter(
    (node) => target.isJoint(node) && !matches.has(node) && isBelow(node, hips),
  );
  const loose = looseEnds(target);
  const rest = target.nodes.map(
    ({ position, quaternion }) => [position.clone(), quaternion.clone()] as const,
  );
  const standing =
    target.legs(target.position).y - target.ground - scale * (source.legs(source.position).y - source.ground);
  const hipsFromLegs = target.position(hips).sub(target.legs(target.position));
  for (const node of still) node.quaternion.copy(restOf(target, node));
  const since = (node: Object3D) => source.rotationNow(node).multiply(source.rotation(node).invert());
  const turns = joints.map((node) => ({ node, values: [] as number[] }));
  const places = [hips, ...loose.keys()].map((node) => ({ node, values: [] as number[] }));
  const mixer = new AnimationMixer(source.root);
  const action = mixer.clipAction(clip).setLoop(LoopOnce, 1).play();
  action.clampWhenFinished = true;

  const matrix = new Matrix4();
  for (const time of times) {
    mixer.setTime(time);
    source.root.updateMatrixWorld(true);
    for (const node of joints) {
      const { from, next, share, bind } = matches.get(node) as Match;
      const turn = since(from);
      if (next !== null) turn.slerp(since(next), share);
      const above = target.rotationNow(node.parent as Object3D);
      node.quaternion.copy(above.invert().multiply(turn.multiply(bind))).normalize();
    }
    const at = source.legs(source.positionNow).multiplyScalar(scale);
    at.y += standing;
    at.add(hipsFromLegs.clone().applyQuaternion(since(source.hips)));
    const place = () => {
      const world = at.clone().applyQuaternion(target.toWorld);
      hips.position.copy((hips.parent as Object3D).worldToLocal(world));
      target.root.updateMatrixWorld(true);
      for (const [node, limb] of loose) {
        matrix.copy(target.bindOf(limb)).invert().multiply(target.bindOf(node)).premultiply(limb.matrixWorld);
        node.position.setFromMatrixPosition(matrix);
        (node.parent as Object3D).worldToLocal(node.position);
        node.updateMatrixWorld(true);
      }
    };
    place();
    if (ground) {
      at.y += Math.max(0, scale * source.lowest()) - target.lowest();
      place();
    }
    for (const { node, values } of turns) values.push(...node.quaternion.toArray());
    for (const { node, values } of places) values.push(...node.position.toArray());
  }
  mixer.stopAllAction();
  const tracks: KeyframeTrack[] = [
    ...places.map(({ node, values }) => new VectorKeyframeTrack(`${node.name}.position`, times, values)),
    ...[...turns, ...still.map((node) => ({ node, values: node.quaternion.toArray() }))].map(
      ({ node, values }) =>
        new QuaternionKeyframeTrack(`${node.name}.quaternion`, values.length > 4 ? times : [0], values),
    ),
  ];
  target.nodes.forEach((node, i) => {
    node.position.copy(rest[i][0]);
    node.quaternion.copy(rest[i][1]);
    node.updateMatrix();
  });
  return new AnimationClip(clip.name, clip.duration, tracks);
}

/** The times of a clip's keys, and more between them where they are far apart. */
function timesOf({ tracks, duration }: AnimationClip): number[] {
  const keys = [...new Set([0, duration, ...tracks.flatMap(({ times }) => [...times])])].sort(
    (a, b) => a - b,
  );
  const times = [0];
  for (const key of keys) {
    const last = times.at(-1) as number;
    const steps = Math.ceil((key - last) * FPS - 1e-3);
    for (let i = 1; i <= steps; i++) times.push(last + ((key - last) * i) / steps);
  }
  return times;
}

/** Feet and hands that are not below their limbs, as in files of inverse kinematics, with these. */
export function looseEnds({ slots }: Humanoid): Map<Object3D, Object3D> {
  const ends = SIDES.flatMap((side) => [
    [slots[`foot${side}`], slots[`lowerLeg${side}`]],
    [slots[`hand${side}`], slots[`lowerArm${side}`]],
  ]);
  return new Map(ends.filter(([end, limb]) => end && !isBelow(end, limb)) as [Object3D, Object3D][]);
}

/** How a joint is turned in the bind pose, against its parent. */
function restOf(body: Humanoid, node: Object3D): Quaternion {
  const { parent } = node;
  if (parent === null || !body.isJoint(parent)) return node.quaternion;
  return body.rotation(parent).invert().multiply(body.rotation(node));
}
