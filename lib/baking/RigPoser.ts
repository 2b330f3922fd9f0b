import {
  AdditiveAnimationBlendMode,
  type AnimationClip,
  type Interpolant,
  PropertyBinding,
  PropertyMixer,
} from 'three';
import { ROTATION } from '../animation/PoseTracks.js';
import type { Rig } from '../animation/Rig.js';
import { copyNodes, type NodeCopy, placeAs } from '../character/rigNodes.js';
import { AFFINE_SIZE } from '../constants.js';
import { affineFromMatrix4, multiplyAffine } from '../utils/affine.js';
import { type Channel, interpolantOf, MORPHS, PROPERTIES, STILL, type TrackTarget } from './channels.js';

const AXES = ['x', 'y', 'z', 'w'];

const _world = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);
const nothing = () => {};

/** Poses a character's nodes by clips: an AnimationMixer with one action, which reads the time it is told and no other. */
export class RigPoser {
  /** The rig's nodes. Their `matrixWorld` is relative to the root at rest. */
  readonly nodes: NodeCopy[];
  /** Of the meshes that share morph targets one array. */
  private readonly influences = new Map<number, number[]>();
  /** What tracks are called, the same in most clips. */
  private readonly targets = new Map<string, TrackTarget>();
  /** For each name of tracks what makes one value of all of them. */
  private mixed: { mixer: PropertyMixer; interpolants: Interpolant[] }[] = [];
  private additive = false;
  /** Which of its two results a mixer writes: it compares them to know what has changed. */
  private turn = 0;

  constructor(readonly rig: Rig) {
    const { parts, morphRest } = rig;
    this.nodes = copyNodes(rig);
    // three.js computes the angles of each quaternion that changes; only nodes with tracks of angles need them, see `findTarget`.
    for (const { quaternion } of this.nodes) quaternion._onChange(nothing);
    for (const { node, morphOffset, morphCount, morphIndices } of parts) {
      if (morphOffset < 0) continue;
      const own = this.influences.get(morphOffset) ?? [
        ...morphRest.slice(morphOffset, morphOffset + morphCount),
      ];
      this.influences.set(morphOffset, own);
      Object.assign(this.nodes[node], {
        geometry: { morphAttributes: {} },
        morphTargetInfluences: own,
        morphTargetDictionary: morphIndices,
      });
    }
  }

  /**
   * What a track moves.
   *
   * @throws If three.js cannot read the name.
   */
  targetOf(name: string): TrackTarget {
    const target = this.targets.get(name) ?? this.findTarget(name);
    this.targets.set(name, target);
    return target;
  }

  private findTarget(name: string): TrackTarget {
    const { nodes, rig } = this;
    const { nodeName, objectName, objectIndex, propertyName, propertyIndex } =
      PropertyBinding.parseTrackName(name);
    let object = PropertyBinding.findNode(nodes[0], nodeName) as NodeCopy | undefined;
    if (objectName === 'bones') {
      // Without a mesh's name, as `SkeletonUtils.retargetClip` leaves it, of the first skinned mesh.
      const skeleton = (nodeName ? object : nodes.find((one) => one.skeleton))?.skeleton;
      object = skeleton?.getBoneByName(objectIndex) ?? skeleton?.bones[Number(objectIndex)];
    } else if (objectName !== undefined) object = undefined;
    const node = object ? nodes.indexOf(object) : -1;
    const target: TrackTarget = { node, property: -1, first: 0, size: 0, isAngle: false };
    if (propertyName === 'morphTargetInfluences') {
      const part = rig.parts.find((one) => one.node === node && one.morphOffset >= 0);
      if (part === undefined) return target;
      const { morphOffset, morphCount, morphIndices } = part;
      const index = propertyIndex === undefined ? 0 : (morphIndices[propertyIndex] ?? Number(propertyIndex));
      const size = propertyIndex === undefined ? morphCount : 1;
      if (index >= 0 && index + size <= morphCount)
        Object.assign(target, { property: MORPHS, first: morphOffset + index, size });
      return target;
    }
    // three.js cannot play the three angles of `rotation` as one track.
    target.isAngle = propertyName === 'rotation' && propertyIndex !== undefined;
    const property = target.isAngle ? ROTATION : PROPERTIES.indexOf(propertyName as 'scale');
    if (target.isAngle && object) {
      const { rotation, quaternion } = object;
      quaternion._onChange(() => rotation.setFromQuaternion(quaternion, undefined, false));
    }
    const size = property === ROTATION && !target.isAngle ? 4 : 3;
    const axis = AXES.indexOf(propertyIndex);
    if (propertyIndex === undefined) Object.assign(target, { property, size });
    else if (axis >= 0 && axis < size) Object.assign(target, { property, first: axis, size: 1 });
    return target;
  }

