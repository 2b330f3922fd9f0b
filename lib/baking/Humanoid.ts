import type { BufferAttribute, Mesh, Object3D, SkinnedMesh } from 'three';
import { Matrix4, Quaternion, Vector3 } from 'three';
import { listNames } from '../utils/messages.js';

/** What limbs are called, without side and separators, the likeliest first. */
const LIMBS: Record<string, string[]> = {
  head: ['head', 'skull'],
  upperArm: ['upperarm', 'armupper', 'uparm', 'bicep', 'arm'],
  lowerArm: ['lowerarm', 'forearm', 'armlower', 'lowarm'],
  hand: ['wrist', 'hand', 'palm', 'fist', 'palm2', 'palm1'],
  upperLeg: ['upperleg', 'thigh', 'upleg', 'legupper'],
  lowerLeg: ['lowerleg', 'shin', 'calf', 'leglower', 'lowleg', 'leg'],
  foot: ['foot', 'ankle'],
  toes: ['toes', 'toebase', 'toe', 'ball', 'toe0'],
};
const isLimb = (core: string) => Object.values(LIMBS).flat().includes(core);
export const FINGERS = ['thumb', 'index', 'middle', 'ring', 'little'];
const PHALANGES: Record<string, number> = { metacarpal: 0, proximal: 1, intermediate: 2, distal: 3 };
const NEEDED = ['upperArm', 'lowerArm', 'upperLeg', 'lowerLeg'];
export const SIDES = ['L', 'R'];
/** Nodes that control others. */
const CONTROL = /ctrl|control|pole|target|roll|orient|slot|socket|twist|_end|end$|track/i;
const IK = /IK|(^|[_.-])ik([_.-]|$)/;
const PREFIX =
  /^(mixamorig\d*[:_]?|J_Bip_(C_)?|DEF[-_]|ORG[-_]|Bip0*\d+[_ ]?|ValveBiped[._]?(Bip01_)?|CC_Base_|Armature[_|]|rig[_:]|Character1_)/i;

/** How near to an axis, in radians, a direction is taken for it: left, up and ahead of a body. */
const NEAR_AXIS = 0.6;

/** How near to its floor the feet of a file without a skin stand, as a share of how high its hips do. */
const NEAR_FLOOR = 0.2;

/** Reads the name of a joint: `mixamorigLeftForeArm` is `forearm` of side `L`. */
function readName(name: string, prefix: string): { side: string; core: string } {
  const own = (prefix !== '' && name.startsWith(prefix) ? name.slice(prefix.length) : name).replace(
    PREFIX,
    '',
  );
  const flat = (text: string) => text.toLowerCase().replace(/[_\-. :|]/g, '');
  const [, before, side, after = ''] =
    /^(.*?)(left|right)(.*)$/i.exec(own) ??
    /^(.*?)(?:^|[_\-. ])([LR])(?:[_\-. ]|$)(.*)$/i.exec(own) ??
    /^(.*[a-z\d])([LR])(_\d+)?$/.exec(own) ??
    /^(.*)([lr])(_\d+)?$/i.exec(own) ??
    [];
  const core =
    side && [before + after, after, before].map(flat).find((one) => isLimb(one) || fingerOf(one) !== null);
  return core ? { side: side[0].toUpperCase(), core } : { side: '', core: flat(own) };
}

/** `index1` of `handindex1` or `indexproximal`, also of `finger10`. */
function fingerOf(core: string): string | null {
  const named =
    /^(?:hand|f)?(thumb|index|middle|ring|little|pinky)(?:finger)?(proximal|intermediate|distal|metacarpal|0?\d)?$/.exec(
      core,
    );
  if (named !== null) {
    const [, finger, place = '1'] = named;
    return `${finger === 'pinky' ? 'little' : finger}${PHALANGES[place] ?? Number(place)}`;
  }
  const numbered = /^finger(\d)(\d)?$/.exec(core);
  return numbered && `${FINGERS[Number(numbered[1])]}${Number(numbered[2] ?? 0) + 1}`;
}

