import {
  AnimationClip,
  AnimationMixer,
  type KeyframeTrack,
  LoopOnce,
  MathUtils,
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

/** Cosine of how much a knee bends at least. */
const STRAIGHT = 0.998;

/** Where feet begin to be in the air, and are wholly, as a share of the length of the leg. */
const LIFTED = [0.03, 0.15] as const;

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
  /**
   * Whether knees bend so that feet are where those of the other body are, and do not slide, between bodies of similar proportions.
   *
   * @default false
   */
  ik?: boolean;
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
  next?: Object3D;
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
  options: RetargetOptions = {},
): Retargeted {
  const { names = {} } = options;
  const source = new Humanoid(from, names.from);
  const target = new Humanoid(to, names.to);
  const matches = matchBodies(source, target);
  const used = new Set([...matches.values()].flatMap(({ from, next }) => [from, next]));
  const namesOf = (body: Humanoid, isMatched: (node: Object3D) => boolean) =>
    body.nodes.filter((node) => body.isJoint(node) && !isMatched(node)).map(({ name }) => name);
  return {
    clips: clips.map((clip) => retarget(clip, source, target, matches, options)),
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
    matches.set(node, { from, next: share > 0 ? next : undefined, share, bind });
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
  { ground = true, ik }: RetargetOptions,
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
  const rest = target.keep();
  const standing =
    target.legs(target.position).y - target.ground - scale * (source.legs(source.position).y - source.ground);
  const hipsFromLegs = target.position(hips).sub(target.legs(target.position));
  for (const node of still) {
    const parent = node.parent as Object3D;
    if (target.isJoint(parent))
      node.quaternion.copy(target.rotation(parent).invert().multiply(target.rotation(node)));
  }
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
      if (next) turn.slerp(since(next), share);
      target.turn(node, turn.multiply(bind));
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
    for (const side of ik ? SIDES : []) {
      bendLeg(source, target, side);
      place();
    }
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
  rest();
  return new AnimationClip(clip.name, clip.duration, tracks);
}

/** Bends a leg so that its ankle is where the source's is, as seen from the hips, and its sole as high above the ground. */
function bendLeg(source: Humanoid, target: Humanoid, side: string): void {
  const [[other, , otherFoot], leg] = [source, target].map(({ slots }) =>
    ['upperLeg', 'lowerLeg', 'foot'].map((limb) => slots[limb + side]),
  );
  if (!otherFoot || !leg[2]) return;
  const scale = target.leg / source.leg;
  const [hip, knee, ankle] = leg.map(target.positionNow);
  const height = Math.max(0, source.lowest(side));
  const way = source.positionNow(otherFoot).sub(source.positionNow(other)).multiplyScalar(scale);
  way.y = ankle.y - hip.y + scale * height - target.lowest(side);
  // In the air it stays as it is.
  way.lerp(ankle.clone().sub(hip), MathUtils.smoothstep(height / source.leg, ...LIFTED));
  const [shin, thigh] = [ankle.sub(knee), knee.sub(hip)];
  const [a, b] = [thigh.length(), shin.length()];
  const bent = Math.acos(MathUtils.clamp((way.lengthSq() - a * a - b * b) / (2 * a * b), -1, STRAIGHT));
  // Where the leg is straight it bends ahead: about the axis to the left.
  const axis = new Vector3().crossVectors(thigh, shin);
  axis.x += (1 - STRAIGHT) * a * b;
  const bend = new Quaternion().setFromAxisAngle(axis.normalize(), bent - thigh.angleTo(shin));
  const reach = shin.applyQuaternion(bend).add(thigh).normalize();
  const swing = new Quaternion().setFromUnitVectors(reach, way.normalize());
  const turns = leg.map((node) => target.rotationNow(node));
  turns[0].premultiply(swing);
  turns[1].premultiply(bend.premultiply(swing));
  leg.forEach((node, i) => target.turn(node, turns[i]));
}

/** The times of a clip's keys, and more between them where they are far apart. */
function timesOf({ tracks, duration }: AnimationClip): number[] {
  const keys = Float64Array.from(new Set([0, duration, ...tracks.flatMap(({ times }) => [...times])])).sort();
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