  /** Begins to play channels of a clip; everything else is at rest. */
  play({ blendMode }: Pick<AnimationClip, 'blendMode'>, channels: readonly Channel[]): void {
    const { nodes, rig } = this;
    for (const [i, node] of nodes.entries()) placeAs(node, rig.nodes[i]);
    for (const [offset, own] of this.influences)
      for (let i = 0; i < own.length; i++) own[i] = rig.morphRest[offset + i];

    this.additive = blendMode === AdditiveAnimationBlendMode;
    const mixed = new Map<string, (typeof this.mixed)[number]>();
    const moving = new Set<string>();
    for (const { track, target, curve } of channels.flatMap(({ tracks }) => tracks)) {
      const { name, ValueTypeName } = track;
      const node = nodes[target.node];
      // Angles that were read from the quaternion may be others.
      if (target.isAngle) node.rotation.copy(rig.nodes[target.node].rotation);
      let one = mixed.get(name);
      if (one === undefined) {
        const { propertyName, propertyIndex } = PropertyBinding.parseTrackName(name);
        const path = { nodeName: '', propertyName, propertyIndex };
        const binding = new PropertyBinding(node, name, path);
        one = { mixer: new PropertyMixer(binding, ValueTypeName, track.getValueSize()), interpolants: [] };
        one.mixer.saveOriginalState();
        mixed.set(name, one);
      }
      one.interpolants.push(interpolantOf(track, one.mixer.buffer as Float64Array));
      if (curve !== STILL) moving.add(name);
    }
    this.mixed = [...mixed.values()];
    this.sample(0);
    this.mixed = [...moving].flatMap((name) => mixed.get(name) ?? []);
  }

  /** Moves the nodes to where they are at a time, in seconds, but for their matrices, which `update` computes. */
  sample(time: number): void {
    this.turn ^= 1;
    for (const { mixer, interpolants } of this.mixed) {
      for (const interpolant of interpolants) {
        interpolant.evaluate(time);
        if (this.additive) mixer.accumulateAdditive(1);
        else mixer.accumulate(this.turn, 1);
      }
      mixer.apply(this.turn);
    }
  }

  update(): void {
    this.nodes[0].updateMatrixWorld();
  }

  /** Writes the skinning matrix of each joint, 12 numbers each. */
  readJoints(out: Float64Array): void {
    const { jointNodes, jointInverses } = this.rig;
    this.update();
    for (let joint = 0; joint < jointNodes.length; joint++) {
      const at = joint * AFFINE_SIZE;
      affineFromMatrix4(this.nodes[jointNodes[joint]].matrixWorld, _world, 0);
      multiplyAffine(_world, 0, jointInverses, at, out, at);
    }
  }

  /** The value that a channel has now. */
  valueOf({ node, property }: Channel): number[] {
    return property === MORPHS ? this.morphs() : this.nodes[node][PROPERTIES[property]].toArray();
  }

  /** The influences of all morph targets now. */
  morphs(): number[] {
    const value = [...this.rig.morphRest];
    for (const [offset, own] of this.influences) value.splice(offset, own.length, ...own);
    return value;
  }
}