export const isBelow = (node: Object3D, top: Object3D): boolean => {
  for (let one: Object3D | null = node; one; one = one.parent) if (one === top) return true;
  return false;
};

/** What is between two nodes, both left out. */
export function between(from: Object3D, to: Object3D): Object3D[] {
  const path: Object3D[] = [];
  for (let one = to.parent; one !== null && one !== from; one = one.parent) path.unshift(one);
  return path;
}

/** The lowest node above some. */
function joinOf(nodes: Object3D[]): Object3D {
  let one = nodes[0].parent as Object3D;
  while (!nodes.every((node) => isBelow(node, one))) one = one.parent as Object3D;
  return one;
}

/** The rotation of a body whose left and up sides are these directions, which are axes where they are near some. */
function axesOf(left: Vector3, up: Vector3): Quaternion {
  const snap = (way: Vector3) => {
    const parts = way.toArray();
    const most = parts.map(Math.abs).indexOf(Math.max(...parts.map(Math.abs)));
    const axis = new Vector3().setComponent(most, Math.sign(parts[most]));
    return axis.angleTo(way) < NEAR_AXIS ? axis : way.clone().normalize();
  };
  const y = snap(up);
  const x = snap(left.clone().addScaledVector(y, -left.dot(y)));
  const z = new Vector3().crossVectors(x, y).normalize();
  return new Quaternion().setFromRotationMatrix(new Matrix4().makeBasis(x.crossVectors(y, z), y, z));
}

/**
 * A body with a head, two arms and two legs: which of its nodes are those, how they stand in the bind pose, which is that of the skin
 * since nodes may rest in any frame of a clip, and where its soles are. Directions are in the body's own frame: X to its left, Y up.
 */
export class Humanoid {
  readonly nodes: Object3D[] = [];
  /** Joints by what they are: `head`, `upperArmL`, `index1R`. */
  readonly slots: Record<string, Object3D> = {};
  /** The lowest nodes above legs and head, and above arms and head. */
  readonly hips: Object3D;
  readonly chest: Object3D;
  /** Vertices of the feet, three numbers each, in the space of the node that they follow, and the side of that. */
  private readonly soles = new Map<Object3D, { side: string; points: number[] }>();
  /** Height of the ground in the bind pose, and lengths, in units of the world. */
  readonly ground: number;
  readonly leg: number;
  /** From the body's frame to the world. */
  readonly toWorld: Quaternion;
  readonly fromWorld = new Quaternion();
  /** From the space of the bind pose to the body's frame, and units of the world in one of that space. */
  readonly fromBind = new Quaternion();
  readonly size: number = 1;
  /** Bones of skins. */
  private readonly joints = new Set<Object3D>();
  private readonly binds = new Map<Object3D, Matrix4>();

  /**
   * @param names Joints that are not found by their names, by what they are.
   * @throws If a limb is not found, or a name names nothing.
   */
  constructor(
    readonly root: Object3D,
    names: Record<string, string> = {},
  ) {
    root.updateWorldMatrix(true, true);
    root.traverse((object) => {
      const { isMesh, skeleton } = object as SkinnedMesh;
      if (!isMesh && object !== root) this.nodes.push(object);
      skeleton?.bones.forEach((bone, i) => {
        const inverse = skeleton.boneInverses[i];
        // In baked files vertices of rigid parts are in the space of their node, which says nothing of its bind pose.
        if (this.joints.has(bone) || inverse.equals(new Matrix4())) return;
        this.joints.add(bone);
        this.binds.set(bone, inverse.clone().invert());
      });
    });
    const bound = new Set(this.joints);
    root.traverse((node) => {
      if (this.joints.has(node)) return;
      const { parent, matrix, matrixWorld } = node;
      const isBound = parent !== null && bound.has(parent);
      if (isBound) bound.add(node);
      this.binds.set(node, isBound ? matrix.clone().premultiply(this.bindOf(parent)) : matrixWorld.clone());
    });
    this.findSlots(names);
    const { slots } = this;
    this.hips = joinOf([slots.upperLegL, slots.upperLegR, slots.head]);
    this.chest = joinOf([slots.upperArmL, slots.upperArmR, slots.head]);
    const axes = (at: (node: Object3D) => Vector3) =>
      axesOf(at(slots.upperLegL).sub(at(slots.upperLegR)), at(slots.head).sub(this.legs(at)));
    this.fromBind.copy(axes(this.position)).invert();
    this.toWorld = axes(this.positionNow);
    this.fromWorld.copy(this.toWorld).invert();
    const thigh = (at: (node: Object3D) => Vector3) => at(slots.upperLegL).distanceTo(at(slots.lowerLegL));
    this.size = thigh(this.positionNow) / thigh(this.position);
    const length = (a: string, b: string) => this.position(slots[a]).distanceTo(this.position(slots[b]));
    const leg = (side: string) =>
      length(`upperLeg${side}`, `lowerLeg${side}`) +
      (slots[`foot${side}`] ? length(`lowerLeg${side}`, `foot${side}`) : 0);
    this.leg = (leg('L') + leg('R')) / 2;
    this.ground = this.findSoles();
  }

  /** Whether a node is a bone of a skin; all are where there is none. */
  isJoint(node: Object3D): boolean {
    return this.joints.size === 0 || this.joints.has(node);
  }

  /** The middle between the upper ends of the legs. */
  legs(at: (node: Object3D) => Vector3): Vector3 {
    return at(this.slots.upperLegL).add(at(this.slots.upperLegR)).multiplyScalar(0.5);
  }

  /** Where a node is in the bind pose, in world units. */
  readonly position = (node: Object3D): Vector3 =>
    new Vector3()
      .setFromMatrixPosition(this.bindOf(node))
      .applyQuaternion(this.fromBind)
      .multiplyScalar(this.size);

  /** How it is turned there. */
  rotation(node: Object3D): Quaternion {
    const turn = new Quaternion();
    this.bindOf(node).decompose(new Vector3(), turn, new Vector3());
    return turn.premultiply(this.fromBind).normalize();
  }

  /** Where a node is now, with the floor of the world at 0. */
  readonly positionNow = (node: Object3D): Vector3 =>
    new Vector3().setFromMatrixPosition(node.matrixWorld).applyQuaternion(this.fromWorld);

  /** How it is turned now; by rotations alone, since matrices of scaled nodes shear. */
  rotationNow(node: Object3D): Quaternion {
    const turn = new Quaternion();
    for (let one: Object3D | null = node; one; one = one.parent) turn.premultiply(one.quaternion).normalize();
    return turn.premultiply(this.fromWorld);
  }

  /** Returns what lets the body stand as it does now. */
  keep(): () => void {
    const kept = this.nodes.map((node) => [node, node.position.clone(), node.quaternion.clone()] as const);
    return () => {
      for (const [node, at, turn] of kept) {
        node.position.copy(at);
        node.quaternion.copy(turn);
      }
      this.root.updateMatrixWorld(true);
    };
  }

  /** Turns a node, as `rotationNow` says it. */
  turn(node: Object3D, rotation: Quaternion): void {
    const above = this.rotationNow(node.parent as Object3D);
    node.quaternion.copy(above.invert().multiply(rotation)).normalize();
  }

  /** How high the lowest point of both soles is, or that of one side. */
  lowest(only = ''): number {
    let least = Infinity;
    for (const [node, { side, points }] of this.soles) {
      if (only !== '' && only !== side) continue;
      const turned = new Matrix4().makeRotationFromQuaternion(this.fromWorld).multiply(node.matrixWorld);
      const [, x, , , , y, , , , z, , , , shift] = turned.elements;
      for (let i = 0; i < points.length; i += 3)
        least = Math.min(least, x * points[i] + y * points[i + 1] + z * points[i + 2] + shift);
    }
    return least;
  }

  /** The matrix of a node in the bind pose: by its skin, else as it rests below one that has it so, else where it rests. */
  bindOf(node: Object3D): Matrix4 {
    return this.binds.get(node) as Matrix4;
  }

  private findSlots(names: Record<string, string>): void {
    const { slots, nodes } = this;
    const [, prefix = ''] = nodes.map(({ name }) => /^(.+?)(?:hips|pelvis)$/i.exec(name)).find(Boolean) ?? [];
    const ranks: Record<string, number> = {};
    const offer = (slot: string, node: Object3D, rank: number) => {
      const full = this.isJoint(node) ? rank : rank + 100;
      if (full >= (ranks[slot] ?? Infinity)) return;
      ranks[slot] = full;
      slots[slot] = node;
    };
    for (const node of nodes) {
      const { side, core } = readName(node.name, prefix);
      if (CONTROL.test(node.name) || IK.test(node.name)) continue;
      const finger = fingerOf(core);
      if (side !== '' && finger !== null) offer(finger + side, node, 0);
      for (const [limb, known] of Object.entries(LIMBS))
        if ((side === '') === (limb === 'head') && known.includes(core))
          offer(limb + side, node, known.indexOf(core));
    }
    const all = nodes.map(({ name }) => name);
    for (const [slot, name] of Object.entries(names)) {
      const limb = slot.replace(/[LR]$/, '');
      const isKnown = limb in LIMBS || fingerOf(limb.toLowerCase());
      const node = nodes.find((one) => one.name === name);
      if (!isKnown || !node || (limb === slot) !== (slot === 'head'))
        throw new Error(
          `retargetClips: names has "${name}" as ${slot}; there are ${Object.keys(LIMBS).join(', ')}, index1 and other fingers, all but the first with L or R, and nodes ${listNames(all, name)}.`,
        );
      slots[slot] = node;
    }
    const missing = ['head', ...SIDES.flatMap((side) => NEEDED.map((limb) => limb + side))].filter(
      (slot) => !slots[slot],
    );
    if (missing.length > 0)
      throw new Error(
        `retargetClips: "${this.root.name}" has no ${missing.join(', ')} by the names of its nodes; say them with names: ${listNames(all)}.`,
      );
  }

  /** Finds the vertices of the feet, and returns how high the ground is. */
  private findSoles(): number {
    const { slots, soles } = this;
    const feet = SIDES.flatMap((side) =>
      ['lowerLeg', 'foot', 'toes'].map((limb) => ({ side, foot: slots[limb + side] })),
    ).filter(({ foot }) => foot);
    let ground = Infinity;
    const add = (node: Object3D, point: Vector3) => {
      const found = feet.find(({ foot }) => isBelow(node, foot));
      if (found === undefined) return;
      const sole = soles.get(node) ?? { side: found.side, points: [] };
      soles.set(node, sole);
      sole.points.push(...point);
      point.applyMatrix4(this.bindOf(node)).applyQuaternion(this.fromBind);
      ground = Math.min(ground, point.y);
    };
    this.root.traverse((object) => {
      const { isMesh, geometry, parent, matrix } = object as Mesh;
      const { isSkinnedMesh, skeleton, bindMatrix } = object as SkinnedMesh;
      const { position, skinIndex, skinWeight } = isMesh ? geometry.attributes : {};
      for (let i = 0; i < (position?.count ?? 0); i++) {
        const local = new Vector3().fromBufferAttribute(position as BufferAttribute, i);
        if (!isSkinnedMesh) {
          if (parent !== null) add(parent, local.applyMatrix4(matrix));
          continue;
        }
        let most = 0;
        for (let k = 1; k < 4; k++)
          if (skinWeight.getComponent(i, k) > skinWeight.getComponent(i, most)) most = k;
        const bone = skinIndex.getComponent(i, most);
        add(skeleton.bones[bone], local.applyMatrix4(bindMatrix).applyMatrix4(skeleton.boneInverses[bone]));
      }
    });
    // A file without a skin: feet that rest near its floor stand on it.
    const hips = this.legs(this.position).y;
    for (const { foot } of soles.size === 0 ? feet : []) {
      const at = this.position(foot);
      if (at.y > 0 && at.y < NEAR_FLOOR * hips) at.y = 0;
      at.divideScalar(this.size).applyQuaternion(this.fromBind.clone().invert());
      add(foot, at.applyMatrix4(this.bindOf(foot).clone().invert()));
    }
    return this.size * ground;
  }
}
